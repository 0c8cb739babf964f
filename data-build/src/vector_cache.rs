//! Caches vectors by the hash of the embedded text: a build embeds only new text, and an
//! interrupted build resumes.
//!
//! One append-only file per model, of entries `[first 16 bytes of the text's SHA-256][8-bit
//! vector]`.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};
use josh::bundle::vectors::Vector;
use sha2::{Digest, Sha256};

pub type Key = [u8; 16];

/// The cache key of a text.
pub fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

pub struct VectorCache {
    file: File,
    dimensions: usize,
    /// Index of the entry for each key.
    positions: HashMap<Key, u32>,
    entries: u32,
}

impl VectorCache {
    /// Opens or creates the file and locks it: concurrent builds wait for each other.
    pub fn open(path: &Path, dimensions: usize) -> Result<VectorCache> {
        let context = || {
            format!("cannot write the vector cache {}; choose another cache folder", path.display())
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(context)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(context)?;
        file.lock().with_context(context)?;
        let size = size_of::<Key>() + dimensions;
        let entries = file.metadata()?.len() as usize / size;
        // Drop the incomplete entry of an interrupted build.
        file.set_len((entries * size) as u64).with_context(context)?;
        let mut positions = HashMap::with_capacity(entries);
        let mut reader = BufReader::with_capacity(1 << 20, &file);
        let mut entry = vec![0; size];
        for at in 0..entries {
            reader.read_exact(&mut entry).with_context(context)?;
            let mut key = Key::default();
            key.copy_from_slice(&entry[..size_of::<Key>()]);
            positions.insert(key, at as u32);
        }
        Ok(VectorCache { file, dimensions, positions, entries: entries as u32 })
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.positions.contains_key(key)
    }

    pub fn get(&self, key: &Key) -> Result<Option<Vector>> {
        let Some(at) = self.positions.get(key) else { return Ok(None) };
        let size = size_of::<Key>() + self.dimensions;
        let mut numbers = vec![0; self.dimensions];
        self.file
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
            self.positions.insert(*key, self.entries);
            self.entries += 1;
        }
        Ok(self.file.write_all(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_persist_and_a_truncated_entry_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/vectors");
        let vector = |n: i8| Vector::from_numbers(vec![n, 1, 2, 3]);
        {
            let mut cache = VectorCache::open(&path, 4).unwrap();
            cache.add(&[(key("a"), vector(5)), (key("b"), vector(-7))]).unwrap();
            assert_eq!(cache.get(&key("b")).unwrap(), Some(vector(-7)));
        }
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let mut cache = VectorCache::open(&path, 4).unwrap();
        assert_eq!(
            (cache.get(&key("a")).unwrap(), cache.contains(&key("b"))),
            (Some(vector(5)), false)
        );
        cache.add(&[(key("c"), vector(9))]).unwrap();
        assert_eq!(cache.get(&key("c")).unwrap(), Some(vector(9)));
        assert!(cache.add(&[(key("d"), Vector::from_numbers(vec![1]))]).is_err());
    }
}
