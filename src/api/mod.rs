//! The contract between surfaces and capabilities: operations, their arguments and outcomes, the
//! context of a call, errors. Types only; nothing here runs an operation or knows a protocol.

pub mod argument;
pub mod context;
pub mod error;
pub mod operation;
pub mod outcome;
pub mod page;
pub mod parameter;

pub use crate::access::Scope;
pub use argument::{Arguments, Given};
pub use context::{Budget, CallerInfo, Context, Progress};
pub use error::{Code, Error, Result};
pub use operation::{
    Capability, Cost, Endpoint, EndpointParameter, Operation, Place, Prompt, Resource, Tool,
};
pub use outcome::{Image, Meta, Notes, Outcome, Output, Resolved, Typed, Understood, UnknownWord};
pub use page::Page;
pub use parameter::{Kind, Parameter};
