//! Which content is kept: unchanged files, compression, stated checksums, pages instead of data.

use super::support::*;

/// Given a file that is here, when the server says that it has not changed, then nothing is
/// written; when it has another tag, then the file is fetched again.
#[test]
fn an_unchanged_file_is_not_fetched_and_a_changed_one_is() {
    let route = |body: String, tag: &'static str| -> Route {
        Box::new(move |request, _| match request.header("if-none-match") == tag {
            true => status(304).with("ETag", tag),
            false => ok(body.clone()).with("ETag", tag),
        })
    };
    let server = Server::start(vec![(RSS, route(rss(), "\"one\""))]);
    let folder = Folder::new();
    assert_eq!(counts(&fetch(&server, &folder, &GAO), "gao-reports"), [1, 0, 0, 0]);
    let written = || {
        std::fs::metadata(folder.data().join(RSS_FILE))
            .expect("the file")
            .modified()
            .expect("a time")
    };
    let before = written();
    assert_eq!(counts(&fetch(&server, &folder, &GAO), "gao-reports"), [0, 0, 1, 0]);
    assert_eq!((server.seen()[1].header("if-none-match"), written()), ("\"one\"", before));
    let newer = rss().replace("boats", "ships");
    server.serve(vec![(RSS, route(newer.clone(), "\"two\""))]);
    assert_eq!(counts(&fetch(&server, &folder, &GAO), "gao-reports"), [0, 1, 0, 0]);
    assert_eq!(folder.read(RSS_FILE), newer);
}

/// Given a server that knows days only, when a file is here, then it is asked for by day.
#[test]
fn without_a_tag_the_day_is_asked_by() {
    let day = "Fri, 03 Jan 2025 10:00:00 GMT";
    let route: Route =
        Box::new(move |request, _| match request.header("if-modified-since") == day {
            true => status(304),
            false => ok(rss()).with("Last-Modified", day),
        });
    let server = Server::start(vec![(RSS, route)]);
    let folder = Folder::new();
    fetch(&server, &folder, &GAO);
    assert_eq!(counts(&fetch(&server, &folder, &GAO), "gao-reports"), [0, 0, 1, 0]);
}

/// A gzip file with one stored block: no compressor needed to test a decompressor.
fn gzip(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let length = bytes.len() as u16;
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    out.extend((!crc).to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    out
}

/// Given compressed answers, when a file is fetched, then it is stored plain; when the compression
/// is broken, then it is tried again, and if it stays broken it is said and nothing is left.
#[test]
fn broken_compression_is_tried_again_and_never_kept() {
    let packed =
        |bytes: Vec<u8>| ok(bytes).with("Content-Encoding", "gzip").with("ETag", "\"one\"");
    let damaged = |at: usize| {
        let mut bytes = gzip(&rss());
        bytes[at] ^= 0xff;
        packed(bytes)
    };
    let length = gzip(&rss()).len();
    let folder = Folder::new();
    let server = Server::start(vec![(RSS, always(packed(gzip(&rss()))))]);
    assert!(fetch(&server, &folder, &GAO).success);
    assert_eq!(folder.read(RSS_FILE), rss());

    for broken in
        [damaged(40), damaged(length - 6), damaged(0), packed(gzip(&rss())[..length - 20].to_vec())]
    {
        let folder = Folder::new();
        server.serve(vec![(RSS, one_by_one(vec![broken.clone(), ok(rss())]))]);
        assert!(fetch(&server, &folder, &GAO).success);
        assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 2));
        let folder = Folder::new();
        server.serve(vec![(RSS, always(broken))]);
        let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "1"]].concat());
        assert!(!run.success && run.text.contains("gzip"), "{}", run.text);
        assert_eq!(folder.files(), [""; 0]);
    }
}

/// Given a publisher that states a checksum, when what comes is something else, then it is not
/// kept.
#[test]
fn a_stated_checksum_is_checked() {
    use sha2::{Digest, Sha256};
    let digest = |text: &str| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text))
    };
    let right = ok(rss()).with("Repr-Digest", format!("sha-256=:{}:", digest(&rss())));
    let wrong = ok(rss()).with("Digest", format!("SHA-256={}", digest("other")));
    let server = Server::start(vec![(RSS, always(right))]);
    assert!(fetch(&server, &Folder::new(), &GAO).success);
    server.serve(vec![(RSS, always(wrong))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "1"]].concat());
    assert!(!run.success && run.text.contains("SHA-256"), "{}", run.text);
    assert_eq!((folder.files().len(), server.seen().len()), (0, 2));
}

/// Given a server that sends a page of apology with status 200, when XML is expected, then it is
/// not kept as XML.
#[test]
fn a_web_page_is_no_data() {
    let page = ok("<!DOCTYPE html><html><body>Are you a robot?</body></html>");
    let server = Server::start(vec![(RSS, always(page))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(
        !run.success && run.text.contains("received a web page instead of xml"),
        "{}",
        run.text
    );
    assert_eq!((folder.files().len(), server.seen().len()), (0, 1));
}

const REPORTS: [&str; 2] = ["--sources", "committee-reports"];
const REPORT: &str = "/www.govinfo.gov/content/pkg/CRPT-119hrpt1.zip";

/// A sitemap with one report, and the answers for its package.
fn report(package: Route) -> Vec<(&'static str, Route)> {
    let sitemap = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>\
        <loc>https://www.govinfo.gov/app/details/CRPT-119hrpt1</loc>\
        <lastmod>2025-01-22</lastmod></url></urlset>";
    vec![
        ("/www.govinfo.gov/sitemap/CRPT_2025_sitemap.xml", always(ok(sitemap))),
        ("/www.govinfo.gov/error", always(page("Page Not Found"))),
        (REPORT, package),
    ]
}

/// Given a publisher that redirects what is missing to a page with status 200, when a report is
/// fetched, then the page is not stored, and the next run asks for the report again.
#[test]
fn a_redirect_to_an_error_page_is_a_missing_file() {
    let away = status(302).with("Location", "/www.govinfo.gov/error");
    let server = Server::start(report(always(away)));
    let folder = Folder::new();
    let run = fetch(&server, &folder, &REPORTS);
    assert!(!run.success && run.text.contains("redirected to another page"), "{}", run.text);
    assert_eq!((counts(&run, "committee-reports"), folder.files().len()), (vec![0, 0, 0, 1], 0));
    let moved = status(301).with("Location", "/mirror/CRPT-119hrpt1.zip");
    let mut routes = report(always(moved));
    routes.push(("/mirror/CRPT-119hrpt1.zip", always(ok(super::documents::report_package()))));
    server.serve(routes);
    let run = fetch(&server, &folder, &REPORTS);
    assert!(run.success, "the same file elsewhere is followed: {}", run.text);
    assert_eq!(folder.files(), ["committee-reports/2025/CRPT-119hrpt1.zip"]);
}

/// Given an archive that the publisher is still making, when it is fetched, then it is asked for
/// again.
#[test]
fn an_archive_in_the_making_is_asked_for_again() {
    let wait = page("Generating File. Please check back in 30 seconds.");
    let package = ok(super::documents::report_package());
    let server = Server::start(report(one_by_one(vec![wait, package])));
    let folder = Folder::new();
    let run = fetch(&server, &folder, &REPORTS);
    assert!(run.success, "{}", run.text);
    assert_eq!(folder.files(), ["committee-reports/2025/CRPT-119hrpt1.zip"]);
}

/// Given an answer that is labelled as a page, when XML is expected, then it is not kept, even if
/// it does not look like one.
#[test]
fn what_is_labelled_as_a_page_is_one() {
    let notice = ok("<div>Down for maintenance</div>").with("Content-Type", "text/html");
    let server = Server::start(vec![(RSS, always(notice))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(!run.success && run.text.contains("a web page instead of xml"), "{}", run.text);
    assert_eq!(folder.files(), [""; 0]);
}
