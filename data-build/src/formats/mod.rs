//! Parsers and vocabularies shared by several readers.

pub mod agencies;
pub mod committee_names;
pub mod congress;
pub mod dates;
pub mod designators;
pub mod documents;
pub mod eastern;
pub mod html;
pub mod json;
mod legislative_headings;
mod legislative_lines;
pub mod legislative_xml;
pub mod markdown;
pub mod measures;
pub mod orders;
pub mod outline;
pub mod people;
#[cfg(any(test, feature = "fuzz"))]
pub mod pieces;
pub mod plain;
pub mod presidents;
pub mod prose;
pub mod register;
pub mod split_text;
pub mod tables;
#[cfg(test)]
pub mod testing;
pub mod tree;
pub mod uslm;
pub mod xml;
