//! One file per source. To add one: its file here, a line in `SOURCES`, its reader in `data-build`.

use super::spec::Source;

mod amendments;
mod bills;
mod cbo_estimates;
mod cfr_sections;
mod committee_reports;
mod committees;
mod congressional_record;
mod crs_reports;
mod dockets;
mod federal_register;
mod gao_reports;
mod hearings;
mod lda_filings;
mod legislators;
mod nominations;
mod presidential_documents;
mod public_laws;
mod roll_call_votes;
mod saps;
mod staff_directories;
mod statistical_series;
mod topic_taxonomy;

pub use statistical_series::BOJ_CREDIT;

/// Every source, in the order in which they are listed.
pub static SOURCES: &[&Source] = &[
    &bills::SOURCE,
    &amendments::SOURCE,
    &public_laws::SOURCE,
    &committee_reports::SOURCE,
    &crs_reports::SOURCE,
    &cbo_estimates::SOURCE,
    &gao_reports::SOURCE,
    &federal_register::SOURCE,
    &cfr_sections::SOURCE,
    &congressional_record::SOURCE,
    &presidential_documents::SOURCE,
    &saps::SOURCE,
    &legislators::SOURCE,
    &committees::SOURCE,
    &staff_directories::SOURCE,
    &lda_filings::SOURCE,
    &roll_call_votes::SOURCE,
    &hearings::SOURCE,
    &dockets::SOURCE,
    &topic_taxonomy::SOURCE,
    &nominations::SOURCE,
    &statistical_series::SOURCE,
];
