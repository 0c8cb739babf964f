//! Holds no code: see Cargo.toml.
