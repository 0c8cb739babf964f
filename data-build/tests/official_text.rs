//! The texts of bills and laws, character by character: what the readers serve is what the
//! official XML in `../shared/data` contains, but for the elements named here. Without these files
//! the tests are ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

/// What is not served as text, and why.
const LEFT_OUT: [(&str, &str); 15] = [
    ("meta", "data about the document"),
    ("amendMeta", "data about the document"),
    ("preface", "the masthead: congress, session, number, sponsors"),
    ("amendPreface", "the masthead"),
    ("sidenote", "notes that the Office of the Federal Register adds in the margin"),
    ("page", "page numbers of the print"),
    ("endMarker", "an ornament"),
    ("endorsement", "the back of the print, which repeats the masthead"),
    ("attestation", "the clerk's attestation"),
    ("signatures", "signatures"),
    ("legislativeHistory", "added by the Office of the Federal Register"),
    ("notation", "a remark of the printer"),
    ("del", "struck"),
    ("deletedText", "struck"),
    ("deleted-phrase", "struck"),
];

/// Headings that the reader adds, since the text has none there.
const ADDED_HEADINGS: [&str; 2] = ["Preamble", "Resolved"];

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data")
}

/// The XML files of one source.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![shared().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            if path.is_dir() {
                folders.push(path);
            } else if extension == "xml" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn without_space(text: &str) -> impl Iterator<Item = char> {
    // Soft hyphens are typesetting; bars separate the cells of tables in what is served.
    text.chars().filter(|c| !c.is_whitespace() && !['\u{ad}', '|'].contains(c))
}

fn official(node: Node<'_, '_>, out: &mut String) {
    let left_out = LEFT_OUT.iter().any(|(name, _)| *name == node.tag_name().name())
        || node.attribute("changed") == Some("deleted");
    if node.is_text() {
        out.extend(without_space(node.text().unwrap_or_default()));
    } else if !left_out {
        node.children().for_each(|child| official(child, out));
    }
}

/// The headings and texts of every section of the one text in a file.
fn served(source: &str, file: &Path) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (into, out) = (folder.path().join("in").join(source), folder.path().join("out.jsonl"));
    std::fs::create_dir_all(&into).expect("a folder");
    std::fs::copy(file, into.join(file.file_name().expect("a name"))).expect("a copy");
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.arg("read").arg("--from").arg(folder.path().join("in")).arg("--out").arg(&out);
    let output = command.output().expect("the builder runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let records = std::fs::read_to_string(out).expect("records");
    let mut text = String::new();
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        for section in record["body"].as_array().into_iter().flatten() {
            let heading = section["heading"].as_str().unwrap_or_default();
            let heading = heading.rsplit(" > ").next().unwrap_or_default();
            if !ADDED_HEADINGS.contains(&heading) {
                text.extend(without_space(heading));
            }
            text.extend(without_space(section["text"].as_str().unwrap_or_default()));
        }
    }
    text
}

fn compare(source: &str, file: &Path) -> Result<(), Failed> {
    let xml = std::fs::read_to_string(file).expect("UTF-8");
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&xml, options).expect("well-formed");
    let mut expected = String::new();
    official(document.root_element(), &mut expected);
    let found = served(source, file);
    if expected == found {
        return Ok(());
    }
    let same = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    let around =
        |text: &str| -> String { text.chars().skip(same.saturating_sub(60)).take(160).collect() };
    let (expected, found) = (around(&expected), around(&found));
    Err(format!("differs after {same} characters\nofficial: {expected}\nserved:   {found}").into())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (source, folder) in [("bills", "bills/bill-xml"), ("public-laws", "public-laws/uslm")] {
        let found = files(folder);
        if found.is_empty() {
            let name = format!("official_text_{source}");
            trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
        }
        // A private law is no record with a text.
        for file in found.into_iter().filter(|f| !f.to_string_lossy().contains("pvtl")) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let run = move || compare(source, &file);
            trials.push(Trial::test(format!("official_text_{name}"), run));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
