//! The binary: arguments in, exit code out. 0 is success, 1 a failure, 2 an unusable bundle,
//! setting or argument.

use std::process::ExitCode;

use josh::allocator::{Allocator, use_small_pages};
use josh::bundle::tell_duckdb_of_the_machine;
use josh::cli::{Command, Unusable};
use josh::output::note;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    use_small_pages();
    // SAFETY: no thread was started yet.
    unsafe { tell_duckdb_of_the_machine() };
    match Command::read().run() {
        Ok(code) => code,
        Err(error) => {
            note!("josh: {error:#}");
            if error.is::<Unusable>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
