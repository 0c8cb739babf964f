//! `josh-data-build fetch`: official files from their publishers into one folder a source, which `build` reads.
//! `publishers` says where they are, `listing` and `items` find out what there is, `client` asks politely, `download`
//! gets one file, `state` remembers.

mod calendar;
mod client;
pub mod docs;
mod download;
mod items;
mod listing;
mod names;
mod publishers;
mod state;
mod summary;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{HumanBytes, ProgressBar};
use josh::catalog::SOURCES;
use sha2::{Digest, Sha256};

use self::calendar::{Day, Window};
use self::client::{Client, Policy};
use self::download::{Outcome, Workshop};
use self::items::Chain;
use self::listing::{Found, Lister, Wanted};
use self::publishers::{FEEDS, Feed, Listing};
use self::state::State;
use self::summary::Summary;
use crate::output::say;
use crate::progress;

#[derive(Args)]
pub struct Fetch {
    /// Folder to fetch into; `build` reads it
    #[arg(long, value_name = "FOLDER", default_value = "federal-data")]
    into: PathBuf,
    /// Fetch the congresses, years, months and days from this one on [default: the first day of this congress]
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Last day to fetch [default: today]
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Sources to fetch: all or a list separated by commas
    #[arg(long, value_name = "SOURCES", default_value = "all")]
    sources: String,
    /// Print what would be fetched; lists are asked for, nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Ask again for files that are complete, and fetch those that changed
    #[arg(long)]
    refresh: bool,
    /// Fetch nothing: compare the files with the checksums of when they were fetched
    #[arg(long)]
    verify: bool,
    /// How often to try again after a transport error or a 500, 502, 503 or 504
    #[arg(long, value_name = "N", default_value_t = 4)]
    retries: u32,
    /// Seconds before the first try again; each further one takes twice as long, up to a minute
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pause: f64,
    /// Longest wait, in seconds, that a host may ask for with 429 or Retry-After before its file is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0)]
    longest_wait: f64,
    /// Seconds to wait for a connection, for an answer and for each further piece of it
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// Requests to one host at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=32))]
    per_host: u16,
    /// Reach a host at another address, such as a mirror: www.govinfo.gov=https://mirror.example/govinfo
    #[arg(long, value_name = "HOST=URL", value_parser = base)]
    base: Vec<(String, String)>,
}

fn base(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((host, url)) if names::host(url).is_some() => Ok((host.to_ascii_lowercase(), url.to_string())),
        _ => Err("expected HOST=URL, the URL beginning with http:// or https://".into()),
    }
}

/// Something to do: a file, or pages that follow one another.
enum Job {
    File(Wanted),
    Pages(Chain),
}

impl Job {
    fn source(&self) -> &'static str {
        match self {
            Job::File(wanted) => wanted.source,
            Job::Pages(chain) => chain.feed.source,
        }
    }

    fn path(&self) -> String {
        match self {
            Job::File(wanted) => wanted.path.clone(),
            Job::Pages(chain) => chain.path(1),
        }
    }

    fn url(&self) -> &str {
        match self {
            Job::File(wanted) => &wanted.url,
            Job::Pages(chain) => &chain.url,
        }
    }
}

impl Fetch {
    pub fn run(&self) -> Result<()> {
        if self.verify {
            return self.verify();
        }
        let started = Instant::now();
        let (since, until) = self.days()?;
        let state = if self.dry_run { State::look(&self.into)? } else { State::open(&self.into)? };
        let client = Client::new(self.policy()?, self.base.iter().cloned().collect());
        let (today, bytes) = (Day::today(), AtomicU64::new(0));
        let shop = Workshop { client: &client, state: &state, folder: &self.into, today, bytes };
        let mut summary = Summary::default();
        let feeds = with_keys(self.feeds()?, &mut summary);
        let jobs = self.plan(&shop, &feeds, (since, until), &mut summary);
        if self.dry_run {
            jobs.iter().for_each(|job| say!("{} {} {}", news(&state, job), job.path(), job.url()));
            summary.print_problems();
            say!("{} to fetch; nothing was written", jobs.len());
        } else {
            let summary_shared = Mutex::new(&mut summary);
            self.work(&shop, jobs, &summary_shared);
            state.tidy()?;
            summary.print(&self.into, shop.bytes.load(Ordering::Relaxed), started.elapsed());
        }
        match summary.failed() {
            0 => Ok(()),
            failed => bail!("{failed} could not be fetched; the rest is in {}", self.into.display()),
        }
    }

    fn days(&self) -> Result<(Day, Day)> {
        let day = |flag: &str, given: &Option<String>, otherwise: Day| match given {
            None => Ok(otherwise),
            Some(text) => {
                Day::parse(text).with_context(|| format!("{flag} takes a date like 2025-01-31, not {text:?}"))
            }
        };
        let until = day("--until", &self.until, Day::today())?;
        let since = day("--since", &self.since, until.start_of_congress())?;
        anyhow::ensure!(since <= until, "--since {since} is after {until}");
        Ok((since, until))
    }

    fn policy(&self) -> Result<Policy> {
        let seconds = |flag: &str, value: f64| {
            Duration::try_from_secs_f64(value).with_context(|| format!("{flag} takes seconds, not {value}"))
        };
        Ok(Policy {
            retries: self.retries,
            pause: seconds("--pause", self.pause)?,
            longest_wait: seconds("--longest-wait", self.longest_wait)?,
            timeout: seconds("--timeout", self.timeout)?,
            per_host: self.per_host.into(),
        })
    }

    fn feeds(&self) -> Result<Vec<&'static Feed>> {
        let named: Vec<&str> = self.sources.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
        let all = named == ["all"];
        if let Some(unknown) = named.iter().find(|n| !all && SOURCES.iter().all(|s| s.key != **n)) {
            let keys: Vec<&str> = SOURCES.iter().map(|s| s.key).collect();
            bail!("--sources: there is no source {unknown:?}. Sources: {}", keys.join(", "));
        }
        // A source that only comes with another is fetched with it.
        let within = |f: &Feed| {
            FEEDS.iter().any(|o| matches!(o.listing, Listing::Within(w) if w == f.source && named.contains(&o.source)))
        };
        Ok(FEEDS.iter().filter(|f| all || named.contains(&f.source) || within(f)).collect())
    }

    /// Looks at the lists of all feeds at once and says what is to be fetched, in the order of the table.
    fn plan(&self, shop: &Workshop, feeds: &[&'static Feed], days: (Day, Day), summary: &mut Summary) -> Vec<Job> {
        let spinner = progress::spinner("looking at the publishers' lists");
        let listed: Vec<(&Feed, Found, Vec<Chain>)> = std::thread::scope(|scope| {
            let list = |feed: &'static Feed| move || list_feed(shop, feed, days);
            let threads: Vec<_> = feeds.iter().map(|feed| (*feed, scope.spawn(list(feed)))).collect();
            let joined = threads.into_iter().map(|(feed, thread)| (feed, thread.join()));
            joined
                .map(|(feed, done)| match done {
                    Ok((found, chains)) => (feed, found, chains),
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        });
        spinner.finish_and_clear();
        let mut jobs = Vec::new();
        let mut taken: HashMap<String, String> = HashMap::new();
        for (feed, found, chains) in listed {
            found.failed.iter().for_each(|(address, reason)| summary.fail(feed.source, address, reason));
            found.absent.iter().for_each(|address| summary.absent(address));
            for wanted in found.wanted {
                match taken.insert(wanted.path.clone(), wanted.url.clone()) {
                    Some(other) if other == wanted.url => {}
                    Some(other) => summary.fail(feed.source, &wanted.url, &format!("has the same name as {other}")),
                    None if !self.refresh && wanted.is_here(shop.state) => {
                        summary.count(feed.source, Outcome::Unchanged)
                    }
                    None => jobs.push(Job::File(wanted)),
                }
            }
            for chain in chains {
                match !self.refresh && chain.is_done(shop) {
                    true => summary.count(feed.source, Outcome::Unchanged),
                    false => jobs.push(Job::Pages(chain)),
                }
            }
        }
        jobs
    }

    /// Works on the jobs, host by host, so many threads for each.
    fn work(&self, shop: &Workshop, jobs: Vec<Job>, summary: &Mutex<&mut Summary>) {
        let bar = progress::rated(jobs.len() as u64, "");
        let started = Instant::now();
        let mut queues: BTreeMap<String, VecDeque<Job>> = BTreeMap::new();
        for job in jobs {
            queues.entry(names::host(job.url()).unwrap_or_default()).or_default().push_back(job);
        }
        let queues: Vec<(usize, Mutex<VecDeque<Job>>)> =
            queues.into_values().map(|q| (q.len().min(self.per_host.into()), Mutex::new(q))).collect();
        std::thread::scope(|scope| {
            for (threads, queue) in &queues {
                for _ in 0..*threads {
                    scope.spawn(|| {
                        while let Some(job) = next(queue) {
                            show(&bar, shop, &job, started);
                            do_job(shop, &job, summary);
                            bar.inc(1);
                        }
                    });
                }
            }
        });
        bar.finish_and_clear();
    }

    /// Compares every file with what was noted when it was fetched.
    fn verify(&self) -> Result<()> {
        let files = State::look(&self.into)?.all();
        anyhow::ensure!(!files.is_empty(), "{} holds nothing that was fetched", self.into.display());
        let mut wrong = 0;
        for (path, entry) in &files {
            let mut hash = Sha256::new();
            let read = std::fs::File::open(self.into.join(path)).and_then(|mut file| {
                let mut buffer = vec![0; 1 << 20];
                loop {
                    match std::io::Read::read(&mut file, &mut buffer)? {
                        0 => return Ok(()),
                        count => hash.update(&buffer[..count]),
                    }
                }
            });
            let problem = match read {
                Err(e) => e.to_string(),
                Ok(()) if download::hex(&hash.finalize()) != entry.sha256 => "not as it was fetched".to_string(),
                Ok(()) => continue,
            };
            say!("{path}: {problem}");
            wrong += 1;
        }
        match wrong {
            0 => say!("{} files are as they were fetched", files.len()),
            _ => bail!("{wrong} of {} files are not as they were fetched; delete them and fetch again", files.len()),
        }
        Ok(())
    }
}

/// Leaves out feeds whose host wants a key that is not there, and says so once for each key.
fn with_keys(feeds: Vec<&'static Feed>, summary: &mut Summary) -> Vec<&'static Feed> {
    let mut lacking: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    let mut kept = Vec::new();
    for feed in feeds {
        let host = names::host(feed.address).and_then(|h| publishers::host(&h));
        match host.and_then(|h| h.key.as_ref()).filter(|k| k.without.is_none() && k.value().is_none()) {
            Some(key) => {
                let sources = &mut lacking.entry(key.variable).or_insert((key.get_at, Vec::new())).1;
                if !sources.contains(&feed.source) {
                    sources.push(feed.source);
                }
            }
            None => kept.push(feed),
        }
    }
    for (variable, (get_at, sources)) in lacking {
        let sources = sources.join(", ");
        summary.skipped.push(format!("skipped {sources}: set {variable} to a key, free at {get_at}, and run again"));
    }
    kept
}

fn list_feed(shop: &Workshop, feed: &'static Feed, (since, until): (Day, Day)) -> (Found, Vec<Chain>) {
    let (mut all, mut chains) = (Found::default(), Vec::new());
    for window in Window::all(feed.address, since, until) {
        match feed.listing {
            Listing::Within(_) => {}
            Listing::Pages { .. } => chains.push(Chain { feed, url: window.fill(feed.address), window }),
            _ => {
                let (client, today, found) = (shop.client, shop.today, Found::default());
                let found = Lister { client, feed, window: &window, today, found }.run();
                all.wanted.extend(found.wanted);
                all.failed.extend(found.failed);
                all.absent.extend(found.absent);
            }
        }
    }
    (all, chains)
}

fn next(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn do_job(shop: &Workshop, job: &Job, summary: &Mutex<&mut Summary>) {
    let done = match job {
        Job::File(wanted) => shop.get(wanted).map(|outcome| vec![outcome]),
        Job::Pages(chain) => match &chain.feed.listing {
            Listing::Pages { next, keep } => chain.run(shop, next, keep),
            _ => Ok(Vec::new()),
        },
    };
    let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
    match done {
        Ok(outcomes) if outcomes == [Outcome::NotYet] => summary.absent(job.url()),
        Ok(outcomes) => outcomes.into_iter().for_each(|outcome| summary.count(job.source(), outcome)),
        Err(error) => summary.fail(job.source(), job.url(), &format!("{error:#}")),
    }
}

fn show(bar: &ProgressBar, shop: &Workshop, job: &Job, started: Instant) {
    let bytes = shop.bytes.load(Ordering::Relaxed);
    let rate = bytes as f64 / started.elapsed().as_secs_f64().max(0.001);
    let path: String = job.path().chars().take(50).collect();
    bar.set_message(format!("{} at {}/s  {path}", HumanBytes(bytes), HumanBytes(rate as u64)));
}

/// Why something would be fetched, in one word.
fn news(state: &State, job: &Job) -> &'static str {
    match (job, state.get(&job.path())) {
        (_, None) => "new    ",
        (Job::Pages(_), Some(_)) => "open   ",
        (Job::File(wanted), Some(_)) if wanted.stamp.is_some() => "changed",
        (Job::File(_), Some(_)) => "ask    ",
    }
}
