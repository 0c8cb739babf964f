# typed: strict
# frozen_string_literal: true

# One static executable over one data file; a sample is built in.
class Josh < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  url "@RELEASE@/josh-@VERSION@-source.tar.gz"
  sha256 "@SOURCE_SHA256@"
  license "Apache-2.0"

  bottle do
    root_url "@RELEASE@"
    sha256 cellar: :any_skip_relocation, @BREW_TAG@: "@BOTTLE_SHA256@"
  end

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    system "cargo", "install", *std_cargo_args(path: "data-build")
    generate_completions_from_executable(bin/"josh", "completions", shells: [:bash, :zsh, :fish])
    system bin/"josh", "man", "--dir", "man"
    man1.install Dir["man/*.1"]
    doc.install "LICENSE", "CHANGELOG.md"
  end

  service do
    run [opt_bin/"josh", "serve"]
    keep_alive true
    log_path var/"log/josh.log"
    error_log_path var/"log/josh.log"
  end

  test do
    assert_match "One Big Beautiful Bill Act", shell_output("#{bin}/josh get /v1/bills/hr:119:1")
  end
end
