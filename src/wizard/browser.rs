//! Chromium as a child process: its own profile, no port, walled off from every host but those of
//! the wizard, and gone when we are, however we end.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::cdp::Connection;
use super::{Options, TestSite};
use crate::priority;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Profiles begin with this, then the ID of the process that made them.
const PROFILE: &str = "josh-forms-";

/// Room that a profile in memory needs.
const PROFILE_BYTES: u64 = 256 << 20;

/// How long the browser may take to end by itself.
const END_TIME: Duration = Duration::from_millis(300);

/// Bytes of its words that are kept.
const MOST_WORDS: usize = 8_000;

/// Descriptors that Chromium reads commands from and writes answers to.
const COMMANDS: i32 = 3;
const ANSWERS: i32 = 4;

/// A running browser. Dropping it ends it and removes its profile.
pub struct Browser {
    child: Child,
    /// The beginning of what it writes to standard error: why it did not start.
    errors: Arc<Mutex<String>>,
    /// Removed after the process has ended.
    profile: Option<TempDir>,
}

/// The browser that the options name, or the first that is installed.
pub fn find(options: &Options) -> Result<PathBuf, String> {
    if let Some(path) = &options.browser {
        return match path.is_file() {
            true => Ok(path.clone()),
            false => Err(format!("forms_browser: {} is not there", path.display())),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let candidates = NAMES.iter().flat_map(|name| {
        std::env::split_paths(&folders).map(move |folder| folder.join(name)).collect::<Vec<_>>()
    });
    let found = candidates.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        let names = NAMES.join(", ");
        format!(
            "no Chromium is installed, none of {names}. Install it (Debian: apt-get install \
             chromium), or name it with --forms-browser"
        )
    })
}

/// How old a browser is: its package keeps the day on which it was built.
pub fn age_days(program: &Path) -> Option<u64> {
    let built = std::fs::metadata(program).and_then(|found| found.modified()).ok()?;
    Some(built.elapsed().ok()?.as_secs() / 86_400)
}

impl Browser {
    /// Starts a browser that can reach these hosts and no others.
    pub fn start(options: &Options, hosts: &[String]) -> Result<(Browser, Connection), String> {
        let program = find(options)?;
        // SAFETY: asks for a number.
        let is_root = unsafe { libc::geteuid() } == 0;
        if is_root && !options.no_sandbox {
            return Err("Chromium's sandbox does not work for root: run Josh as another user, or \
                        give --forms-no-sandbox"
                .into());
        }
        let profile = tempfile::Builder::new()
            .prefix(&format!("{PROFILE}{}-", std::process::id()))
            .tempdir_in(profile_folder())
            .map_err(|error| format!("cannot make a profile: {error}"))?;
        let mut command = Command::new(&program);
        command.args(arguments(options, hosts, profile.path()));
        // Nothing of our environment: no proxies, no keys, no display.
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", profile.path());
        command.env("LANG", "en_US.UTF-8").env("TZ", "America/New_York");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let trace = options.trace.as_deref().map(own_file).transpose();
        let trace = trace.map_err(|error| format!("cannot write the trace: {error}"))?;
        let (mut connection, mut child) = spawn(command)
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        if let Some(trace) = trace {
            connection.write_down(trace);
        }
        let errors = Arc::new(Mutex::new(String::new()));
        if let Some(stream) = child.stderr.take() {
            keep_beginning(stream, errors.clone());
        }
        Ok((Browser { child, errors, profile: Some(profile) }, connection))
    }

    /// Why a browser that is gone has gone, in its own words. Nothing was entered into it yet.
    pub fn last_words(&self) -> String {
        let words = self.errors.lock().map(|words| words.clone()).unwrap_or_default();
        let is_telling = |line: &&str| line.contains("ERROR") || line.contains("FATAL");
        let line = words.lines().find(is_telling).or_else(|| words.lines().last());
        line.unwrap_or_default().chars().take(300).collect()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn profile(&self) -> Option<&Path> {
        self.profile.as_ref().map(TempDir::path)
    }

    /// Whether any of its threads runs, waits for a core or for the disk. One that hangs does not.
    pub fn has_work(&self) -> bool {
        let group = self.child.id().to_string();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let mine = processes.map(|entry| entry.path()).filter(|process| {
            // After the name in brackets: state, parent, group.
            let fields = after_name(process);
            fields.as_deref().and_then(|fields| fields.split(' ').nth(2)) == Some(group.as_str())
        });
        let mut threads = mine.flat_map(|process| std::fs::read_dir(process.join("task")));
        threads.any(|threads| {
            let mut states = threads.flatten().filter_map(|thread| after_name(&thread.path()));
            states.any(|state| state.starts_with(['R', 'D']))
        })
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let end = Instant::now() + END_TIME;
        while !self.has_ended() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        // The whole group, also when its first process has ended: others may hang.
        // SAFETY: the group was made by us for this child, which is not waited for or has just
        // ended, so that its number is not given to others.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        let _ = self.child.kill();
        let _ = self.child.wait();
        let Some(profile) = self.profile.take() else { return };
        let path = profile.keep();
        // Helpers that were just killed may still write for a moment.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&path).is_ok() || !path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

/// What the kernel says of a process or thread behind its name, which may hold anything.
fn after_name(folder: &Path) -> Option<String> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_string())
}

/// A new file that only its owner may read.
pub fn own_file(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// Reads all of a stream, so that its writer never waits, and keeps the beginning.
fn keep_beginning(mut stream: std::process::ChildStderr, kept: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut part) {
            if let Ok(mut kept) = kept.lock()
                && kept.len() < MOST_WORDS
            {
                kept.push_str(&String::from_utf8_lossy(&part[..length]));
            }
        }
    });
}

/// Removes profiles of processes that no longer run: one that was killed could not.
pub fn sweep() {
    for folder in [Path::new("/dev/shm"), &std::env::temp_dir()] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner =
                name.to_str().and_then(|name| name.strip_prefix(PROFILE)?.split('-').next());
            let Some(owner) = owner.and_then(|owner| owner.parse::<u32>().ok()) else { continue };
            let is_running = Path::new(&format!("/proc/{owner}")).exists();
            if !is_running && std::fs::remove_dir_all(entry.path()).is_ok() {
                tracing::info!("removed the profile of a browser whose server was killed");
            }
        }
    }
}

/// In memory where there is room.
fn profile_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match free_bytes(memory) {
        Some(free) if free > PROFILE_BYTES => memory.to_path_buf(),
        _ => std::env::temp_dir(),
    }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let path = std::ffi::CString::new(folder.to_str()?).ok()?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with NUL, and the structure is filled when the call succeeds.
    let found = unsafe {
        if libc::statvfs(path.as_ptr(), found.as_mut_ptr()) != 0
            || libc::access(path.as_ptr(), libc::W_OK) != 0
        {
            return None;
        }
        found.assume_init()
    };
    Some(found.f_bavail as u64 * found.f_frsize as u64)
}

fn arguments(options: &Options, hosts: &[String], profile: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--headless=new",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--no-proxy-server",
        "--disable-background-networking",
        "--disable-breakpad",
        "--disable-client-side-phishing-detection",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-dev-shm-usage",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-gpu",
        "--disable-quic",
        "--disable-sync",
        "--disable-features=Translate,OptimizationHints,MediaRouter,DnsOverHttps",
        "--disk-cache-size=1",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--hide-scrollbars",
        "--lang=en-US",
        "--metrics-recording-only",
        "--mute-audio",
        "--no-pings",
        "--password-store=basic",
        "--use-mock-keychain",
        "--window-size=1280,1024",
    ]
    .map(String::from)
    .into();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    if options.no_sandbox {
        arguments.push("--no-sandbox".into());
    }
    arguments.push(format!("--host-resolver-rules={}", wall(hosts, options.test_site.as_ref())));
    if let Some(site) = &options.test_site {
        arguments.push(format!("--ignore-certificate-errors-spki-list={}", site.key));
    }
    arguments.push("about:blank".into());
    arguments
}

/// No name is resolved but those of the wizard; WebSockets and numbers are not reached either.
fn wall(hosts: &[String], test_site: Option<&TestSite>) -> String {
    let mapped = |host: &String| match test_site {
        Some(site) => format!("MAP {host}:443 {}", site.address),
        None => format!("EXCLUDE {host}"),
    };
    let mut rules: Vec<String> = hosts.iter().map(mapped).collect();
    rules.push("MAP * ~NOTFOUND".into());
    rules.join(" , ")
}

/// Starts the command with two pipes in places where Chromium looks for them, in a group of its
/// own, behind everything else that wants a core, and to be killed when we die.
fn spawn(mut command: Command) -> std::io::Result<(Connection, Child)> {
    let (their_commands, our_commands) = std::io::pipe()?;
    let (our_answers, their_answers) = std::io::pipe()?;
    // Out of the way of the two numbers: one that is copied over the other would be lost.
    let (their_commands, their_answers) = (raised(&their_commands)?, raised(&their_answers)?);
    let (read, write) = (their_commands.as_raw_fd(), their_answers.as_raw_fd());
    command.process_group(0);
    // SAFETY: between fork and exec only calls that are safe there: no memory is taken, no lock.
    unsafe {
        command.pre_exec(move || {
            let moved = libc::dup2(read, COMMANDS) >= 0 && libc::dup2(write, ANSWERS) >= 0;
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            priority::only_idle_cores();
            if moved { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    let child = command.spawn()?;
    let (commands, answers) = (OwnedFd::from(our_commands), OwnedFd::from(our_answers));
    Ok((Connection::new(File::from(commands), File::from(answers)), child))
}

/// The same pipe under a number of at least 10, closed on exec.
fn raised(pipe: &impl AsRawFd) -> std::io::Result<OwnedFd> {
    // SAFETY: the descriptor is open; the new one belongs to nobody else.
    unsafe {
        let raised = libc::fcntl(pipe.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10);
        match raised {
            -1 => Err(std::io::Error::last_os_error()),
            raised => Ok(OwnedFd::from_raw_fd(raised)),
        }
    }
}
