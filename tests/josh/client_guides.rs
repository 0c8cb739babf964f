//! The five guides to client configuration, each run as it stands: requests are sent and answers
//! compared, commands are run in a home folder of the test's own, Python where it is installed.

use std::process::Command;

use serde_json::Value;

use crate::clients::Office;
use crate::readme::{Page, shell, shows};

/// The guides of the reference.
const GUIDES: [&str; 5] = [
    "docs/clients-discover.md",
    "docs/clients-get.md",
    "docs/clients-update.md",
    "docs/clients-verify.md",
    "docs/clients-use.md",
];

/// What the guides call `$JOSH`; the server says the same of itself.
const NAMED: &str = "http://127.0.0.1:8080";

struct Run {
    office: Office,
    folder: tempfile::TempDir,
}

impl Run {
    fn start() -> Run {
        let office = Office::without_profiles(&["--public-url", NAMED]);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".cursor")).unwrap();
        Run { office, folder }
    }

    /// Runs the shell blocks of a guide; gives how many answers were compared and commands run.
    fn guide(&self, name: &str) -> (usize, usize) {
        let page = Page::read(name);
        let blocks = page.blocks();
        let (mut compared, mut ran) = (0, 0);
        for (at, block) in blocks.iter().enumerate().filter(|(_, b)| b.language == "sh") {
            let shown = blocks.get(at + 1).filter(|next| next.follows && next.language == "json");
            let mut answer = None;
            for line in block.text.lines().filter(|line| !line.starts_with("JOSH=")) {
                if let Some(request) = line.strip_prefix("curl -s \"$JOSH") {
                    let (path, rest) = request.split_once('"').unwrap();
                    let got = self.office.server.get(path);
                    match rest.trim().strip_prefix("-o ") {
                        Some(file) => {
                            std::fs::write(self.folder.path().join(file), &got.bytes).unwrap();
                        }
                        None => answer = Some(got.json()),
                    }
                    continue;
                }
                assert!(line.starts_with("josh "), "{name}: {line}");
                let line = line.replace("$JOSH", &self.office.server.url);
                let output = shell(&line, self.folder.path());
                let complaint = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{name}: {line}: {complaint}");
                ran += 1;
            }
            if let (Some(shown), Some(answer)) = (shown, answer) {
                let shown: Value = serde_json::from_str(shown.text)
                    .unwrap_or_else(|e| panic!("{name}: {e}\n{}", shown.text));
                assert!(shows(&shown, &answer), "{name}: {shown}\nbut it is\n{answer}");
                compared += 1;
            }
        }
        (compared, ran)
    }
}

/// Given the guides, when their requests are sent and their commands run, then each gives what it
/// shows.
#[test]
fn the_guides_work() {
    let run = Run::start();
    let done = GUIDES.map(|name| run.guide(name));
    assert_eq!(done, [(3, 0), (3, 0), (2, 1), (0, 1), (0, 7)]);
    let left = std::fs::read_dir(run.folder.path().join(".cursor")).unwrap().count();
    assert_eq!(left, 0, "the last guide takes everything out again");
}

/// Given the guide's Python, when it is run on what the server handed out, then it is valid, and on
/// anything that was changed it is not.
#[test]
#[ignore = "needs python3 with the package cryptography; .ci/run runs it where they are"]
fn verification_in_python() {
    let run = Run::start();
    run.guide("docs/clients-verify.md");
    let page = Page::read("docs/clients-verify.md");
    let script = page.blocks().into_iter().find(|block| block.language == "python").unwrap().text;
    let python = |script: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", script]).current_dir(run.folder.path()).output().unwrap()
    };
    let valid = python(script);
    let said = String::from_utf8_lossy(&valid.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&valid.stderr).into_owned();
    assert!(said.starts_with("valid: cursor default"), "{said}{complaint}");
    let file = run.folder.path().join("config.json");
    let text = std::fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("127.0.0.1:8080/mcp\"}}}", "evil.example/mcp\"}}}"),
        ("\"profile_id\":\"default\"", "\"profile_id\":\"office\""),
        ("\"client_id\":\"cursor\"", "\"client_id\":\"junie\""),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        assert!(!python(script).status.success(), "{to}");
    }
}
