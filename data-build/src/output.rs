//! What is printed. Whoever reads it may stop early (`| head`): the rest is then left unsaid, and the work and the exit
//! code stay what they are.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}

/// Prints a line about the work, beside the result.
macro_rules! note {
    ($($text:tt)*) => { $crate::output::note_line(format_args!($($text)*)) };
}

pub(crate) use {note, say};

pub fn line(text: Arguments) {
    let written = writeln!(io::stdout().lock(), "{text}");
    if let Err(error) = written.or_else(unless_closed) {
        // A result that could not be written, on a full disk say, must not look like one that was.
        note_line(format_args!("josh-data-build: cannot print: {error}"));
        std::process::exit(1);
    }
}

pub fn note_line(text: Arguments) {
    // There is nowhere left to say that this failed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A reader that has gone wants no more, which is no failure.
fn unless_closed(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}
