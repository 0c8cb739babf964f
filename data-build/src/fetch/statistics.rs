//! Statistics whose publishers are asked for series by code: the Bank of Japan, whose databases
//! list their series, and the Bureau of Labor Statistics, where the list is ours.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;

use anyhow::{Result, bail, ensure};
use josh::boj::catalog::{DATABASES, MOST_SERIES};
use josh::spelling;
use serde::Deserialize;
use serde_json::{Value, json};

use super::download::{DownloadOutcome, Downloader};
use super::items::with_parameter;
use super::listing::RemoteFile;
use super::names;
use super::publishers::{self, Feed};
use crate::formats::json::{LongList, read_long_list, str_at};
use crate::sources::BLS_SERIES;

/// Interest and exchange rates, money, the Bank's and the government's accounts: 508 series. The
/// others go into detail; the nine largest have 300,000.
const CORE: [&str; 11] =
    ["BS01", "FM01", "FM02", "FM08", "FM09", "IR01", "MD01", "MD02", "OB01", "PF01", "PF02"];

/// Years that one request to the Bureau of Labor Statistics may cover.
const BLS_YEARS: i64 = 20;

/// The databases that `--boj-databases` names.
pub fn parse_databases(text: &str) -> Result<Vec<&'static str>, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "none" => return Ok(Vec::new()),
        "core" => return Ok(CORE.to_vec()),
        "all" => return Ok(DATABASES.iter().map(|database| database.code).collect()),
        _ => {}
    }
    let find = |code: &str| {
        let known = DATABASES.iter().find(|database| database.code.eq_ignore_ascii_case(code));
        known.map(|database| database.code).ok_or_else(|| {
            let all: Vec<&str> = DATABASES.iter().map(|database| database.code).collect();
            let near = spelling::nearest(&code.to_ascii_uppercase(), &all);
            let near =
                near.map_or_else(|| ".".to_string(), |near| format!(", did you mean {near}?"));
            format!("no database {code:?}{near} Expected none, core, all or codes like FM01,FM08")
        })
    };
    text.split(',').map(str::trim).filter(|code| !code.is_empty()).map(find).collect()
}

/// One database of the Bank of Japan.
pub struct BankDatabase {
    pub feed: &'static Feed,
    pub code: &'static str,
    /// The address of its list of series.
    pub url: String,
}

impl BankDatabase {
    pub fn new(feed: &'static Feed, code: &'static str) -> BankDatabase {
        BankDatabase { feed, code, url: feed.address.replace("{database}", code) }
    }

    pub fn path(&self, name: &str) -> String {
        format!("{}/{}/{}/{name}", self.feed.source, self.feed.folder, self.code)
    }

    /// Downloads the list of series and then the values, in requests of up to 250 series of one
    /// frequency. What did not change according to the list is not asked for again.
    pub fn download(&self, downloader: &Downloader) -> Result<Vec<DownloadOutcome>> {
        let list = RemoteFile::file(self.feed.source, self.path("metadata.json"), self.url.clone());
        let mut outcomes = vec![downloader.get_file(&list)?];
        let mut kept = BTreeSet::from([list.path.clone()]);
        for (frequency, series) in self.series(downloader, &list.path)? {
            for (number, batch) in series.chunks(MOST_SERIES).enumerate() {
                let name = format!("{}-{}", frequency.to_ascii_lowercase(), number + 1);
                let name = names::sanitized(&name);
                self.values(downloader, &name, batch, &mut outcomes, &mut kept)?;
            }
        }
        // Files of an earlier run whose series are in other files now.
        let folder = self.path("");
        for (path, _) in downloader.state.all() {
            if path.starts_with(&folder) && !kept.contains(&path) {
                downloader.state.delete(&path)?;
            }
        }
        Ok(outcomes)
    }

    /// The series of the list by frequency: codes, and the day of the last change.
    fn series(
        &self,
        downloader: &Downloader,
        path: &str,
    ) -> Result<BTreeMap<String, Vec<(String, String)>>> {
        let mut list = SeriesList { status: 0, found: BTreeMap::new() };
        read_long_list(BufReader::new(downloader.state.open_file(path)?), "RESULTSET", &mut list)?;
        if list.status != 200 {
            // Or the error would pass for the list until tomorrow.
            downloader.state.delete(path)?;
            bail!("the Bank answered with status {} for {}", list.status, self.url);
        }
        Ok(list.found)
    }

    /// Downloads all pages of some series.
    fn values(
        &self,
        downloader: &Downloader,
        name: &str,
        batch: &[(String, String)],
        outcomes: &mut Vec<DownloadOutcome>,
        kept: &mut BTreeSet<String>,
    ) -> Result<()> {
        let codes: Vec<&str> = batch.iter().map(|(code, _)| code.as_str()).collect();
        let url = self.url.replacen("getMetadata", "getDataCode", 1);
        let url = with_parameter(&url, "code", &escaped(&codes.join(",")));
        let changed = batch.iter().map(|(_, day)| day.as_str()).max().unwrap_or_default();
        let page_path = |page: usize| self.path(&format!("{name}-p{page}.json"));
        let first = downloader.state.get(&page_path(1)).filter(|entry| entry.url == url);
        let is_current = first.is_some_and(|entry| entry.stamp.as_deref() == Some(changed));
        if is_current && !downloader.refresh {
            kept.extend((1..).map(page_path).take_while(|p| downloader.state.get(p).is_some()));
            outcomes.push(DownloadOutcome::Unchanged);
            return Ok(());
        }
        let mut position = 1;
        for page in 1..=batch.len() {
            let address = match position {
                1 => url.clone(),
                _ => with_parameter(&url, "startPosition", &position.to_string()),
            };
            // As text: a number keeps the digits that were published.
            let text = downloader.client.text(&address, "application/json")?;
            let head: AnswerHead = serde_json::from_str(&text)?;
            ensure!(head.status == 200, "the Bank answered {} for {address}", head.message_id);
            // The first page says that all are there, so it gets its stamp last.
            let file = RemoteFile::item(self.feed.source, page_path(page), address);
            outcomes.push(downloader.store(&file, text.as_bytes())?);
            kept.insert(file.path);
            match head.next_position {
                None => {
                    if let Some(mut entry) = downloader.state.get(&page_path(1)) {
                        entry.stamp = Some(changed.to_string());
                        downloader.state.set_complete(&page_path(1), entry)?;
                    }
                    return Ok(());
                }
                Some(next) if next > position => position = next,
                Some(next) => bail!("{url} goes from position {position} to {next}"),
            }
        }
        bail!("more pages than series at {url}")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct AnswerHead {
    status: i64,
    #[serde(rename = "MESSAGEID", default)]
    message_id: String,
    #[serde(rename = "NEXTPOSITION", default)]
    next_position: Option<usize>,
}

struct SeriesList {
    status: i64,
    found: BTreeMap<String, Vec<(String, String)>>,
}

impl LongList<Value> for SeriesList {
    fn member(&mut self, name: &str, value: Value) {
        if name == "STATUS" {
            self.status = value.as_i64().unwrap_or_default();
        }
    }

    fn item(&mut self, row: Value) {
        let code = str_at(&row, &["SERIES_CODE"]);
        // Headings have none.
        if !code.is_empty() {
            let of_frequency = self.found.entry(str_at(&row, &["FREQUENCY"])).or_default();
            of_frequency.push((code, str_at(&row, &["LAST_UPDATE"])));
        }
    }
}

/// Codes contain `@` and `%`.
fn escaped(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~,".contains(&b);
    text.bytes()
        .map(|b| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The fixed list of series of the Bureau of Labor Statistics, in one request.
pub struct LaborSeries {
    pub feed: &'static Feed,
}

impl LaborSeries {
    pub fn path(&self) -> String {
        format!("{}/{}/series.json", self.feed.source, self.feed.folder)
    }

    pub fn download(&self, downloader: &Downloader) -> Result<Vec<DownloadOutcome>> {
        let year = downloader.today.year();
        let codes: Vec<&str> = BLS_SERIES.iter().map(|(code, ..)| *code).collect();
        let key =
            publishers::host_of(self.feed.address).and_then(|host| host.key.as_ref()?.value());
        let body = json!({
            "seriesid": codes,
            "startyear": (year - BLS_YEARS + 1).to_string(),
            "endyear": year.to_string(),
            "registrationkey": key,
        });
        let text = downloader.client.post(self.feed.address, &body)?;
        let answer: Value = serde_json::from_str(&text)?;
        let status = str_at(&answer, &["status"]);
        let message = answer["message"].to_string();
        ensure!(status == "REQUEST_SUCCEEDED", "{status}: {message}");
        let has_data = |code: &&&str| {
            let series = answer["Results"]["series"].as_array();
            series.into_iter().flatten().any(|found| {
                found["seriesID"] == **code
                    && found["data"].as_array().is_some_and(|data| !data.is_empty())
            })
        };
        let (found, missing): (Vec<&&str>, Vec<&&str>) = codes.iter().partition(has_data);
        ensure!(!found.is_empty(), "no values at all: {message}");
        let file = RemoteFile::item(self.feed.source, self.path(), self.feed.address.to_string());
        let outcome = downloader.store(&file, text.as_bytes())?;
        let missing: Vec<&str> = missing.into_iter().copied().collect();
        ensure!(missing.is_empty(), "no values for {}: {message}", missing.join(", "));
        Ok(vec![outcome])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_named_in_words_or_by_code() {
        assert_eq!(parse_databases("none"), Ok(vec![]));
        assert_eq!(parse_databases("core").unwrap().len(), 11);
        assert_eq!(parse_databases("ALL").unwrap().len(), 50);
        assert_eq!(parse_databases("fm01, IR01"), Ok(vec!["FM01", "IR01"]));
        let error = parse_databases("FM10").unwrap_err();
        assert!(error.contains("did you mean") && error.contains("core"), "{error}");
        assert!(CORE.iter().all(|code| DATABASES.iter().any(|database| database.code == *code)));
    }

    #[test]
    fn codes_are_escaped() {
        assert_eq!(escaped("MADR1Z@D,A%B"), "MADR1Z%40D,A%25B");
    }
}
