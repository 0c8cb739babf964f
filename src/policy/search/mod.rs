//! Text search over the records that carry a text.
//!
//! A request is read into a [`ParsedQuery`](query_syntax::ParsedQuery) and a set of candidate
//! records, which filters, sources and dates narrow **before** anything is scored. `lexical` and
//! `semantic` rank within that set, `fuse` makes one ranking of the two, and the page is filled
//! from the records section.

mod candidates;
mod explain;
mod facets;
mod fuse;
pub mod lexical;
pub mod query_syntax;
mod question;
mod request;
mod result;
mod run;
pub mod semantic;
mod snippet;
mod union;

pub use candidates::Candidates;
pub use request::{
    Mode, SEARCH_PARAMETERS, SearchRequest, scopes, searchable_sources, sources_with_vectors,
};
pub use result::SearchResults;
pub use run::{matching, ranking, search};
