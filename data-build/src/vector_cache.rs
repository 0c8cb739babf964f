//! Vectors made before, by the hash of what was read: the next build embeds only what changed, and a build that was
//! broken off goes on where it stopped.
//!
//! One file a model, of entries `[16 bytes of a SHA-256][a vector in 8 bits]`, appended and never rewritten.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};
use josh::bundle::vectors::Vector;
use sha2::{Digest, Sha256};

pub type Key = [u8; 16];

/// The key of a text.
pub fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

pub struct VectorCache {
    file: File,
    dimensions: usize,
    places: HashMap<Key, u32>,
    entries: u32,
}

impl VectorCache {
    /// Opens the file, made where there is none. It is locked: two builds take turns.
    pub fn open(path: &Path, dimensions: usize) -> Result<VectorCache> {
        let context =
            || format!("cannot keep vectors in {}; choose another folder with --vector-cache", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(context)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).with_context(context)?;
        file.lock().with_context(context)?;
        let size = size_of::<Key>() + dimensions;
        let entries = file.metadata()?.len() as usize / size;
        // What a build that was broken off wrote half.
        file.set_len((entries * size) as u64).with_context(context)?;
        let mut places = HashMap::with_capacity(entries);
        let mut reader = BufReader::with_capacity(1 << 20, &file);
        let mut entry = vec![0; size];
        for at in 0..entries {
            reader.read_exact(&mut entry).with_context(context)?;
            let mut key = Key::default();
            key.copy_from_slice(&entry[..size_of::<Key>()]);
            places.insert(key, at as u32);
        }
        Ok(VectorCache { file, dimensions, places, entries: entries as u32 })
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.places.contains_key(key)
    }

    pub fn get(&self, key: &Key) -> Result<Option<Vector>> {
        let Some(at) = self.places.get(key) else { return Ok(None) };
        let size = size_of::<Key>() + self.dimensions;
        let mut numbers = vec![0; self.dimensions];
        self.file.read_exact_at(&mut numbers, u64::from(*at) * size as u64 + size_of::<Key>() as u64)?;
        Ok(Some(Vector::from_numbers(numbers.into_iter().map(|b| i8::from_le_bytes([b])).collect())))
    }

    /// Adds vectors, on disk when this returns.
    pub fn add(&mut self, new: &[(Key, Vector)]) -> Result<()> {
        let mut bytes = Vec::with_capacity(new.len() * (size_of::<Key>() + self.dimensions));
        for (key, vector) in new {
            anyhow::ensure!(vector.numbers().len() == self.dimensions, "the model changed its dimensions");
            bytes.extend_from_slice(key);
            bytes.extend(vector.numbers().iter().map(|n| n.to_le_bytes()[0]));
            self.places.insert(*key, self.entries);
            self.entries += 1;
        }
        Ok(self.file.write_all(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_there_next_time_and_a_torn_end_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/vectors");
        let vector = |n: i8| Vector::from_numbers(vec![n, 1, 2, 3]);
        {
            let mut cache = VectorCache::open(&path, 4).unwrap();
            cache.add(&[(key("a"), vector(5)), (key("b"), vector(-7))]).unwrap();
            assert_eq!(cache.get(&key("b")).unwrap(), Some(vector(-7)));
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let mut cache = VectorCache::open(&path, 4).unwrap();
        assert_eq!((cache.get(&key("a")).unwrap(), cache.contains(&key("b"))), (Some(vector(5)), false));
        cache.add(&[(key("c"), vector(9))]).unwrap();
        assert_eq!(cache.get(&key("c")).unwrap(), Some(vector(9)));
        assert!(cache.add(&[(key("d"), Vector::from_numbers(vec![1]))]).is_err());
    }
}
