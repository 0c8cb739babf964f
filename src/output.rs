//! What the command line prints. A reader may stop early (`| head`): the rest is then dropped
//! silently, and the work and the exit code stay what they are. Nothing else may call `println!`
//! or `eprintln!`, which panic when the pipe is closed.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line of the result on standard output.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}

/// Prints a line about the work on standard error.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => { $crate::output::note_line(format_args!($($text)*)) };
}

pub use crate::{note, say};

pub fn line(text: Arguments) {
    check(writeln!(io::stdout().lock(), "{text}"));
}

/// Writes bytes to standard output as they are.
pub fn bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    check(out.write_all(bytes).and_then(|()| out.flush()));
}

pub fn note_line(text: Arguments) {
    // There is nowhere left to report that this failed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Ends the process if a result could not be written, on a full disk for example: it must not
/// look complete. A reader that is gone wants no more, which is not a failure.
fn check(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            note_line(format_args!("cannot print: {error}"));
            std::process::exit(1);
        }
        _ => {}
    }
}
