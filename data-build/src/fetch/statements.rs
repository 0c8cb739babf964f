//! The lists of statements of administration policy, with the PDFs that they name.

use anyhow::{Context, Result};
use serde_json::Value;

use super::calendar::Day;
use super::listing::{Lister, RemoteFile};
use super::names;

impl Lister<'_> {
    /// The list itself, and the PDFs of statements in the window. The lists of presidents 40 to 43
    /// name web pages instead, of a site that is not the Government's.
    pub fn statements(&mut self, address: &str) -> Result<()> {
        let list = self.file(address.to_string())?;
        self.listed.files.push(list);
        let (repository, _) =
            address.split_once("/archive/").context("a list outside its folder")?;
        let text = self.downloader.client.text(address, "*/*")?;
        let rows: Vec<Value> = serde_yaml_ng::from_str(&text).context("not a list in YAML")?;
        for row in &rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let in_window =
                Day::parse(text("date_issued")).is_some_and(|d| self.window.contains(d));
            if !in_window || !text("file").to_ascii_lowercase().ends_with(".pdf") {
                continue;
            }
            let url = format!("{repository}/{}", text("file").trim_start_matches('/'));
            let path = format!("{}/pdf/{}", self.feed.source, names::file_name(&url, "")?);
            let mut file = RemoteFile::file(self.feed.source, path, url);
            file.stamp = Some(text("date_fetched").to_string()).filter(|s| !s.is_empty());
            self.listed.files.push(file);
        }
        Ok(())
    }
}
