//! One reader per source. A reader gets every file below its source's folder, recognizes official
//! formats by their content, and produces records. It skips a file that it does not recognize.

use crate::reader::{Outcome, Reader};

pub mod native;

mod amendment_texts;
mod amendments;
mod bill_law;
mod bill_plain_text;
mod bill_progress;
mod bill_record;
mod bill_status;
mod bill_text;
mod bill_versions;
mod bills;
mod cbo_estimates;
mod cbo_estimates_text;
mod cfr_sections;
mod cfr_sections_ecfr;
mod committee_reports;
mod committee_reports_text;
mod committees;
mod congressional_record;
mod congressional_record_package;
mod crs_reports;
mod crs_reports_api;
mod dockets;
mod federal_register;
mod federal_register_api;
mod federal_register_uslm;
mod federal_register_xml;
mod gao_reports;
mod gao_reports_rss;
mod gao_reports_subject;
mod hearings;
mod hearings_digest;
mod hearings_repository;
mod lda_filings;
mod legislators;
mod nominations;
mod presidential_documents;
mod presidential_index;
mod public_laws;
mod roll_call;
mod roll_call_tally;
mod roll_call_votes;
mod roll_call_xml;
#[cfg(test)]
mod sample_coverage;
mod saps;
mod series_bls;
mod series_boj;
mod series_treasury;
mod staff_directories;
mod staff_disbursements;
mod statistical_series;
mod topic_taxonomy;

pub use bill_plain_text::EXTRACT_ORDER;
pub use series_bls::SERIES as BLS_SERIES;

/// Readers by source.
const READERS: &[(&str, Reader)] = &[
    ("bills", bills::read),
    ("amendments", amendments::read),
    ("public-laws", public_laws::read),
    ("committee-reports", committee_reports::read),
    ("crs-reports", crs_reports::read),
    ("cbo-estimates", cbo_estimates::read),
    ("gao-reports", gao_reports::read),
    ("federal-register", federal_register::read),
    ("cfr-sections", cfr_sections::read),
    ("congressional-record", congressional_record::read),
    ("presidential-documents", presidential_documents::read),
    ("saps", saps::read),
    ("legislators", legislators::read),
    ("committees", committees::read),
    ("staff-directories", staff_directories::read),
    ("lda-filings", lda_filings::read),
    ("roll-call-votes", roll_call_votes::read),
    ("hearings", hearings::read),
    ("regulations-dot-gov-dockets", dockets::read),
    ("topic-taxonomy", topic_taxonomy::read),
    ("nominations", nominations::read),
    ("statistical-series", statistical_series::read),
];

/// The reader of a source's folder.
pub fn reader(key: &str) -> Reader {
    READERS
        .iter()
        .find(|(source, _)| *source == key)
        .map_or(|_, _| Ok(Outcome::Skipped), |(_, read)| *read)
}

/// Whether a reader also reads files beside the given one, so that its results can't be cached by
/// the file's content: pages of the White House get their numbers from an index.
pub fn reads_siblings(key: &str) -> bool {
    key == "presidential-documents"
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_source_has_a_reader() {
        for source in josh::catalog::SOURCES {
            assert!(super::READERS.iter().any(|(key, _)| *key == source.key), "{}", source.key);
        }
    }
}
