//! The fetcher, over the real binary and a real server that is slow, breaks off, says no, and changes its mind.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use josh::bundle::{Bundle, read_manifest};

// The server

/// A request as it came.
#[derive(Clone, Debug)]
struct Request {
    target: String,
    headers: HashMap<String, String>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What to answer, and how badly.
#[derive(Clone)]
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Bytes of the body to send before hanging up.
    cut: Option<usize>,
    /// Pause before each of five pieces of the body.
    slow: Duration,
    /// Pause in the middle of the body.
    stall: Duration,
}

fn ok(body: impl Into<Vec<u8>>) -> Reply {
    let (headers, slow, stall) = (Vec::new(), Duration::ZERO, Duration::ZERO);
    Reply { status: 200, headers, body: body.into(), cut: None, slow, stall }
}

fn status(status: u16) -> Reply {
    Reply { status, ..ok("") }
}

impl Reply {
    fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    fn write(&self, out: &mut TcpStream) -> std::io::Result<()> {
        write!(out, "HTTP/1.1 {} X\r\nConnection: close\r\n", self.status)?;
        if self.status != 304 {
            write!(out, "Content-Length: {}\r\n", self.body.len())?;
        }
        for (name, value) in &self.headers {
            write!(out, "{name}: {value}\r\n")?;
        }
        out.write_all(b"\r\n")?;
        let body = &self.body[..self.cut.unwrap_or(self.body.len())];
        for (i, piece) in body.chunks(body.len().div_ceil(5).max(1)).enumerate() {
            std::thread::sleep(if i == 3 { self.slow + self.stall } else { self.slow });
            out.write_all(piece)?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Answers by path; gets the request and how many came to this path before it.
type Route = Box<dyn Fn(&Request, usize) -> Reply + Send + Sync>;

#[derive(Default)]
struct Routes {
    by_path: HashMap<String, Route>,
    seen: Mutex<Vec<Request>>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

/// A server for all hosts: what is asked of `HOST` comes as `/HOST/…`.
struct Server {
    address: String,
    routes: Arc<Mutex<Arc<Routes>>>,
}

impl Server {
    fn start(routes: Vec<(&str, Route)>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Server { address, routes: Arc::default() };
        server.serve(routes);
        let shared = server.routes.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let routes = shared.lock().expect("routes").clone();
                std::thread::spawn(move || answer(stream, &routes));
            }
        });
        server
    }

    /// Changes what is answered, and forgets what was asked.
    fn serve(&self, routes: Vec<(&str, Route)>) {
        let by_path = routes.into_iter().map(|(path, route)| (path.to_string(), route)).collect();
        *self.routes.lock().expect("routes") = Arc::new(Routes { by_path, ..Routes::default() });
    }

    fn seen(&self) -> Vec<Request> {
        self.routes.lock().expect("routes").seen.lock().expect("requests").clone()
    }

    fn targets(&self) -> Vec<String> {
        self.seen().into_iter().map(|r| r.target).collect()
    }
}

fn answer(mut stream: TcpStream, routes: &Routes) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let target = first.split(' ').nth(1).unwrap_or_default().to_string();
    let headers = lines.take_while(|l| !l.is_empty()).filter_map(|l| {
        let (name, value) = l.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_string()))
    });
    let request = Request { target, headers: headers.collect() };
    let path = request.target.split('?').next().unwrap_or_default().to_string();
    let before = {
        let mut seen = routes.seen.lock().expect("requests");
        let before = seen.iter().filter(|r| r.target.split('?').next() == Some(path.as_str())).count();
        seen.push(request.clone());
        before
    };
    routes.busiest.fetch_max(routes.busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    let reply = routes.by_path.get(&path).map_or_else(|| status(404), |route| route(&request, before));
    let _ = reply.write(&mut stream);
    routes.busy.fetch_sub(1, Ordering::SeqCst);
}

fn always(reply: Reply) -> Route {
    Box::new(move |_, _| reply.clone())
}

/// One reply after the other; the last one stays.
fn one_by_one(replies: Vec<Reply>) -> Route {
    Box::new(move |_, n| replies[n.min(replies.len() - 1)].clone())
}

// The fetcher

const HOSTS: [&str; 11] = [
    "www.govinfo.gov",
    "api.congress.gov",
    "api.regulations.gov",
    "lda.gov",
    "www.federalregister.gov",
    "raw.githubusercontent.com",
    "www.gao.gov",
    "www.house.gov",
    "clerk.house.gov",
    "www.senate.gov",
    "www.cbo.gov",
];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// What is fetched into; it does not exist at first.
    fn data(&self) -> PathBuf {
        self.0.path().join("federal-data")
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.data().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Every file below, hidden ones too, without those of the fetcher itself.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.data(), &self.data(), &mut found);
        found.retain(|f| f != "fetch-state.jsonl" && f != ".fetch-lock");
        found.sort();
        found
    }
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(root, &path, found),
            false => found.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned()),
        }
    }
}

fn command(server: &Server, folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.arg("fetch").arg("--into").arg(folder.data());
    let usual = [("--since", "2025-01-03"), ("--until", "2025-01-31"), ("--pause", "0.01"), ("--timeout", "10")];
    for (flag, value) in usual.iter().filter(|(flag, _)| !args.contains(flag)) {
        command.args([flag, value]);
    }
    for host in HOSTS {
        command.arg("--base").arg(format!("{host}={}/{host}", server.address));
    }
    for variable in ["CONGRESS_API_KEY", "REGULATIONS_API_KEY", "LDA_API_KEY"] {
        command.env_remove(variable);
    }
    for variable in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

/// What a run printed, on both streams, and whether it was content.
struct Ran {
    text: String,
    success: bool,
}

fn ran(output: &Output) -> Ran {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Ran { text: String::from_utf8_lossy(&text).into_owned(), success: output.status.success() }
}

fn fetch(server: &Server, folder: &Folder, args: &[&str]) -> Ran {
    ran(&command(server, folder, args).output().expect("the fetcher runs"))
}

/// The counts of a source in the summary: new, changed, unchanged, failed.
fn counts(run: &Ran, source: &str) -> Vec<usize> {
    let line = run.text.lines().find(|l| l.split_whitespace().next() == Some(source));
    let line = line.unwrap_or_else(|| panic!("no {source} in:\n{}", run.text));
    line.split_whitespace().skip(1).map(|n| n.parse().expect("a count")).collect()
}

const RSS: &str = "/www.gao.gov/rss/reports.xml";
const RSS_FILE: &str = "gao-reports/rss/2025-01-31/reports.xml";
const GAO: [&str; 2] = ["--sources", "gao-reports"];

fn rss() -> String {
    format!("<rss>{}</rss>", "<item>A report on boats.</item>".repeat(400))
}

const FR_LIST: &str = "/www.govinfo.gov/bulkdata/json/FR/2025/01";
const FR: [&str; 2] = ["--sources", "federal-register"];

/// A list of GPO's bulk data: (address, time of change).
fn bulk(files: &[(&str, &str)]) -> Reply {
    let files = files.iter().map(|(link, changed)| {
        let name = link.rsplit('/').next();
        serde_json::json!({"name": name, "justFileName": name, "link": link, "folder": false, "size": 100,
            "formattedLastModifiedTime": changed, "fileExtension": "xml", "mimeType": "application/xml"})
    });
    ok(serde_json::json!({"files": files.collect::<Vec<_>>()}).to_string())
}

fn issue_address(day: &str) -> String {
    format!("https://www.govinfo.gov/bulkdata/FR/2025/01/FR-2025-01-{day}.xml")
}

fn issue_path(day: &str) -> String {
    format!("/www.govinfo.gov/bulkdata/FR/2025/01/FR-2025-01-{day}.xml")
}

// What can go wrong on the way

/// Given a server that takes its time, longer in all than the timeout, when a file is fetched, then it comes whole in
/// one request: the timeout is of silence, not of length.
#[test]
fn a_slow_body_is_waited_for() {
    let slow = Reply { slow: Duration::from_millis(500), ..ok(rss()) };
    let server = Server::start(vec![(RSS, always(slow))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &[&GAO[..], &["--timeout", "2"]].concat());
    assert!(run.success, "{}", run.text);
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 1));
}

/// Given a server that falls silent in the middle, when the timeout is over, then the rest is asked for.
#[test]
fn a_silent_server_is_left_and_the_rest_asked_for() {
    let route: Route = Box::new(|request, _| match ranged(request) {
        Some(start) => rest_of(&rss(), start),
        None => Reply { stall: Duration::from_secs(4), ..ok(rss()) }.with("ETag", "\"one\""),
    });
    let server = Server::start(vec![(RSS, route)]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &[&GAO[..], &["--timeout", "1"]].concat());
    assert!(run.success, "{}", run.text);
    assert_eq!(folder.read(RSS_FILE), rss());
    assert!(server.seen()[1].header("range").starts_with("bytes="), "{:?}", server.seen()[1]);
}

fn ranged(request: &Request) -> Option<usize> {
    request.header("range").strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

fn rest_of(body: &str, start: usize) -> Reply {
    let range = format!("bytes {start}-{}/{}", body.len() - 1, body.len());
    Reply { status: 206, ..ok(&body.as_bytes()[start..]) }.with("ETag", "\"one\"").with("Content-Range", range)
}

/// Given a connection that breaks off in the middle, when it is tried again, then only the rest is asked for, of the
/// same version, and the file and its checksum are those of the whole.
#[test]
fn a_broken_transfer_is_gone_on_with() {
    let route: Route = Box::new(|request, _| match ranged(request) {
        Some(start) => rest_of(&rss(), start),
        None => Reply { cut: Some(5000), ..ok(rss()) }.with("ETag", "\"one\""),
    });
    let server = Server::start(vec![(RSS, route)]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(run.success, "{}", run.text);
    let second = &server.seen()[1];
    assert_eq!((second.header("range"), second.header("if-range")), ("bytes=5000-", "\"one\""));
    assert_eq!((folder.read(RSS_FILE), folder.files().len()), (rss(), 1));
    assert!(fetch(&server, &folder, &["--verify"]).success, "the checksum is of the whole");
}

/// Given a run that gave up in the middle of a file, when the next run comes, then it goes on there; and when the file
/// changed meanwhile, it is fetched anew.
#[test]
fn the_next_run_goes_on_where_the_last_broke_off() {
    for changed in [false, true] {
        let cut = Reply { cut: Some(5000), ..ok(rss()) }.with("ETag", "\"one\"");
        let server = Server::start(vec![(RSS, one_by_one(vec![cut, status(404)]))]);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &GAO);
        assert!(!run.success && run.text.contains("404"), "{}", run.text);
        assert_eq!(folder.files(), ["gao-reports/rss/2025-01-31/.reports.xml.part"], "hidden from the builder");
        let newer = rss().replace("boats", "ships");
        let body = if changed { newer } else { rss() };
        let answer = body.clone();
        let route: Route = Box::new(move |request, _| match ranged(request) {
            Some(start) if !changed => rest_of(&answer, start),
            _ => ok(answer.clone()).with("ETag", "\"two\""),
        });
        server.serve(vec![(RSS, route)]);
        let run = fetch(&server, &folder, &GAO);
        assert!(run.success, "{}", run.text);
        assert_eq!(server.seen()[0].header("range"), "bytes=5000-");
        assert_eq!((folder.read(RSS_FILE), folder.files().len()), (body, 1));
    }
}

/// Given a server that says 429 with a time, when a file is fetched, then the fetcher waits as long and no longer
/// counts it as a failure, even with no retries left.
#[test]
fn a_server_that_asks_to_wait_is_waited_for() {
    let busy = status(429).with("Retry-After", "1");
    let server = Server::start(vec![(RSS, one_by_one(vec![busy, ok(rss())]))]);
    let folder = Folder::new();
    let started = Instant::now();
    let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "0"]].concat());
    assert!(run.success, "{}", run.text);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 2));
}

/// Given a server that asks for a longer wait than is allowed, then its file is given up with what to do.
#[test]
fn a_wait_that_is_too_long_is_not_waited_for() {
    let server = Server::start(vec![(RSS, always(status(429).with("Retry-After", "9000")))]);
    let run = fetch(&server, &Folder::new(), &[&GAO[..], &["--longest-wait", "5"]].concat());
    assert!(!run.success && run.text.contains("asks to wait 9000 s"), "{}", run.text);
    assert_eq!(server.seen().len(), 1);
}

/// Given a server that fails and recovers, when a file is fetched, then 500, 502, 503 and 504 are tried again.
#[test]
fn passing_errors_are_tried_again() {
    let replies = vec![status(500), status(503), status(502), status(504), ok(rss())];
    let server = Server::start(vec![(RSS, one_by_one(replies))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(run.success, "{}", run.text);
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 5));
}

/// Given errors that do not pass, when a file is fetched, then 400, 403 and 501 are asked once, and 500 as often as
/// allowed.
#[test]
fn other_errors_are_not_tried_again() {
    for (code, asked) in [(400, 1), (403, 1), (501, 1), (500, 3)] {
        let server = Server::start(vec![(RSS, always(status(code)))]);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "2"]].concat());
        assert!(!run.success && run.text.contains(&code.to_string()), "{}", run.text);
        assert_eq!((server.seen().len(), folder.files().len()), (asked, 0), "{code}");
    }
}

/// Given one file of three that is not there, when all are fetched, then the others are kept, the summary names it and
/// how to retry, and the exit code tells.
#[test]
fn a_missing_file_is_said_and_the_others_kept() {
    let days = ["02", "03", "06"].map(issue_address);
    let list: Vec<(&str, &str)> = days.iter().map(|d| (d.as_str(), "03-Jan-2025 01:00")).collect();
    let (first, last) = (issue_path("02"), issue_path("06"));
    let server = Server::start(vec![
        (FR_LIST, always(bulk(&list))),
        (&first, always(ok("<FEDREG/>"))),
        (&last, always(ok("<FEDREG/>"))),
    ]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &FR);
    assert!(!run.success);
    assert_eq!(counts(&run, "federal-register"), [2, 0, 0, 1]);
    assert!(run.text.contains(&format!("{}: the server answered 404", days[1])), "{}", run.text);
    assert!(run.text.contains("Run the same command again"), "{}", run.text);
    assert_eq!(folder.files(), ["02", "06"].map(|d| format!("federal-register/2025/01/FR-2025-01-{d}.xml")));
}

/// Given a file that is here, when the server says that it has not changed, then nothing is written; when it has
/// another tag, then the file is fetched again.
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
    let written = || std::fs::metadata(folder.data().join(RSS_FILE)).expect("the file").modified().expect("a time");
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
    let route: Route = Box::new(move |request, _| match request.header("if-modified-since") == day {
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

/// Given compressed answers, when a file is fetched, then it is stored plain; when the compression is broken, then it
/// is tried again, and if it stays broken it is said and nothing is left.
#[test]
fn broken_compression_is_tried_again_and_never_kept() {
    let packed = |bytes: Vec<u8>| ok(bytes).with("Content-Encoding", "gzip").with("ETag", "\"one\"");
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

    for broken in [damaged(40), damaged(length - 6), damaged(0), packed(gzip(&rss())[..length - 20].to_vec())] {
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

/// Given a publisher that states a checksum, when what comes is something else, then it is not kept.
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

/// Given a server that sends a page of apology with status 200, when XML is expected, then it is not kept as XML.
#[test]
fn a_web_page_is_no_data() {
    let page = ok("<!DOCTYPE html><html><body>Are you a robot?</body></html>");
    let server = Server::start(vec![(RSS, always(page))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(!run.success && run.text.contains("a web page came instead of xml"), "{}", run.text);
    assert_eq!((folder.files().len(), server.seen().len()), (0, 1));
}

// What is fetched and what is not

/// Given an empty folder, when a run is dry, then it says what it would fetch and makes not even the folder.
#[test]
fn a_dry_run_writes_nothing() {
    let address = issue_address("03");
    let server = Server::start(vec![(FR_LIST, always(bulk(&[(&address, "03-Jan-2025 01:00")])))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &["--sources", "federal-register,gao-reports,lda-filings", "--dry-run"]);
    assert!(run.success, "{}", run.text);
    assert!(run.text.contains(&format!("federal-register/2025/01/FR-2025-01-03.xml {address}")), "{}", run.text);
    assert!(run.text.contains("lda-filings/2025/2025-01-03-p1.json https://lda.gov/api/v1/filings/"), "{}", run.text);
    assert!(!folder.data().exists());
    assert_eq!(server.targets(), [FR_LIST], "only lists are asked for");
}

/// Given a folder that was fetched last week, when the list has one new file and one that changed, then these two are
/// fetched and no other is asked for.
#[test]
fn the_next_week_fetches_only_what_is_new() {
    let days = ["02", "03", "06"].map(issue_address);
    let paths = ["02", "03", "06"].map(issue_path);
    let serve = |list: Reply| -> Vec<(&str, Route)> {
        let mut routes = vec![(FR_LIST, always(list))];
        routes.extend(paths.iter().map(|p| (p.as_str(), always(ok(format!("<FEDREG>{p}</FEDREG>"))))));
        routes
    };
    let server = Server::start(serve(bulk(&[(&days[0], "02-Jan-2025 01:00"), (&days[1], "03-Jan-2025 01:00")])));
    let folder = Folder::new();
    assert_eq!(counts(&fetch(&server, &folder, &FR), "federal-register"), [2, 0, 0, 0]);
    let newer = [(&*days[0], "02-Jan-2025 01:00"), (&*days[1], "09-Jan-2025 01:00"), (&*days[2], "06-Jan-2025 01:00")];
    server.serve(serve(bulk(&newer)));
    let run = fetch(&server, &folder, &FR);
    assert!(run.success, "{}", run.text);
    let mut asked = server.targets();
    asked.sort();
    assert_eq!(asked, [paths[1].as_str(), paths[2].as_str(), FR_LIST]);
    assert_eq!(folder.files().len(), 3);
}

/// Given a file that was deleted or cut short by hand, when the next run comes, then it is fetched again.
#[test]
fn what_went_missing_is_fetched_again() {
    let address = issue_address("03");
    let path = issue_path("03");
    let server = Server::start(vec![
        (FR_LIST, always(bulk(&[(&address, "03-Jan-2025 01:00")]))),
        (&path, always(ok("<FEDREG>whole</FEDREG>"))),
    ]);
    let folder = Folder::new();
    fetch(&server, &folder, &FR);
    let file = "federal-register/2025/01/FR-2025-01-03.xml";
    std::fs::write(folder.data().join(file), "<FEDREG>").expect("damaged");
    let run = fetch(&server, &folder, &["--verify"]);
    assert!(!run.success && run.text.contains("FR-2025-01-03.xml: not as it was fetched"), "{}", run.text);
    assert!(fetch(&server, &folder, &FR).success);
    assert_eq!(folder.read(file), "<FEDREG>whole</FEDREG>");
    assert!(fetch(&server, &folder, &["--verify"]).success);
}

/// Given no key for an API, when its sources are fetched, then they are skipped, the variable and the place to get a
/// key are said, nothing is asked and the run is content.
#[test]
fn a_missing_key_is_said() {
    let server = Server::start(vec![]);
    let run = fetch(&server, &Folder::new(), &["--sources", "amendments,nominations,regulations-dot-gov-dockets"]);
    assert!(run.success, "{}", run.text);
    let line =
        "skipped amendments, nominations: set CONGRESS_API_KEY to a key, free at https://api.congress.gov/sign-up/";
    assert!(run.text.contains(line), "{}", run.text);
    assert!(run.text.contains("skipped regulations-dot-gov-dockets: set REGULATIONS_API_KEY"), "{}", run.text);
    assert!(server.seen().is_empty());
}

/// Given a key, when an API is asked, then the key goes in a header to this host only, and no address, file or output
/// holds it; a redirect to elsewhere is not followed with it.
#[test]
fn a_key_goes_to_its_host_only() {
    let list = r#"{"nominations": [{"url": "https://api.congress.gov/v3/nomination/119/7?format=json", "updateDate": "2025-01-09"},
        {"url": "https://evil.example/v3/nomination/119/8", "updateDate": "2025-01-09"}]}"#;
    let elsewhere = Server::start(vec![]);
    let away = status(302).with("Location", format!("{}/steal", elsewhere.address));
    let server = Server::start(vec![
        ("/api.congress.gov/v3/nomination/119", always(ok(list))),
        ("/api.congress.gov/v3/nomination/119/7", always(away)),
    ]);
    let folder = Folder::new();
    let mut command = command(&server, &folder, &["--sources", "nominations"]);
    let run = ran(&command.env("CONGRESS_API_KEY", "s3cret").output().expect("the fetcher runs"));
    assert!(!run.success && run.text.contains("sends elsewhere"), "{}", run.text);
    assert!(run.text.contains("evil.example") && run.text.contains("not on the host that lists it"), "{}", run.text);
    assert!(server.seen().iter().all(|r| r.header("x-api-key") == "s3cret" && !r.target.contains("s3cret")));
    assert!(elsewhere.seen().is_empty() && !run.text.contains("s3cret"));
    assert!(!folder.read("fetch-state.jsonl").contains("s3cret"));
}

/// Given names that lead out of the folder, when they are fetched, then everything lies inside.
#[test]
fn no_name_leads_out_of_the_folder() {
    let list = bulk(&[
        ("https://www.govinfo.gov/bulkdata/FR/../../../../../above.xml", "1"),
        ("https://www.govinfo.gov/bulkdata/FR/..%2f..%2f..%2fabove.xml", "1"),
        (r"https://www.govinfo.gov/bulkdata/FR/..\..\..\above.xml", "1"),
        ("https://www.govinfo.gov/bulkdata/FR/.hidden.xml", "1"),
        ("https://other.example/above.xml", "1"),
        ("file:///etc/passwd.xml", "1"),
    ]);
    let mut list: serde_json::Value = serde_json::from_slice(&list.body).expect("JSON");
    list["files"].as_array_mut().expect("files").push(serde_json::json!({"name": "../../..", "folder": true}));
    let server = Server::start(vec![(FR_LIST, always(ok(list.to_string())))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &FR);
    assert!(!run.success, "two addresses are refused");
    let beside: Vec<_> = std::fs::read_dir(folder.0.path()).expect("the folder").flatten().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(folder.files().iter().all(|f| f.starts_with("federal-register/2025/01/")), "{:?}", folder.files());
    assert!(server.targets().iter().all(|t| !t.contains("passwd")), "{:?}", server.targets());
    assert!(!run.text.contains("panicked"), "{}", run.text);
}

/// Given many files on one host, when they are fetched, then no more requests are under way at once than allowed.
#[test]
fn a_host_is_not_asked_too_much_at_once() {
    let paths: Vec<String> = (1..=9).map(|n| issue_path(&format!("{n:02}"))).collect();
    let addresses: Vec<String> = (1..=9).map(|n| issue_address(&format!("{n:02}"))).collect();
    let list: Vec<(&str, &str)> = addresses.iter().map(|a| (a.as_str(), "1")).collect();
    let slow = Reply { slow: Duration::from_millis(10), ..ok("<FEDREG>some words</FEDREG>") };
    let mut routes = vec![(FR_LIST, always(bulk(&list)))];
    routes.extend(paths.iter().map(|p| (p.as_str(), always(slow.clone()))));
    let server = Server::start(routes);
    let run = fetch(&server, &Folder::new(), &[&FR[..], &["--per-host", "2"]].concat());
    assert!(run.success, "{}", run.text);
    let busiest = server.routes.lock().expect("routes").busiest.load(Ordering::SeqCst);
    // The server may see a connection a moment longer than the client.
    assert!((2..=3).contains(&busiest), "{busiest} at once");
}

/// Given an API whose pages are the files, when they are fetched by day, then each page is kept, a day that is over is
/// not asked for again, and the answers' own addresses of the next page lead on.
#[test]
fn pages_of_a_day_are_fetched_once() {
    let filing = |id: &str| format!(r#"{{"filing_uuid": "{id}", "client": {{"name": "Boats Inc"}}}}"#);
    let route: Route = Box::new(move |request, _| {
        let (day, page) = (request.target.contains("after=2025-01-03"), request.target.contains("&page=2"));
        let next = "https://lda.gov/api/v1/filings/?filing_dt_posted_after=2025-01-03&page_size=25&page=2";
        ok(match (day, page) {
            (true, false) => format!(r#"{{"next": "{next}", "results": [{}]}}"#, filing("a")),
            (true, true) => format!(r#"{{"next": null, "results": [{}]}}"#, filing("b")),
            _ => r#"{"next": null, "results": []}"#.to_string(),
        })
    });
    let server = Server::start(vec![("/lda.gov/api/v1/filings/", route)]);
    let folder = Folder::new();
    let args = ["--sources", "lda-filings", "--until", "2025-01-04"];
    let run = fetch(&server, &folder, &args);
    assert!(run.success, "{}", run.text);
    let names = ["2025-01-03-p1", "2025-01-03-p2", "2025-01-04-p1"].map(|n| format!("lda-filings/2025/{n}.json"));
    assert_eq!((folder.files(), server.seen().len()), (names.to_vec(), 3));
    assert!(server.seen().iter().all(|r| r.header("authorization").is_empty()), "it works without a key");
    let run = fetch(&server, &folder, &args);
    assert_eq!((counts(&run, "lda-filings"), server.seen().len()), (vec![0, 0, 2, 0], 3));
}

fn wait_for(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Given two runs into one folder, when the second starts, then it says that the first is at work.
#[test]
fn two_runs_do_not_share_a_folder() {
    let slow = Reply { slow: Duration::from_millis(400), ..ok(rss()) };
    let server = Server::start(vec![(RSS, always(slow))]);
    let folder = Folder::new();
    let mut first = command(&server, &folder, &GAO).stdout(std::process::Stdio::null()).spawn().expect("a run");
    wait_for(|| !server.seen().is_empty());
    let second = fetch(&server, &folder, &GAO);
    assert!(!second.success && second.text.contains("another fetch is at work"), "{}", second.text);
    assert!(first.wait().expect("it ends").success());
}

/// Given a killed run, when the next comes, then what was complete is not fetched again.
#[test]
fn a_killed_run_loses_little() {
    let days = ["02", "03"].map(issue_address);
    let (quick, stuck) = (issue_path("02"), issue_path("03"));
    let list = bulk(&[(&days[0], "1"), (&days[1], "1")]);
    let hang = Reply { stall: Duration::from_secs(30), ..ok("<FEDREG>never whole</FEDREG>") };
    let server =
        Server::start(vec![(FR_LIST, always(list.clone())), (&quick, always(ok("<FEDREG/>"))), (&stuck, always(hang))]);
    let folder = Folder::new();
    let mut run = command(&server, &folder, &[&FR[..], &["--per-host", "1", "--timeout", "60"]].concat());
    let run = run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut run = run.spawn().expect("a run");
    wait_for(|| server.targets().contains(&stuck));
    run.kill().expect("killed");
    run.wait().expect("gone");
    server.serve(vec![(FR_LIST, always(list)), (&stuck, always(ok("<FEDREG>whole</FEDREG>")))]);
    let run = fetch(&server, &folder, &FR);
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "federal-register"), [1, 0, 1, 0]);
    assert_eq!(folder.files().len(), 2, "{:?}", folder.files());
}

// From the publishers to a bundle

const BILL: &str = "<billStatus><version>3.0.0</version><bill><type>HR</type><number>12</number>
    <congress>119</congress><title>Boats Act</title><introducedDate>2025-01-03</introducedDate>
    <actions><item><actionDate>2025-01-09</actionDate><text>Referred.</text></item></actions>
    <cboCostEstimates><item><url>https://www.cbo.gov/publication/57269</url><title>H.R. 12</title>
    <pubDate>2025-01-20T15:00:00Z</pubDate></item></cboCostEstimates></bill></billStatus>";

const BILL_TEXT: &str = r#"<bill bill-stage="Introduced-in-House"><metadata><dublinCore>
    <title>119 HR 12 IH: Boats Act</title></dublinCore></metadata><form><congress>119th CONGRESS</congress>
    <legis-num>H. R. 12</legis-num><official-title>To float boats.</official-title></form>
    <legis-body><section><enum>1.</enum><header>Short title</header><text>This Act may be cited as the Boats Act.</text>
    </section></legis-body></bill>"#;

const PEOPLE: &str = "- id:\n    bioguide: D000001\n  name:\n    first: Ada\n    last: Doe\n  terms:\n  - type: rep\n    \
    start: '2025-01-03'\n    end: '2027-01-03'\n    state: WA\n    district: 1\n    party: Democrat\n";

const PAST_PEOPLE: &str = "- id:\n    bioguide: R000001\n  name:\n    first: Abe\n    last: Roe\n  terms:\n  - type: sen\n    \
    start: '1801-03-04'\n    end: '1803-03-03'\n    state: VA\n    party: Whig\n";

const HOUSE_VOTE: &str = r#"<rollcall-vote><vote-metadata><congress>119</congress><session>1st</session>
    <rollcall-num>1</rollcall-num><legis-num>H R 12</legis-num><vote-question>On Passage</vote-question>
    <vote-type>YEA-AND-NAY</vote-type><vote-result>Passed</vote-result><action-date>15-Jan-2025</action-date>
    <vote-desc>Boats Act</vote-desc></vote-metadata><vote-data><recorded-vote>
    <legislator name-id="D000001" party="D" state="WA">Doe</legislator><vote>Yea</vote></recorded-vote></vote-data>
    </rollcall-vote>"#;

const SENATE_VOTE: &str = "<roll_call_vote><congress>119</congress><session>1</session><vote_number>1</vote_number>
    <vote_date>January 9, 2025, 02:00 PM</vote_date><question>On the Motion</question><vote_title>Motion</vote_title>
    <vote_result>Motion Agreed to</vote_result><members/></roll_call_vote>";

const ISSUE: &str = r#"<FEDREG><VOL>90</VOL><DATE>Friday, January 3, 2025</DATE><RULES><RULE><PREAMB>
    <PRTPAGE P="100"/><AGENCY TYPE="F">DEPARTMENT OF BOATS</AGENCY><SUBJECT>On Ferries</SUBJECT></PREAMB>
    <SUPLINF><P>Words.</P></SUPLINF><FRDOC>[FR Doc. 2025-00001 Filed 1-2-25; 8:45 am]</FRDOC></RULE></RULES></FEDREG>"#;

const NOMINATION: &str = r#"{"nomination": {"congress": 119, "number": 7, "citation": "PN7", "partNumber": "00",
    "description": "Ada Doe, of Ohio, to be Judge, vice Al Roe, retired.", "receivedDate": "2025-01-20",
    "latestAction": {"actionDate": "2025-01-20", "text": "Received in the Senate."},
    "actions": {"count": 1, "url": "https://api.congress.gov/v3/nomination/119/7/actions?format=json"}}}"#;

const ACTIONS: &str = r#"{"actions": [{"actionDate": "2025-01-20",
    "text": "Received in the Senate and referred to the Committee on the Judiciary.", "type": "IntroReferral"}]}"#;

const AMENDMENT: &str = r#"{"amendment": {"type": "SAMDT", "congress": 119, "number": "8", "purpose": "To add.",
    "submittedDate": "2025-01-15T05:00:00Z", "amendedBill": {"type": "HR", "congress": 119, "number": "12"},
    "actions": {"count": 1, "url": "https://api.congress.gov/v3/amendment/119/samdt/8/actions?format=json"}}}"#;

const AMENDMENT_ACTIONS: &str = r#"{"actions": [{"actionDate": "2025-01-16", "actionCode": "94000",
    "text": "Amendment SA 8 agreed to in Senate by Voice Vote."}], "pagination": {"count": 1}}"#;

const LAW: &str = "<pLaw xmlns='u'><meta><docNumber>1</docNumber><congress>119</congress>
    <publicPrivate>public</publicPrivate></meta><main><longTitle><officialTitle>To name it.</officialTitle>
    <sidenote><p>Jan. 29, 2025</p></sidenote></longTitle><section><num value='1'>SECTION 1. </num>
    <content>It is named.</content></section></main></pLaw>";

const REPORT: &str = "<html><title>House Report 119-1 - ON BOATS</title><body><pre>\n[House Report 119-1]\n
    January 21, 2025.--Referred to the House Calendar and ordered to be printed\n
    Mr. Doe of Maine, from the Committee on Rules, submitted the following\n
    [To accompany H. Res. 53]\n\n    It provides for H.R. 12.\n</pre></body></html>";

const ECFR: &str = r#"<DLPSTEXTCLASS><ECFRBRWS><AMDDATE>Dec. 29, 2024(fm)</AMDDATE><DIV1 N="40" TYPE="TITLE">
    <DIV5 N="122" TYPE="PART"><DIV8 N="§ 122.26" TYPE="SECTION"><HEAD>§ 122.26   Boats.</HEAD><P>(a) All boats.</P>
    </DIV8></DIV5></DIV1></ECFRBRWS></DLPSTEXTCLASS>"#;

const ORDERS: &str = r#"{"count": 1, "total_pages": 1, "results": [{"document_number": "2025-00002",
    "executive_order_number": "14147", "title": "On Boats", "signing_date": "2025-01-20",
    "publication_date": "2025-01-28", "president": {"name": "Donald Trump"}, "html_url": "https://www.federalregister.gov/d/1"}]}"#;

const STATEMENTS: &str = "- bills: [hr12]\n  document_title: H.R. 12\n  congress: 119\n  date_issued: '2025-01-09'\n";

const FILINGS: &str = r#"{"count": 1, "next": null, "results": [{"filing_uuid": "d7ac3f5a-2b56-4f5e-8f30-0d3a6e7c1b22",
    "filing_type": "Q4", "filing_period": "fourth_quarter", "filing_year": 2024, "dt_posted": "2025-01-20T10:00:00-05:00",
    "registrant": {"name": "Ferry Friends"}, "client": {"name": "Boats Inc"}, "lobbying_activities": []}]}"#;

const MEETING: &str = r#"{"committeeMeeting": {"chamber": "House", "congress": 119, "eventId": "117001",
    "title": "Markup of H.R. 12", "date": "2025-01-15T15:00:00Z", "type": "Markup"}}"#;

const HEARING: &str = r#"{"hearing": {"chamber": "Senate", "congress": 119, "jacketNumber": 58064, "title": "BOATS",
    "dates": [{"date": "2025-01-14"}]}}"#;

const CRS_REPORT: &str = r#"{"CRSReport": {"id": "R48000", "title": "Boats", "status": "Active", "version": 2,
    "publishDate": "2025-01-15T05:00:00Z", "updateDate": "2025-01-16T22:38:55Z", "contentType": "Reports",
    "authors": [{"author": "Jane Doe"}], "topics": [{"topic": "Ferries"}], "formats": [],
    "relatedMaterials": [{"congress": 119, "number": "12", "type": "HR", "title": "Boats Act"}],
    "summary": "Boats float. The Boats Act would float more.", "url": "congress.gov/crs-report/R48000"}}"#;

const GAO_FEED: &str = "<rss version='2.0'><channel><title>Reports</title><item><title>Boats: More Needed</title>
    <link>https://www.gao.gov/products/gao-25-107743</link><pubDate>Thu, 23 Jan 2025 07:26:10 -0500</pubDate>
    <description>&lt;p&gt;What GAO Found&lt;/p&gt;&lt;p&gt;Boats leak.&lt;/p&gt;</description></item></channel></rss>";

const GRANULE: &str = "<html><head><title>Congressional Record</title></head><body><pre>
[Congressional Record Volume 171, Number 1 (Friday, January 3, 2025)]\n[House]\n[Page H5]
From the Congressional Record Online through the Government Publishing Office [<a href=\"x\">www.gpo.gov</a>]\n\n
                                 BOATS\n\n  Ms. DOE. Boats float.\n</pre></body></html>";

const MODS: &str = r#"<mods xmlns="http://www.loc.gov/mods/v3"><extension><congress>119</congress></extension>
    <relatedItem type="constituent" ID="id-CREC-2025-01-03-pt1-PgH5-2"><titleInfo><title>ON BOATS</title></titleInfo>
    <extension><accessId>CREC-2025-01-03-pt1-PgH5-2</accessId><granuleClass>HOUSE</granuleClass>
    <granuleDate>2025-01-03</granuleDate><congMember bioGuideId="D000001" chamber="H" congress="119" role="SPEAKING"/>
    <bill congress="119" context="TITLE" number="12" type="HR"/></extension></relatedItem></mods>"#;

const PAYMENTS: &str = "ORGANIZATION,PROGRAM,SORT SUBTOTAL DESCRIPTION,SORT SEQUENCE,VENDOR NAME,PERFORM END DT,\
    DESCRIPTION,AMOUNT \n\
    2025 HON. ADA DOE,M,PERSONNEL COMPENSATION,DETAIL,\"ROE,AL\",31-Mar-25,CLERK,100.00\n\
    2025 HON. ADA DOE,M,TRAVEL,DETAIL,TRAINS INC,31-Mar-25,TRAIN,10.00\n";

/// A day of the Record as GPO packs it.
fn record_of_a_day() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in
        [("html/CREC-2025-01-03-pt1-PgH5-2.htm", GRANULE), ("mods.xml", MODS), ("pdf/CREC-2025-01-03.pdf", "%PDF")]
    {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("CREC-2025-01-03/{name}"), options).expect("a member");
        zip.write_all(text.as_bytes()).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

/// Every publisher with a document or two.
fn publishers() -> Vec<(&'static str, Route)> {
    let folder = |name: &str| {
        let (one, other) =
            (format!(r#"{{"name": "{name}", "folder": true}}"#), r#"{"name": "resources", "folder": true}"#);
        ok(format!(r#"{{"files": [{one}, {other}]}}"#))
    };
    let file = |path: &str| bulk(&[(&format!("https://www.govinfo.gov/bulkdata/{path}"), "09-Jan-2025 04:12")]);
    let sitemap = |id: &str| {
        let entry =
            format!("<url><loc>https://www.govinfo.gov/app/details/{id}</loc><lastmod>2025-01-22</lastmod></url>");
        ok(format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entry}</urlset>"))
    };
    let items = |list: &str, path: &str| {
        let item =
            format!(r#"{{"url": "https://api.congress.gov/v3/{path}?format=json", "updateDate": "2025-01-21"}}"#);
        ok(format!(r#"{{"{list}": [{item}], "pagination": {{"count": 1}}}}"#))
    };
    let documents = r#"{"data": [{"id": "TEA-2025-0001-0001", "type": "documents", "attributes": {"docketId":
        "TEA-2025-0001", "agencyId": "TEA", "title": "Notice", "postedDate": "2025-01-06T05:00:00Z"}}],
        "meta": {"hasNextPage": false}}"#;
    let paged: Route = Box::new(move |request, _| match request.target.contains("2025-01-06") {
        true if request.target.contains("page%5Bnumber%5D=2") => ok(documents),
        true => ok(documents.replace("TEA-2025-0001", "TEA-2025-0002").replace("false", "true")),
        false => ok(r#"{"data": [], "meta": {"hasNextPage": false}}"#),
    });
    let docket = r#"{"data": [{"id": "TEA-2025-0001", "type": "dockets", "attributes": {"title": "Tea"}}],
        "meta": {"hasNextPage": false}}"#;
    let committee = "- {type: house, name: House Committee on Tea, thomas_id: HSTE}\n";
    let members = "HSTE:\n- {name: Ada Doe, party: majority, rank: 1, bioguide: D000001}\n";
    let summary = "bioguide_id,organization,description,member_name,quarter_label\n\
        D000001,2025 HON. ADA DOE,PERSONNEL COMPENSATION,Ada Doe,2025Q1\n";
    let texts = [
        ("/www.govinfo.gov/bulkdata/json/BILLSTATUS/119", folder("hr")),
        ("/www.govinfo.gov/bulkdata/json/BILLSTATUS/119/hr", file("BILLSTATUS/119/hr/BILLSTATUS-119hr12.xml")),
        ("/www.govinfo.gov/bulkdata/BILLSTATUS/119/hr/BILLSTATUS-119hr12.xml", ok(BILL)),
        ("/www.govinfo.gov/bulkdata/json/BILLS/119", folder("1")),
        ("/www.govinfo.gov/bulkdata/json/BILLS/119/1", folder("hr")),
        ("/www.govinfo.gov/bulkdata/json/BILLS/119/1/hr", file("BILLS/119/1/hr/BILLS-119hr12ih.xml")),
        ("/www.govinfo.gov/bulkdata/BILLS/119/1/hr/BILLS-119hr12ih.xml", ok(BILL_TEXT)),
        ("/www.govinfo.gov/bulkdata/json/PLAW/119/public", file("PLAW/119/public/PLAW-119publ1.xml")),
        ("/www.govinfo.gov/bulkdata/PLAW/119/public/PLAW-119publ1.xml", ok(LAW)),
        ("/www.govinfo.gov/bulkdata/json/FR/2025/01", file("FR/2025/01/FR-2025-01-03.xml")),
        ("/www.govinfo.gov/bulkdata/FR/2025/01/FR-2025-01-03.xml", ok(ISSUE)),
        ("/www.govinfo.gov/bulkdata/json/ECFR", folder("title-40")),
        ("/www.govinfo.gov/bulkdata/json/ECFR/title-40", file("ECFR/title-40/ECFR-title40.xml")),
        ("/www.govinfo.gov/bulkdata/ECFR/title-40/ECFR-title40.xml", ok(ECFR)),
        ("/www.govinfo.gov/sitemap/CRPT_2025_sitemap.xml", sitemap("CRPT-119hrpt1")),
        ("/www.govinfo.gov/content/pkg/CRPT-119hrpt1/html/CRPT-119hrpt1.htm", ok(REPORT)),
        ("/www.govinfo.gov/sitemap/CREC_2025_sitemap.xml", sitemap("CREC-2025-01-03")),
        ("/www.govinfo.gov/content/pkg/CREC-2025-01-03.zip", ok(record_of_a_day())),
        ("/www.federalregister.gov/api/v1/documents.json", ok(ORDERS)),
        ("/clerk.house.gov/evs/2025/index.asp", ok(r#"<A HREF="vote.asp?year=2025&rollnumber=1">1</A>"#)),
        ("/clerk.house.gov/evs/2025/roll001.xml", ok(HOUSE_VOTE)),
        (
            "/www.senate.gov/legislative/LIS/roll_call_lists/vote_menu_119_1.xml",
            ok("<votes><vote><vote_number>00001</vote_number></vote></votes>"),
        ),
        ("/www.senate.gov/legislative/LIS/roll_call_votes/vote1191/vote_119_1_00001.xml", ok(SENATE_VOTE)),
        ("/api.congress.gov/v3/nomination/119", items("nominations", "nomination/119/7")),
        ("/api.congress.gov/v3/nomination/119/7", ok(NOMINATION)),
        ("/api.congress.gov/v3/nomination/119/7/actions", ok(ACTIONS)),
        ("/api.congress.gov/v3/amendment/119", items("amendments", "amendment/119/samdt/8")),
        ("/api.congress.gov/v3/amendment/119/samdt/8", ok(AMENDMENT)),
        ("/api.congress.gov/v3/amendment/119/samdt/8/actions", ok(AMENDMENT_ACTIONS)),
        (
            "/api.congress.gov/v3/committee-meeting/119",
            items("committeeMeetings", "committee-meeting/119/house/117001"),
        ),
        ("/api.congress.gov/v3/committee-meeting/119/house/117001", ok(MEETING)),
        ("/api.congress.gov/v3/hearing/119", items("hearings", "hearing/119/senate/58064")),
        ("/api.congress.gov/v3/hearing/119/senate/58064", ok(HEARING)),
        ("/api.congress.gov/v3/crsreport", items("CRSReports", "crsreport/R48000")),
        ("/api.congress.gov/v3/crsreport/R48000", ok(CRS_REPORT)),
        ("/api.regulations.gov/v4/dockets", ok(docket)),
        ("/lda.gov/api/v1/filings/", ok(FILINGS)),
        ("/www.gao.gov/rss/reports.xml", ok(GAO_FEED)),
        (
            "/www.house.gov/the-house-explained/open-government/statement-of-disbursements",
            ok(r#"<a href="/sites/default/files/2025-05/jan-mar.csv">CSV</a>"#),
        ),
        ("/www.house.gov/sites/default/files/2025-05/jan-mar.csv", ok(PAYMENTS)),
    ];
    let raw = [
        ("unitedstates/congress-legislators/main/legislators-current.yaml", PEOPLE),
        ("unitedstates/congress-legislators/main/legislators-historical.yaml", PAST_PEOPLE),
        ("unitedstates/congress-legislators/main/legislators-district-offices.yaml", "[]\n"),
        ("unitedstates/congress-legislators/main/committees-current.yaml", committee),
        ("unitedstates/congress-legislators/main/committees-historical.yaml", "[]\n"),
        ("unitedstates/congress-legislators/main/committee-membership-current.yaml", members),
        ("unitedstates/statements-of-administration-policy/HEAD/archive/44-Obama.yaml", "[]\n"),
        ("unitedstates/statements-of-administration-policy/HEAD/archive/45-Trump.yaml", "[]\n"),
        ("unitedstates/statements-of-administration-policy/HEAD/archive/46-Biden.yaml", "[]\n"),
        ("unitedstates/statements-of-administration-policy/HEAD/archive/47-Trump.yaml", STATEMENTS),
        ("dwillis/house-expenditures/HEAD/output/2025Q1-summary.csv", summary),
        ("osma/annif-us-congress-bills/HEAD/policy_area.csv", "uri,label_en\nhttps://x/policy-area#1,Health\n"),
        ("osma/annif-us-congress-bills/HEAD/legislative_subjects.csv", "uri,label_en\nhttps://x/terms#1,Tea\n"),
        (
            "govtrack/govtrack.us-web/HEAD/bill/crsnet.xml",
            "<liv><top-term value='Drinks'><term value='Tea'/></top-term></liv>",
        ),
    ];
    let mut routes: Vec<(&str, Route)> = texts.into_iter().map(|(path, reply)| (path, always(reply))).collect();
    // Leaked, that is kept as long as the test runs.
    routes.extend(raw.map(|(path, text)| (&*format!("/raw.githubusercontent.com/{path}").leak(), always(ok(text)))));
    routes.push(("/api.regulations.gov/v4/documents", paged));
    routes
}

/// The sources whose forms the table says are built.
fn built() -> Vec<&'static str> {
    let table = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SOURCES.md")).expect("the table");
    let is_built = |key: &str| table.lines().any(|l| l.starts_with(&format!("| {key} |")) && l.ends_with("| yes |"));
    josh::catalog::SOURCES.iter().map(|s| s.key).filter(|key| is_built(key)).collect()
}

/// Given all publishers with a few documents in their own forms, when they are fetched and built, then the bundle holds
/// every source that the table says is built and no other; and when they are fetched again, nothing is new and the
/// bundle is the same.
#[test]
fn what_is_fetched_can_be_built() {
    let server = Server::start(publishers());
    let folder = Folder::new();
    let fetch = || {
        let mut command = command(&server, &folder, &[]);
        let keys = command.env("CONGRESS_API_KEY", "k").env("REGULATIONS_API_KEY", "k");
        ran(&keys.output().expect("the fetcher runs"))
    };
    let run = fetch();
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "bills"), [2, 0, 0, 0], "{}", run.text);
    assert_eq!(counts(&run, "roll-call-votes"), [2, 0, 0, 0]);
    assert!(folder.read("nominations/119/nomination-119-7.json").contains("Committee on the Judiciary"));
    assert!(folder.read("amendments/119/amendment-119-samdt-8.json").contains("by Voice Vote"));
    assert!(folder.read("regulations-dot-gov-dockets/documents/2025/2025-01-06-p2.json").contains("TEA-2025-0001"));
    assert!(folder.read("presidential-documents/executive-orders/2025-p1.json").starts_with("[{"));
    let first = build(&folder, "one.db");
    let held: Vec<&str> = first.sources.iter().filter(|s| s.records > 0).map(|s| s.key.as_str()).collect();
    assert_eq!(held, built());
    let records = |key: &str| first.sources.iter().find(|s| s.key == key).map_or(0, |s| s.records);
    assert_eq!((records("bills"), records("cbo-estimates"), records("legislators")), (1, 1, 2));
    assert_eq!((records("roll-call-votes"), records("federal-register"), records("hearings")), (2, 1, 2));

    assert_eq!((records("congressional-record"), records("staff-directories")), (1, 2));
    assert_merged(&folder.0.path().join("one.db"));

    let run = fetch();
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "bills"), [0, 0, 2, 0]);
    assert_eq!(counts(&run, "nominations"), [0, 0, 1, 0]);
    assert_eq!(first.id, build(&folder, "two.db").id);
}

/// What several files say of one record is in the bundle together.
fn assert_merged(path: &Path) {
    let bundle = Bundle::open(path).expect("a bundle");
    let record = |id: &str| -> serde_json::Value {
        let (_, entry) = bundle.records().by_id(id).unwrap_or_else(|| panic!("no {id}"));
        serde_json::from_str(entry.data).expect("JSON")
    };
    let text = |table: &str, id: &str| {
        let sql = format!("SELECT text FROM {table} WHERE parent = '{id}' ORDER BY ALL");
        bundle.db.rows(&sql, &[]).expect("texts").into_iter().flatten().flatten().collect::<Vec<_>>().join(" ")
    };
    let granule = record("crec:2025-01-03:H5-2");
    assert_eq!((&granule["title"], &granule["volume"]), (&"ON BOATS".into(), &171.into()), "MODS, and the page's head");
    assert_eq!((&granule["speakers"][0], &granule["bill_ids"][0]), (&"D000001".into(), &"hr:119:12".into()));
    assert_eq!(text("congressional_record_body", "crec:2025-01-03:H5-2").trim(), "Ms. DOE. Boats float.");
    assert_eq!(text("crs_reports_body", "R48000"), "Boats float. The Boats Act would float more.");
    assert_eq!(record("gao:GAO-25-107743")["published_date"], "2025-01-23");
    // Whose office it is comes from the summary of the same quarter.
    let clerk = record("staff:2025q1-house-hon-ada-doe-al-roe-clerk");
    assert_eq!((&clerk["name"], &clerk["bioguide"]), (&"Al Roe".into(), &"D000001".into()));
}

/// Builds as people do: above the folder that `fetch` filled, without naming it.
fn build(folder: &Folder, name: &str) -> josh::bundle::Manifest {
    let here = folder.0.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    let output = command.current_dir(here).args(["build", "--embed", "none", "--out", name]).output().expect("it runs");
    let run = ran(&output);
    assert!(run.success, "{}", run.text);
    read_manifest(&here.join(name)).expect("a bundle").1
}

/// Given the table of feeds, when it is printed, then it is what is committed.
#[test]
fn the_committed_table_of_sources_is_the_printed_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_josh-data-build")).arg("sources").output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let committed = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SOURCES.md"));
    let advice = "run: cargo run -p josh-data-build -- sources > data-build/SOURCES.md";
    assert_eq!(printed, committed.unwrap_or_default(), "{advice}");
    for source in josh::catalog::SOURCES {
        assert!(printed.contains(&format!("| {} |", source.key)), "{}", source.key);
    }
}

/// Given a reader that has gone, as after `| head`, when something is printed, then the run ends as it would have.
#[test]
fn a_closed_pipe_is_no_failure() {
    for (args, code) in [(&["sources"][..], 0), (&["build", "--from", "nowhere", "--out", "x.db"], 1)] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        let status = command.args(args).stdout(writer.try_clone().expect("a pipe")).stderr(writer).status();
        assert_eq!(status.expect("it runs").code(), Some(code), "{args:?}");
    }
}

/// Given arguments that can't be, then they are refused with what would be right.
#[test]
fn wrong_arguments_are_refused() {
    let server = Server::start(vec![]);
    for (args, said) in [
        (["--sources", "bils"], "there is no source \"bils\""),
        (["--base", "nonsense"], "expected HOST=URL"),
        (["--pause", "nan"], "--pause takes seconds"),
        (["--per-host", "0"], "0 is not in"),
    ] {
        let run = fetch(&server, &Folder::new(), &args);
        assert!(!run.success && run.text.contains(said), "{args:?}: {}", run.text);
    }
}
