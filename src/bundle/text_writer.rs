//! Builds the full-text index: parts of it by several threads, then one segment from all parts,
//! packed into a section. `text` has its schema and reads it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::indexer::merge_indices;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{
    Index, IndexBuilder, IndexSettings, SingleSegmentIndexWriter, TantivyDocument, TantivyError,
};

use super::text::{Fields, STARTS, WORDS, schema};
use super::{analyzer, pack};

/// Memory for the tables of a part; more is taken as needed.
const PART_MEMORY: usize = 64 << 20;

/// Stored text is decompressed in blocks of this size. Small, because the passages on a page of
/// results come from different blocks.
const STORED_BLOCK: usize = 4096;

/// How many words are kept for spelling suggestions. Rarer ones are mostly misspellings.
const MAX_WORDS: usize = 50_000;

/// One passage to index.
pub struct PassageEntry<'a> {
    pub record: u64,
    pub title: &'a str,
    pub section: &'a str,
    pub heading: &'a str,
    pub text: &'a str,
}

/// Indexes the passages of some consecutive records, in the order of the records.
pub struct PartBuilder {
    writer: SingleSegmentIndexWriter,
    fields: Fields,
    /// Each record with the number of its first passage within this part.
    starts: Vec<(u64, u32)>,
    passages: u32,
    words: HashMap<String, u32>,
}

/// A finished part.
pub struct Part {
    index: Index,
    starts: Vec<(u64, u32)>,
    pub passages: u32,
    words: HashMap<String, u32>,
}

impl PartBuilder {
    /// Starts a part in a folder of its own.
    pub fn new(folder: &Path) -> tantivy::Result<PartBuilder> {
        std::fs::create_dir_all(folder)?;
        let directory = MmapDirectory::open(folder)?;
        Ok(PartBuilder {
            writer: index_builder().single_segment_index_writer(directory, PART_MEMORY)?,
            fields: schema().1,
            starts: Vec::new(),
            passages: 0,
            words: HashMap::new(),
        })
    }

    pub fn add(&mut self, entry: &PassageEntry) -> tantivy::Result<()> {
        match self.starts.last() {
            Some((last, _)) if *last == entry.record => {}
            Some((last, _)) if *last > entry.record => return Err(out_of_order()),
            _ => self.starts.push((entry.record, self.passages)),
        }
        for text in [entry.text, entry.title] {
            analyzer::each_plain_word(text, |word| match self.words.get_mut(word) {
                Some(count) => *count += 1,
                None => drop(self.words.insert(word.to_string(), 1)),
            });
        }
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.record, entry.record);
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

    pub fn finish(self) -> tantivy::Result<Part> {
        let PartBuilder { writer, starts, passages, words, .. } = self;
        Ok(Part { index: writer.finalize()?, starts, passages, words })
    }
}

fn index_builder() -> IndexBuilder {
    let settings = IndexSettings { docstore_blocksize: STORED_BLOCK, ..Default::default() };
    // tantivy asks for a tokenizer of its own for fields without text.
    let tokenizers = TokenizerManager::default();
    tokenizers.register(analyzer::NAME, analyzer::analyzer());
    Index::builder().schema(schema().0).settings(settings).tokenizers(tokenizers)
}

/// Merges the parts, which are in the order of their records, into one segment in `folder`, and
/// writes the section of a bundle with `records` records to `out`.
pub fn merge(parts: &[Part], records: u64, folder: &Path, out: &Path) -> tantivy::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (starts, words) = gather(parts, records)?;
    let indices: Vec<Index> = parts.iter().map(|part| part.index.clone()).collect();
    match indices.is_empty() {
        true => drop(index_builder().create_in_dir(folder)?),
        false => drop(merge_indices(&indices, MmapDirectory::open(folder)?)?),
    }
    let mut file = io::BufWriter::new(std::fs::File::create(folder.join(STARTS))?);
    for start in &starts {
        file.write_all(&start.to_le_bytes())?;
    }
    file.flush()?;
    std::fs::write(folder.join(WORDS), common_words(words))?;
    pack::pack(folder, out, |name| !name.ends_with(".lock"))?;
    Ok(())
}

/// The number of the first passage of each record, and how often each word occurs.
fn gather(parts: &[Part], records: u64) -> tantivy::Result<(Vec<u32>, HashMap<&str, u32>)> {
    let mut starts: Vec<u32> = Vec::with_capacity(records as usize + 1);
    let mut words: HashMap<&str, u32> = HashMap::new();
    let mut passages = 0;
    for part in parts {
        for (record, start) in &part.starts {
            let end = *record as usize + 1;
            if end <= starts.len() {
                return Err(out_of_order());
            }
            // Records without passages begin where the next ones do.
            starts.resize(end, passages + start);
        }
        for (word, count) in &part.words {
            *words.entry(word).or_default() += count;
        }
        passages += part.passages;
    }
    starts.resize(records as usize + 1, passages);
    Ok((starts, words))
}

fn out_of_order() -> TantivyError {
    TantivyError::InvalidArgument("passages must be added in the order of their records".into())
}

/// The most frequent words, one per line, the most frequent first.
fn common_words(words: HashMap<&str, u32>) -> String {
    let mut words: Vec<(u32, &str)> =
        words.into_iter().filter(|(_, n)| *n > 1).map(|(w, n)| (n, w)).collect();
    words.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    words.truncate(MAX_WORDS);
    words.into_iter().flat_map(|(_, word)| [word, "\n"]).collect()
}
