//! `josh-data-build synth`: writes a synthetic bundle of any size for benchmarks. It has all
//! sources, links and fields; word frequencies follow Zipf's law, and documents have topics. The
//! same seed gives the same bundle.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use josh::catalog::{Field, Kind, SOURCES, Source};
use serde_json::{Map, Value, json};

use crate::build::BuildJob;
use crate::checks::Limits;
use crate::embedding::Embedding;
use crate::layout::InputFolder;
use crate::{machine, progress, report};

#[derive(Args)]
pub struct Synth {
    /// Approximate number of passages
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    passages: u64,
    /// Number of lobbying filings [default: one per hundred passages]
    #[arg(long, value_name = "N")]
    filings: Option<u64>,
    /// Seed of the random text; the same seed gives the same bundle
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Bundle to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Synth {
    pub fn run(&self) -> Result<()> {
        let beside =
            self.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = tempfile::Builder::new().prefix(".josh-synth-").tempdir_in(beside)?;
        write_corpus(folder.path(), self.passages, self.filings, self.seed)?;
        let job = BuildJob {
            input: InputFolder::new(folder.path()),
            out: &self.out,
            as_of: Some("2025-12-31".into()),
            data_version: Some(format!(
                "synthetic, {} passages, seed {}",
                self.passages, self.seed
            )),
            limits: Limits::strict(),
            rejects: None,
            work: None,
            embedding: Some(Embedding::word_hashes(folder.path())),
            cache: None,
        };
        report::print(&job.run()?);
        Ok(())
    }
}

/// SplitMix64: a small, fast generator with the same output on all platforms.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The most frequent words; the rest of the vocabulary is made of syllables.
const FREQUENT: &str = "the of to and in a for or section by that shall any be as is act on under \
    with such not secretary subsection paragraph amended federal states from striking inserting \
    this state an which title code agency other may united program public law health services may \
    report year date committee congress national information funds following including general \
    amount provided person individual means term section days each service required determined";

const SYLLABLES: [&str; 40] = [
    "ba", "con", "de", "er", "fi", "gra", "hen", "in", "jo", "kel", "lo", "mi", "nor", "op", "pre",
    "qua", "ra", "sta", "ti", "un", "ver", "wa", "xi", "yo", "zen", "al", "bro", "cu", "dis", "ex",
    "for", "gen", "hy", "ion", "ment", "ly", "al", "ous", "tive", "ant",
];

const VOCABULARY: usize = 60_000;
const TOPICS: u64 = 400;
const TOPIC_WORDS: u64 = 60;

/// A vocabulary with word frequencies.
struct Language {
    /// Sorted by frequency, highest first.
    words: Vec<String>,
    /// Cumulative frequencies.
    sums: Vec<f64>,
}

impl Language {
    fn new(seed: u64) -> Language {
        let mut random = Random(seed);
        let mut words: Vec<String> = FREQUENT.split_whitespace().map(str::to_string).collect();
        let mut known: std::collections::HashSet<String> = words.iter().cloned().collect();
        while words.len() < VOCABULARY {
            let length = 2 + random.below(3);
            let word: String = (0..length)
                .map(|_| SYLLABLES[random.below(SYLLABLES.len() as u64) as usize])
                .collect();
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        // Zipf-Mandelbrot with the constants usual for English.
        let mut sum = 0.0;
        let sums = (0..VOCABULARY).map(|rank| {
            sum += 1.0 / (rank as f64 + 2.7).powf(1.07);
            sum
        });
        Language { sums: sums.collect(), words }
    }

    fn word(&self, random: &mut Random) -> &str {
        let at = random.unit() * self.sums[VOCABULARY - 1];
        &self.words[self.sums.partition_point(|sum| *sum < at).min(VOCABULARY - 1)]
    }

    /// A word of which one in three is specific to the topic.
    fn topical(&self, topic: u64, random: &mut Random) -> &str {
        if random.below(3) > 0 {
            return self.word(random);
        }
        // The minimum of two makes the topic's first words more frequent.
        let rank = random.below(TOPIC_WORDS).min(random.below(TOPIC_WORDS));
        let mut own = Random(topic.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ rank);
        &self.words[200 + own.below(VOCABULARY as u64 - 200) as usize]
    }

    fn phrase(&self, topic: u64, length: u64, random: &mut Random) -> String {
        (0..length).map(|_| self.topical(topic, random)).collect::<Vec<_>>().join(" ")
    }

    /// A paragraph with the length of one passage.
    fn paragraph(&self, topic: u64, random: &mut Random) -> String {
        let mut text = String::new();
        for _ in 0..5 {
            let length = 12 + random.below(12);
            let mut sentence = self.phrase(topic, length, random);
            if let Some(first) = sentence.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            text.push_str(&sentence);
            text.push_str(". ");
        }
        text.trim_end().to_string()
    }
}

/// Percentage of the passages by source.
const SHARES: [(&str, u64); 12] = [
    ("bills", 30),
    ("federal-register", 20),
    ("cfr-sections", 14),
    ("congressional-record", 12),
    ("public-laws", 6),
    ("committee-reports", 5),
    ("crs-reports", 5),
    ("amendments", 2),
    ("gao-reports", 2),
    ("cbo-estimates", 1),
    ("presidential-documents", 2),
    ("saps", 1),
];

fn write_corpus(folder: &Path, passages: u64, filings: Option<u64>, seed: u64) -> Result<()> {
    let corpus = Corpus { folder, passages, filings, seed, language: Language::new(seed) };
    let bar = progress::rate_bar(passages, "writing texts");
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = SOURCES.get(number) else { return Ok(()) };
            corpus.write_source(number, source, &bar)?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..machine::cores()).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    bar.finish_and_clear();
    Ok(())
}

/// What is written, each source by itself: which thread writes it changes nothing.
struct Corpus<'a> {
    folder: &'a Path,
    passages: u64,
    filings: Option<u64>,
    seed: u64,
    language: Language,
}

impl Corpus<'_> {
    fn write_source(&self, index: usize, source: &Source, bar: &ProgressBar) -> Result<()> {
        let Corpus { folder, passages, filings, seed, language } = self;
        let mut random = Random(seed ^ (index as u64 + 1) << 32);
        let share = SHARES
            .iter()
            .find(|(key, _)| *key == source.key)
            .map(|(_, share)| passages * share / 100);
        let mut file =
            BufWriter::new(File::create(folder.join(format!("{}.josh.jsonl", source.key)))?);
        let (mut written, mut number) = (0, 0);
        // Sources without passages get a record per hundred passages.
        let others = filings.filter(|_| source.key == "lda-filings").unwrap_or(passages / 100);
        while written < share.unwrap_or(others).max(20) {
            let topic = random.below(TOPICS);
            let mut record = fields(source, number, language, topic, &mut random);
            number += 1;
            let sections = if share.is_some() { 1 + random.below(5) * random.below(5) } else { 0 };
            if share.is_some() {
                let body: Vec<Value> =
                    (1..=sections).map(|n| section(n, topic, language, &mut random)).collect();
                record.insert("body".into(), body.into());
            }
            written += sections.max(1);
            bar.inc(sections);
            serde_json::to_writer(&mut file, &record)?;
            file.write_all(b"\n")?;
        }
        Ok(file.flush()?)
    }
}

fn section(number: u64, topic: u64, language: &Language, random: &mut Random) -> Value {
    let heading = format!("Sec. {number}. {}", language.phrase(topic, 4, random));
    json!({
        "version": "text", "order": "1", "section": number.to_string(), "heading": heading,
        "level": 1, "text": language.paragraph(topic, random),
    })
}

/// A record with all fields of its source.
fn fields(
    source: &Source,
    number: u64,
    language: &Language,
    topic: u64,
    random: &mut Random,
) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("id".into(), json!(id(source.key, number)));
    record.insert(source.title.into(), json!(language.phrase(topic, 8, random)));
    for field in source.fields.iter().filter(|f| f.name != source.title) {
        record.insert(field.name.into(), value(field, language, topic, random));
    }
    record
}

fn value(field: &Field, language: &Language, topic: u64, random: &mut Random) -> Value {
    let few =
        |random: &mut Random| format!("{} {}", field.name.replace('_', " "), random.below(12));
    match field.kind {
        Kind::Text => json!(language.phrase(topic, 6, random)),
        // A realistic number of names with a skewed distribution.
        Kind::Keyword if field.name == "registrant" => {
            json!(company(language, random.below(70) * random.below(70)))
        }
        Kind::Keyword if field.name == "client" => {
            json!(company(language, 5_000 + random.below(150) * random.below(150)))
        }
        Kind::Keyword => json!(few(random)),
        Kind::Keywords => json!([few(random), few(random)]),
        Kind::Id(target) => json!(id(target, random.below(200))),
        Kind::Ids(target) => json!([id(target, random.below(200))]),
        Kind::Int if field.name == "congress" => json!(110 + random.below(10)),
        Kind::Int => json!(random.below(1000)),
        Kind::Number => json!(random.below(1000) as f64 / 8.0),
        Kind::Bool => json!(random.below(2) == 0),
        Kind::Date => {
            json!(format!(
                "{}-{:02}-{:02}",
                2015 + random.below(11),
                1 + random.below(12),
                1 + random.below(28)
            ))
        }
    }
}

/// A company's name.
fn company(language: &Language, number: u64) -> String {
    let mut own = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut word = || {
        let word = &language.words[200 + own.below(VOCABULARY as u64 - 200) as usize];
        word[..1].to_uppercase() + &word[1..]
    };
    format!(
        "{} {} {}",
        word(),
        word(),
        ["Inc.", "LLC", "Group", "Association"][(number % 4) as usize]
    )
}

/// The canonical id of record `n` of a source.
fn id(source: &str, n: u64) -> String {
    let (congress, of) = (110 + n % 10, n / 10 + 1);
    let day = format!("{}-{:02}-{:02}", 2015 + n % 11, 1 + n / 11 % 12, 1 + n / 132 % 28);
    let letters = |mut n: u64, count: u32| {
        let letter = |n: &mut u64| {
            let letter = char::from(b'A' + (*n % 26) as u8);
            *n /= 26;
            letter
        };
        (0..count).map(|_| letter(&mut n)).collect::<String>()
    };
    match source {
        "bills" => format!("hr:{congress}:{of}"),
        "amendments" => format!("samdt:{congress}:{of}"),
        "public-laws" => format!("pl:{congress}:{of}"),
        "committee-reports" => format!("hrpt:{congress}:{of}"),
        "crs-reports" => format!("R{}", 40_000 + n),
        "cbo-estimates" => format!("cbo:{}", 40_000 + n),
        "gao-reports" => format!("gao:GAO-{}-{}", 15 + n % 11, 100_000 + n / 11),
        "federal-register" => format!("{}-{:05}", 2015 + n % 11, n / 11 + 1),
        "cfr-sections" => format!("cfr:{}:{}.{}", 1 + n % 50, 1 + n / 50 % 400, 1 + n / 20_000),
        "congressional-record" => format!("crec:{day}:S{}-{}", 1 + n / 3696, 1 + n % 9),
        "presidential-documents" => format!("eo:{}", 10_000 + n),
        "saps" => format!("sap:{congress}:hr:{of}:{day}"),
        "legislators" => format!("{}{:06}", letters(n, 1), n / 26 + 1),
        "committees" => format!("H{}", letters(n, 3)),
        "roll-call-votes" => format!("house:{congress}:1:{of}"),
        "lda-filings" => format!("lda:00000000-0000-4000-8000-{n:012x}"),
        "hearings" => format!("hearing:{congress}:{}", 100_000 + of),
        "regulations-dot-gov-dockets" => {
            format!("docket:EPA-HQ-OAR-{}-{:04}", 2015 + n % 11, 1 + n / 11)
        }
        "topic-taxonomy" => format!("topic:synthetic-{n}"),
        "staff-directories" => format!("staff:synthetic-{n}"),
        "nominations" => format!("pn:{congress}:{of}"),
        "statistical-series" => format!("bls:SYNTHETIC{n}"),
        other => format!("{other}:{n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use josh::catalog::ids;

    #[test]
    fn ids_are_canonical_and_differ() {
        for source in SOURCES {
            let made: Vec<String> = (0..20_000).map(|n| id(source.key, n)).collect();
            for id in &made {
                assert_eq!(ids::canonical(source.key, id).as_ref(), Some(id), "{}", source.key);
            }
            // Only 17,576 committee ids exist.
            let distinct = made.iter().take(17_000).collect::<std::collections::HashSet<_>>().len();
            assert_eq!(distinct, 17_000, "{}", source.key);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_words_with_realistic_frequencies() {
        let sample = |seed| {
            let (language, mut random) = (Language::new(seed), Random(seed));
            (0..10_000).map(|_| language.word(&mut random).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(sample(3), sample(3));
        let the = sample(3).iter().filter(|w| *w == "the").count();
        assert!((300..1200).contains(&the), "{the} of 10,000 words are \"the\"");
    }
}
