//! The full-text index: its schema, how it is built and packed into a section, and how tantivy
//! reads it from the memory map without copying. Queries are made by `policy::search::lexical`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::{
    DocAddress, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher,
    TantivyDocument, TantivyError,
};

use super::pack::{self, PackedNumbers};
use super::{SharedMap, analyzer};

/// Memory of the writer. More would only make fewer, larger segments, which are merged into one
/// anyway.
const WRITER_MEMORY: usize = 128 << 20;

/// Stored text is decompressed in blocks of this size. Small, because the passages on a page of
/// results come from different blocks.
const STORED_BLOCK: usize = 4096;

/// How many words are kept for spelling suggestions. Rarer ones are mostly misspellings.
const MAX_WORDS: usize = 50_000;

/// Files that we add to tantivy's: the first passage of each record, and the common words.
const STARTS: &str = "josh.starts";
const WORDS: &str = "josh.words";

/// The fields of a passage.
#[derive(Clone, Copy)]
pub struct Fields {
    /// The number of the record in the records section.
    pub record: Field,
    /// The number of the passage, to order segments by.
    pub passage: Field,
    /// The title alone, for `title:`.
    pub title: Field,
    /// Title, heading and text in one field, for everything else.
    pub all: Field,
    pub heading: Field,
    pub body: Field,
    pub section: Field,
}

fn schema() -> (Schema, Fields) {
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

/// One passage to index.
pub struct PassageEntry<'a> {
    pub record: u64,
    pub title: &'a str,
    pub section: &'a str,
    pub heading: &'a str,
    pub text: &'a str,
}

/// Builds an index in a folder and packs it into one file. Passages are added in the order of their
/// records and numbered in that order, here as well as in the vectors.
pub struct Builder {
    folder: PathBuf,
    writer: IndexWriter,
    fields: Fields,
    /// The number of the first passage of each record.
    starts: Vec<u32>,
    passages: u32,
    words: HashMap<String, u32>,
}

impl Builder {
    pub fn new(folder: &Path) -> tantivy::Result<Builder> {
        std::fs::create_dir_all(folder)?;
        let (schema, fields) = schema();
        let settings = IndexSettings { docstore_blocksize: STORED_BLOCK, ..Default::default() };
        let index = Index::builder().schema(schema).settings(settings).create_in_dir(folder)?;
        index.tokenizers().register(analyzer::NAME, analyzer::analyzer());
        // One thread and no merges while adding: passages keep their order.
        let writer = index.writer_with_num_threads(1, WRITER_MEMORY)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Builder {
            folder: folder.to_path_buf(),
            writer,
            fields,
            starts: Vec::new(),
            passages: 0,
            words: HashMap::new(),
        })
    }

    pub fn add(&mut self, entry: &PassageEntry) -> tantivy::Result<()> {
        self.start_record(entry.record + 1)?;
        for word in analyzer::plain_words(entry.text).chain(analyzer::plain_words(entry.title)) {
            *self.words.entry(word).or_default() += 1;
        }
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.record, entry.record);
        document.add_u64(self.fields.passage, self.passages.into());
        document.add_text(self.fields.title, entry.title);
        // The title is indexed twice: the best of 0 to 3 times (measured in `benches/README.md`).
        // Within one field term weights saturate together, as in BM25F; scoring the fields
        // separately and adding the scores gave worse results.
        for part in [entry.title, entry.title, entry.heading, entry.text] {
            document.add_text(self.fields.all, part);
        }
        document.add_text(self.fields.heading, entry.heading);
        document.add_text(self.fields.body, entry.text);
        document.add_text(self.fields.section, entry.section);
        self.writer.add_document(document)?;
        self.passages += 1;
        Ok(())
    }

    /// Notes that the records before `end` begin at the next passage, unless they have begun.
    fn start_record(&mut self, end: u64) -> tantivy::Result<()> {
        let end = end as usize;
        if end < self.starts.len() {
            return Err(TantivyError::InvalidArgument(
                "passages must be added in the order of their records".into(),
            ));
        }
        self.starts.resize(end, self.passages);
        Ok(())
    }

    pub fn passages(&self) -> u32 {
        self.passages
    }

    /// Merges everything into one segment, in order, and writes the section of a bundle with
    /// `records` records to `out`.
    pub fn finish(mut self, records: u64, out: &Path) -> tantivy::Result<()> {
        self.start_record(records + 1)?;
        self.writer.commit()?;
        let segments = self.segments_in_order()?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()?;
        let mut starts = io::BufWriter::new(std::fs::File::create(self.folder.join(STARTS))?);
        for start in &self.starts {
            starts.write_all(&start.to_le_bytes())?;
        }
        starts.flush()?;
        std::fs::write(self.folder.join(WORDS), common_words(self.words))?;
        pack::pack(&self.folder, out, |name| !name.ends_with(".lock"))?;
        Ok(())
    }

    /// The segments in the order of their first passages; tantivy lists them in no fixed order.
    fn segments_in_order(&self) -> tantivy::Result<Vec<SegmentId>> {
        let reader: IndexReader =
            self.writer.index().reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let mut segments = Vec::new();
        for segment in reader.searcher().segment_readers() {
            segments.push((segment.fast_fields().u64("passage")?.first(0), segment.segment_id()));
        }
        segments.sort_by_key(|(first, _)| *first);
        Ok(segments.into_iter().map(|(_, id)| id).collect())
    }
}

/// The most frequent words, one per line, the most frequent first.
fn common_words(words: HashMap<String, u32>) -> String {
    let mut words: Vec<(u32, String)> =
        words.into_iter().filter(|(_, n)| *n > 1).map(|(w, n)| (n, w)).collect();
    words.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    words.truncate(MAX_WORDS);
    words.into_iter().map(|(_, word)| word + "\n").collect()
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
    /// The record of each passage. Read for every matching passage, hence in memory, at 4 bytes
    /// each.
    records: Vec<u32>,
    starts: OwnedBytes,
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
        let records = match searcher.segment_readers() {
            [] => Vec::new(),
            [one] => {
                let column = one.fast_fields().u64("record")?;
                (0..one.max_doc())
                    .map(|passage| column.first(passage).map_or(u32::MAX, |record| record as u32))
                    .collect()
            }
            more => return Err(TantivyError::InternalError(format!("{} segments", more.len()))),
        };
        Ok(TextIndex { searcher, fields, records, starts, words })
    }

    pub fn record_of(&self, passage: u32) -> Option<u32> {
        self.records.get(passage as usize).copied().filter(|record| *record != u32::MAX)
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
