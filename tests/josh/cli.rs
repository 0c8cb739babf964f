//! The command line: `get` answers like the server, `bundle` shows, checks and signs, settings
//! come from flags, environment and file, manual pages are complete, closed pipes are harmless.

use serde_json::Value;

use crate::support::{JOSH, SAMPLE, Server, josh, run, sample};

/// The body without what differs between any two requests: the request id and the duration.
fn comparable(body: &str) -> String {
    let id = regex::Regex::new(r#""request_id":"[^"]*""#).unwrap();
    let took = regex::Regex::new(r#""took_ms":\d+"#).unwrap();
    took.replace_all(&id.replace_all(body, ""), "").into_owned()
}

#[test]
fn get_answers_byte_for_byte_what_the_server_sends() {
    for path in [
        "/v1/sources",
        "/v1/sources/bills",
        "/v1/bills/hr:119:1",
        "/v1/fetch/P.L.%20119-21",
        "/v1/bills?limit=3&sort=-number",
        "/v1/bills?congress=119&format=csv",
        "/v1/legislators?format=ndjson&limit=5",
        "/v1/bills/hr:119:1/actions?limit=2",
        "/v1/bills/hr:119:1/body",
        "/v1/bills/hr:119:99999",
        "/v1/bills?sponser=x",
        "/v1/search?q=border+security&limit=3",
        "/v1/search?q=tax&mode=lexical&source=bills&congress=118",
        "/nothing",
        "/openapi.json",
        "/",
        "/docs",
        "/livez",
        "/readyz",
        "/health",
    ] {
        let server = SAMPLE.get(path);
        let output = run(&["get", path]);
        assert_eq!(
            comparable(&String::from_utf8(output.stdout).unwrap()),
            comparable(&server.text()),
            "{path}"
        );
        assert_eq!(output.status.code(), Some(i32::from(server.status >= 400)), "{path}");
    }
}

#[test]
fn get_accepts_only_paths() {
    for bad in ["v1/bills", "http://x/v1/bills", ""] {
        let output = run(&["get", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("not a path"), "{bad}");
    }
}

/// Given a path as people type it, with spaces, quotes and accents, when it is requested, then it
/// is encoded.
#[test]
fn get_encodes_what_people_type() {
    for (typed, encoded) in [
        ("/v1/bills/H.R. 1", "/v1/bills/H.R.%201"),
        (
            "/v1/search?q=\"border security\" é&mode=lexical",
            "/v1/search?q=%22border%20security%22%20%C3%A9&mode=lexical",
        ),
    ] {
        let output = run(&["get", typed]);
        assert_eq!(
            comparable(&String::from_utf8(output.stdout).unwrap()),
            comparable(&SAMPLE.get(encoded).text()),
            "{typed}"
        );
    }
}

#[test]
fn info_is_for_people_and_for_programs() {
    let path = sample();
    let path = path.to_str().unwrap();
    let text = String::from_utf8(run(&["bundle", "info", path]).stdout).unwrap();
    let json: Value =
        serde_json::from_slice(&run(&["bundle", "info", path, "--json"]).stdout).unwrap();
    assert!(
        text.contains(json["id"].as_str().unwrap())
            && text.contains("bills")
            && text.contains("sha256")
    );
    for key in ["format", "id", "data_version", "as_of", "sources", "sections", "congresses"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["sources"].as_array().unwrap().len(), 22);
    assert!(json["sources"][0]["licence"].is_string() && json["sources"][0]["from"].is_string());
    assert_eq!(json["sections"][0]["kind"], "database");
}

#[test]
fn a_signed_bundle_verifies_with_its_key_and_with_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (bundle, key, public, other) = (path("b.db"), path("key"), path("key.pub"), path("other"));
    std::fs::copy(sample(), &bundle).unwrap();
    let code = |args: &[&str]| run(args).status.code();
    // Unsigned: intact, but not what someone who gives a key expects.
    assert_eq!(code(&["bundle", "verify", &bundle]), Some(0));
    assert_eq!(code(&["bundle", "keygen", &key]), Some(0));
    assert_eq!(code(&["bundle", "verify", &bundle, "--key", &public]), Some(2));

    assert_eq!(code(&["bundle", "sign", &bundle, "--key", &key]), Some(0));
    assert_eq!(code(&["bundle", "verify", &bundle, "--key", &public]), Some(0));
    assert_eq!(code(&["bundle", "verify", &bundle]), Some(0));
    let before = run(&["bundle", "info", sample().to_str().unwrap(), "--json"]).stdout;
    let after = run(&["bundle", "info", &bundle, "--json"]).stdout;
    let id = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["id"].clone();
    assert_eq!(id(&before), id(&after), "signing does not change what the bundle is");

    assert_eq!(code(&["bundle", "keygen", &other]), Some(0));
    let wrong = run(&["bundle", "verify", &bundle, "--key", &format!("{other}.pub")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("another key"));
    assert_eq!(
        code(&["bundle", "sign", &bundle, "--key", &public]),
        Some(2),
        "a public key cannot sign"
    );
    // A signed bundle serves like any other.
    assert_eq!(code(&["get", "/v1/bills/hr:119:1", "--bundle", &bundle]), Some(0));
}

/// Given key files that are missing, wrong or there already, when they are used, then the message
/// blames the key file and not the bundle, and nothing is overwritten.
#[test]
fn problems_with_a_key_name_the_key_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (bundle, key, public, missing) = (path("b.db"), path("key"), path("key.pub"), path("none"));
    std::fs::copy(sample(), &bundle).unwrap();
    assert!(run(&["bundle", "keygen", &key]).status.success());
    let before = std::fs::read(&key).unwrap();
    for (args, blamed, why) in [
        (&["bundle", "sign", &bundle, "--key", &missing][..], &missing, "cannot read it"),
        (&["bundle", "sign", &bundle, "--key", &public], &public, "not a PKCS#8 PEM private key"),
        (&["bundle", "keygen", &key], &key, "exists already"),
    ] {
        let output = run(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.starts_with(&format!("josh: key file {blamed}: ")), "{message}");
        assert!(message.contains(why) && !message.contains("b.db"), "{message}");
    }
    assert!(run(&["bundle", "sign", &bundle, "--key", &key]).status.success());
    let output = run(&["bundle", "verify", &bundle, "--key", &missing]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("key file"), "{message}");
    // Half a pair is not completed, and its half is not overwritten.
    std::fs::rename(&key, &missing).unwrap();
    let output = run(&["bundle", "keygen", &key]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("key.pub: it exists already"));
    assert!(!std::path::Path::new(&key).exists());
    assert_eq!(std::fs::read(&missing).unwrap(), before);
}

#[test]
fn a_manifest_changed_after_signing_does_not_verify() {
    use josh::bundle::{Trust, read_manifest};
    let folder = tempfile::tempdir().unwrap();
    let (bundle, key) = (folder.path().join("b.db"), folder.path().join("key"));
    std::fs::copy(sample(), &bundle).unwrap();
    josh::bundle::generate_key(&key).unwrap();
    josh::bundle::sign(&bundle, &key).unwrap();
    let (_, mut manifest) = read_manifest(&bundle).unwrap();
    assert!(manifest.check_signature(&Trust::Key(&key)).unwrap());
    manifest.as_of = "1999-01-01".into();
    assert!(manifest.check_signature(&Trust::Key(&key)).is_err());
    assert!(manifest.check_signature(&Trust::Embedded).is_err());
}

#[test]
fn diff_shows_what_a_new_edition_changed() {
    let folder = tempfile::tempdir().unwrap();
    let same = crate::support::edition(folder.path(), "same.db", "another-id");
    let (old, new) = (sample(), same);
    let output = run(&["bundle", "diff", old.to_str().unwrap(), old.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("the same content"));
    let output = run(&["bundle", "diff", old.to_str().unwrap(), new.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.contains("another-id") && said.lines().count() == 2,
        "{said}"
    );
    assert_eq!(run(&["bundle", "diff", old.to_str().unwrap(), "/nowhere"]).status.code(), Some(2));
}

#[test]
fn flags_come_before_the_environment_before_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("josh.toml");
    std::fs::write(&config, "listen = \"the-file\"\nworkers = 1\n").unwrap();
    let config = config.to_str().unwrap();
    let refused = |command: &mut std::process::Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&mut josh(&["serve", "--config", config])).contains("the-file"));
    assert!(
        refused(josh(&["serve", "--config", config]).env("JOSH_LISTEN", "the-environment"))
            .contains("the-environment")
    );
    let flag = &["serve", "--config", config, "--listen", "the-flag"];
    assert!(refused(josh(flag).env("JOSH_LISTEN", "the-environment")).contains("the-flag"));
    let server = Server::start(&["--config", config]);
    assert_eq!(server.get("/livez").status, 200);
}

#[test]
fn an_unknown_setting_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("josh.toml");
    std::fs::write(&config, "lisen = \"127.0.0.1:0\"\n").unwrap();
    let output = run(&["serve", "--config", config.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("lisen"));
    // A variable may belong to a client: it gets a warning.
    let refused = ["serve", "--workers", "0"];
    let output = josh(&refused).env("JOSH_AUTHH", "oauth").output().unwrap();
    let warning = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warning.contains("warning: JOSH_AUTHH is set") && warning.contains("JOSH_AUTH?"));
    for args in [
        &["serve", "--workers", "0"][..],
        &["serve", "--listen", "127.0.0.1"],
        &["serve", "--nothing"],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
}

/// Given an empty JOSH_BUNDLE, as a host passes it when its user chose no bundle, when `josh mcp`
/// starts, then it serves the sample; a server that was told nothing does not start.
#[test]
fn an_empty_bundle_variable_means_the_sample_to_mcp_only() {
    let output = josh(&["mcp"]).env("JOSH_BUNDLE", "").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = josh(&["serve"]).env("JOSH_BUNDLE", "").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(run(&["mcp", "--bundle", ""]).status.code(), Some(2));
}

/// Given values of the wrong type in flags, variables and the file, when `serve` starts, then the
/// message says what is accepted, without Rust types.
#[test]
fn a_value_of_the_wrong_type_is_explained_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("josh.toml");
    std::fs::write(&config, "rate = \"abc\"\n").unwrap();
    let config = config.to_str().unwrap();
    for (mut command, expected) in [
        (josh(&["serve", "--config", config]), "rate: must be an integer from 0"),
        (josh(&["serve", "--workers", "abc"]), "must be an integer of at least 0"),
        (josh(&["serve", "--rate", "1.5"]), "must be an integer from 0 to 4294967295"),
        (josh(&["serve", "--auth", "basic"]), "disabled, keys, oauth"),
    ] {
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
        for leak in ["u32", "u64", "usize", "invalid type", "invalid digit"] {
            assert!(!message.contains(leak), "{message}");
        }
    }
    let variable = josh(&["serve"]).env("JOSH_QUEUE_MS", "soon").output().unwrap();
    assert!(String::from_utf8_lossy(&variable.stderr).contains("an integer of at least 0"));
}

/// Given a reader that is gone, as after `| head`, when a command prints, then it ends quietly with
/// the exit code that it would have had.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let bundle = sample();
    let bundle = bundle.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.json");
    let keys = keys.to_str().unwrap();
    for (args, code) in [
        (&["completions", "bash"][..], 0),
        (&["man"], 0),
        (&["serve", "--print-config"], 0),
        (&["bundle", "info", bundle], 0),
        (&["bundle", "info", bundle, "--json"], 0),
        (&["bundle", "verify", bundle], 0),
        (&["bundle", "diff", bundle, bundle], 0),
        (&["get", "/v1/sources"], 0),
        (&["get", "/v1/nothing"], 1),
        (&["keys", "add", "alice", "--keys", keys], 0),
        (&["keys", "list", "--keys", keys], 0),
        (&["--help"], 0),
        (&["bundle", "info", "/nowhere"], 2),
    ] {
        let closed = || {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            writer
        };
        let output = josh(args).stdout(closed()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(!message.contains("panicked") && !message.contains("pipe"), "{args:?}: {message}");
        let both = josh(args).stdout(closed()).stderr(closed()).status().unwrap();
        let code = if args[0] == "keys" && args[1] == "add" { 2 } else { code };
        assert_eq!(both.code(), Some(code), "{args:?} with standard error closed");
    }
}

/// Given the manual pages in a folder, when one refers to another, then that one is there; every
/// command has one, and that of `serve` has every setting.
#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let output = run(&["man", "--dir", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(pages.join(name)).expect(name);
    let mut names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["josh.1", "josh-serve.1", "josh-get.1", "josh-bundle-info.1", "josh-keys-add.1"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
    let reference = regex::Regex::new(r"josh[a-z-]*\(1\)").unwrap();
    let mut references = 0;
    for name in &names {
        for found in reference.find_iter(&read(name).replace("\\-", "-")) {
            let page = found.as_str().replace("(1)", ".1");
            assert!(names.contains(&page), "{name} refers to {page}");
            references += 1;
        }
    }
    assert!(references > 10, "{references}");
    let printed = String::from_utf8(run(&["man"]).stdout).unwrap();
    assert_eq!(printed, read("josh.1"), "josh man prints josh(1)");
    let serve = read("josh-serve.1").replace("\\-", "-");
    for setting in josh::settings::SETTINGS {
        let flag = format!("--{}", setting.name.replace('_', "-"));
        assert!(serve.contains(&flag) && serve.contains(setting.variable), "{flag}");
    }
    assert_eq!(run(&["man", "--dir", "/proc/nowhere"]).status.code(), Some(1));
}

#[test]
fn help_leads_to_every_command_and_setting() {
    let out = |args: &[&str]| String::from_utf8(run(args).stdout).unwrap();
    let help = out(&["--help"]);
    for verb in ["serve", "get", "keys", "bundle", "completions", "man"] {
        assert!(help.contains(verb), "{verb}");
    }
    let serve = out(&["serve", "--help"]);
    assert!(serve.contains("SIGHUP") && !serve.contains("settings above"), "{serve}");
    for setting in josh::settings::SETTINGS {
        assert!(serve.contains(setting.variable), "{}", setting.variable);
    }
    assert!(out(&["completions", "bash"]).contains("_josh"));
    assert!(out(&["man"]).contains(".TH"));
    assert_eq!(out(&["--version"]).trim(), format!("josh {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_banner_shows_what_is_served_and_a_command_to_try() {
    let server = Server::start(&[]);
    let banner = server.log().join("\n");
    assert!(
        banner.contains("embedded sample") && banner.contains(&format!("{}/docs", server.url)),
        "{banner}"
    );
    let command =
        banner.lines().find_map(|l| l.trim().strip_prefix("try ")).unwrap().trim().to_string();
    let path = command.strip_prefix(&format!("curl {}", server.url)).expect("a line to paste");
    assert_eq!(server.get(path).status, 200);
}

/// Given the commands that the banner of the sample names, when their help is asked for, then each
/// of them exists.
#[test]
fn the_banner_names_commands_that_exist() {
    let banner = Server::start(&[]).log().join("\n");
    for command in ["bundle pull", "connect"] {
        assert!(banner.contains(&format!("josh {command} ")), "{banner}");
        let words = command.split(' ').chain(["--help"]).collect::<Vec<_>>();
        assert!(run(&words).status.success(), "josh {command}");
    }
}

#[test]
fn the_sample_is_unpacked_once_and_again_when_it_was_damaged() {
    let cache = tempfile::tempdir().unwrap();
    let get = || {
        let output = josh(&["get", "/v1/bills/hr:119:1"])
            .env("XDG_CACHE_HOME", cache.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let folder = std::fs::read_dir(cache.path().join("josh")).unwrap();
        folder
            .flatten()
            .map(|e| (e.path(), e.metadata().unwrap().modified().unwrap()))
            .collect::<Vec<_>>()
    };
    let first = get();
    assert_eq!(first.len(), 1);
    assert_eq!(get(), first, "the second run unpacks nothing");
    std::fs::remove_file(&first[0].0).unwrap();
    std::fs::write(&first[0].0, "damaged").unwrap();
    assert_eq!(get().len(), 1);
    // Where the cache can't be written, a temporary folder is used.
    let temporary = tempfile::tempdir().unwrap();
    let output = josh(&["get", "/livez"])
        .env("XDG_CACHE_HOME", "/proc/nowhere")
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn anyone_can_open_a_bundle_with_duckdb() {
    let config = duckdb::Config::default().access_mode(duckdb::AccessMode::ReadOnly).unwrap();
    let db = duckdb::Connection::open_with_flags(sample(), config).unwrap();
    let title: String = db
        .query_row("SELECT title FROM bills WHERE id = 'hr:119:1'", [], |row| row.get(0))
        .unwrap();
    assert!(title.contains("Big Beautiful"), "{title}");
}

/// One executable with no dynamic libraries: an ELF file without an interpreter.
#[test]
fn the_binary_is_static() {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return;
    }
    let bytes = std::fs::read(JOSH).unwrap();
    assert_eq!(&bytes[..5], b"\x7fELF\x02");
    let word = |at: usize, n: usize| {
        bytes[at..at + n].iter().rev().fold(0usize, |w, b| w << 8 | *b as usize)
    };
    let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    let kinds: Vec<usize> = (0..count).map(|n| word(table + n * size, 4)).collect();
    const PT_INTERP: usize = 3;
    assert!(!kinds.contains(&PT_INTERP), "it needs a dynamic loader");
}
