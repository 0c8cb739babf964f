//! Text search over the records that carry a text.
//!
//! A request is read into an [`Ask`](ask::Ask) and a set of candidate records, which filters, sources and dates narrow **before** anything
//! is scored. `lexical` and `semantic` rank within that set, `fuse` makes one ranking of the two, and the page is filled from
//! the records section.

pub mod ask;
mod candidates;
mod explain;
mod fuse;
pub mod lexical;
mod request;
mod run;
pub mod semantic;
mod shown;
mod snippet;

pub use candidates::Candidates;
pub use request::{Mode, SearchRequest};
pub use run::{Results, matching, ranking, search};
