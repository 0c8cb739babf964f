//! The binary: arguments in, exit code out. 0 is success, 1 a failure, 2 an unusable bundle,
//! setting or argument.

use std::process::ExitCode;

use josh::cli::{Command, Unusable};
use josh::output::note;

#[global_allocator]
static ALLOCATOR: josh::allocator::Allocator = josh::allocator::Allocator;

fn main() -> ExitCode {
    match Command::read().run() {
        Ok(code) => code,
        Err(error) => {
            note!("josh: {error:#}");
            if error.is::<Unusable>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
