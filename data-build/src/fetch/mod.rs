//! `josh-data-build fetch`: downloads official files into one folder per source, which `build`
//! reads. `feeds` has the addresses, `listing` and the files beside it find what there is, `client`
//! limits and retries requests, `download` stores files, `state` remembers them.

mod bulk;
mod calendar;
mod client;
mod content;
mod coverage;
pub mod docs;
mod download;
mod feed_families;
mod feeds;
mod items;
mod listing;
mod names;
mod numbered;
mod pages;
mod partial;
mod publishers;
mod quota;
mod state;
mod statements;
mod statistics;
mod summary;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::catalog::SOURCES;

use self::calendar::Day;
use self::client::{Client, Policy};
use self::download::Downloader;
use self::feeds::FEEDS;
use self::publishers::{Feed, Listing};
pub use self::state::STATE_FILE;
use self::state::{SourceRun, State};
use self::summary::Summary;
use crate::record_cache::sha256;
use josh::output::say;

/// What the state of a fetched folder says of a source.
#[derive(Default)]
pub struct Fetched {
    /// The last day on which it or one of its files was fetched.
    pub day: Option<String>,
    /// What its feeds do not have, and how much its last run could not fetch.
    pub missing: Vec<String>,
}

/// The state by source; empty for a folder that was not fetched.
pub fn fetched(folder: &Path) -> BTreeMap<String, Fetched> {
    let mut sources: BTreeMap<String, Fetched> = BTreeMap::new();
    let Ok(state) = State::open_read_only(folder) else { return sources };
    for (source, time) in state.times() {
        let Some(day) = Day::parse(&time).map(|day| day.to_string()) else { continue };
        let newest = &mut sources.entry(source).or_default().day;
        *newest = std::mem::take(newest).max(Some(day));
    }
    for (source, run) in state.runs() {
        let missing = &mut sources.entry(source).or_default().missing;
        missing.extend(run.gaps);
        if run.failed > 0 {
            missing.push(format!("{} files or lists failed in the last run", run.failed));
        }
    }
    sources
}

#[derive(Args)]
pub struct Fetch {
    /// Folder to download into; `build` reads it
    #[arg(long, value_name = "FOLDER", default_value = "federal-data")]
    into: PathBuf,
    /// First date to fetch; determines which congresses, years, months and days [default: the
    /// first day of the current congress]
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Last date to fetch [default: today]
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Sources to fetch: all or a comma-separated list
    #[arg(long, value_name = "SOURCES", default_value = "all")]
    sources: String,
    /// Print what would be downloaded; requests lists only and writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Check files that are complete again, and download those that changed
    #[arg(long)]
    refresh: bool,
    /// Download nothing: compare the files with their recorded checksums
    #[arg(long)]
    verify: bool,
    /// Number of retries after a transport error or a status of 500, 502, 503 or 504
    #[arg(long, value_name = "N", default_value_t = 4)]
    retries: u32,
    /// Seconds before the first retry; doubles with each further one, up to a minute
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pause: f64,
    /// Longest wait in seconds that a host may request with 429 or Retry-After; beyond it the file
    /// fails
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0)]
    longest_wait: f64,
    /// Seconds without any data after which a connection is closed
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// Concurrent requests per host
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u16).range(1..=32)
    )]
    per_host: u16,
    /// Databases of the Bank of Japan: none, core (the eleven most asked for), all, or codes like
    /// FM01,FM08. Nothing is fetched without the source statistical-series
    #[arg(long, value_name = "DATABASES", default_value = "core")]
    boj_databases: String,
    /// Send a host's requests to another address, such as a mirror:
    /// www.govinfo.gov=https://mirror.example/govinfo
    #[arg(long, value_name = "HOST=URL", value_parser = parse_base)]
    base: Vec<(String, String)>,
}

fn parse_base(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((host, url)) if names::host(url).is_some() => {
            Ok((host.to_ascii_lowercase(), url.to_string()))
        }
        _ => Err("expected HOST=URL, with a URL that starts with http:// or https://".into()),
    }
}

impl Fetch {
    pub fn run(&self) -> Result<()> {
        if self.verify {
            return self.verify();
        }
        let started = Instant::now();
        let days = self.days()?;
        let state = match self.dry_run {
            true => State::open_read_only(&self.into)?,
            false => State::open(&self.into)?,
        };
        let client = Client::new(self.policy()?, self.base.iter().cloned().collect());
        let downloader = Downloader {
            client: &client,
            state: &state,
            folder: &self.into,
            today: Day::today(),
            refresh: self.refresh,
            boj_databases: statistics::parse_databases(&self.boj_databases)
                .map_err(|why| anyhow::anyhow!("--boj-databases: {why}"))?,
            bytes: AtomicU64::new(0),
        };
        let mut summary = Summary::default();
        let feeds = without_missing_keys(self.feeds()?, &mut summary);
        let mut tasks = tasks::plan(&downloader, &feeds, days, &mut summary);
        if self.dry_run {
            for task in &tasks {
                say!("{} {} {}", task.reason(&state), task.path(), task.url());
            }
            summary.print_problems();
            say!("{} to download; nothing was written", tasks.len());
        } else {
            while !tasks.is_empty() {
                tasks = tasks::run(&downloader, tasks, self.per_host.into(), &mut summary);
            }
            record_runs(&state, &feeds, days, &summary)?;
            state.compact()?;
            let bytes = downloader.bytes.load(Ordering::Relaxed);
            summary.print(&self.into, bytes, started.elapsed());
        }
        match summary.failed() {
            0 => Ok(()),
            failed => bail!("{failed} failed; everything else is in {}", self.into.display()),
        }
    }

    fn days(&self) -> Result<(Day, Day)> {
        let day = |flag: &str, given: &Option<String>, default: Day| match given {
            None => Ok(default),
            Some(text) => Day::parse(text)
                .with_context(|| format!("{flag} must be a date like 2025-01-31; got {text:?}")),
        };
        let until = day("--until", &self.until, Day::today())?;
        let since = day("--since", &self.since, until.start_of_congress())?;
        anyhow::ensure!(since <= until, "--since {since} is after {until}");
        Ok((since, until))
    }

    fn policy(&self) -> Result<Policy> {
        let seconds = |flag: &str, value: f64| {
            Duration::try_from_secs_f64(value)
                .with_context(|| format!("{flag} must be a number of seconds; got {value}"))
        };
        Ok(Policy {
            retries: self.retries,
            pause: seconds("--pause", self.pause)?,
            longest_wait: seconds("--longest-wait", self.longest_wait)?,
            timeout: seconds("--timeout", self.timeout)?,
            per_host: self.per_host.into(),
        })
    }

    /// The feeds of the requested sources.
    fn feeds(&self) -> Result<Vec<&'static Feed>> {
        let requested: Vec<&str> =
            self.sources.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
        let all = requested == ["all"];
        let is_unknown = |name: &&&str| !all && SOURCES.iter().all(|s| s.key != **name);
        if let Some(unknown) = requested.iter().find(is_unknown) {
            let keys: Vec<&str> = SOURCES.iter().map(|s| s.key).collect();
            bail!("--sources: unknown source {unknown:?}. Sources: {}", keys.join(", "));
        }
        // A source that is included in another's files needs the other's feeds.
        let includes_requested = |feed: &Feed| {
            FEEDS.iter().filter(|other| requested.contains(&other.source)).any(|other| {
                matches!(other.listing, Listing::IncludedIn(source) if source == feed.source)
            })
        };
        let is_needed =
            |feed: &&Feed| all || requested.contains(&feed.source) || includes_requested(feed);
        Ok(FEEDS.iter().filter(is_needed).collect())
    }

    /// Compares every file with its recorded checksum.
    fn verify(&self) -> Result<()> {
        let files = State::open_read_only(&self.into)?.all();
        anyhow::ensure!(
            !files.is_empty(),
            "{} has no record of fetched files",
            self.into.display()
        );
        let mut changed = 0;
        for (path, entry) in &files {
            let hash =
                std::fs::File::open(self.into.join(path)).and_then(|mut file| sha256(&mut file));
            let problem = match hash {
                Err(e) => e.to_string(),
                Ok(hash) if hex::encode(hash) != entry.sha256 => {
                    "changed since it was fetched".into()
                }
                Ok(_) => continue,
            };
            say!("{path}: {problem}");
            changed += 1;
        }
        match changed {
            0 => say!("{} files match their checksums", files.len()),
            _ => bail!(
                "{changed} of {} files differ from what was fetched; delete them and fetch again",
                files.len()
            ),
        }
        Ok(())
    }
}

/// Records for each source that it was fetched, for which days, and with how many failures.
fn record_runs(
    state: &State,
    feeds: &[&Feed],
    (since, until): (Day, Day),
    summary: &Summary,
) -> Result<()> {
    let sources: BTreeSet<&str> = feeds.iter().map(|feed| feed.source).collect();
    for source in sources {
        let run = SourceRun {
            fetched: calendar::now(),
            since: since.to_string(),
            until: until.to_string(),
            failed: summary.failed_of(source),
            gaps: coverage::known_gaps(source).map(str::to_string).collect(),
        };
        state.set_run(source, run)?;
    }
    Ok(())
}

/// Drops feeds whose API key is missing, and adds a line per key to the summary.
fn without_missing_keys(feeds: Vec<&'static Feed>, summary: &mut Summary) -> Vec<&'static Feed> {
    let mut missing: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    let mut kept = Vec::new();
    for feed in feeds {
        let required = publishers::host_of(feed.address)
            .and_then(|h| h.key.as_ref())
            .filter(|k| k.per_minute_without.is_none() && k.value().is_none());
        match required {
            Some(key) => {
                let sources =
                    &mut missing.entry(key.variable).or_insert((key.get_at, Vec::new())).1;
                if !sources.contains(&feed.source) {
                    sources.push(feed.source);
                }
            }
            None => kept.push(feed),
        }
    }
    for (variable, (get_at, sources)) in missing {
        let sources = sources.join(", ");
        summary.skipped.push(format!(
            "skipped {sources}: set {variable} to a key (free at {get_at}) and run again"
        ));
    }
    kept
}
