//! Tests of the fetcher: the real binary against a real server that is slow, breaks off, refuses
//! requests and changes its answers. They never reach the publishers' own servers.

mod archives;
mod build;
mod command_line;
mod content;
mod documents;
mod lists;
mod publishers;
mod roll_calls;
mod runs;
mod selection;
mod statistics;
mod support;
mod transfer;
