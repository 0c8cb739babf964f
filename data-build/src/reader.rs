//! The reader interface: a function that turns one official file into records.

use anyhow::Result;

use crate::input::Input;
use crate::record::Sink;

/// How reading a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Read,
    /// The reader does not recognize the file: documentation, another source's index, a format
    /// without data for the catalog.
    Skipped,
}

/// Reads one file. An error means that the file as a whole could not be read; a bad record is
/// passed to `Sink::reject`, and reading continues.
pub type Reader = fn(&Input, &mut dyn Sink) -> Result<Outcome>;
