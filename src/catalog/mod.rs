//! What Josh serves: the sources with their fields, ids, names and sub-resources. Nothing here
//! reads a bundle; a bundle's manifest says what it holds.

pub mod citations;
pub mod ids;
pub mod names;
pub mod sources;
pub mod spec;
pub mod vocabulary;
pub mod wording;

pub use sources::{BOJ_CREDIT, SOURCES};
pub use spec::{Field, Fields, Kind, Shape, Source, SubResource, SubResourceKind};

/// The source with this key.
pub fn source(key: &str) -> Option<&'static Source> {
    SOURCES.iter().copied().find(|s| s.key == key)
}
