//! The layout of an input folder: one folder per source, and files named `SOURCE.josh.jsonl`. An
//! unknown folder is an error rather than a note, since a misspelled name would drop a source.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::catalog::SOURCES;
use josh::spelling::nearest;

use crate::fetch;
use crate::input::Input;
use crate::sources::native;

/// Folders that operating systems and archivers create.
const SYSTEM_FOLDERS: [&str; 2] = ["lost+found", "__MACOSX"];

/// Extensions of data files. Other files, such as README.md, may lie in the input folder.
const DATA_EXTENSIONS: [&str; 10] =
    ["csv", "htm", "html", "json", "jsonl", "ndjson", "xml", "yaml", "yml", "zip"];

/// Shares the arguments that name the input among the commands that read it.
#[derive(Args, Clone)]
pub struct InputFolder {
    /// Folder with one folder per source (bills/, federal-register/ …) of official files, and
    /// files named SOURCE.josh.jsonl
    #[arg(long, value_name = "FOLDER", default_value = "federal-data")]
    pub from: PathBuf,
    /// Skip folders and data files in FOLDER that are not named after a source, instead of failing
    #[arg(long)]
    pub ignore_unknown_folders: bool,
}

/// A file, and the source whose reader gets it.
pub struct SourceFile {
    pub source: &'static str,
    pub input: Input,
}

/// What an input folder contains.
#[derive(Default)]
pub struct Layout {
    /// In reading order, which decides between files that describe the same record.
    pub files: Vec<SourceFile>,
    /// Source folders without files.
    pub empty: Vec<&'static str>,
    /// Top-level entries that are not read: documentation, and with `--ignore-unknown-folders`
    /// everything unknown.
    pub ignored: Vec<String>,
}

/// Folders or files in the input folder that belong to no source.
#[derive(Debug)]
pub struct LayoutError {
    from: PathBuf,
    problems: Vec<String>,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{}: {problem}", self.from.display())?;
        }
        if let Some(source) = self.from.file_name().and_then(|name| source_named(name.to_str()?)) {
            let above = "pass the folder above it with --from";
            writeln!(f, "{} is itself the folder of {source}: {above}.", self.from.display())?;
        }
        write!(
            f,
            "Put files into folders named after their sources: {}. \
             --ignore-unknown-folders skips everything else.",
            source_names()
        )
    }
}

impl std::error::Error for LayoutError {}

impl InputFolder {
    pub fn new(from: &Path) -> InputFolder {
        InputFolder { from: from.to_path_buf(), ignore_unknown_folders: false }
    }

    /// Finds all input files, or says what is wrong with the folder.
    pub fn layout(&self) -> Result<Layout> {
        let from = &self.from;
        match std::fs::metadata(from) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => bail!(
                "{} is a file. --from takes a folder with one folder per source",
                from.display()
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
                "{} does not exist. Run `josh-data-build fetch` first, or name the folder of your \
                 files with --from",
                from.display()
            ),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", from.display()));
            }
        }
        let layout = self.scan()?;
        if layout.files.is_empty() && layout.empty.is_empty() {
            bail!(
                "{} has neither a folder named after a source nor a SOURCE.josh.jsonl file. \
                 Sources: {}",
                from.display(),
                source_names()
            );
        }
        if layout.files.is_empty() {
            bail!(
                "{} has nothing to read: no files in {}/",
                from.display(),
                layout.empty.join("/, ")
            );
        }
        Ok(layout)
    }

    fn scan(&self) -> Result<Layout> {
        let mut layout = Layout::default();
        for source in SOURCES {
            let inputs = Input::all_below(&self.from, source.key);
            if inputs.is_empty() && self.from.join(source.key).exists() {
                layout.empty.push(source.key);
            }
            let with_source = |input| SourceFile { source: source.key, input };
            layout.files.extend(inputs.into_iter().map(with_source));
        }
        let mut problems = Vec::new();
        for name in entry_names(&self.from)? {
            if name.starts_with('.') || source_named(&name).is_some() {
                continue;
            }
            let input = Input::in_folder(&self.from, name.clone());
            match native::source_of(&input) {
                Some(source) => layout.files.push(SourceFile { source, input }),
                None => match problem(&input) {
                    Some(problem) if !self.ignore_unknown_folders => problems.push(problem),
                    _ if name == fetch::STATE_FILE => {}
                    _ => layout.ignored.push(name),
                },
            }
        }
        if !problems.is_empty() {
            return Err(LayoutError { from: self.from.clone(), problems }.into());
        }
        Ok(layout)
    }
}

/// The names of a folder's entries, sorted.
fn entry_names(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// What is wrong with a top-level entry that belongs to no source, if anything is.
fn problem(input: &Input) -> Option<String> {
    let name = &input.name;
    if input.path.is_dir() {
        let meant = suggestion(name).map_or(String::new(), |s| format!("; did you mean {s:?}?"));
        let known = SYSTEM_FOLDERS.contains(&name.as_str());
        return (!known).then(|| format!("unknown folder {name:?}{meant}"));
    }
    if let Some(stem) = input.uncompressed_name().strip_suffix(native::SUFFIX) {
        let meant = suggestion(stem)
            .map_or(String::new(), |s| format!("; did you mean \"{s}{}\"?", native::SUFFIX));
        return Some(format!("{name:?} names an unknown source{meant}"));
    }
    let extension = input.extension().to_ascii_lowercase();
    let is_data = DATA_EXTENSIONS.contains(&extension.as_str()) && name != fetch::STATE_FILE;
    is_data.then(|| format!("{name:?} is not in the folder of a source"))
}

fn source_named(name: &str) -> Option<&'static str> {
    SOURCES.iter().map(|s| s.key).find(|key| *key == name)
}

fn source_names() -> String {
    SOURCES.iter().map(|s| s.key).collect::<Vec<_>>().join(", ")
}

/// The source that a name most likely stands for: `mybills` contains `bills`, `bils` resembles it.
fn suggestion(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let keys: Vec<&'static str> = SOURCES.iter().map(|s| s.key).collect();
    let contained = keys.iter().copied().filter(|key| name.contains(key)).max_by_key(|k| k.len());
    contained.or_else(|| nearest(&name, &keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_source_contains_or_resembles_the_name() {
        for (name, expected) in [
            ("mybills", Some("bills")),
            ("bill", Some("bills")),
            ("Bills", Some("bills")),
            ("federal_register", Some("federal-register")),
            ("crs", Some("crs-reports")),
            ("old-committee-reports", Some("committee-reports")),
            ("zzz", None),
        ] {
            assert_eq!(suggestion(name), expected, "{name}");
        }
    }
}
