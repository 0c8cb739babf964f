//! Where answers come from: the bundle, or the Bank. Chosen once, when the server starts; there is
//! no falling back from one to the other, which would mix vintages.

use super::held::Held;
use crate::api::{Context, Result};
use crate::boj::{Answer, Failure, Live, Question};

pub trait Supplier {
    /// The answer, or the failure that the caller is told. An error is ours, or nobody waits.
    fn ask(
        &self,
        question: &Question,
        context: &Context,
    ) -> Result<std::result::Result<Supplied, Failure>>;
}

pub struct Supplied {
    pub answer: Answer,
    /// What was received, where anything was.
    pub body: Option<Vec<u8>>,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// With the day of the bundle.
    Bundle(String),
    Live,
}

impl Supplier for Live {
    fn ask(
        &self,
        question: &Question,
        context: &Context,
    ) -> Result<std::result::Result<Supplied, Failure>> {
        let asked = Live::ask(self, question, &|| context.check())?;
        Ok(asked.map(|(answer, body)| Supplied { answer, body: Some(body), origin: Origin::Live }))
    }
}

/// Asks whoever answers on this server.
pub fn ask(
    question: &Question,
    context: &Context,
) -> Result<std::result::Result<Supplied, Failure>> {
    match &context.boj {
        Some(live) => Supplier::ask(live.as_ref(), question, context),
        None => Held.ask(question, context),
    }
}
