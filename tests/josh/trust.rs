//! Bundles that must be signed: `--verify-key` at the start and at every reload.

use std::path::{Path, PathBuf};

use crate::support::{Server, edition, eventually, josh, run};

fn key(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(run(&["bundle", "keygen", path.to_str().unwrap()]).status.success());
    path
}

fn sign(bundle: &Path, key: &Path) {
    let args = ["bundle", "sign", bundle.to_str().unwrap(), "--key", key.to_str().unwrap()];
    let signed = run(&args);
    assert!(signed.status.success(), "{}", String::from_utf8_lossy(&signed.stderr));
}

/// Why `serve` refuses a bundle under a key.
fn refused(bundle: &Path, key: &Path) -> String {
    let args = ["serve", "--listen", "127.0.0.1:0", "--bundle", bundle.to_str().unwrap()];
    let output = josh(&args).arg("--verify-key").arg(key).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

fn public(key: &Path) -> PathBuf {
    PathBuf::from(format!("{}.pub", key.display()))
}

#[test]
fn a_server_with_a_key_serves_only_what_it_signed() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (key(folder.path(), "own"), key(folder.path(), "other"));
    let path = edition(folder.path(), "federal.db", "first");
    assert!(refused(&path, &public(&own)).contains("it is not signed"));
    sign(&path, &other);
    assert!(refused(&path, &public(&own)).contains("another key"));
    sign(&path, &own);
    assert!(refused(&path, &folder.path().join("nothing.pub")).contains("nothing.pub"));

    let start = |key: Option<&Path>| {
        let mut args = vec!["--bundle", path.to_str().unwrap()];
        args.extend(key.map(|key| ["--verify-key", key.to_str().unwrap()]).into_iter().flatten());
        Server::start(&args)
    };
    let state = |server: &Server| server.get("/health").json()["bundle"]["signature"].clone();
    assert_eq!(state(&start(None)), "unverified");
    let own_public = public(&own);
    let server = start(Some(&own_public));
    assert_eq!(state(&server), "verified");

    // A new edition must be signed, too, and by the same key.
    let served = || server.get("/health").json()["bundle"]["id"].clone();
    let offer = |id: &str, by: Option<&Path>| {
        let new = edition(folder.path(), &format!("{id}.db"), id);
        if let Some(by) = by {
            sign(&new, by);
        }
        std::fs::rename(new, &path).unwrap();
        server.signal("HUP");
    };
    offer("unsigned", None);
    eventually("unsigned", || server.logged("it is not signed"));
    offer("strange", Some(&other));
    eventually("strange", || server.logged("another key"));
    assert_eq!(served(), "first");
    assert!(server.get("/readyz").json()["refused"]["bundle"].is_string());
    offer("second", Some(&own));
    eventually("the signed edition", || served() == "second");
    assert_eq!(state(&server), "verified");
}

/// Given a signed bundle one of whose sections was changed, when it is opened with the key, then it
/// is refused: the signature covers the hashes, and the hashes are checked.
#[test]
fn a_changed_section_is_noticed_before_it_is_used() {
    use std::os::unix::fs::{FileExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let own = key(folder.path(), "own");
    let path = edition(folder.path(), "federal.db", "first");
    sign(&path, &own);
    let (_, manifest) = josh::bundle::read_manifest(&path).unwrap();
    for section in &manifest.sections {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let at = section.offset + section.length / 2;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        let said = refused(&path, &public(&own));
        assert!(said.contains("do not match their hash"), "{:?}: {said}", section.kind);
        file.write_all_at(&byte, at).unwrap();
    }
}
