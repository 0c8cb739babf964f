//! Caches vectors by the hash of the embedded text: a build embeds only new text, and an
//! interrupted build resumes.
//!
//! An append-only file per model, of entries `[first 16 bytes of the text's SHA-256][8-bit
//! vector]`, and one for each shard that embeds a share of the texts. Each process appends to one
//! file and reads them all.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use josh::bundle::vectors::Vector;
use sha2::{Digest, Sha256};

pub type Key = [u8; 16];

/// The cache key of a text.
pub fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

/// A share of all texts, by their keys: number `index` of `count`, from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    pub fn contains(self, key: &Key) -> bool {
        let [a, b, c, d, ..] = *key;
        u32::from_le_bytes([a, b, c, d]) % self.count == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Shard> {
        let numbers = text.split_once('/').map(|(a, b)| (a.trim().parse(), b.trim().parse()));
        match numbers {
            Some((Ok(index), Ok(count))) if index < count => Ok(Shard { index, count }),
            _ => bail!("a shard is I/N, with I from 0 to N-1, such as 0/4; got {text:?}"),
        }
    }
}

/// The cache of one model in a folder.
pub struct CacheFiles {
    folder: PathBuf,
    name: String,
}

impl CacheFiles {
    pub fn new(folder: &Path, name: String) -> CacheFiles {
        CacheFiles { folder: folder.to_path_buf(), name }
    }

    /// The file to which a shard, or a whole build, appends.
    fn own(&self, shard: Option<Shard>) -> PathBuf {
        let suffix = shard.map(|Shard { index, count }| format!(".shard-{index}-of-{count}"));
        self.folder.join(format!("{}{}", self.name, suffix.unwrap_or_default()))
    }

    /// All files of the model, in order of their names.
    fn all(&self) -> Result<Vec<PathBuf>> {
        let shards = format!("{}.shard-", self.name);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = |name: &str| name == self.name || name.starts_with(&shards);
            if name.to_str().is_some_and(is_ours) {
                found.push(entry.path());
            }
        }
        found.sort();
        Ok(found)
    }

    /// About how many vectors there are.
    pub fn count(&self, dimensions: usize) -> u64 {
        let length = |path: &PathBuf| path.metadata().map_or(0, |file| file.len());
        let bytes: u64 = self.all().unwrap_or_default().iter().map(length).sum();
        bytes / (size_of::<Key>() + dimensions) as u64
    }
}

pub struct VectorCache {
    /// The file that is appended to, and then the others.
    files: Vec<File>,
    dimensions: usize,
    /// The file of each key, and the index of its entry there.
    positions: HashMap<Key, (u32, u32)>,
    /// Entries of the first file.
    entries: u32,
}

impl VectorCache {
    /// Opens or creates the file of a shard or of a whole build, and locks it: others that append
    /// to the same one wait. Files of other shards may grow meanwhile.
    pub fn open(
        cache: &CacheFiles,
        shard: Option<Shard>,
        dimensions: usize,
    ) -> Result<VectorCache> {
        let own = cache.own(shard);
        let context = || {
            format!("cannot write the vector cache {}; choose another cache folder", own.display())
        };
        std::fs::create_dir_all(&cache.folder).with_context(context)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&own).with_context(context)?;
        file.lock().with_context(context)?;
        let size = size_of::<Key>() + dimensions;
        let entries = file.metadata()?.len() as usize / size;
        // Drop the incomplete entry of an interrupted build.
        file.set_len((entries * size) as u64).with_context(context)?;
        let mut cache_files = vec![file];
        for path in cache.all().with_context(context)?.into_iter().filter(|path| *path != own) {
            let opened = File::open(&path);
            cache_files.push(opened.with_context(|| format!("cannot read {}", path.display()))?);
        }
        let mut cache = VectorCache {
            files: cache_files,
            dimensions,
            positions: HashMap::with_capacity(entries),
            entries: entries as u32,
        };
        for number in 0..cache.files.len() {
            cache.read_keys(number as u32).with_context(context)?;
        }
        Ok(cache)
    }

    fn read_keys(&mut self, number: u32) -> Result<()> {
        let file = &self.files[number as usize];
        let mut entry = vec![0; size_of::<Key>() + self.dimensions];
        // An entry that another process is writing is left out.
        let entries = file.metadata()?.len() as usize / entry.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        for at in 0..entries {
            reader.read_exact(&mut entry)?;
            let mut key = Key::default();
            key.copy_from_slice(&entry[..size_of::<Key>()]);
            self.positions.entry(key).or_insert((number, at as u32));
        }
        Ok(())
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.positions.contains_key(key)
    }

    pub fn get(&self, key: &Key) -> Result<Option<Vector>> {
        let Some((file, at)) = self.positions.get(key) else { return Ok(None) };
        let size = size_of::<Key>() + self.dimensions;
        let mut numbers = vec![0; self.dimensions];
        self.files[*file as usize]
            .read_exact_at(&mut numbers, u64::from(*at) * size as u64 + size_of::<Key>() as u64)?;
        Ok(Some(Vector::from_numbers(
            numbers.into_iter().map(|b| i8::from_le_bytes([b])).collect(),
        )))
    }

    /// Appends vectors; they are written when this returns.
    pub fn add(&mut self, new: &[(Key, Vector)]) -> Result<()> {
        let mut bytes = Vec::with_capacity(new.len() * (size_of::<Key>() + self.dimensions));
        for (key, vector) in new {
            anyhow::ensure!(
                vector.numbers().len() == self.dimensions,
                "the model's number of dimensions changed"
            );
            bytes.extend_from_slice(key);
            bytes.extend(vector.numbers().iter().map(|n| n.to_le_bytes()[0]));
            self.positions.insert(*key, (0, self.entries));
            self.entries += 1;
        }
        Ok(self.files[0].write_all(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> CacheFiles {
        CacheFiles::new(&folder.join("deep"), "vectors".into())
    }

    fn vector(n: i8) -> Vector {
        Vector::from_numbers(vec![n, 1, 2, 3])
    }

    #[test]
    fn vectors_persist_and_a_truncated_entry_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let files = cache(folder.path());
        let open = || VectorCache::open(&files, None, 4).unwrap();
        open().add(&[(key("a"), vector(7)), (key("b"), vector(8))]).unwrap();
        let path = files.own(None);
        let whole = std::fs::metadata(&path).unwrap().len();
        std::fs::write(&path, &std::fs::read(&path).unwrap()[..whole as usize - 1]).unwrap();
        let mut cache = open();
        assert_eq!(cache.get(&key("a")).unwrap().unwrap().numbers()[0], 7);
        assert!(!cache.contains(&key("b")));
        cache.add(&[(key("b"), vector(9))]).unwrap();
        assert!(cache.add(&[(key("d"), Vector::from_numbers(vec![1]))]).is_err());
        drop(cache);
        assert_eq!(open().get(&key("b")).unwrap().unwrap().numbers()[0], 9);
        assert_eq!(files.count(4), 2);
    }

    /// Given files of several shards, one of them cut short, when any process opens the cache,
    /// then it has what all of them wrote, and appends to its own file only.
    #[test]
    fn files_of_shards_are_read_together() {
        let folder = tempfile::tempdir().unwrap();
        let files = cache(folder.path());
        let shard = |text: &str| Some(text.parse::<Shard>().unwrap());
        for (at, text) in ["a", "b", "c"].into_iter().enumerate() {
            let mut cache = VectorCache::open(&files, shard(&format!("{at}/3")), 4).unwrap();
            cache.add(&[(key(text), vector(at as i8)), (key("last"), vector(9))]).unwrap();
        }
        let cut = files.own(shard("1/3"));
        let bytes = std::fs::read(&cut).unwrap();
        std::fs::write(&cut, &bytes[..bytes.len() - 3]).unwrap();
        let mut whole = VectorCache::open(&files, None, 4).unwrap();
        for (at, text) in ["a", "b", "c"].into_iter().enumerate() {
            assert_eq!(whole.get(&key(text)).unwrap().unwrap().numbers()[0], at as i8);
        }
        whole.add(&[(key("d"), vector(5))]).unwrap();
        assert_eq!(std::fs::read(&cut).unwrap().len(), bytes.len() - 3);
        let again = VectorCache::open(&files, shard("1/3"), 4).unwrap();
        assert_eq!(again.get(&key("d")).unwrap().unwrap().numbers()[0], 5);
        assert_eq!(std::fs::read(&cut).unwrap().len(), bytes.len() / 2);
    }

    #[test]
    fn every_text_is_in_exactly_one_shard() {
        let shards: Vec<Shard> = (0..5).map(|i| format!("{i}/5").parse().unwrap()).collect();
        let mut sizes = [0; 5];
        for text in 0..1000 {
            let key = key(&text.to_string());
            let holders: Vec<usize> = (0..5).filter(|at| shards[*at].contains(&key)).collect();
            assert_eq!(holders.len(), 1);
            sizes[holders[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (150..250).contains(size)), "{sizes:?}");
        for wrong in ["", "1", "4/4", "-1/4", "1/0", "a/b", "1/2/3"] {
            let error = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains("I/N"), "{error}");
        }
    }
}
