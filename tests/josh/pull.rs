//! `josh bundle pull`, from a server that breaks off, changes its file and sends nonsense.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::{JOSH, run, sample};

/// What the server has, and how it behaves.
struct Site {
    status: u16,
    tag: &'static str,
    bytes: Vec<u8>,
    /// Responses that end after this many bytes, and how many there will be.
    breaks: (usize, usize),
    /// The connection stays open after a break.
    hangs: bool,
    /// The `Range` of each request.
    ranges: Vec<Option<String>>,
}

#[derive(Clone)]
pub struct Http {
    site: Arc<Mutex<Site>>,
    port: u16,
}

impl Http {
    fn start(bytes: Vec<u8>) -> Http {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (status, tag, breaks) = (200, "\"one\"", (0, 0));
        let site = Site { status, tag, bytes, breaks, hangs: false, ranges: Vec::new() };
        let http = Http { site: Arc::new(Mutex::new(site)), port };
        let shared = http.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                // A client that goes away is no failure of the server's.
                std::thread::spawn(move || drop(shared.answer(stream)));
            }
        });
        http
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/bundles/federal.db?edition=1", self.port)
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let headers: Vec<String> = BufReader::new(stream.try_clone()?)
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let header = |name: &str| {
            let mut pairs = headers.iter().filter_map(|line| line.split_once(": "));
            pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, v)| v.to_string())
        };
        let mut site = self.site.lock().unwrap();
        let range = header("range");
        site.ranges.push(range.clone());
        let wanted = range.filter(|_| header("if-range").as_deref() == Some(site.tag));
        let first = wanted.map(|range| {
            let number = range.trim_start_matches("bytes=").trim_end_matches('-');
            number.parse::<usize>().unwrap()
        });
        let (all, from) = (site.bytes.len(), first.unwrap_or(0));
        let status = if first.is_some() { 206 } else { site.status };
        let mut head =
            format!("HTTP/1.1 {status} X\r\nETag: {}\r\nConnection: close\r\n", site.tag);
        if first.is_some() {
            head += &format!("Content-Range: bytes {from}-{}/{all}\r\n", all - 1);
        }
        head += &format!("Content-Length: {}\r\n\r\n", all - from);
        let mut body = site.bytes[from..].to_vec();
        let breaks = site.breaks.1 > 0;
        if breaks {
            site.breaks.1 -= 1;
            body.truncate(site.breaks.0);
        }
        let hangs = breaks && site.hangs;
        drop(site);
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)?;
        if hangs {
            std::thread::sleep(Duration::from_secs(20));
        }
        Ok(())
    }
}

pub struct Case {
    folder: tempfile::TempDir,
    pub http: Http,
    bytes: Vec<u8>,
}

impl Case {
    /// A signed sample on a server, and its key.
    pub fn new() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        std::fs::copy(sample(), path("signed.db")).unwrap();
        assert!(run(&["bundle", "keygen", &path("key")]).status.success());
        assert!(run(&["bundle", "keygen", &path("other")]).status.success());
        assert!(
            run(&["bundle", "sign", &path("signed.db"), "--key", &path("key")]).status.success()
        );
        let bytes = std::fs::read(path("signed.db")).unwrap();
        Case { http: Http::start(bytes.clone()), folder, bytes }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, key: &str) -> Command {
        let mut command = Command::new(JOSH);
        command.args(["bundle", "pull", &self.http.url(), "--key"]).arg(self.path(key));
        command.current_dir(self.folder.path());
        command
    }

    fn pull(&self) -> Output {
        self.command("key.pub").output().unwrap()
    }

    fn part(&self) -> PathBuf {
        self.path(".federal.db.part")
    }

    fn is_in_place(&self) {
        assert_eq!(std::fs::read(self.path("federal.db")).unwrap(), self.bytes);
        assert!(!self.part().exists() && !self.path(".federal.db.part.json").exists());
    }
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_bundle_is_pulled_and_verified() {
    let case = Case::new();
    let output = case.pull();
    assert!(output.status.success(), "{}", said(&output));
    case.is_in_place();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("federal.db: bundle") && text.contains("signed and in place"), "{text}");
    // Pulled again, with a name of its own, over an old file.
    std::fs::write(case.path("old.db"), "old").unwrap();
    let output = case.command("key.pub").args(["--out", "old.db"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read(case.path("old.db")).unwrap(), case.bytes);
}

/// Given a server that breaks off again and again, when a bundle is pulled, then each request asks
/// for the rest.
#[test]
fn broken_connections_are_resumed() {
    let case = Case::new();
    let step = case.bytes.len() / 8 + 1;
    case.http.site.lock().unwrap().breaks = (step, 7);
    let output = case.pull();
    assert!(output.status.success(), "{}", said(&output));
    case.is_in_place();
    let ranges = case.http.site.lock().unwrap().ranges.clone();
    let expected = (0..8).map(|at| (at > 0).then(|| format!("bytes={}-", at * step)));
    assert_eq!(ranges, expected.collect::<Vec<_>>());
}

/// Given a download that was killed, when the command is run again, then it goes on; and if the
/// server has another bundle by then, it begins anew.
#[test]
fn a_killed_download_goes_on() {
    for is_replaced in [false, true] {
        let case = Case::new();
        let half = case.bytes.len() / 2;
        {
            let mut site = case.http.site.lock().unwrap();
            (site.breaks, site.hangs) = ((half, 1), true);
        }
        let mut child = case.command("key.pub").stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(15);
        while !case.part().metadata().is_ok_and(|part| part.len() == half as u64) {
            assert!(Instant::now() < deadline, "nothing arrived");
            std::thread::sleep(Duration::from_millis(5));
        }
        let second = case.pull();
        assert!(said(&second).contains("another download is writing it"), "{}", said(&second));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!case.path("federal.db").exists());
        if is_replaced {
            case.http.site.lock().unwrap().tag = "\"two\"";
        }
        let output = case.pull();
        assert!(output.status.success(), "{}", said(&output));
        case.is_in_place();
        let asked = case.http.site.lock().unwrap().ranges.last().unwrap().clone();
        assert_eq!(asked, Some(format!("bytes={half}-")));
        assert_eq!(said(&output).contains("going on after"), !is_replaced, "{}", said(&output));
    }
}

/// Given anything but the bundle that was signed, when it is pulled, then what was in place stays,
/// nothing is kept, and the error says why.
#[test]
fn nothing_unverified_gets_in_place() {
    let case = Case::new();
    let change = |change: &dyn Fn(&mut Site)| {
        let mut site = case.http.site.lock().unwrap();
        (site.status, site.bytes) = (200, case.bytes.clone());
        change(&mut site);
    };
    let refused = |key: &str, expected: &str, code: i32| {
        std::fs::write(case.path("federal.db"), "the old one").unwrap();
        let output = case.command(key).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(std::fs::read(case.path("federal.db")).unwrap(), b"the old one");
        let kept = case.part().metadata().map_or(0, |part| part.len());
        assert_eq!(kept, 0, "{text}");
    };
    refused("other.pub", "made with another key", 2);
    refused("nowhere.pem", "key file", 2);
    change(&|site| site.bytes[20_000] ^= 1);
    refused("key.pub", "do not match their hash. Copy the bundle again. What was downloaded", 2);
    change(&|site| site.bytes = std::fs::read(sample()).unwrap());
    refused("key.pub", "it is unsigned", 2);
    change(&|site| site.bytes = b"<html>Not found</html>".repeat(100));
    refused("key.pub", "not a Josh bundle", 2);
    change(&|site| site.bytes = Vec::new());
    refused("key.pub", "it is empty", 2);
    change(&|site| site.status = 404);
    refused("key.pub", "status 404", 2);
    change(&|_| ());
    assert!(case.pull().status.success(), "and then it works");
    case.is_in_place();
}

#[test]
fn wrong_addresses_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let key = key.to_str().unwrap();
    assert!(run(&["bundle", "keygen", key]).status.success());
    for (url, expected) in [
        ("ftp://example.org/federal.db", "not an http or https URL"),
        ("federal.db", "not an http or https URL"),
        ("https://example.org", "names no file"),
        ("https://example.org/bundles/", "names no file"),
    ] {
        let output = run(&["bundle", "pull", url, "--key", &format!("{key}.pub")]);
        assert_eq!(output.status.code(), Some(2), "{url}");
        assert!(said(&output).contains(expected), "{url}: {}", said(&output));
    }
    assert!(!Path::new("federal.db").exists());
}
