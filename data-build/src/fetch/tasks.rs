//! Plans and runs the downloads: lists all feeds, decides what is needed, and works through it with
//! a few threads per host.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar};

use super::bulk::{BulkFolder, FolderPlan};
use super::calendar::{Day, Window};
use super::download::{DownloadOutcome, Downloader};
use super::listing::{Listed, Lister, RemoteFile};
use super::names;
use super::numbered::NumberWalk;
use super::pages::PageSequence;
use super::publishers::{Feed, Listing};
use super::state::State;
use super::statistics::{BankDatabase, LaborSeries};
use super::summary::Summary;
use crate::progress;

/// Something to download.
pub enum Task {
    File(RemoteFile),
    /// The archive of a folder, and then what it lacks.
    Archive(BulkFolder),
    /// Pages that refer to each other.
    Pages(PageSequence),
    /// Files without an index.
    Numbers(NumberWalk),
    /// A database of the Bank of Japan.
    Bank(BankDatabase),
    /// Series of the Bureau of Labor Statistics.
    Labor(LaborSeries),
}

impl Task {
    fn source(&self) -> &'static str {
        match self {
            Task::File(file) => file.source,
            Task::Archive(folder) => folder.archive.source,
            Task::Pages(pages) => pages.feed.source,
            Task::Numbers(walk) => walk.feed.source,
            Task::Bank(database) => database.feed.source,
            Task::Labor(series) => series.feed.source,
        }
    }

    pub fn path(&self) -> String {
        match self {
            Task::File(file) => file.path.clone(),
            Task::Archive(folder) => folder.archive.path.clone(),
            Task::Pages(pages) => pages.path(1),
            Task::Numbers(walk) => walk.first.path.clone(),
            Task::Bank(database) => database.path("metadata.json"),
            Task::Labor(series) => series.path(),
        }
    }

    pub fn url(&self) -> &str {
        match self {
            Task::File(file) => &file.url,
            Task::Archive(folder) => &folder.archive.url,
            Task::Pages(pages) => &pages.url,
            Task::Numbers(walk) => &walk.first.url,
            Task::Bank(database) => &database.url,
            Task::Labor(series) => series.feed.address,
        }
    }

    /// Why it would be downloaded, in one word of fixed width.
    pub fn reason(&self, state: &State) -> &'static str {
        match (self, state.get(&self.path())) {
            (_, None) => "new    ",
            (Task::Pages(_) | Task::Numbers(_), Some(_)) => "open   ",
            (Task::Bank(_) | Task::Labor(_), Some(_)) => "check  ",
            (Task::Archive(_), Some(_)) => "changed",
            (Task::File(file), Some(_)) if file.stamp.is_some() => "changed",
            (Task::File(_), Some(_)) => "check  ",
        }
    }
}

/// Lists all feeds concurrently and returns what is to be downloaded, in the order of the table.
pub fn plan(
    downloader: &Downloader,
    feeds: &[&'static Feed],
    days: (Day, Day),
    summary: &mut Summary,
) -> Vec<Task> {
    let spinner = progress::spinner("listing files");
    let listed: Vec<(&'static Feed, Listed, Vec<PageSequence>)> = std::thread::scope(|scope| {
        let list = |feed: &'static Feed| move || list_feed(downloader, feed, days);
        let threads: Vec<_> = feeds.iter().map(|feed| (*feed, scope.spawn(list(feed)))).collect();
        let joined = threads.into_iter().map(|(feed, thread)| (feed, thread.join()));
        joined
            .map(|(feed, result)| match result {
                Ok((listed, pages)) => (feed, listed, pages),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    spinner.finish_and_clear();
    let mut tasks = Vec::new();
    let mut urls_by_path: HashMap<String, String> = HashMap::new();
    for (feed, listed, page_sequences) in listed {
        for (address, reason) in &listed.failed {
            summary.fail(feed.source, address, reason);
        }
        match feed.listing {
            Listing::BankDatabases => {
                let databases = downloader.boj_databases.iter();
                tasks.extend(databases.map(|code| Task::Bank(BankDatabase::new(feed, code))));
            }
            Listing::LaborSeries => tasks.push(Task::Labor(LaborSeries { feed })),
            _ => {}
        }
        listed.unpublished.iter().for_each(|address| summary.unpublished(address));
        summary.notes.extend(listed.notes);
        tasks.extend(listed.walks.into_iter().map(Task::Numbers));
        let mut files = listed.files;
        for folder in listed.folders {
            match folder.plan(downloader.state, downloader.refresh) {
                FolderPlan::Archive(folder) => tasks.push(Task::Archive(folder)),
                FolderPlan::Files { needed, unchanged } => {
                    files.extend(needed);
                    summary.count_unchanged(feed.source, unchanged);
                }
            }
        }
        for file in files {
            match urls_by_path.insert(file.path.clone(), file.url.clone()) {
                Some(other) if other == file.url => {}
                Some(other) => {
                    let reason = format!("has the same file name as {other}");
                    summary.fail(feed.source, &file.url, &reason);
                }
                None if downloader.is_needed(&file) => tasks.push(Task::File(file)),
                None => summary.count_unchanged(feed.source, 1),
            }
        }
        for pages in page_sequences {
            match !downloader.refresh && pages.is_complete(downloader) {
                true => summary.count_unchanged(feed.source, 1),
                false => tasks.push(Task::Pages(pages)),
            }
        }
    }
    tasks
}

fn list_feed(
    downloader: &Downloader,
    feed: &'static Feed,
    (since, until): (Day, Day),
) -> (Listed, Vec<PageSequence>) {
    let (mut all, mut pages) = (Listed::default(), Vec::new());
    for window in Window::all(feed.address, since, until) {
        match feed.listing {
            Listing::IncludedIn(_) | Listing::BankDatabases | Listing::LaborSeries => {}
            Listing::Pages(how) => {
                let url = window.fill(feed.address);
                pages.push(PageSequence { feed, pages: how, url, window })
            }
            _ => {
                let listed = Listed::default();
                all.extend(Lister { downloader, feed, window: &window, listed }.run());
            }
        }
    }
    (all, pages)
}

/// Runs the tasks with up to `per_host` threads per host. Returns the tasks that follow from them.
pub fn run(
    downloader: &Downloader,
    tasks: Vec<Task>,
    per_host: usize,
    summary: &mut Summary,
) -> Vec<Task> {
    let bar = progress::rate_bar(tasks.len() as u64, "");
    let started = Instant::now();
    let mut by_host: BTreeMap<String, VecDeque<Task>> = BTreeMap::new();
    for task in tasks {
        by_host.entry(names::host(task.url()).unwrap_or_default()).or_default().push_back(task);
    }
    let queues: Vec<(usize, Mutex<VecDeque<Task>>)> =
        by_host.into_values().map(|q| (q.len().min(per_host), Mutex::new(q))).collect();
    let (summary, following) = (Mutex::new(summary), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for (threads, queue) in &queues {
            for _ in 0..*threads {
                scope.spawn(|| {
                    while let Some(task) = pop(queue) {
                        show(&bar, downloader, &task, started);
                        let tasks = run_task(downloader, &task, &summary);
                        following.lock().unwrap_or_else(PoisonError::into_inner).extend(tasks);
                        bar.inc(1);
                    }
                });
            }
        }
    });
    bar.finish_and_clear();
    following.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn pop(queue: &Mutex<VecDeque<Task>>) -> Option<Task> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// Runs a task and adds its outcome to the summary. Returns the tasks that follow from it.
fn run_task(downloader: &Downloader, task: &Task, summary: &Mutex<&mut Summary>) -> Vec<Task> {
    let mut following = Vec::new();
    let result = match task {
        Task::File(file) => downloader.get(file).map(|outcome| vec![outcome]),
        Task::Archive(folder) => {
            let result = downloader.get_archive(folder).map(|outcome| vec![outcome]);
            // What changed since the archive was made; everything if it can't be had.
            following.extend(folder.needed(downloader.state).into_iter().map(Task::File));
            result
        }
        Task::Pages(pages) => pages.download(downloader),
        Task::Numbers(walk) => walk.download(downloader),
        Task::Bank(database) => database.download(downloader),
        Task::Labor(series) => series.download(downloader),
    };
    let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
    match result {
        Ok(outcomes) if outcomes == [DownloadOutcome::Unpublished] => {
            summary.unpublished(task.url())
        }
        Ok(outcomes) => {
            outcomes.into_iter().for_each(|outcome| summary.count(task.source(), outcome))
        }
        Err(error) => summary.fail(task.source(), task.url(), &format!("{error:#}")),
    }
    following
}

fn show(bar: &ProgressBar, downloader: &Downloader, task: &Task, started: Instant) {
    let bytes = downloader.bytes.load(Ordering::Relaxed);
    let rate = bytes as f64 / started.elapsed().as_secs_f64().max(0.001);
    let path: String = task.path().chars().take(50).collect();
    bar.set_message(format!("{} at {}/s  {path}", HumanBytes(bytes), HumanBytes(rate as u64)));
}
