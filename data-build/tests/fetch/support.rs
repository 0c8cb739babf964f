//! What the tests of this binary share: a server whose answers a test chooses, a folder to fetch
//! into, and the fetcher as a command.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

// The server

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub target: String,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What to answer, and how badly.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body to send before hanging up.
    pub cut: Option<usize>,
    /// Pause before each of five pieces of the body.
    pub slow: Duration,
    /// Pause in the middle of the body.
    pub stall: Duration,
}

pub fn ok(body: impl Into<Vec<u8>>) -> Reply {
    let (headers, slow, stall) = (Vec::new(), Duration::ZERO, Duration::ZERO);
    Reply { status: 200, headers, body: body.into(), cut: None, slow, stall }
}

pub fn status(status: u16) -> Reply {
    Reply { status, ..ok("") }
}

impl Reply {
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// Drops `under_way` just before the last bytes are sent: the client can't have the whole reply
    /// and ask for the next one while this one still counts.
    fn write(&self, out: &mut TcpStream, under_way: UnderWay) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", self.status);
        if self.status != 304 {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut next = (head + "\r\n").into_bytes();
        let body = &self.body[..self.cut.unwrap_or(self.body.len())];
        for (i, piece) in body.chunks(body.len().div_ceil(5).max(1)).enumerate() {
            out.write_all(&std::mem::replace(&mut next, piece.to_vec()))?;
            std::thread::sleep(if i == 3 { self.slow + self.stall } else { self.slow });
        }
        drop(under_way);
        out.write_all(&next)
    }
}

/// Answers by path; gets the request and how many came to this path before it.
pub type Route = Box<dyn Fn(&Request, usize) -> Reply + Send + Sync>;

#[derive(Default)]
struct Routes {
    by_path: HashMap<String, Route>,
    seen: Mutex<Vec<Request>>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

/// Counts as one request under way for as long as it lives.
struct UnderWay<'a>(&'a Routes);

impl<'a> UnderWay<'a> {
    fn new(routes: &'a Routes) -> UnderWay<'a> {
        let now = routes.busy.fetch_add(1, Ordering::SeqCst) + 1;
        routes.busiest.fetch_max(now, Ordering::SeqCst);
        UnderWay(routes)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A server for all hosts: what is asked of `HOST` comes as `/HOST/…`.
pub struct Server {
    pub address: String,
    routes: Arc<Mutex<Arc<Routes>>>,
}

impl Server {
    pub fn start(routes: Vec<(&str, Route)>) -> Server {
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
    pub fn serve(&self, routes: Vec<(&str, Route)>) {
        let by_path = routes.into_iter().map(|(path, route)| (path.to_string(), route)).collect();
        *self.routes.lock().expect("routes") = Arc::new(Routes { by_path, ..Routes::default() });
    }

    pub fn seen(&self) -> Vec<Request> {
        self.routes.lock().expect("routes").seen.lock().expect("requests").clone()
    }

    /// The most requests that were under way at once.
    pub fn busiest(&self) -> usize {
        self.routes.lock().expect("routes").busiest.load(Ordering::SeqCst)
    }

    pub fn targets(&self) -> Vec<String> {
        self.seen().into_iter().map(|r| r.target).collect()
    }
}

fn answer(mut stream: TcpStream, routes: &Routes) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let target = first.split(' ').nth(1).unwrap_or_default().to_string();
    let headers = lines.take_while(|l| !l.is_empty()).filter_map(|l| {
        let (name, value) = l.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_string()))
    });
    let mut request = Request { target, headers: headers.collect(), body: String::new() };
    let length = request.header("content-length").parse().unwrap_or(0);
    if reader.take(length).read_to_string(&mut request.body).is_err() {
        return;
    }
    let path = request.target.split('?').next().unwrap_or_default().to_string();
    let before = {
        let mut seen = routes.seen.lock().expect("requests");
        let before =
            seen.iter().filter(|r| r.target.split('?').next() == Some(path.as_str())).count();
        seen.push(request.clone());
        before
    };
    let under_way = UnderWay::new(routes);
    let reply =
        routes.by_path.get(&path).map_or_else(|| status(404), |route| route(&request, before));
    let _ = reply.write(&mut stream, under_way);
}

/// A page as servers send it instead of a file.
pub fn page(text: &str) -> Reply {
    ok(format!("<!DOCTYPE html><html><body>{text}</body></html>")).with("Content-Type", "text/html")
}

pub fn always(reply: Reply) -> Route {
    Box::new(move |_, _| reply.clone())
}

/// One reply after the other; the last one stays.
pub fn one_by_one(replies: Vec<Reply>) -> Route {
    Box::new(move |_, n| replies[n.min(replies.len() - 1)].clone())
}

// The fetcher

const HOSTS: [&str; 14] = [
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
    "api.fiscaldata.treasury.gov",
    "api.bls.gov",
    "www.stat-search.boj.or.jp",
];

pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// What is fetched into; it does not exist at first.
    pub fn data(&self) -> PathBuf {
        self.0.path().join("federal-data")
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.data().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Every file below, hidden ones too, without those of the fetcher itself.
    pub fn files(&self) -> Vec<String> {
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
            false => {
                found.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned())
            }
        }
    }
}

pub fn command(server: &Server, folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.arg("fetch").arg("--into").arg(folder.data());
    let usual = [
        ("--since", "2025-01-03"),
        ("--until", "2025-01-31"),
        ("--pause", "0.01"),
        ("--timeout", "10"),
    ];
    for (flag, value) in usual.iter().filter(|(flag, _)| !args.contains(flag)) {
        command.args([flag, value]);
    }
    for host in HOSTS {
        command.arg("--base").arg(format!("{host}={}/{host}", server.address));
    }
    for variable in ["CONGRESS_API_KEY", "REGULATIONS_API_KEY", "LDA_API_KEY", "BLS_API_KEY"] {
        command.env_remove(variable);
    }
    for variable in
        ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

/// What a run printed, on both streams, and whether it was content.
pub struct Ran {
    pub text: String,
    pub success: bool,
}

pub fn ran(output: &Output) -> Ran {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Ran { text: String::from_utf8_lossy(&text).into_owned(), success: output.status.success() }
}

pub fn fetch(server: &Server, folder: &Folder, args: &[&str]) -> Ran {
    ran(&command(server, folder, args).output().expect("the fetcher runs"))
}

/// The counts of a source in the summary: new, changed, unchanged, failed.
pub fn counts(run: &Ran, source: &str) -> Vec<usize> {
    let line = run.text.lines().find(|l| l.split_whitespace().next() == Some(source));
    let line = line.unwrap_or_else(|| panic!("no {source} in:\n{}", run.text));
    line.split_whitespace().skip(1).map(|n| n.parse().expect("a count")).collect()
}

pub const RSS: &str = "/www.gao.gov/rss/reports.xml";
pub const RSS_FILE: &str = "gao-reports/rss/2025-01-31/reports.xml";
pub const GAO: [&str; 2] = ["--sources", "gao-reports"];

pub fn rss() -> String {
    format!("<rss>{}</rss>", "<item>A report on boats.</item>".repeat(400))
}

pub const SAP_LISTS: &str = "/raw.githubusercontent.com/unitedstates/\
    statements-of-administration-policy/HEAD/archive";

pub const LAW_LIST: &str = "/www.govinfo.gov/bulkdata/json/PLAW/119/public";
pub const LAWS: [&str; 2] = ["--sources", "public-laws"];

/// A list of GPO's bulk data: (address, time of change).
pub fn bulk(files: &[(&str, &str)]) -> Reply {
    let files = files.iter().map(|(link, changed)| {
        let name = link.rsplit('/').next();
        serde_json::json!({"name": name, "justFileName": name, "link": link, "folder": false,
            "formattedLastModifiedTime": changed, "fileExtension": "xml",
            "mimeType": "application/xml"})
    });
    ok(serde_json::json!({"files": files.collect::<Vec<_>>()}).to_string())
}

/// A ZIP archive of these files.
pub fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a member");
        zip.write_all(text.as_bytes()).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

pub fn law_address(number: &str) -> String {
    format!("https://www.govinfo.gov/bulkdata/PLAW/119/public/PLAW-119publ{number}.xml")
}

pub fn law_path(number: &str) -> String {
    format!("/www.govinfo.gov/bulkdata/PLAW/119/public/PLAW-119publ{number}.xml")
}
