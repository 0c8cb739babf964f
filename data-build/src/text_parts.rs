//! Cuts texts into passages and indexes them on all cores: the records in parts of a few megabytes,
//! each part by one thread. The parts do not depend on the number of threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use josh::bundle::text_writer::{Part, PartBuilder, PassageEntry};

use crate::passages::{self, Passage};
use crate::record::Section;

/// Text of one part. Its index takes about as much memory again.
const PART_BYTES: usize = 12 << 20;

/// What a record without text adds to a part.
const RECORD_BYTES: usize = 200;

/// The text of a record. One without sections is indexed by its title.
pub struct RecordText {
    pub source: &'static str,
    /// Its number in the bundle.
    pub record: u64,
    pub title: String,
    pub sections: Vec<Section>,
}

/// An indexed part.
pub struct FinishedPart {
    pub number: usize,
    pub index: Part,
    /// Passages by source.
    pub passages: BTreeMap<&'static str, u64>,
    /// What the model gets for each passage; `None` for no vector. Empty without a model.
    pub model_texts: Vec<Option<String>>,
}

struct Job {
    number: usize,
    folder: PathBuf,
    records: Vec<RecordText>,
}

/// Collects records into parts and has threads index them.
pub struct TextParts {
    folder: PathBuf,
    open: Vec<RecordText>,
    open_bytes: usize,
    next: usize,
    jobs: Option<SyncSender<Job>>,
    finished: Receiver<Result<FinishedPart>>,
    threads: Vec<JoinHandle<()>>,
}

impl TextParts {
    /// `embedded` names the sources whose passages get vectors, if there is a model.
    pub fn new(folder: &Path, threads: usize, embedded: Option<&[&'static str]>) -> TextParts {
        // Few parts wait: they are in memory.
        let (jobs, waiting) = sync_channel::<Job>(1);
        let (sender, finished) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let spawn = |_| {
            let (waiting, sender) = (waiting.clone(), sender.clone());
            let embedded = embedded.map(<[_]>::to_vec);
            std::thread::spawn(move || work(&waiting, &sender, embedded.as_deref()))
        };
        TextParts {
            folder: folder.to_path_buf(),
            open: Vec::new(),
            open_bytes: 0,
            next: 0,
            jobs: Some(jobs),
            finished,
            threads: (0..threads.max(1)).map(spawn).collect(),
        }
    }

    /// Adds the next record.
    pub fn add(&mut self, record: RecordText) -> Result<()> {
        self.open_bytes += RECORD_BYTES;
        self.open_bytes += record.sections.iter().map(|s| s.text.len()).sum::<usize>();
        self.open.push(record);
        if self.open_bytes < PART_BYTES { Ok(()) } else { self.send() }
    }

    /// Parts that were finished since the last call.
    pub fn finished(&self) -> impl Iterator<Item = Result<FinishedPart>> {
        self.finished.try_iter()
    }

    /// Waits for the parts that were not finished yet.
    pub fn finish(&mut self) -> Result<Vec<FinishedPart>> {
        if !self.open.is_empty() {
            self.send()?;
        }
        self.jobs = None;
        for thread in std::mem::take(&mut self.threads) {
            thread.join().map_err(|_| anyhow!("a thread that indexes texts failed"))?;
        }
        self.finished.try_iter().collect()
    }

    fn send(&mut self) -> Result<()> {
        let number = self.next;
        self.next += 1;
        self.open_bytes = 0;
        let records = std::mem::take(&mut self.open);
        let job = Job { number, folder: self.folder.join(format!("part-{number}")), records };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        anyhow::ensure!(sent, "the threads that index texts have stopped");
        Ok(())
    }
}

/// Indexes parts until there are no more.
fn work(
    waiting: &Mutex<Receiver<Job>>,
    finished: &Sender<Result<FinishedPart>>,
    embedded: Option<&[&'static str]>,
) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if finished.send(index(job, embedded)).is_err() {
            return;
        }
    }
}

fn index(job: Job, embedded: Option<&[&'static str]>) -> Result<FinishedPart> {
    let mut builder = PartBuilder::new(&job.folder)?;
    let mut by_source: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut model_texts = Vec::new();
    for RecordText { source, record, title, sections } in &job.records {
        let mut passages = passages::cut(title, sections);
        if passages.is_empty() {
            passages.push(Passage::default());
        }
        for passage in &passages {
            let Passage { section, heading, text } = passage;
            builder.add(&PassageEntry { record: *record, title, section, heading, text })?;
            if let Some(embedded) = embedded {
                let has_vector = embedded.contains(source);
                model_texts.push(has_vector.then(|| passages::model_text(title, passage)));
            }
        }
        *by_source.entry(source).or_default() += passages.len() as u64;
    }
    let index = builder.finish()?;
    Ok(FinishedPart { number: job.number, index, passages: by_source, model_texts })
}
