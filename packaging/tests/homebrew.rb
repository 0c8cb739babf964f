# frozen_string_literal: true

# The part of Homebrew's formula language that ours uses, to run a formula without Homebrew. Written from its documentation.
#
# Usage: ruby homebrew.rb FORMULA SOURCE PREFIX

require "fileutils"
require "pathname"

FORMULA, SOURCE, PREFIX = ARGV.map { |path| Pathname.new(File.expand_path(path)) }

class Pathname
  def install(*files)
    FileUtils.mkdir_p(self)
    FileUtils.cp(files.flatten, self)
  end
end

class Bottle
  def root_url(url)
    raise "not a release: #{url}" unless url.match?(%r{/releases/download/v[\d.]+\z})
  end

  def sha256(cellar:, **hashes)
    raise "cellar: #{cellar}" unless cellar == :any_skip_relocation
    raise "hashes: #{hashes}" unless hashes.any? && hashes.each_value.all? { |hash| hash.match?(/\A\h{64}\z/) }
  end
end

class Service
  def run(command)
    raise "it would start #{command}" unless command.last == "serve"
  end

  def keep_alive(_value) = nil
  def log_path(_path) = nil
  def error_log_path(_path) = nil
  def opt_bin = PREFIX/"bin"
  def var = PREFIX/"var"
end

class Formula
  class << self
    attr_reader :facts, :tests

    def inherited(formula)
      super
      formula.instance_variable_set(:@facts, {})
      @@formula = formula
    end

    %i[desc homepage url sha256 license].each { |fact| define_method(fact) { |value| @facts[fact] = value } }
    def depends_on(_what) = nil
    def bottle(&block) = Bottle.new.instance_eval(&block)
    def service(&block) = Service.new.instance_eval(&block)
    def test(&block) = @tests = block
    def found = @@formula
  end

  def prefix = PREFIX
  def bin = prefix/"bin"
  def man1 = prefix/"share/man/man1"
  def doc = prefix/"share/doc/josh"
  def std_cargo_args(path: ".") = ["--locked", "--root=#{prefix}", "--path=#{path}"]

  def system(*command)
    Kernel.system(*command.map(&:to_s)) || raise("failed: #{command.join(" ")}")
    # Homebrew takes these away after `cargo install`.
    FileUtils.rm_f([prefix/".crates.toml", prefix/".crates2.json"])
  end

  def generate_completions_from_executable(program, *arguments, shells:)
    places = { bash: "etc/bash_completion.d/josh", zsh: "share/zsh/site-functions/_josh",
               fish: "share/fish/vendor_completions.d/josh.fish" }
    shells.each do |shell|
      text = IO.popen([program.to_s, *arguments, shell.to_s], &:read)
      raise "no completions for #{shell}" if text.empty?

      FileUtils.mkdir_p((prefix/places.fetch(shell)).dirname)
      (prefix/places.fetch(shell)).write(text)
    end
  end

  def shell_output(command)
    output = `#{command}`
    raise "failed: #{command}" unless $?.success?

    output
  end

  def assert_match(expected, output) = output.include?(expected) || raise("#{output} lacks #{expected}")
end

load FORMULA.to_s
formula = Formula.found
raise "a fact is missing: #{formula.facts}" unless formula.facts.values.compact.size == 5
# Homebrew's rule for descriptions.
raise "the description is too long" if formula.facts[:desc].length > 80

Dir.chdir(SOURCE) { formula.new.install }
formula.new.instance_exec(&formula.tests)
