//! Fuzzes bundle files, damaged by accident (hashes do not match) and on purpose (hashes are made
//! to match): opening one fails with a message, or the bundle serves requests without a crash.
//!
//! An input is a short program that says how to damage the file (see [`Damage::parse`]).

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use josh::api::error::Code;
use josh::api::{Arguments, Context};
use josh::bundle::format::{FOOTER_LENGTH, FORMAT, Footer, OLDEST_READER, PAGE, SectionKind};
use josh::bundle::{Bundle, Manifest, read_manifest};
use josh::policy::record;
use josh::toolsets::Toolsets;
use sha2::{Digest, Sha256};

use crate::mutate;
use crate::mutate::Random;
use crate::target::{SOME, Target};

const FOOTER: usize = FOOTER_LENGTH as usize;

/// The number of kinds of steps.
const STEPS: u8 = 10;

/// The offsets of the footer's numbers and of the manifest's hash.
const FIELDS: [usize; 6] = [8, 12, 16, 24, 32, 40];

pub fn target() -> Target<'static> {
    // One program for each kind of damage; mutations combine them.
    let programs: &[&[u8]] = &[
        b"",
        b"\x00\x10\x01\x00\x61\x80",
        b"\x01\x02\x0b\x01\x03\x05\x01\x04\x11",
        b"\x02\x01\x00{\x02\x30\x10\"",
        b"\x03\x00\x10,\x03\x44\x01\x00",
        b"\x04\x00\x10\x05\x04\x10\x00\x0c",
        b"\x05\x01\x02\x05\x00\x01",
        b"\x06\x01\x00\x00\x08\x06\x02\x00\x00\x00\x06\x04\x80\x00\x10",
        b"\x06\x01\x80\x00\x0c",
        b"\x06\x01\x84\x00\x00",
        b"\x07\x00\x80",
        b"\x08\x00\xe0",
        b"\x09\x00\xd9\x09\x00\x10",
        // Counts whose sum was too large for a number.
        b"\x04\xe0\x08\x00\x04\x90\x00\x0c",
        b"\x06\x03\x00\x00\x07\x06\x00\x00\x00\x01\x06\x01\x00\x08\x07\x06\x01\x80\x10\x05",
    ];
    Target {
        name: "bundle",
        count: SOME,
        corpus: programs.iter().map(|program| program.to_vec()).collect(),
        mutate: &program,
    }
}

#[test]
fn a_damaged_bundle_is_refused_or_serves_without_a_crash() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    thread_local! {
        static COPY: RefCell<Copy> = RefCell::new(Copy::of_sample());
    }
    COPY.with_borrow_mut(|copy| copy.attempt(&Damage::parse(input)));
}

/// Half of the time a program of a few random steps: mutations of the corpus seldom change the
/// place of a step.
fn program(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    if random.one_in(2) {
        return mutate::bytes(random, corpus, &[]);
    }
    let mut program = Vec::new();
    for _ in 0..=random.below(3) {
        let [kind, a, b, c, d, ..] = random.next().to_le_bytes();
        program.extend([kind, a]);
        match kind % STEPS {
            7..=9 if !random.one_in(4) => program.push(b | 1),
            // Near an end of the section or further in, and mostly an edge case as the number.
            6 => {
                let (far, edge) = (
                    if random.one_in(2) { b & 0x80 } else { b },
                    if random.one_in(4) { d } else { d % 17 },
                );
                program.extend([far, c, edge]);
            }
            1 => program.push(b % 17),
            2..=4 => program.extend([b, c]),
            _ => program.push(b),
        }
    }
    program
}

/// What is done to the file.
#[derive(Debug, Default)]
struct Damage {
    steps: Vec<Step>,
    /// Where the file is truncated before it is opened, in 65536ths of its length.
    cut: Option<u16>,
    /// Where it is truncated while it is open.
    cut_later: Option<u16>,
    /// Whether hashes and lengths are made to match.
    is_sealed: bool,
}

#[derive(Debug)]
enum Step {
    FooterByte(u8, u8),
    FooterNumber(u8, u8),
    ManifestByte(u16, u8),
    /// Replaces the nth number in the manifest's JSON.
    ManifestNumber(u16, u8),
    /// Exchanges the kinds of two sections in the manifest.
    Swap(u8, u8),
    /// Writes a number at this distance from the start of a section or, with the highest bit set,
    /// from its end.
    SectionNumber(u8, u16, u8),
    /// Moves the manifest to an earlier page, over what is there.
    Shrink(u16),
}

impl Damage {
    /// Any bytes are a valid program.
    fn parse(program: &[u8]) -> Damage {
        let mut rest = program.iter().copied();
        let mut damage = Damage::default();
        while let (Some(kind), true) = (rest.next(), damage.steps.len() < 8) {
            let mut byte = || rest.next().unwrap_or_default();
            let word = |byte: &mut dyn FnMut() -> u8| u16::from_be_bytes([byte(), byte()]);
            match kind % STEPS {
                0 => damage.steps.push(Step::FooterByte(byte(), byte())),
                1 => damage.steps.push(Step::FooterNumber(byte(), byte())),
                2 => damage.steps.push(Step::ManifestByte(word(&mut byte), byte())),
                3 => damage.steps.push(Step::ManifestByte(word(&mut byte), byte())),
                4 => damage.steps.push(Step::ManifestNumber(word(&mut byte), byte())),
                5 => damage.steps.push(Step::Swap(byte(), byte())),
                6 => damage.steps.push(Step::SectionNumber(byte(), word(&mut byte), byte())),
                7 => damage.cut = Some(word(&mut byte)),
                8 => damage.steps.push(Step::Shrink(word(&mut byte))),
                _ => damage.cut_later = Some(word(&mut byte)),
            }
            damage.is_sealed |= matches!(kind % STEPS, 1 | 3 | 4 | 5 | 8);
        }
        damage
    }
}

/// A copy of the sample that is damaged and repaired over and over.
struct Copy {
    _folder: tempfile::TempDir,
    path: PathBuf,
    file: File,
    whole: Vec<u8>,
    manifest: Manifest,
    /// The record that is looked up, from the undamaged bundle.
    record: String,
}

impl Copy {
    fn of_sample() -> Copy {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        let whole = std::fs::read(crate::sample()).unwrap();
        std::fs::write(&path, &whole).unwrap();
        let (_, manifest) = read_manifest(&path).unwrap();
        let bundle = Bundle::open(&path).unwrap();
        let record = record::fetch(&bundle, "hr:119:1").unwrap().entry.data.to_string();
        let file = File::options().write(true).open(&path).unwrap();
        Copy { _folder: folder, path, file, whole, manifest, record }
    }

    fn attempt(&mut self, damage: &Damage) {
        let (patches, end) = self.damaged(damage);
        for (at, bytes) in &patches {
            self.file.write_all_at(bytes, *at as u64).unwrap();
        }
        self.file.set_len(end as u64).unwrap();
        let is_same = end == self.whole.len()
            && patches
                .iter()
                .all(|(at, bytes)| self.whole.get(*at..at + bytes.len()) == Some(&bytes[..]));
        let tail = self.whole.len() - self.tail().len();
        let is_outside_sections = patches.iter().all(|(at, _)| *at >= tail);
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                match Bundle::open(&self.path) {
                    Ok(bundle) => {
                        assert!(
                            is_same || damage.is_sealed || !is_outside_sections,
                            "damage to hashed bytes was not noticed"
                        );
                        if let Some(cut) = damage.cut_later {
                            self.file.set_len(self.place(cut) as u64).unwrap();
                        }
                        self.use_bundle(&Arc::new(bundle), is_same);
                    }
                    Err(error) => {
                        assert!(!is_same, "{error}");
                        let message = error.to_string();
                        assert!(message.len() > 10 && !message.contains('\n'), "{message:?}");
                    }
                }
            }));
        self.repair(&patches, end.min(damage.cut_later.map_or(end, |cut| self.place(cut))));
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    /// Uses every part of a bundle. Damaged data may be missing or an error.
    fn use_bundle(&self, bundle: &Arc<Bundle>, is_same: bool) {
        for id in ["hr:119:1", "H.R. 1", "HSWM", "cfr:40:122.26", "none"] {
            let found = record::fetch(bundle, id).map(|found| found.entry.data.to_string());
            let found =
                found.and_then(|data| bundle.ensure_intact().map(|()| data).map_err(Into::into));
            if is_same && id == "hr:119:1" {
                // A truncated bundle gives the right record or is unavailable. It never gives
                // another record, and never says that there is none.
                match &found {
                    Ok(data) => assert_eq!(*data, self.record),
                    Err(error) => assert_eq!(error.code, Code::BundleUnavailable, "{error}"),
                }
            } else if let Err(error) = found {
                assert_ne!(error.code, Code::InternalError, "{id}: {:?}", error.cause);
            }
        }
        for number in (0..700).chain([usize::MAX]) {
            let _ = (bundle.records().by_number(number), bundle.source_of_number(number));
        }
        let context = Arc::new(Context::unbounded(bundle.clone()));
        for (name, query) in [
            ("list_sources", ""),
            ("list_records", "{source}=bills&congress=119&limit=2"),
            ("list_sub_resource", "{source}=bills&{id}=hr:119:1&{sub}=actions&limit=2"),
            ("get_dossier", "{source}=legislators&{id}=M000133"),
            ("resolve_entity", "{source}=legislators&q=Markley"),
            ("search", "q=water&mode=lexical&limit=2"),
        ] {
            let mut arguments = Arguments::default();
            for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
                arguments.push_one(name, value);
            }
            let _ = Toolsets::default().run(name, arguments, &context);
        }
    }

    /// Manifest and footer.
    fn tail(&self) -> &[u8] {
        let footer =
            Footer::from_bytes(&self.whole[self.whole.len() - FOOTER..], self.whole.len() as u64)
                .unwrap();
        &self.whole[footer.manifest_offset as usize..]
    }

    /// The position of a fraction of the file. Odd numbers count from the end of the database, to
    /// hit our own sections more often.
    fn place(&self, part: u16) -> usize {
        let from = if part % 2 == 1 { self.manifest.sections[0].length as usize } else { 0 };
        from + (self.whole.len() - from) * usize::from(part) / (1 << 16)
    }

    /// What to write where, and the resulting length of the file.
    fn damaged(&self, damage: &Damage) -> (Vec<(usize, Vec<u8>)>, usize) {
        let mut manifest = self.tail().to_vec();
        let mut at = self.whole.len() - manifest.len();
        let mut footer = manifest.split_off(manifest.len() - FOOTER);
        let mut fields: Vec<(usize, u64)> = Vec::new();
        let mut patches = Vec::new();
        for step in &damage.steps {
            match *step {
                Step::FooterByte(place, byte) => footer[usize::from(place) % FOOTER] ^= byte,
                Step::FooterNumber(field, n) => {
                    fields.push((FIELDS[usize::from(field) % FIELDS.len()], self.number(n)))
                }
                Step::ManifestByte(place, byte) => {
                    let place = usize::from(place) % manifest.len().max(1);
                    if let Some(there) = manifest.get_mut(place) {
                        *there = byte;
                    }
                }
                Step::ManifestNumber(nth, n) => {
                    let starts: Vec<usize> = (1..manifest.len())
                        .filter(|i| {
                            manifest[*i].is_ascii_digit()
                                && matches!(manifest[i - 1], b':' | b'[' | b',')
                        })
                        .collect();
                    if let Some(from) = starts.get(usize::from(nth) % starts.len().max(1)).copied()
                    {
                        let to = from
                            + manifest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
                        manifest.splice(from..to, self.number(n).to_string().into_bytes());
                    }
                }
                Step::Swap(a, b) => {
                    let mut swapped = self.manifest.clone();
                    let count = swapped.sections.len();
                    let (a, b) = (usize::from(a) % count, usize::from(b) % count);
                    let kind = swapped.sections[a].kind;
                    swapped.sections[a].kind =
                        std::mem::replace(&mut swapped.sections[b].kind, kind);
                    manifest = serde_json::to_vec(&swapped).unwrap();
                }
                Step::SectionNumber(section, place, n) => {
                    let section = &self.manifest.sections
                        [usize::from(section) % self.manifest.sections.len()];
                    let (start, length) = (section.offset as usize, section.length as usize);
                    let far = usize::from(place & 0x7fff) % (length - 8);
                    // In the database only the header, which opening reads: DuckDB's pages are
                    // parsed by C++ that is not ours to test.
                    let is_from_end = place & 0x8000 != 0 && section.kind != SectionKind::Database;
                    let start = if is_from_end { start + length - 8 - far } else { start + far };
                    patches.push((start, self.number(n).to_le_bytes().to_vec()));
                }
                Step::Shrink(part) => at = self.place(part).next_multiple_of(PAGE as usize).min(at),
            }
        }
        if damage.is_sealed {
            let mut sealed = Footer {
                format: FORMAT,
                oldest_reader: OLDEST_READER,
                manifest_offset: at as u64,
                manifest_length: manifest.len() as u64,
                file_length: (at + manifest.len() + FOOTER) as u64,
                manifest_sha256: Sha256::digest(&manifest).into(),
            };
            for (field, n) in fields {
                match field {
                    8 => sealed.format = n as u32,
                    12 => sealed.oldest_reader = n as u32,
                    16 => sealed.manifest_offset = n,
                    24 => sealed.manifest_length = n,
                    32 => sealed.file_length = n,
                    _ => sealed.manifest_sha256[..8].copy_from_slice(&n.to_le_bytes()),
                }
            }
            footer = sealed.to_bytes().to_vec();
        }
        let end = at + manifest.len() + FOOTER;
        patches.push((at, [manifest, footer].concat()));
        (patches, damage.cut.map_or(end, |cut| self.place(cut).min(end)))
    }

    /// Edge cases of number types and of this file.
    fn number(&self, n: u8) -> u64 {
        let length = self.whole.len() as u64;
        let manifest = length - self.tail().len() as u64;
        let edges = [
            0,
            1,
            8,
            32,
            128,
            PAGE,
            length,
            length - FOOTER_LENGTH,
            manifest,
            manifest - PAGE,
            u64::from(u32::MAX),
            1 << 32,
            u64::MAX,
            u64::MAX - 7,
            u64::MAX / 16,
            i64::MAX as u64,
            1 << 63,
        ];
        edges.get(usize::from(n)).copied().unwrap_or(u64::from(n))
    }

    /// Restores what was overwritten and cut off.
    fn repair(&mut self, patches: &[(usize, Vec<u8>)], cut: usize) {
        for (at, bytes) in patches {
            let to = (at + bytes.len()).min(self.whole.len());
            self.file.write_all_at(&self.whole[*at..to], *at as u64).unwrap();
        }
        let cut = cut.min(self.whole.len());
        self.file.write_all_at(&self.whole[cut..], cut as u64).unwrap();
        self.file.set_len(self.whole.len() as u64).unwrap();
    }
}
