//! Section 3: one envelope, and a case for every code.

use std::path::Path;

use josh::api::error::Code;
use josh::bundle::format::SectionKind;

use crate::support::{SAMPLE, Server, changed, edition, sample, segment};

/// (code, method, path): what a client can do wrong.
const CASES: &[(Code, &str, &str)] = &[
    (Code::RecordNotFound, "GET", "/v1/bills/hr:119:99999"),
    (Code::RecordNotFound, "GET", "/v1/fetch/Z999999"),
    (Code::RecordNotFound, "GET", "/v1/bills/hr:119:99999/actions"),
    (Code::UnknownSource, "GET", "/v1/bils"),
    (Code::UnknownSource, "GET", "/v1/sources/nothing"),
    (Code::UnknownSource, "GET", "/v1/%F0%9F%98%80"),
    (Code::RouteNotFound, "GET", "/a/b/c/d"),
    (Code::UnknownSource, "GET", "/nothing"),
    (Code::RouteNotFound, "GET", "/v1/bills/hr:119:1/nothing"),
    (Code::RouteNotFound, "GET", "/v1/bills/hr:119:1/actions/1"),
    (Code::RouteNotFound, "GET", "/v1/bills/%ff"),
    (Code::MethodNotAllowed, "POST", "/v1/bills"),
    (Code::MethodNotAllowed, "DELETE", "/v1/bills/hr:119:1"),
    (Code::UnrecognizedIdFormat, "GET", "/v1/fetch/hello"),
    (Code::UnrecognizedIdFormat, "GET", "/v1/bills/pl:119:21"),
    (Code::UnrecognizedIdFormat, "GET", "/v1/fetch/"),
    (Code::UnrecognizedIdFormat, "GET", "/v1/amendments?bill_id=hello"),
    (Code::InvalidParameter, "GET", "/v1/bills?sponser=S000033"),
    (Code::InvalidParameter, "GET", "/v1/bills?status=enactd"),
    (Code::InvalidParameter, "GET", "/v1/bills?congress=many"),
    (Code::InvalidParameter, "GET", "/v1/bills?congress="),
    (Code::InvalidParameter, "GET", "/v1/bills?max_bytes=5000"),
    (Code::InvalidParameter, "GET", "/v1/bills/hr:119:1/body?max_bytes=5"),
    (Code::InvalidParameter, "GET", "/v1/bills/hr:119:1/toc?max_bytes=5000"),
    (Code::InvalidParameter, "GET", "/v1/bills?limit=0"),
    (Code::InvalidParameter, "GET", "/v1/bills?limit=101"),
    (Code::InvalidParameter, "GET", "/v1/bills?limit=99999999999999999999"),
    (Code::InvalidParameter, "GET", "/v1/bills?limit=5&limit=6"),
    (Code::InvalidParameter, "GET", "/v1/bills?sort=title"),
    (Code::InvalidParameter, "GET", "/v1/bills?fields=nothing"),
    (Code::InvalidParameter, "GET", "/v1/bills?format=xml"),
    (Code::InvalidParameter, "GET", "/v1/bills?introduced_date.gte=yesterday"),
    (Code::InvalidParameter, "GET", "/v1/bills?introduced_date.near=2025-01-01"),
    (Code::InvalidParameter, "GET", "/v1/bills?sponsor_party.gt=D"),
    (Code::InvalidParameter, "GET", "/v1/bills?title=x"),
    (Code::InvalidParameter, "GET", "/v1/bills?is_law=maybe"),
    (Code::InvalidParameter, "GET", "/v1/bills?x=%ff"),
    (Code::InvalidParameter, "GET", "/v1/bills/hr:119:1?limit=5"),
    (Code::InvalidParameter, "GET", "/v1/sources?limit=5"),
    (Code::InvalidParameter, "GET", "/v1/committees?since=2025-01-01"),
    (Code::SourceNotSearchable, "GET", "/v1/search?q=markey&source=legislators"),
    (Code::SourceNotSearchableSemantically, "GET", "/v1/search?q=water&mode=semantic&source=saps"),
    (Code::InvalidParameter, "GET", "/v1/search"),
    (Code::UnknownSource, "GET", "/v1/search?q=x&source=bils"),
    (Code::SourceNotResolvable, "GET", "/v1/bills?q=water"),
    (Code::InvalidParameter, "GET", "/v1/bills?aggregate=average"),
    (Code::InvalidParameter, "GET", "/v1/bills?aggregate=sum"),
    (Code::InvalidParameter, "GET", "/v1/bills?aggregate=count&group_by=title"),
    (Code::InvalidParameter, "GET", "/v1/bills?aggregate=count&sort=number"),
    (Code::InvalidParameter, "GET", "/v1/bills?time_interval=month"),
    (Code::InvalidParameter, "GET", "/v1/bills/hr:119:1/dossier?congress=119"),
    (Code::InvalidParameter, "GET", "/v1/legislators/S000033/dossier?congress=x"),
    (Code::RouteNotFound, "GET", "/v1/saps/sap:119:s:5:2025-01-22/dossier"),
    (Code::InvalidCursor, "GET", "/v1/bills?cursor=abc"),
    (Code::InvalidCursor, "GET", "/v1/bills?cursor=%F0%9F%98%80"),
];

#[test]
fn every_mistake_gets_its_code_its_status_and_the_envelope() {
    for (code, method, path) in CASES {
        let answer = SAMPLE.send(method, path, &[]);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (code.status(), code.as_str()),
            "{method} {path}: {}",
            answer.text()
        );
        let error = &answer.json()["error"];
        assert_eq!(
            (&error["type"], &error["retryable"]),
            (&code.kind().into(), &code.retryable().into())
        );
        assert!(error["message"].as_str().unwrap().ends_with('.'), "{path}: {error}");
        assert_eq!(error["request_id"], answer.header("x-request-id"));
        assert!(error["hint"]["next"].is_string());
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("etag"), "");
    }
}

/// The texts of the assertions in a file.
#[derive(Default)]
struct Assertions(Vec<String>);

impl<'ast> syn::visit::Visit<'ast> for Assertions {
    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        let name = found.path.get_ident().map(|ident| ident.to_string()).unwrap_or_default();
        if name.starts_with("assert") {
            self.0.push(found.tokens.to_string());
        }
    }
}

/// A code is tested by a case above or, where it needs a special server or request, by a test that
/// asserts it.
#[test]
fn every_code_of_the_table_has_a_case() {
    use syn::visit::Visit;
    let mut assertions = Assertions::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/josh");
    for file in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&file).unwrap();
            assertions.visit_file(&syn::parse_file(&text).unwrap());
        }
    }
    let is_tested = |code: &Code| {
        let literal = format!("\"{}\"", code.as_str());
        CASES.iter().any(|case| case.0.as_str() == code.as_str())
            || assertions.0.iter().any(|assertion| assertion.contains(&literal))
    };
    let untested = Code::ALL.iter().filter(|code| !is_tested(code)).map(|code| code.as_str());
    assert_eq!(untested.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn errors_name_the_field_the_nearest_name_and_the_list() {
    let error = |path: &str| SAMPLE.get(path).json()["error"].clone();
    let misspelt = error("/v1/bills?sponser=S000033");
    assert_eq!(
        (&misspelt["field"], &misspelt["hint"]["did_you_mean"]),
        (&"sponser".into(), &"sponsor".into())
    );
    assert!(misspelt["hint"]["valid"].as_array().unwrap().contains(&"sponsor".into()));
    let value = error("/v1/bills?status=enactd");
    assert_eq!(
        (&value["field"], &value["hint"]["did_you_mean"]),
        (&"status".into(), &"enacted".into())
    );
    assert_eq!(error("/v1/bils")["hint"]["did_you_mean"], "bills");
    assert_eq!(error("/v1/bills/hr:119:1/cosponsers")["hint"]["did_you_mean"], "cosponsors");
    assert_eq!(error("/v1/bills?sort=introduced")["hint"]["did_you_mean"], "introduced_date");
    assert_eq!(error("/v1/bills?limit=1000")["hint"]["max"], 100);
    let id = error("/v1/fetch/hello");
    assert!(
        id["hint"]["valid_prefixes"].as_array().unwrap().iter().any(|f| f["example"] == "hr:119:1")
    );
    assert_eq!(error("/v1/bills/pl:119:21")["hint"]["use"], "/v1/public-laws/pl:119:21");
    assert_eq!(error("/v1/amendments?bill_id=hello")["field"], "bill_id");
}

#[test]
fn a_cursor_serves_only_the_list_it_was_made_for() {
    let first = SAMPLE.get("/v1/bills?limit=2&congress=119").json();
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(SAMPLE.get(&format!("/v1/bills?limit=2&congress=119&cursor={cursor}")).status, 200);
    for other in [
        "/v1/bills?limit=2",
        "/v1/bills?congress=118",
        "/v1/bills?congress=119&sort=number",
        "/v1/legislators?limit=2",
    ] {
        let joint = format!("{other}&cursor={cursor}");
        assert_eq!(SAMPLE.get(&joint).code(), "invalid_cursor", "{joint}");
    }
    let mut damaged: Vec<char> = cursor.chars().collect();
    damaged[10] = if damaged[10] == 'A' { 'B' } else { 'A' };
    let damaged: String = damaged.into_iter().collect();
    assert_eq!(
        SAMPLE.get(&format!("/v1/bills?limit=2&congress=119&cursor={damaged}")).code(),
        "invalid_cursor"
    );
}

#[test]
fn a_large_body_is_refused_before_it_is_read() {
    use std::io::{Read, Write};
    let mut stream =
        std::net::TcpStream::connect(SAMPLE.url.trim_start_matches("http://")).unwrap();
    stream
        .write_all(
            b"GET /v1/bills HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\
              Connection: close\r\n\r\n",
        )
        .unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("payload_too_large"), "{answer}");
}

/// The blocks of a DuckDB file: their size, and where the first begins, behind three headers.
const BLOCK: u64 = 65_536;
const FIRST_BLOCK: u64 = 3 * 4096;

/// Given a bundle whose table of bills is damaged, which opening does not read, when a query
/// meets the damage, then the client learns that something is wrong and no more, the log has the
/// cause, and records still come from their own section.
#[test]
fn damage_inside_the_database_is_an_internal_error_that_tells_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // With columns a list would not ask the database.
    let path = changed(folder.path(), "inner.db", |manifest| {
        manifest.sections.retain(|section| section.kind != SectionKind::Columns);
    });
    let database = duckdb::Connection::open(folder.path().join("inner.db.part0")).unwrap();
    let sql = "SELECT DISTINCT block_id FROM pragma_storage_info('bills') WHERE block_id >= 0";
    let mut statement = database.prepare(sql).unwrap();
    let blocks = statement.query_map([], |row| row.get::<_, u64>(0)).unwrap();
    let blocks: Vec<u64> = blocks.map(Result::unwrap).collect();
    assert!(!blocks.is_empty(), "the table of bills has blocks");
    let mut bytes = std::fs::read(&path).unwrap();
    for block in blocks {
        let start = (FIRST_BLOCK + block * BLOCK) as usize;
        for byte in bytes[start..start + BLOCK as usize].iter_mut().step_by(64) {
            *byte ^= 0x55;
        }
    }
    let broken = folder.path().join("broken.db");
    std::fs::write(&broken, bytes).unwrap();
    let server = Server::start(&["--bundle", broken.to_str().unwrap()]);
    let answer = server.get("/v1/bills?congress=119");
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"));
    let text = answer.text();
    for secret in ["DuckDB", "broken.db", "SELECT", "block"] {
        assert!(!text.contains(secret), "{text}");
    }
    let id = answer.header("x-request-id");
    crate::support::eventually("the log has the cause", || {
        server.log().iter().any(|line| line.contains("request failed") && line.contains(id))
    });
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
}

#[test]
fn a_file_cut_short_under_the_server_is_bundle_unavailable_and_the_server_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "cut.db", "cut");
    let whole = std::fs::read(&path).unwrap();
    let mut server = Server::start(&["--bundle", path.to_str().unwrap()]);
    // A page that was never read is asked for after the cut.
    let id = server.get("/v1/topic-taxonomy?limit=1").json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    std::fs::remove_file(folder.path().join("cut.db.part0")).unwrap();
    std::process::Command::new("chmod").args(["u+w", path.to_str().unwrap()]).status().unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let mut unavailable = false;
    for path in [
        format!("/v1/fetch/{}", segment(&id)),
        "/v1/fetch/hr:118:2".into(),
        "/v1/fetch/S000033".into(),
    ] {
        let answer = server.get(&path);
        assert!(answer.status == 200 || answer.code() == "bundle_unavailable", "{}", answer.text());
        unavailable |= answer.status == 503 && answer.header("retry-after") == "5";
    }
    assert!(unavailable && server.is_running());
    let list = server.get("/v1/federal-register?sort=-page_count");
    assert!(list.status == 200 || list.code() == "bundle_unavailable", "{}", list.text());
    assert_eq!((server.get("/readyz").status, server.get("/livez").status), (503, 200));
    // A whole bundle put in its place is taken up without a restart.
    let next = folder.path().join("next.db");
    std::fs::write(&next, whole).unwrap();
    std::fs::rename(&next, &path).unwrap();
    crate::support::eventually("the server is ready again", || server.get("/readyz").status == 200);
    assert_eq!(server.get("/v1/fetch/hr:119:1").status, 200);
    assert!(sample().exists());
}
