//! Section 10: a damaged or truncated bundle, or any other file, is a clear error and exit code 2,
//! and never a crash.

use std::os::unix::fs::FileExt;
use std::path::Path;

use josh::bundle::format::FOOTER_LENGTH;
use josh::bundle::read_manifest;

use crate::support::{run, sample};

/// The error message of `josh` about a file that no command may open.
fn refused(path: &Path) -> String {
    let path = path.to_str().unwrap();
    let mut said = String::new();
    for args in [
        &["serve", "--listen", "127.0.0.1:0", "--bundle", path][..],
        &["get", "/v1/sources", "--bundle", path],
        &["bundle", "info", path],
        &["bundle", "verify", path],
    ] {
        let output = run(args);
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.starts_with("josh: ") && said.contains(path) && said.trim().ends_with('.'),
            "{args:?}: {said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
    said
}

#[test]
fn folders_and_missing_and_empty_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path()).contains("folder"));
    assert!(refused(&folder.path().join("missing.db")).contains("cannot read"));
    let empty = folder.path().join("empty.db");
    std::fs::write(&empty, b"").unwrap();
    assert!(refused(&empty).contains("empty"));
}

#[test]
fn a_plain_duckdb_file_and_other_files_are_not_bundles() {
    let folder = tempfile::tempdir().unwrap();
    let (_, manifest) = read_manifest(&sample()).unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let plain = folder.path().join("plain.duckdb");
    std::fs::write(&plain, &bytes[..manifest.sections[0].length as usize]).unwrap();
    assert!(refused(&plain).contains("plain DuckDB file"));
    let text = folder.path().join("text.db");
    std::fs::write(&text, "not a bundle ".repeat(100)).unwrap();
    assert!(refused(&text).contains("not a Josh bundle"));
}

#[test]
fn a_bundle_truncated_at_any_length_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let path = folder.path().join("cut.db");
    let n = bytes.len();
    for length in [1, 100, 127, 128, 4096, n / 4, n / 2, n - 4096, n - 129, n - 128, n - 127, n - 1]
    {
        std::fs::write(&path, &bytes[..length]).unwrap();
        refused(&path);
    }
    let longer = [&bytes[..], b"more"].concat();
    std::fs::write(&path, longer).unwrap();
    refused(&path);
}

/// Given a footer that matches its hash and a file as long as it says, when its manifest would be
/// longer than any real one, then it is refused instead of being read into memory.
#[test]
fn a_manifest_of_absurd_length_is_refused() {
    use josh::bundle::format::{FORMAT, Footer, MAX_MANIFEST_LENGTH, PAGE};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.db");
    let manifest_length = MAX_MANIFEST_LENGTH + 1;
    let footer = Footer {
        format: FORMAT,
        oldest_reader: FORMAT,
        manifest_offset: PAGE,
        manifest_length,
        file_length: PAGE + manifest_length + FOOTER_LENGTH,
        manifest_sha256: [0; 32],
    };
    // A sparse file: only the footer takes space.
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&footer.to_bytes(), PAGE + manifest_length).unwrap();
    assert!(refused(&path).contains("its manifest is 67108865 bytes long"));
}

#[test]
fn a_flipped_bit_in_footer_or_manifest_is_noticed_on_opening() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let path = folder.path().join("flipped.db");
    let n = bytes.len();
    let footer = (n - FOOTER_LENGTH as usize..n).step_by(13);
    let manifest = (1..6).map(|k| n - FOOTER_LENGTH as usize - k * 150);
    for at in footer.chain(manifest) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        refused(&path);
    }
}

#[test]
fn a_flipped_bit_anywhere_is_noticed_by_verify() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let (_, manifest) = read_manifest(&sample()).unwrap();
    let path = folder.path().join("flipped.db");
    for section in &manifest.sections {
        for part in [0, section.length / 3, section.length - 1] {
            let mut damaged = bytes.clone();
            damaged[(section.offset + part) as usize] ^= 0x01;
            std::fs::write(&path, damaged).unwrap();
            let output = run(&["bundle", "verify", path.to_str().unwrap()]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("damaged"), "{said}");
            // Serving it works or fails with an error; it never crashes.
            let served =
                run(&["get", "/v1/bills?congress=119&limit=1", "--bundle", path.to_str().unwrap()]);
            assert!(matches!(served.status.code(), Some(0..=2)), "{served:?}");
        }
    }
}

#[test]
fn a_bundle_of_another_format_says_what_to_do() {
    use josh::bundle::format::{FORMAT, Footer};
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let at = bytes.len() - FOOTER_LENGTH as usize;
    for (format, advice) in [(FORMAT + 1, "Install a newer Josh"), (0, "Build it again")] {
        let mut footer = Footer::from_bytes(&bytes[at..], bytes.len() as u64).unwrap();
        (footer.format, footer.oldest_reader) = (format, format);
        let path = folder.path().join(format!("format{format}.db"));
        std::fs::write(&path, [&bytes[..at], &footer.to_bytes()].concat()).unwrap();
        assert!(refused(&path).contains(advice));
    }
}
