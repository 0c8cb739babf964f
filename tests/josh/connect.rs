//! `josh connect` over real files: every format, with comments, other servers, odd white space.
//! What is not ours stays byte for byte, and `--remove` restores the file.

use std::path::{Path, PathBuf};
use std::process::Output;

use josh::client_config::catalog;
use josh::client_config::edit;
use serde_json::Value;

use crate::support::josh;

/// A home folder of the test's own. The user's is never touched.
pub struct Home {
    pub folder: tempfile::TempDir,
    pub client: String,
    pub file: PathBuf,
    is_project: bool,
}

impl Home {
    /// With this client's file in it.
    pub fn with(client: &str, text: &[u8]) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let known = catalog().client(client).unwrap();
        let (path, is_project) = match known.user.linux.first() {
            Some(path) => (path.trim_start_matches("~/").to_string(), false),
            None => (known.project[0].clone(), true),
        };
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        Home { folder, client: client.to_string(), file, is_project }
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = josh(&["connect"]);
        command.args(args).env("HOME", self.folder.path());
        for variable in ["CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env_remove(variable);
        }
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        if self.is_project && !args.contains(&"--list") {
            command.arg("--project").arg(self.folder.path());
        }
        command.output().unwrap()
    }

    pub fn connect(&self, args: &[&str]) -> String {
        let output = self.run(&[&[self.client.as_str()], args].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{}: {said}", self.client);
        String::from_utf8(output.stdout).unwrap() + &said
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.file).unwrap()
    }

    fn forget(&self) {
        std::fs::remove_dir_all(self.folder.path().join("state")).unwrap();
    }
}

/// Files of a folder beside this one, as (client, name, bytes).
pub fn files(folder: &str) -> Vec<(String, String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            let client = name.split("--").next().unwrap().to_string();
            (client, name, std::fs::read(&path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Each file as it is and as other machines write it.
fn variants() -> Vec<(String, String, Vec<u8>)> {
    let mut out = Vec::new();
    for (client, name, bytes) in files("files") {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let unix = text.replace("\r\n", "\n");
        let windows = unix.replace('\n', "\r\n");
        let with_mark = format!("\u{feff}{windows}");
        let open = unix.trim_end().to_string();
        for (how, variant) in
            [("plain", text), ("crlf", windows), ("bom", with_mark), ("open end", open)]
        {
            out.push((client.clone(), format!("{name}, {how}"), variant.into_bytes()));
        }
    }
    out.sort();
    out.dedup_by(|a, b| a.2 == b.2 && a.0 == b.0);
    out
}

/// What was added, if every byte of before is still there, in its order.
fn added(before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    use similar::{Algorithm, DiffOp, capture_diff_slices};
    // Myers' edit script is minimal: it deletes nothing if nothing has to be.
    let mut new = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, before, after) {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Insert { .. } => new.extend_from_slice(&after[op.new_range()]),
            DiffOp::Delete { .. } | DiffOp::Replace { .. } => return None,
        }
    }
    Some(new)
}

/// What the file says of other things than this server.
fn others(client: &str, bytes: &[u8]) -> serde_json::Map<String, Value> {
    let client = catalog().client(client).unwrap();
    let text = std::str::from_utf8(bytes).unwrap();
    let document = edit::read(client.format.unwrap(), text).unwrap();
    let mut root = document.as_object().cloned().unwrap_or_default();
    let servers = root.remove(client.servers.as_deref().unwrap());
    let mut servers = servers.and_then(|s| s.as_object().cloned()).unwrap_or_default();
    servers.remove("josh");
    let inputs = root.remove("inputs").and_then(|i| i.as_array().cloned()).unwrap_or_default();
    let inputs = inputs.into_iter().filter(|input| input["id"] != "josh-api-key");
    root.insert("inputs".into(), inputs.collect());
    root.insert("servers".into(), servers.into());
    root
}

const URL: [&str; 3] = ["--url", "http://127.0.0.1:8080", "--with-key"];

fn flags(client: &str) -> &'static [&'static str] {
    if client == "claude-desktop" { &["--stdio"] } else { &URL }
}

/// Given files of every format, when Josh is connected, then nothing but its entry is new; twice is
/// as good as once; another address changes the entry alone; and `--remove` gives back the bytes.
#[test]
fn other_bytes_stay_and_removing_restores_them() {
    let variants = variants();
    assert!(variants.len() >= 60, "only {} files", variants.len());
    for (client, name, before) in &variants {
        let home = Home::with(client, before);
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        home.connect(flags(client));
        let after = home.bytes();
        assert_eq!(others(client, &after), others(client, before), "{name}");
        // A null has to go where servers come.
        if !name.starts_with("lm-studio--null") {
            let new = added(before, &after).unwrap_or_else(|| panic!("{name}:\n{}", shown(&after)));
            assert!(shown(&new).contains("josh"), "{name}: {}", shown(&new));
        }
        home.connect(flags(client));
        assert_eq!(shown(&home.bytes()), shown(&after), "{name}: twice");
        home.connect(&["--stdio"]);
        let changed = home.bytes();
        assert_eq!(others(client, &changed), others(client, before), "{name}: changed");
        home.connect(flags(client));
        home.connect(&["--remove"]);
        let restored = shown(&home.bytes());
        assert_eq!(restored, shown(before), "{name}: restored");
    }
}

/// Given files whose ledger is lost, when Josh is removed, then what others have is as it was: by
/// bytes where there are other servers, by content everywhere.
#[test]
fn removing_needs_no_memory() {
    for (client, name, before) in &variants() {
        let home = Home::with(client, before);
        home.connect(flags(client));
        home.forget();
        home.connect(&["--remove"]);
        let after = home.bytes();
        let rest = others(client, before);
        assert_eq!(others(client, &after), rest, "{name}");
        if !rest["servers"].as_object().unwrap().is_empty() && !name.contains("servers-only") {
            // Whether the last line had an end is forgotten: behind it, ours came.
            let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_string();
            assert_eq!(plain(&after), plain(before), "{name}");
            assert!(after == *before || !before.ends_with(b"\n"), "{name}");
        }
    }
}

/// Given no file, when Josh is connected and removed, then the file comes and goes.
#[test]
fn a_file_that_was_not_there_is_made_and_removed() {
    for client in catalog().clients.iter().filter(|c| !c.user.linux.is_empty()) {
        let home = Home::with(&client.id, b"");
        std::fs::remove_file(&home.file).unwrap();
        home.connect(flags(&client.id));
        let text = String::from_utf8(home.bytes()).unwrap();
        let document = edit::read(client.format.unwrap(), &text).unwrap();
        let entry = &document[client.servers.as_deref().unwrap()]["josh"];
        assert!(entry.is_object(), "{}: {text}", client.id);
        home.connect(&["--remove"]);
        assert!(!home.file.exists(), "{}", client.id);
    }
}

/// Given a dry run, when it is asked for, then the change is shown and nothing is written.
#[test]
fn a_dry_run_shows_the_change() {
    let before = b"{\n  \"mcpServers\": {\n    \"a\": { \"url\": \"https://a\" }\n  }\n}\n";
    let home = Home::with("cursor", before);
    let shown = home.connect(&["--dry-run", "--url", "https://josh.example.org"]);
    assert!(shown.contains("@@ -1,5 +1,8 @@"), "{shown}");
    assert!(shown.contains("+      \"url\": \"https://josh.example.org/mcp\"\n"), "{shown}");
    assert_eq!(home.bytes(), before);
    assert!(!home.folder.path().join("state").exists(), "not even a backup");
}

/// Given several clients, when `--list` and `--all` are used, then those that are installed are
/// found, brought up to date, and said to be current.
#[test]
fn all_clients_that_are_installed_are_found() {
    let home = Home::with("cursor", b"{}");
    std::fs::create_dir_all(home.folder.path().join(".codex")).unwrap();
    let list = |args: &[&str]| {
        let output = home.run(&[&["--list"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let line = |text: &str, client: &str| {
        let found = text.lines().find(|line| line.starts_with(client)).unwrap_or_default();
        found.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line(&list(&[]), "cursor"), "cursor yes no");
    assert_eq!(line(&list(&[]), "kiro"), "kiro no no");
    assert!(home.run(&["--all"]).status.success());
    assert_eq!(line(&list(&[]), "cursor"), "cursor yes current");
    assert_eq!(line(&list(&[]), "codex"), "codex yes current");
    assert_eq!(line(&list(&[]), "zed"), "zed no no");
    assert_eq!(line(&list(&["--url", "https://x.example"]), "codex"), "codex yes differs:");
    home.connect(&["--url", "https://x.example", "--with-key"]);
    let shown = list(&[]);
    assert!(shown.contains("current, https://x.example"), "{shown}");
    assert!(home.run(&["--all", "--remove"]).status.success());
    assert_eq!(home.bytes(), b"{}");
    assert!(!home.folder.path().join(".codex/config.toml").exists());
}

/// Given a project, when Josh is connected there, then its file is written and the user's is not.
#[test]
fn a_project_has_a_file_of_its_own() {
    let home = Home::with("vscode", b"{}");
    let project = home.folder.path().join("work");
    std::fs::create_dir_all(&project).unwrap();
    let folder = project.to_str().unwrap();
    home.connect(&["--project", folder, "--url", "https://x.example", "--with-key"]);
    let text = std::fs::read_to_string(project.join(".vscode/mcp.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["inputs"][0]["id"], "josh-api-key");
    assert_eq!(document["servers"]["josh"]["url"], "https://x.example/mcp");
    assert_eq!(home.bytes(), b"{}");
    let none = home.run(&["goose", "--project", folder]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("leave out --project"));
}
