//! What several official formats have in common.

pub mod congress;
pub mod committee_names;
pub mod dates;
pub mod documents;
pub mod html;
pub mod eastern;
pub mod json;
pub mod legislative_lines;
pub mod legislative_xml;
pub mod markdown;
pub mod people;
pub mod tables;
pub mod agencies;
pub mod measures;
pub mod outline;
pub mod plain;
pub mod presidents;
pub mod prose;
pub mod orders;
pub mod register;
pub mod split_text;
pub mod uslm;
pub mod designators;
pub mod xml;
pub mod xml_guard;
pub mod xml_json;
#[cfg(test)]
pub mod testing;
