//! Link arguments of the executables, josh's and josh-data-build's.

use std::env;
use std::process::Command;

/// The first glibc whose start-up code applies packed relocations.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    // A change of this file runs it anyway; nothing else does.
    println!("cargo:rerun-if-env-changed=CARGO_CFG_TARGET_ENV");
    // Functions that came out alike are kept once, which saves 3 MB. Only lld can do it, with which
    // Rust links here. DuckDB expects no two functions to differ in address alone: Microsoft's
    // linker does the same to it.
    if is_linux_with_glibc() && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
    // A static executable that is loaded at any address relocates itself. Packed, its table takes
    // 32 KB instead of 3 MB.
    if links_glibc() && glibc_version().is_some_and(|version| version >= GLIBC) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn is(name: &str, value: &str) -> bool {
    env::var(name).is_ok_and(|found| found == value)
}

fn is_linux_with_glibc() -> bool {
    is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")
}

/// Whether this machine's own glibc is linked in.
fn links_glibc() -> bool {
    is_linux_with_glibc() && env::var("HOST").ok() == env::var("TARGET").ok()
}

fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
