//! The full-text index: its schema, and how tantivy reads it from the memory map without copying.
//! `text_writer` builds it; queries are made by `policy::search::lexical`.

use std::collections::HashMap;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::{
    DocAddress, Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};

use super::pack::{self, PackedNumbers};
use super::{SharedMap, analyzer};

/// Files that we add to tantivy's: the first passage of each record, and the common words.
pub(super) const STARTS: &str = "josh.starts";
pub(super) const WORDS: &str = "josh.words";

/// Passages from one mark to the next: see `TextIndex`.
const MARKED: usize = 64;

/// The fields of a passage.
#[derive(Clone, Copy)]
pub struct Fields {
    /// The number of the record in the records section.
    pub record: Field,
    /// Not filled any more: it ordered segments. Older bundles have it.
    pub passage: Field,
    /// The title alone, for `title:`.
    pub title: Field,
    /// Title, heading and text in one field, for everything else.
    pub all: Field,
    pub heading: Field,
    pub body: Field,
    pub section: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(analyzer::NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        record: builder.add_u64_field("record", FAST),
        passage: builder.add_u64_field("passage", FAST),
        title: builder.add_text_field("title", text.clone()),
        all: builder.add_text_field("all", text),
        heading: builder.add_text_field("heading", STORED),
        body: builder.add_text_field("body", STORED),
        section: builder.add_text_field("section", STORED),
    };
    (builder.build(), fields)
}

/// The stored parts of a passage.
#[derive(Default)]
pub struct Passage {
    pub section: String,
    pub heading: String,
    pub text: String,
}

/// The index, opened from its section.
pub struct TextIndex {
    pub searcher: Searcher,
    pub fields: Fields,
    /// The first passage of each record, and where the last one's end.
    starts: OwnedBytes,
    /// The record of every `MARKED`th passage: where to begin to look for that of another.
    marks: Vec<u32>,
    words: OwnedBytes,
}

impl TextIndex {
    pub fn open(map: SharedMap, section: Range<usize>) -> tantivy::Result<TextIndex> {
        let directory = Packed::read(map, section)?;
        let (starts, words) =
            (directory.file(Path::new(STARTS))?, directory.file(Path::new(WORDS))?);
        let index = Index::open(directory)?;
        index.tokenizers().register(analyzer::NAME, analyzer::analyzer());
        let (_, fields) = schema();
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        if let segments @ 2.. = searcher.segment_readers().len() {
            return Err(TantivyError::InternalError(format!("{segments} segments")));
        }
        let mut index = TextIndex { searcher, fields, starts, marks: Vec::new(), words };
        let passages = index.searcher.num_docs() as u32;
        let mut record = Some(0);
        for passage in (0..passages).step_by(MARKED) {
            record = record.and_then(|record| index.record_from(record, passage));
            index.marks.extend(record);
        }
        Ok(index)
    }

    /// The record of a passage.
    pub fn record_of(&self, passage: u32) -> Option<u32> {
        self.record_from(*self.marks.get(passage as usize / MARKED)?, passage)
    }

    /// The record of a passage that is this one's or a later one's. The nearer it is, the faster.
    pub fn record_from(&self, record: u32, passage: u32) -> Option<u32> {
        let starts = PackedNumbers::in_bytes(&self.starts);
        let has_begun = |record| starts.get(record).is_some_and(|start| start <= passage);
        // The last record that begins at the passage or before it: those before may be empty.
        let (mut last, mut step) = (record as usize, 1);
        while has_begun(last + step) {
            last += step;
            step *= 2;
        }
        let mut beyond = last + step;
        while beyond - last > 1 {
            let middle = last + (beyond - last) / 2;
            if has_begun(middle) {
                last = middle;
            } else {
                beyond = middle;
            }
        }
        (last + 1 < starts.len()).then_some(last as u32)
    }

    /// The passages of a record.
    pub fn passages_of(&self, record: u32) -> Range<u32> {
        let span = PackedNumbers::in_bytes(&self.starts).span(record as usize);
        span.start as u32..span.end as u32
    }

    /// Reads the stored parts of a passage.
    pub fn passage(&self, number: u32) -> tantivy::Result<Passage> {
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(0, number))?;
        let text = |field: Field| {
            document.get_first(field).and_then(|v| v.as_str()).unwrap_or_default().to_string()
        };
        let Fields { section, heading, body, .. } = self.fields;
        Ok(Passage { section: text(section), heading: text(heading), text: text(body) })
    }

    /// Whether any text has this word, in whichever form.
    pub fn has_word(&self, word: &str) -> tantivy::Result<bool> {
        for term in analyzer::terms(word) {
            if self.searcher.doc_freq(&Term::from_field_text(self.fields.all, &term))? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The common words of the texts, the most frequent first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::str::from_utf8(&self.words).unwrap_or_default().lines()
    }
}

/// The packed files as a read-only directory for tantivy.
#[derive(Clone)]
struct Packed {
    files: Arc<HashMap<PathBuf, OwnedBytes>>,
}

impl Packed {
    fn read(map: SharedMap, section: Range<usize>) -> io::Result<Packed> {
        let damaged =
            || io::Error::new(io::ErrorKind::InvalidData, "the list of its files is damaged");
        let section = OwnedBytes::new(map).slice(section);
        let listed = pack::list(&section).ok_or_else(damaged)?;
        let files =
            listed.into_iter().map(|(name, at)| (PathBuf::from(name), section.slice(at))).collect();
        Ok(Packed { files: Arc::new(files) })
    }

    fn file(&self, path: &Path) -> Result<OwnedBytes, OpenReadError> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_path_buf()))
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "packed text index of {} files", self.files.len())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a bundle is read-only")
}

impl Directory for Packed {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(self.file(path)?))
    }
    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_path_buf() })
    }
    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.files.contains_key(path))
    }
    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_path_buf()))
    }
    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        Ok(self.file(path)?.deref().to_vec())
    }
    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(read_only())
    }
    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }
    // Nothing is ever written here, so a lock has nothing to protect.
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
