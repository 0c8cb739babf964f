//! Starts the real binary and talks to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

pub const JOSH: &str = env!("CARGO_BIN_EXE_josh");

/// Servers that run. Those in statics are never dropped, so they are stopped when the test binary
/// ends.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

extern "C" fn stop_all() {
    for pid in RUNNING.lock().map(|pids| pids.clone()).unwrap_or_default() {
        // SAFETY: a process that this one started and has not waited for: its id is not another's
        // yet.
        unsafe { libc::kill(pid as i32, libc::SIGKILL) };
    }
}

/// A running server. Stopped, by its process id, when dropped.
pub struct Server {
    child: Child,
    pub url: String,
    log: Arc<Mutex<Vec<String>>>,
    agent: ureq::Agent,
}

pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).expect("the body is UTF-8")
    }
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().expect("a plain header"))
    }
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_string()
    }
}

/// The sample in a cache folder of the tests' own, unpacked by the binary itself.
pub static CACHE: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

/// A server that all read-only tests share.
pub static SAMPLE: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

pub fn josh(args: &[&str]) -> Command {
    let mut command = Command::new(JOSH);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("JOSH_")) {
        command.env_remove(name);
    }
    // Nothing of the user's is read or written.
    for folder in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env(folder, CACHE.path());
    }
    command.args(args).env("COLUMNS", "100").stdin(Stdio::null());
    command
}

pub fn run(args: &[&str]) -> Output {
    josh(args).output().expect("the binary runs")
}

/// The unpacked sample bundle.
pub fn sample() -> PathBuf {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
        assert!(run(&["get", "/livez"]).status.success());
        let folder = CACHE.path().join("josh");
        let mut found = std::fs::read_dir(folder).expect("the cache").flatten().map(|e| e.path());
        found.find(|p| p.extension().is_some_and(|e| e == "db")).expect("the unpacked sample")
    });
    PATH.clone()
}

/// A bundle with the sample's data under another identity, as a new edition would have.
pub fn edition(folder: &Path, name: &str, id: &str) -> PathBuf {
    changed(folder, name, |manifest| manifest.id = id.to_string())
}

/// The sample with another manifest: what it no longer names is not there.
pub fn changed(
    folder: &Path,
    name: &str,
    change: impl FnOnce(&mut josh::bundle::Manifest),
) -> PathBuf {
    use josh::bundle::{read_manifest, writer};
    use std::os::unix::fs::FileExt;
    let (file, mut manifest) = read_manifest(&sample()).expect("the sample opens");
    change(&mut manifest);
    let mut parts = Vec::new();
    for (n, section) in manifest.sections.iter().enumerate() {
        let mut bytes = vec![0; section.length as usize];
        file.read_exact_at(&mut bytes, section.offset).expect("the section is there");
        let path = folder.join(format!("{name}.part{n}"));
        std::fs::write(&path, bytes).expect("written");
        parts.push((section.kind, path));
    }
    let parts: Vec<_> = parts.iter().map(|(kind, path)| (*kind, path.as_path())).collect();
    let out = folder.join(name);
    writer::write(&out, &parts, manifest).expect("the bundle is written");
    out
}

fn agent(trusted: Option<&Path>) -> ureq::Agent {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let roots = match trusted {
        None => RootCerts::Specific(Default::default()),
        Some(path) => {
            let pem = std::fs::read(path).expect("a certificate");
            RootCerts::Specific(Arc::new(vec![
                Certificate::from_pem(&pem).expect("a PEM certificate"),
            ]))
        }
    };
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .accept_encoding("identity")
        .timeout_global(Some(Duration::from_secs(20)))
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build();
    config.into()
}

impl Server {
    /// Starts on a free port and waits for the banner.
    pub fn start(args: &[&str]) -> Server {
        Server::start_with(args, &[])
    }

    /// The same with variables of the environment.
    pub fn start_with(args: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--workers", "2"];
        all.extend(args);
        let mut child = josh(&all)
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut url = String::new();
        for line in lines.by_ref().map_while(Result::ok) {
            log.lock().unwrap().push(line.clone());
            if let Some(found) = line.trim().strip_prefix("web ") {
                url = found.trim().trim_end_matches('/').to_string();
            }
            if line.trim_start().starts_with("try ") {
                break;
            }
        }
        static AT_EXIT: std::sync::Once = std::sync::Once::new();
        // SAFETY: the function takes nothing and can be called at any time.
        AT_EXIT.call_once(|| assert_eq!(unsafe { libc::atexit(stop_all) }, 0));
        RUNNING.lock().unwrap().push(child.id());
        assert!(!url.is_empty(), "no banner: {:?}", log.lock().unwrap());
        let kept = log.clone();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|l| kept.lock().unwrap().push(l))
        });
        Server { child, url, log, agent: agent(None) }
    }

    /// The same server with a client that trusts this certificate.
    pub fn trusting(mut self, certificate: &Path) -> Server {
        self.agent = agent(Some(certificate));
        self
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[])
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.try_send(method, path, headers).unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Answer, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.agent.run(request.body(()).expect("a request"))?;
        let bytes = response.body_mut().with_config().limit(256 << 20).read_to_vec()?;
        Ok(Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            bytes,
        })
    }

    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request =
            ureq::http::Request::builder().method("POST").uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response =
            self.agent.run(request.body(body).expect("a request")).expect("an answer");
        let bytes =
            response.body_mut().with_config().limit(256 << 20).read_to_vec().expect("a body");
        Answer { status: response.status().as_u16(), headers: response.headers().clone(), bytes }
    }

    /// Sends bytes as they are, and gives what comes back until the other side closes or falls
    /// silent for so long.
    pub fn raw(&self, bytes: &[u8], patience: Duration) -> String {
        let mut stream =
            TcpStream::connect(self.url.trim_start_matches("http://")).expect("a connection");
        stream.set_read_timeout(Some(patience)).expect("a timeout");
        // A server that has heard enough may close before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Everything a list holds, following the cursors.
    pub fn all(&self, path: &str, limit: usize) -> Vec<Value> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut items = Vec::new();
        let mut next = format!("{path}{joint}limit={limit}");
        loop {
            let answer = self.get(&next);
            assert_eq!(answer.status, 200, "{next}: {}", answer.text());
            let page = answer.json();
            items.extend(page["data"].as_array().expect("data").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("{path}{joint}limit={limit}&cursor={cursor}"),
                None => {
                    assert_eq!(
                        page["total"],
                        items.len(),
                        "{path}: the total is what following the cursors gives"
                    );
                    return items;
                }
            }
        }
    }

    pub fn sources(&self) -> Vec<Value> {
        self.get("/v1/sources").json()["data"].as_array().expect("sources").clone()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([&format!("-{name}"), &pid])
                .status()
                .expect("kill")
                .success()
        );
    }

    pub fn logged(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|l| l.contains(text))
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    pub fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().expect("it ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        RUNNING.lock().unwrap().retain(|pid| *pid != self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `test` holds.
pub fn eventually(what: &str, mut test: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(15);
    while !test() {
        assert!(Instant::now() < end, "not within 15 s: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A path segment, encoded.
pub fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// JSON without nulls, which tools never send: output schemas give every field one type.
pub fn without_nulls(mut value: Value) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.retain(|_, value| {
                clean(value);
                !value.is_null()
            }),
            Value::Array(items) => items.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut value);
    value
}
