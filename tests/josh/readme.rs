//! The documentation can't rot: requests in README.md and docs/ are sent and their answers
//! compared, commands are run, settings are read, links are followed, and generated pages are
//! generated again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use josh::toolsets::Toolsets;
use regex::Regex;
use serde_json::Value;

use crate::support::{JOSH, SAMPLE, Server, edition, josh, sample};

/// How requests begin in the pages.
const REQUEST: &str = "curl '127.0.0.1:8080";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A page, by its path below the root.
pub struct Page {
    name: String,
    text: String,
}

impl Page {
    pub fn read(name: &str) -> Page {
        let text = std::fs::read_to_string(root().join(name));
        Page { name: name.to_string(), text: text.unwrap_or_else(|e| panic!("{name}: {e}")) }
    }

    /// README.md and every page in docs/.
    fn all() -> Vec<Page> {
        let folder = std::fs::read_dir(root().join("docs")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        names.sort();
        let docs = names.iter().map(|name| Page::read(&format!("docs/{name}")));
        [Page::read("README.md")].into_iter().chain(docs).collect()
    }

    /// Whether it is a guide to client configuration, which needs a server of its own
    /// (`client_guides.rs`).
    fn is_guide(&self) -> bool {
        self.name.starts_with("docs/clients-")
    }

    /// The fenced blocks, in order.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<(usize, &str)> = None;
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let end = start + line.len();
            match (line.trim_end().strip_prefix("```"), open) {
                (Some(language), None) => open = Some((end, language)),
                (Some(_), Some((from, language))) => {
                    let before = blocks.last().map_or(0, |block: &Block| block.end);
                    let opened = from - language.len() - "```\n".len();
                    let between = self.text.get(before..opened).unwrap_or_default();
                    blocks.push(Block {
                        language,
                        text: &self.text[from..start],
                        follows: between.trim().is_empty(),
                        end,
                    });
                    open = None;
                }
                (None, _) => {}
            }
            start = end;
        }
        assert!(open.is_none(), "{} has a block that is not closed", self.name);
        blocks
    }

    /// Lines of shell blocks that begin with this word.
    fn commands(&self, word: &str) -> Vec<&str> {
        let shell = self.blocks().into_iter().filter(|block| block.language == "sh");
        shell.flat_map(|block| block.text.lines()).filter(|line| line.starts_with(word)).collect()
    }

    /// The text without fenced blocks.
    fn prose(&self) -> String {
        let mut is_code = false;
        let lines = self.text.lines().filter(|line| {
            let is_fence = line.starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The anchors of its headings, as GitHub makes them.
    fn anchors(&self) -> Vec<String> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let prose = self.prose();
        let headings = prose.lines().filter(|line| line.starts_with('#'));
        let anchor = |heading: &str| {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            let plain = text.chars().filter(is_kept).collect::<String>().replace(' ', "-");
            let before = seen.entry(plain.clone()).or_default();
            *before += 1;
            if *before == 1 { plain } else { format!("{plain}-{}", *before - 1) }
        };
        headings.map(anchor).collect()
    }
}

pub struct Block<'a> {
    pub language: &'a str,
    pub text: &'a str,
    /// Whether only blank space separates it from the block before.
    pub follows: bool,
    /// Where it ends in the page.
    end: usize,
}

/// Whether everything that a page shows is in the real answer; it may leave things out.
pub fn shows(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            shown.iter().all(|(key, value)| real.get(key).is_some_and(|r| shows(value, r)))
        }
        (Value::Array(shown), Value::Array(real)) => {
            shown.iter().all(|s| real.iter().any(|r| shows(s, r)))
        }
        (shown, real) => shown == real,
    }
}

/// Given the requests in the pages, when they are sent, then the answers have what the pages show;
/// a request that shows no answer succeeds.
#[test]
fn requests_get_the_answers_that_are_shown() {
    let mut compared = 0;
    for page in Page::all().into_iter().filter(|page| !page.is_guide()) {
        let blocks = page.blocks();
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "sh") {
            let mut lines = block.text.lines().filter(|line| line.starts_with(REQUEST)).peekable();
            let next = blocks.get(at + 1).filter(|next| next.follows && next.language == "json");
            assert!(next.is_none() || lines.peek().is_some(), "{}: an answer alone", page.name);
            for line in lines {
                let path = line.trim_start_matches(REQUEST).trim_end_matches('\'');
                let answer = SAMPLE.get(path);
                let Some(shown) = next else {
                    assert_eq!(answer.status, 200, "{}: {path}\n{}", page.name, answer.text());
                    continue;
                };
                let shown: Value = serde_json::from_str(shown.text)
                    .unwrap_or_else(|e| panic!("{}: {path}: {e}", page.name));
                assert!(shows(&shown, &answer.json()), "{path} answers\n{}", answer.text());
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "only {compared} answers were compared");
}

/// Runs a line as a shell would, with `josh` on the path and nothing of the user's.
pub fn shell(line: &str, folder: &Path) -> Output {
    let mut command = Command::new("sh");
    for (name, value) in josh(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let own = Path::new(JOSH).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others)));
    command.args(["-c", line]).env("PATH", path.unwrap()).env("XDG_CONFIG_HOME", folder);
    command.env("HOME", folder).env("XDG_STATE_HOME", folder.join("state"));
    command.stdin(std::process::Stdio::null()).current_dir(folder).output().unwrap()
}

/// Given the bundles that the pages speak of, when their `josh` commands are run, page by page and
/// one after the other, then each of them works.
#[test]
fn commands_work() {
    let mut ran = 0;
    for page in Page::all() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(sample(), folder.path().join("federal.db")).unwrap();
        edition(folder.path(), "old.db", "old");
        for line in page.commands("josh ") {
            // A server, and downloading from one, have tests of their own, and so have guides that
            // need one.
            let is_serving = line.starts_with("josh serve") && !line.contains("--print-config");
            if is_serving || line.starts_with("josh bundle pull") || page.is_guide() {
                continue;
            }
            let output = shell(line, folder.path());
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {line}: {complaint}", page.name);
            ran += 1;
        }
    }
    assert!(ran >= 12, "only {ran} commands were run");
    let readme = Page::read("README.md");
    for command in ["cargo run --release -- serve", "cargo test --release --workspace"] {
        assert!(!readme.commands(command).is_empty(), "README.md lacks {command}");
    }
}

/// Given the TOML blocks of the pages, when `josh serve` reads them, then they are valid settings.
#[test]
fn settings_files_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("josh.toml");
    let pages = Page::all().into_iter().chain([Page::read("packaging/README.md")]);
    let mut read = 0;
    for page in pages {
        for block in page.blocks().iter().filter(|block| block.language == "toml") {
            std::fs::write(&file, block.text).unwrap();
            let config = file.to_str().unwrap();
            let output = josh(&["serve", "--print-config", "--config", config]).output().unwrap();
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {complaint}\n{}", page.name, block.text);
            read += 1;
        }
    }
    assert!(read >= 3, "only {read} files were read");
}

/// Given the generated pages, when they are generated again, then they are the committed ones. With
/// UPDATE_DOCS=1 they are written instead.
#[test]
fn generated_pages_are_up_to_date() {
    let bundle = josh::bundle::Bundle::open(&sample()).unwrap();
    let is_update = std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1");
    for (name, text) in josh::docs::pages(&bundle) {
        let path = root().join("docs").join(name);
        if is_update {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "docs/{name} is out of date: UPDATE_DOCS=1 cargo test --release --test josh generated"
        );
    }
}

/// Every tool that the sample offers is named on the page about MCP, beside its reference.
#[test]
fn every_tool_is_documented() {
    let bundle = josh::bundle::Bundle::open(&sample()).unwrap();
    let (mcp, api) = (Page::read("docs/mcp.md").text, Page::read("docs/api.md").text);
    for (operation, tool) in Toolsets::default().tools(&bundle) {
        assert!(mcp.contains(&format!("`{}`", tool.name)), "docs/mcp.md lacks {}", tool.name);
        assert!(api.contains(&format!("#### Tool `{}`", tool.name)), "{}", tool.name);
        assert!(api.contains(&format!("### {}\n", operation.name)), "{}", operation.name);
    }
}

/// Given the page at `/docs`, then it lists every error and every path of `/openapi.json`.
#[test]
fn the_docs_page_lists_routes_and_errors() {
    let page = SAMPLE.get("/docs").text();
    for code in josh::api::Code::ALL {
        assert!(page.contains(&format!("<code>{}</code>", code.as_str())), "{}", code.as_str());
    }
    let described = SAMPLE.get("/openapi.json").json();
    for path in described["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!(" {path}</code>")), "{path}");
    }
}

/// Given the sample and a bundle of one's own, when the home pages are read, then only the sample's
/// says that it is one.
#[test]
fn the_home_page_says_when_it_serves_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    let own = edition(folder.path(), "federal.db", "own");
    let page = |args: &[&str]| String::from_utf8(josh(args).output().unwrap().stdout).unwrap();
    let notice = "the sample that is built into";
    assert!(page(&["get", "/"]).contains(notice));
    let other = page(&["get", "/", "--bundle", own.to_str().unwrap()]);
    assert!(other.contains("Sources in this bundle") && !other.contains(notice));
}

/// Given the transcript of the first five minutes, when the sample is served, then the banner is
/// the one that it shows. What changes with the sample (its ID, its notice) is left out.
#[test]
fn the_transcript_shows_the_banner() {
    let guide = Page::read("docs/install.md").text;
    let server = Server::start(&[]);
    let address = server.url.trim_start_matches("http://");
    let banner = server.log().join("\n").replace(address, "127.0.0.1:8080");
    let changes = |line: &&str| ["bundle ", "notice "].iter().any(|w| line.trim().starts_with(w));
    for line in banner.lines().filter(|line| !changes(line)) {
        assert!(guide.contains(line), "docs/install.md lacks {line:?}");
    }
}

/// The relative links of a page: what they lead to, and the heading in it.
fn links(page: &Page) -> Vec<(String, Option<String>)> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let prose = page.prose();
    let found = link.captures_iter(&prose).map(|captures| captures[1].to_string());
    let relative = found.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    let split = |target: String| match target.split_once('#') {
        Some((file, heading)) => (file.to_string(), Some(heading.to_string())),
        None => (target, None),
    };
    relative.map(split).collect()
}

/// Given every page of the repository, when its relative links are followed, then there is a file,
/// and in it the heading.
#[test]
fn links_lead_somewhere() {
    let others = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "benches/README.md",
        "data-build/README.md",
        "data-build/SOURCES.md",
        "packaging/README.md",
        "packaging/RELEASE.md",
        "packaging/cluster/README.md",
        "tests/conformance/README.md",
    ];
    let mut followed = 0;
    for page in Page::all().into_iter().chain(others.map(Page::read)) {
        let folder = Path::new(&page.name).parent().unwrap().to_path_buf();
        for (file, heading) in links(&page) {
            let target: PathBuf = match file.is_empty() {
                true => PathBuf::from(&page.name),
                false => folder.join(&file),
            };
            let shown = target.display();
            assert!(root().join(&target).exists(), "{}: there is no {shown}", page.name);
            if let Some(heading) = heading {
                let anchors = Page::read(target.to_str().unwrap()).anchors();
                assert!(anchors.contains(&heading), "{}: no #{heading} in {shown}", page.name);
            }
            followed += 1;
        }
    }
    assert!(followed >= 20, "only {followed} links were followed");
}
