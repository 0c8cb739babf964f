//! The builder among broken files: what is good gets in, what is bad is listed with file, place
//! and reason, and every file and record is accounted for.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use josh::bundle::Bundle;
use serde_json::Value;

/// An input folder, and what builds made of it.
struct Case {
    folder: tempfile::TempDir,
}

/// A build's bundle, report and list of rejects.
struct Built {
    output: Output,
    bundle: PathBuf,
    /// Reasons by file and place.
    rejects: BTreeMap<(String, String), String>,
}

impl Case {
    fn new() -> Case {
        let folder = tempfile::tempdir().expect("it is done");
        std::fs::create_dir(folder.path().join("in")).expect("it is done");
        Case { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("in").join(name);
        std::fs::create_dir_all(path.parent().expect("it is done")).expect("it is done");
        path
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Case {
        std::fs::write(self.path(name), bytes).expect("it is done");
        self
    }

    fn build(&self, more: &[&str]) -> Built {
        let (bundle, rejects) =
            (self.folder.path().join("out.db"), self.folder.path().join("rejects.jsonl"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        command
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .args(["build", "--embed", "none", "--from"]);
        command
            .arg(self.folder.path().join("in"))
            .arg("--out")
            .arg(&bundle)
            .arg("--rejects")
            .arg(&rejects);
        let output = command.args(more).output().expect("the builder runs");
        let listed = std::fs::read_to_string(&rejects).unwrap_or_default();
        let rejects = listed.lines().map(|line| {
            let reject: Value = serde_json::from_str(line).expect("JSON");
            let text = |name: &str| reject[name].as_str().expect("a text").to_string();
            ((text("file"), text("place")), text("reason"))
        });
        Built { output, bundle, rejects: rejects.collect() }
    }
}

impl Built {
    fn succeeded(self) -> Built {
        let said = String::from_utf8_lossy(&self.output.stderr).into_owned();
        assert!(
            self.output.status.success() && !said.contains("panicked"),
            "{:?} {said}",
            self.output.status
        );
        self
    }

    fn has(&self, ids: &[&str]) -> &Built {
        let bundle = Bundle::open(&self.bundle).expect("a bundle");
        for id in ids {
            assert!(bundle.records().by_id(id).is_some(), "no {id}");
        }
        self
    }

    fn field(&self, id: &str, name: &str) -> Value {
        let bundle = Bundle::open(&self.bundle).expect("a bundle");
        let (_, entry) = bundle.records().by_id(id).unwrap_or_else(|| panic!("no {id}"));
        serde_json::from_str::<Value>(entry.data).expect("JSON")[name].clone()
    }

    /// Asserts that the file was rejected at the place, for a reason that has these words.
    fn rejects(&self, file: &str, place: &str, why: &str) -> &Built {
        let reason = self.rejects.get(&(file.into(), place.into()));
        let reason =
            reason.unwrap_or_else(|| panic!("{file} ({place}) is not among {:#?}", self.rejects));
        assert!(reason.contains(why), "{file} ({place}): {reason:?} does not say {why:?}");
        self
    }

    /// The numbers of each line of the report's first table, by the columns' names.
    fn counts(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let report = String::from_utf8_lossy(&self.output.stdout).into_owned();
        let mut lines = report.lines();
        let heads: Vec<&str> = lines.next().expect("a head").split_whitespace().skip(1).collect();
        let rows = lines.take_while(|l| !l.is_empty()).map(|line| {
            let mut cells = line.split_whitespace();
            let name = cells.next().expect("a source").to_string();
            (
                name,
                heads
                    .iter()
                    .zip(cells)
                    .filter_map(|(h, n)| Some((h.to_string(), n.parse().ok()?)))
                    .collect(),
            )
        });
        rows.collect()
    }

    /// Nothing is lost: what was found is in the bundle, merged or rejected, source by source.
    fn adds_up(&self) -> &Built {
        for (source, n) in self.counts() {
            assert_eq!(n["found"], n["rejected"] + n["merged"] + n["records"], "{source}: {n:?}");
            assert!(n["files"] >= n["skipped"] + n["failed"], "{source}: {n:?}");
        }
        assert_eq!(self.counts()["all"]["rejected"], self.rejects.len() as u64);
        self
    }
}

fn status(number: u32, title: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<billStatus><bill>\
         <type>HR</type><number>{number}</number>\
         <congress>119</congress><title>{title}</title>\
         <introducedDate>2025-01-03</introducedDate></bill></billStatus>"
    )
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in members {
        zip.start_file(*name, options).expect("it is done");
        zip.write_all(bytes).expect("it is done");
    }
    zip.finish().expect("it is done").into_inner()
}

fn gz_of(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(bytes).expect("it is done");
    gz.finish().expect("it is done")
}

const ALL: &[&str] = &["--max-rejected", "100", "--max-skipped", "100"];

/// Given one broken file of each kind among good ones, when built, then the good ones are there
/// and the bad ones listed.
#[test]
fn each_kind_of_broken_file_is_listed_and_the_rest_goes_on() {
    let case = Case::new();
    case.file("bills/good.xml", status(1, "Good"))
        .file("bills/unclosed.xml", "<billStatus>\n<bill><number>2</number>\n</billStatus>")
        .file(
            "bills/entities.xml",
            "<!DOCTYPE a [<!ENTITY b 'lol'><!ENTITY c '&b;&b;'>]><billStatus>&c;</billStatus>",
        )
        .file("bills/deep.xml", "<a>".repeat(2_000_000))
        .file(
            "bills/deep-closed.xml",
            format!("{}{}", "<a>".repeat(500_000), "</a>".repeat(500_000)),
        )
        .file("bills/nul.xml", "<billStatus><bill>\0</bill></billStatus>")
        .file("bills/empty.xml", "")
        .file("bills/empty.jsonl", "")
        .file(
            "bills/no-number.xml",
            "<billStatus><bill><type>HR</type><congress>119</congress></bill></billStatus>",
        )
        .file("bills/deep.json", "[".repeat(1_000_000))
        .file("bills/cut.json", "{\"bill\": {\"type\": \"HR\",\n \"number\":")
        .file(
            "bills/lines.jsonl",
            format!("{{\"bill\": \n\u{feff}\n\0\n{}\n", "{\"a\":".repeat(100_000)),
        )
        .file("bills/cut.jsonl.gz", &gz_of(&vec![b'x'; 100_000])[..40])
        .file(
            "bills/cut.jsonl.zst",
            &zstd::encode_all(&b"{}\n{}\n"[..], 3).expect("it is done")[..10],
        )
        .file("saps/broken.yaml", "- a: [1, 2\n- b: }\n")
        .file("saps/deep.yaml", "[".repeat(100_000))
        .file("saps/laughs.yaml", laughing_yaml())
        .file("committees/broken.json", "{]")
        .file("staff-directories/broken.csv", b"\"unclosed,\xff\n\0".repeat(100))
        .file("bills/not.zip", "PK\x03\x04 but not really");
    let built = case.build(ALL).succeeded();
    built.has(&["hr:119:1"]).adds_up();
    built
        .rejects("bills/unclosed.xml", "the whole file", "3:1")
        .rejects("bills/entities.xml", "the whole file", "entities")
        .rejects("bills/deep.xml", "the whole file", "")
        .rejects("bills/deep-closed.xml", "the whole file", "nested")
        .rejects("bills/nul.xml", "the whole file", "1:19")
        .rejects("bills/empty.xml", "the whole file", "")
        .rejects("bills/no-number.xml", "billStatus", "number")
        .rejects("bills/deep.json", "the whole file", "line 1 column")
        .rejects("bills/cut.json", "the whole file", "line 2")
        .rejects("bills/lines.jsonl", "line 1", "column")
        .rejects("bills/lines.jsonl", "line 3", "column")
        .rejects("bills/lines.jsonl", "line 4", "recursion limit")
        .rejects("bills/cut.jsonl.gz", "line 1", "cannot be read further")
        .rejects("bills/cut.jsonl.zst", "line 1", "cannot be read further")
        .rejects("saps/broken.yaml", "the whole file", "line")
        .rejects("saps/deep.yaml", "the whole file", "recursion")
        .rejects("saps/laughs.yaml", "the whole file", "repetition")
        .rejects("committees/broken.json", "the whole file", "line 1 column 2")
        .rejects("bills/not.zip", "the whole file", "zip");
}

fn laughing_yaml() -> String {
    let mut text = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for n in 1..10 {
        text += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
    }
    text
}

/// Given more broken than may be, when built, then it fails, says so, and leaves no bundle.
#[test]
fn too_much_that_is_broken_fails_the_build() {
    let case = Case::new();
    case.file("bills/good.xml", status(1, "Good")).file("bills/bad.xml", "<billStatus");
    let built = case.build(&["--max-rejected", "49"]);
    assert_eq!(built.output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&built.output.stderr).contains("--max-rejected"));
    assert!(!built.bundle.exists());
    // Half of them is what 50 allows.
    case.build(&["--max-rejected", "50"]).succeeded().has(&["hr:119:1"]);
}

/// Given archives of one kind and another, when built, then members are read like files and the
/// broken ones named.
#[test]
fn archives_are_read_member_by_member() {
    let case = Case::new();
    let (one, two) = (status(1, "In a zip"), status(2, "In a folder of a zip"));
    let native = b"{\"id\":\"hr:119:7\",\"introduced_date\":\"2025-01-03\"}\n";
    let good = zip_of(&[
        ("BILLSTATUS-119hr1.xml", one.as_bytes()),
        ("deep/BILLSTATUS-119hr2.xml", two.as_bytes()),
        ("bad.xml", b"<billStatus>"),
        ("inner.zip", &zip_of(&[("x.xml", one.as_bytes())])),
        ("../outside.xml", one.as_bytes()),
        ("guide.md", b"# Guide"),
        ("__MACOSX/._bad.xml", b"\0"),
        ("bills.josh.jsonl.gz", &gz_of(native)),
    ]);
    let mut damaged = zip_of(&[
        ("a.xml", status(3, "x").repeat(9).as_bytes()),
        ("b.xml", status(4, "Whole").as_bytes()),
    ]);
    damaged[60] ^= 0xff;
    let bomb = zip_of(&[
        ("bomb.xml", &vec![b' '; 80 << 20]),
        ("c.xml", status(5, "Beside a bomb").as_bytes()),
    ]);
    case.file("bills/BILLSTATUS-119-hr.zip", &good)
        .file("bills/damaged.zip", &damaged)
        .file("bills/bomb.zip", &bomb);
    case.file("bills/cut.zip", &good[..good.len() / 4])
        .file("bills/packed.xml.gz", gz_of(status(6, "Gz").as_bytes()));
    case.file(
        "bills/bomb.jsonl.zst",
        zstd::encode_all(std::io::repeat(b' ').take(80 << 20), 3).expect("it is done"),
    );
    let built = case.build(ALL).succeeded();
    built.has(&["hr:119:1", "hr:119:2", "hr:119:4", "hr:119:5", "hr:119:6", "hr:119:7"]).adds_up();
    built
        .rejects("bills/BILLSTATUS-119-hr.zip/bad.xml", "the whole file", "never closed")
        .rejects(
            "bills/BILLSTATUS-119-hr.zip/inner.zip",
            "the whole file",
            "archives inside archives",
        )
        .rejects(
            "bills/BILLSTATUS-119-hr.zip/../outside.xml",
            "the whole file",
            "outside the archive",
        )
        .rejects("bills/damaged.zip/a.xml", "the whole file", "unpacked")
        .rejects("bills/bomb.zip/bomb.xml", "the whole file", "64 MiB")
        .rejects("bills/cut.zip", "the whole file", "zip")
        .rejects("bills/bomb.jsonl.zst", "line 1", "250 times");
    assert_eq!(built.rejects.len(), 7, "{:#?}", built.rejects);
    let bills = &built.counts()["bills"];
    assert_eq!((bills["skipped"], bills["failed"]), (1, 6), "{bills:?}");
}

/// Given an archive that unpacks to far more than it is, when built, then reading it stops.
#[test]
fn an_archive_of_many_small_bombs_is_stopped() {
    let case = Case::new();
    let bytes = vec![b' '; 20 << 20];
    let names: Vec<String> = (0..8).map(|n| format!("{n}.xml")).collect();
    let members: Vec<(&str, &[u8])> =
        names.iter().map(|n| (n.as_str(), bytes.as_slice())).collect();
    case.file("bills/bombs.zip", zip_of(&members)).file("bills/good.xml", status(1, "Good"));
    let built = case.build(ALL).succeeded();
    built.has(&["hr:119:1"]).adds_up().rejects(
        "bills/bombs.zip",
        "the whole file",
        "250 times its size",
    );
}

/// Given texts in other encodings than they should be, when built, then every letter is there.
#[test]
fn encodings_are_repaired() {
    let case = Case::new();
    let latin = |text: String| {
        text.chars().map(|c| u8::try_from(u32::from(c)).expect("it is done")).collect::<Vec<u8>>()
    };
    let utf16 = |text: String| {
        [0xff, 0xfe]
            .into_iter()
            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
            .collect::<Vec<u8>>()
    };
    case.file("bills/declared.xml", latin(status(1, "Jos\u{e9}").replace("utf-8", "ISO-8859-1")))
        .file("bills/undeclared.xml", latin(status(2, "The \u{93}Mu\u{f1}oz\u{94} Act")))
        .file(
            "bills/mixed.xml",
            [status(3, "Mu\u{f1}oz @ Co").as_bytes()]
                .concat()
                .iter()
                .map(|b| if *b == b'@' { 0x96 } else { *b })
                .collect::<Vec<u8>>(),
        )
        .file("bills/wide.xml", utf16(status(4, "Peña")))
        .file("bills/mark.xml", format!("\u{feff}{}", status(5, "Mark")))
        .file("bills/mojibake.xml", status(6, "PeÃ±a"));
    let mut line =
        b"{\"id\":\"hr:119:7\",\"introduced_date\":\"2025-01-03\",\"title\":\"Pe\xf1a\"}\n"
            .to_vec();
    line.extend_from_slice(
        b"{\"id\":\"hr:119:8\",\"introduced_date\":\"2025-01-03\",\"title\":\"a\\u0000b\"}\n",
    );
    case.file("bills.josh.jsonl", line);
    let built = case.build(&["--max-rejected", "0"]).succeeded();
    built.adds_up();
    for (number, title) in [
        (1, "José"),
        (2, "The “Muñoz” Act"),
        (3, "Muñoz – Co"),
        (4, "Peña"),
        (5, "Mark"),
        (6, "PeÃ±a"),
        (7, "Peña"),
    ] {
        assert_eq!(built.field(&format!("hr:119:{number}"), "title"), title);
    }
    built.has(&["hr:119:8"]);
}

/// Given one record in many files, when built, then it is one record, and the others are counted
/// as merged.
#[test]
fn duplicates_are_counted() {
    let case = Case::new();
    for n in 0..5 {
        case.file(&format!("bills/{n}.xml"), status(1, &format!("Title {n}")));
    }
    case.file("bills/other.xml", status(2, "Other")).file("bills/readme.txt", "no record");
    let built = case.build(&["--max-rejected", "0"]).succeeded();
    built.adds_up();
    let bills = &built.counts()["bills"];
    let shown =
        ["files", "skipped", "failed", "found", "rejected", "merged", "records"].map(|c| bills[c]);
    assert_eq!(shown, [7, 1, 0, 6, 0, 4, 2]);
    // Of equals the last one read counts.
    assert_eq!(built.field("hr:119:1", "title"), "Title 4");
}

/// Given records that are absurdly large, when built, then they are rejected alone.
#[test]
fn absurd_sizes_are_rejected() {
    let case = Case::new();
    let line = |number: u32, title: &str| {
        format!(
            "{{\"id\":\"hr:119:{number}\",\"introduced_date\":\"2025-01-03\",\
             \"title\":\"{title}\"}}\n"
        )
    };
    let (long, endless) = ("x".repeat(17 << 20), "x".repeat(70 << 20));
    let lines = [line(1, "Good"), line(2, &long), line(3, &endless), line(4, "After")].concat();
    case.file("bills.josh.jsonl", lines);
    // A hole takes no room on the disk.
    std::fs::File::create(case.path("bills/huge.xml"))
        .expect("it is done")
        .set_len(300 << 20)
        .expect("it is done");
    let built = case.build(ALL).succeeded();
    built.has(&["hr:119:1", "hr:119:4"]).adds_up();
    built
        .rejects("bills.josh.jsonl", "hr:119:2", "longer than 16 MiB")
        .rejects("bills.josh.jsonl", "line 3", "longer than 64 MiB")
        .rejects("bills/huge.xml", "the whole file", "larger than 256 MiB");
}

/// Given a folder full of what is no file, when built, then it is listed and nothing hangs.
#[test]
fn what_is_no_file_is_listed_and_never_waited_for() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let case = Case::new();
    case.file("bills/good.xml", status(1, "Good"))
        .file("bills/folder.xml/inside.xml", status(2, "In a folder"));
    case.file("bill/typo.xml", status(9, "Nobody looks here"))
        .file("bills/secret.xml", status(3, "Secret"));
    symlink("loop.xml", case.path("bills/loop.xml")).expect("it is done");
    symlink("nowhere.xml", case.path("bills/dangling.xml")).expect("it is done");
    symlink("..", case.path("bills/up")).expect("it is done");
    symlink("/dev/zero", case.path("bills/endless.xml")).expect("it is done");
    assert!(
        Command::new("mkfifo")
            .arg(case.path("bills/pipe.xml"))
            .status()
            .expect("it is done")
            .success()
    );
    std::fs::create_dir(case.path("bills.josh.jsonl")).expect("it is done");
    std::fs::set_permissions(case.path("bills/secret.xml"), std::fs::Permissions::from_mode(0o000))
        .expect("it is done");
    let begun = Instant::now();
    let built = case.build(&[ALL, &["--ignore-unknown-folders"]].concat()).succeeded();
    assert!(begun.elapsed() < Duration::from_secs(60));
    built.has(&["hr:119:1", "hr:119:2"]).adds_up();
    built
        .rejects("bills/loop.xml", "the whole file", "cannot be opened")
        .rejects("bills/dangling.xml", "the whole file", "cannot be opened")
        .rejects("bills/up/bills", "the whole file", "a link to one of its parent folders")
        .rejects("bills/endless.xml", "the whole file", "neither a file nor a folder")
        .rejects("bills/pipe.xml", "the whole file", "neither a file nor a folder")
        .rejects("bills.josh.jsonl", "the whole file", "a folder where a file is expected");
    // Root may read everything.
    if std::fs::read(case.path("bills/secret.xml")).is_err() {
        built.rejects("bills/secret.xml", "the whole file", "cannot be opened");
    }
    let report = String::from_utf8_lossy(&built.output.stdout).into_owned();
    assert!(report.contains("ignored in the input folder: bill\n"), "{report}");
}

/// Given a folder that can't be read, when built, then it says which; given none, too.
#[test]
fn an_input_folder_that_is_none_is_an_error() {
    let run = |from: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        command
            .args(["build", "--embed", "none", "--from"])
            .arg(from)
            .args(["--out", "/nowhere/out.db"]);
        command.output().expect("the builder runs")
    };
    let folder = tempfile::tempdir().expect("it is done");
    for from in [folder.path().join("missing"), folder.path().to_path_buf()] {
        let output = run(&from);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("josh-data-build: "),
            "{output:?}"
        );
    }
}
