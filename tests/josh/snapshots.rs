//! What people and programs see, word for word. `INSTA_UPDATE=always cargo test --release` takes a
//! change over.

use crate::support::{SAMPLE, Server, run, sample};

/// The text without what differs from run to run: ports, request ids, times, paths, the bundle's
/// id and hashes.
fn settled(text: &str) -> String {
    let mut out = text.to_string();
    for (pattern, with) in [
        (r"127\.0\.0\.1:\d+", "ADDRESS"),
        (r#""request_id":\s*"[^"]*""#, r#""request_id": "REQUEST""#),
        (r#""took_ms":\s*\d+"#, r#""took_ms": 0"#),
        (r#""next_cursor":\s*"[^"]*""#, r#""next_cursor": "CURSOR""#),
        (r"request <code>[^<]*", "request <code>REQUEST"),
        (r"[0-9a-f]{64}", "SHA256"),
        (r"[0-9a-f]{32}", "BUNDLE"),
        (r"/\S*/sample-[0-9a-f]+\.db", "SAMPLE"),
    ] {
        out = regex::Regex::new(pattern).unwrap().replace_all(&out, with).into_owned();
    }
    out
}

fn stdout(args: &[&str]) -> String {
    settled(&String::from_utf8(run(args).stdout).unwrap())
}

#[test]
fn help() {
    insta::assert_snapshot!("help", stdout(&["--help"]));
    insta::assert_snapshot!("help_serve", stdout(&["serve", "--help"]));
    insta::assert_snapshot!("help_bundle_verify", stdout(&["bundle", "verify", "--help"]));
}

#[test]
fn banner() {
    let server = Server::start(&[]);
    insta::assert_snapshot!("banner", settled(&server.log().join("\n")));
}

#[test]
fn bundle_info() {
    insta::assert_snapshot!("bundle_info", stdout(&["bundle", "info", sample().to_str().unwrap()]));
}

#[test]
fn bodies() {
    for (name, path) in [
        ("record", "/v1/bills/s:119:5"),
        ("record_resolved", "/v1/fetch/P.L.%20119-1"),
        ("rows", "/v1/bills/s:119:5/actions?limit=2"),
        (
            "csv",
            "/v1/committees?type=committee&chamber=joint,senate\
             &fields=name,chamber,member_count&format=csv",
        ),
        ("empty", "/v1/bills?congress=119&introduced_date.lt=2024-01-01"),
        ("error", "/v1/bills/hr:119:99999"),
        ("error_parameter", "/v1/saps?presidnt=x"),
    ] {
        let text = SAMPLE.get(path).text();
        let shown = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(json) => serde_json::to_string_pretty(&json).unwrap(),
            Err(_) => text,
        };
        insta::assert_snapshot!(name, settled(&shown));
    }
}

/// Pages as a browser gets them, an element on each line.
#[test]
fn pages() {
    let hash = regex::Regex::new(r"-[0-9a-f]{8,}\.(css|js)").unwrap();
    for (name, path) in [
        ("page_record", "/bills/s:119:5"),
        ("page_list", "/saps?limit=2"),
        ("page_vote", "/roll-call-votes/house:119:1:289"),
        ("page_chart", "/bills?group_by=chamber"),
        ("page_error", "/bills/hr:119:99999"),
        ("page_text", "/bills/s:119:5/body"),
        ("page_actions", "/bills/s:119:5/actions"),
        ("page_time", "/saps?bucket_by_time=date&time_interval=year&group_by=position"),
        ("page_fields", "/sources/saps"),
        ("picture", "/v1/saps?bucket_by_time=date&time_interval=year&format=svg"),
    ] {
        let page = SAMPLE.send("GET", path, &[("accept", "text/html")]).text();
        let page = hash.replace_all(&page, ".$1");
        insta::assert_snapshot!(name, settled(&page.replace("><", ">\n<")));
    }
}
