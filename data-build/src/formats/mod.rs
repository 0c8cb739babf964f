//! What several official formats have in common.

pub mod dates;
pub mod json;
pub mod markdown;
pub mod xml;
