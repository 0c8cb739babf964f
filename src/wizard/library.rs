//! The wizards that this program knows: those in the binary, and those of a folder. Each was
//! checked; a file that does not hold together is an error, not left out.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::check::check;
use super::file::Wizard;
use super::today;

/// The files in the binary.
const SHIPPED: &[(&str, &str)] = &[
    ("ssa-quick-calculator.json", include_str!("../../assets/wizards/ssa-quick-calculator.json")),
    ("irs-withholding.json", include_str!("../../assets/wizards/irs-withholding.json")),
    ("fsa-estimator.json", include_str!("../../assets/wizards/fsa-estimator.json")),
];

/// A folder with more files than this is some other folder.
const MOST_FILES: usize = 200;
const LARGEST_FILE: u64 = 1 << 20;

/// Wizards by ID.
#[derive(Debug, Default)]
pub struct Library {
    wizards: Vec<Wizard>,
    edition: String,
}

impl Library {
    /// The shipped wizards and those of a folder. One of the folder replaces a shipped one.
    pub fn open(folder: Option<&Path>) -> Result<Library, String> {
        let mut library = Library::default();
        for (name, text) in SHIPPED {
            library.add(checked(text).map_err(|why| format!("{name}: {why}"))?);
        }
        if let Some(folder) = folder {
            library.add_folder(folder)?;
        }
        let all = serde_json::to_vec(&library.wizards).unwrap_or_default();
        library.edition = hex::encode(Sha256::digest(all));
        Ok(library)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), String> {
        let at = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(at)? {
            let path = entry.map_err(at)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
        if files.len() > MOST_FILES {
            return Err(format!("{}: more than {MOST_FILES} files", folder.display()));
        }
        files.sort();
        for path in files {
            self.add(read(&path)?);
        }
        Ok(())
    }

    fn add(&mut self, wizard: Wizard) {
        self.wizards.retain(|known| known.wizard_id != wizard.wizard_id);
        self.wizards.push(wizard);
    }

    /// The same for the same wizards.
    pub fn edition(&self) -> &str {
        &self.edition
    }

    pub fn wizards(&self) -> &[Wizard] {
        &self.wizards
    }

    pub fn wizard(&self, id: &str) -> Option<&Wizard> {
        self.wizards.iter().find(|wizard| wizard.wizard_id == id)
    }

    pub fn ids(&self) -> Vec<&str> {
        self.wizards.iter().map(|wizard| wizard.wizard_id.as_str()).collect()
    }
}

/// A checked wizard from a file.
pub fn read(path: &Path) -> Result<Wizard, String> {
    let at = |why: String| format!("{}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|error| at(error.to_string()))?.len();
    if length > LARGEST_FILE {
        return Err(at(format!("larger than {LARGEST_FILE} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    checked(&text).map_err(at)
}

/// A wizard that holds together, or everything that is wrong with it.
pub fn checked(text: &str) -> Result<Wizard, String> {
    let wizard = Wizard::read(text)?;
    match check(&wizard, today()) {
        wrong if wrong.is_empty() => Ok(wizard),
        wrong => Err(wrong.join("; ")),
    }
}
