//! What a reader is: a function from one official file to records.

use anyhow::Result;

use crate::input::Input;
use crate::record::Sink;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Read,
    /// Documentation, an index of another source, a format that carries nothing for us.
    Skipped,
}

/// Reads one file. An error means that the file as a whole could not be read; a single bad record is a
/// `sink.reject` and the rest goes on.
pub type Reader = fn(&Input, &mut dyn Sink) -> Result<Outcome>;
