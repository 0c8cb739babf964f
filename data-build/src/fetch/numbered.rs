//! Files with consecutive numbers: roll calls. An index says how many there are. Without one, they
//! are found by asking for one number after the other, until several are missing in a row.

use std::io::Read;

use anyhow::{Result, bail, ensure};
use regex::Regex;

use super::calendar::{Day, Window};
use super::client::NotFound;
use super::content;
use super::download::{DownloadOutcome, Downloader};
use super::listing::{Lister, RemoteFile};
use super::names;
use super::publishers::{Feed, Numbered};
use crate::formats::dates;

/// More than either chamber has voted in a year.
const MAX_NUMBER: u64 = 3000;
/// So many missing numbers in a row end the search. The chambers skip none.
const MAX_MISSING: usize = 5;
/// Votes are corrected in the days after them.
const DAYS_OF_CORRECTION: i64 = 7;

impl Lister<'_> {
    pub fn numbered(&mut self, address: &str, numbered: &'static Numbered) -> Result<()> {
        let walk = NumberWalk::new(self.feed, numbered, self.window, self.downloader)?;
        match self.highest(address, numbered) {
            Ok(highest) => {
                for number in 1..=highest {
                    self.listed.files.push(walk.file(number, self.downloader)?);
                }
            }
            Err(reason) => {
                let note = "the files are found by their numbers instead";
                self.listed.notes.push(format!("{address}: {reason:#}; {note}"));
                self.listed.walks.push(walk);
            }
        }
        Ok(())
    }

    /// The highest number in the index.
    fn highest(&self, address: &str, numbered: &Numbered) -> Result<u64> {
        let text = self.downloader.client.text(address, "*/*")?;
        let numbers = Regex::new(numbered.pattern)?;
        let highest = numbers.captures_iter(&text).filter_map(|c| c[1].parse::<u64>().ok()).max();
        match highest {
            Some(highest) if highest <= MAX_NUMBER => Ok(highest),
            _ => bail!("no valid numbers in the index; its format may have changed"),
        }
    }
}

/// The files of one window, found by their numbers.
pub struct NumberWalk {
    pub feed: &'static Feed,
    /// The file with number 1.
    pub first: RemoteFile,
    numbered: &'static Numbered,
    window: Window,
}

impl NumberWalk {
    fn new(
        feed: &'static Feed,
        numbered: &'static Numbered,
        window: &Window,
        downloader: &Downloader,
    ) -> Result<NumberWalk> {
        let first = RemoteFile::file(feed.source, String::new(), String::new());
        let mut walk = NumberWalk { feed, first, numbered, window: window.clone() };
        walk.first = walk.file(1, downloader)?;
        Ok(walk)
    }

    /// The file with this number.
    fn file(&self, number: u64, downloader: &Downloader) -> Result<RemoteFile> {
        let url = self
            .window
            .fill(self.numbered.file)
            .replace("{number:3}", &format!("{number:03}"))
            .replace("{number:5}", &format!("{number:05}"));
        let path = self.feed.path(&self.window, &names::file_name(&url, "")?);
        let mut file = RemoteFile::file(self.feed.source, path, url);
        file.root = Some(self.numbered.root);
        file.may_be_unpublished = !self.window.is_settled(downloader.today);
        file.immutable = self.is_final(&file.path, downloader);
        Ok(file)
    }

    /// Whether the stored file was confirmed after the time in which it may be corrected.
    fn is_final(&self, path: &str, downloader: &Downloader) -> bool {
        let Some(entry) = downloader.state.get(path) else { return false };
        let mut head = Vec::new();
        let read = downloader
            .state
            .open_file(path)
            .and_then(|file| file.take(content::HEAD_BYTES).read_to_end(&mut head));
        let text = String::from_utf8_lossy(&head);
        let stated = Regex::new(self.numbered.date).ok().and_then(|date| {
            let found = date.captures(&text)?[1].to_string();
            Day::parse(&dates::day_first(&found).or_else(|| dates::iso(&found))?)
        });
        let day = stated.unwrap_or(self.window.last);
        let confirmed = Day::parse(&entry.fetched);
        read.is_ok() && confirmed.is_some_and(|c| c > day.plus(DAYS_OF_CORRECTION))
    }

    /// Downloads the files in order. Returns the outcome of each.
    pub fn download(&self, downloader: &Downloader) -> Result<Vec<DownloadOutcome>> {
        let (mut outcomes, mut gaps, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1..=MAX_NUMBER {
            let file = self.file(number, downloader)?;
            let result = match downloader.is_needed(&file) {
                true => downloader.get_file(&file),
                false => Ok(DownloadOutcome::Unchanged),
            };
            match result {
                Ok(outcome) => {
                    outcomes.push(outcome);
                    gaps.append(&mut missing);
                }
                Err(error) if error.is::<NotFound>() => missing.push(number),
                Err(error) => return Err(error.context(file.url)),
            }
            if missing.len() == MAX_MISSING {
                break;
            }
        }
        ensure!(gaps.is_empty(), "number {gaps:?} missing, though there are higher ones");
        if outcomes.is_empty() {
            ensure!(!self.window.is_settled(downloader.today), "neither an index nor files");
            return Ok(vec![DownloadOutcome::Unpublished]);
        }
        Ok(outcomes)
    }
}
