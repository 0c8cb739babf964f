//! What Josh serves: the sources, their fields and links, and the one grammar of identifiers.
//! Nothing here reads a bundle; what a bundle holds is said by its manifest.

pub mod ids;
pub mod names;
pub mod sources;
pub mod spec;
pub mod wording;

pub use sources::SOURCES;
pub use spec::{Field, Fields, Kind, Shape, Source, Sub, SubKind};

/// The source with this key.
pub fn source(key: &str) -> Option<&'static Source> {
    SOURCES.iter().copied().find(|s| s.key == key)
}
