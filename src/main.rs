//! The binary: arguments in, exit code out. 0 is success, 1 a failure, 2 a bundle, setting or argument that can't be used.

use std::process::ExitCode;

use clap::Parser;
use josh::cli::{Command, Unusable};

fn main() -> ExitCode {
    match Command::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("josh: {error:#}");
            if error.is::<Unusable>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
