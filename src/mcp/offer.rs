//! What the open bundle lets tools, prompts and resources offer: its sources, fields and sections, read once for each bundle.

use std::sync::Arc;

use rmcp::model::Tool as Advertised;

use super::args::Plan;
use super::tools::TOOLS;
use crate::bundle::Bundle;
use crate::catalog::{Field, Shape, Source};
use crate::{dossier, service};

pub struct Offer {
    pub bundle: Arc<Bundle>,
    pub tools: Vec<Advertised>,
    pub instructions: String,
    /// Advertise only `query` for `search`, for hosts that compare signatures.
    pub bare_search: bool,
}

impl Offer {
    pub fn of(bundle: Arc<Bundle>, bare_search: bool) -> Offer {
        let mut offer = Offer { bundle, tools: Vec::new(), instructions: String::new(), bare_search };
        offer.instructions = offer.introduction();
        offer.tools = TOOLS.iter().filter(|t| t.is_offered(&offer)).map(|t| t.advertised(&offer)).collect();
        offer
    }

    /// What the host tells its model about this server.
    fn introduction(&self) -> String {
        format!(
            "Josh serves United States federal policy data up to {}: {}. With an id (H.R. 1, a bioguide id) use the get_ and list_ tools; \
             with a name resolve_entity; with a subject search, then fetch; for numbers count, sum and time_series; for everything about one thing \
             the dossiers. Every record has a citation with an official address. Text of bills that amends other law is marked is_amendatory. \
             An empty answer says why. get_guide explains more.",
            self.bundle.manifest.as_of,
            self.resources(Plan::Count).join(", ")
        )
    }

    fn sources(&self) -> impl Iterator<Item = &'static Source> + '_ {
        self.bundle.sources().map(|(source, _)| source)
    }

    pub fn searchable(&self) -> Vec<&'static str> {
        self.sources().filter(|s| s.shape.has_body()).map(|s| s.key).collect()
    }

    pub fn meaningful(&self) -> Vec<&'static str> {
        self.sources().filter(|s| s.shape == Shape::BodyBearing).map(|s| s.key).collect()
    }

    pub fn registries(&self) -> Vec<&'static str> {
        self.sources().filter(|s| s.shape == Shape::Registry).map(|s| s.key).collect()
    }

    /// Sources that have a field of this plan.
    pub fn resources(&self, plan: Plan) -> Vec<&'static str> {
        self.able(plan).map(|s| s.key).collect()
    }

    fn able(&self, plan: Plan) -> impl Iterator<Item = &'static Source> + '_ {
        self.sources().filter(move |s| s.columns().iter().any(|field| plan.allows(field)))
    }

    /// The names of the fields of these sources that can be used so, each once.
    pub fn fields(&self, plan: Plan, with: fn(&Field) -> bool) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.able(plan).flat_map(|s| s.columns()).filter(with).map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The same source by source: `bills (status, congress)`.
    pub fn plan(&self, with: fn(&Field) -> bool) -> String {
        let of = |source: &'static Source| {
            let names: Vec<&str> = source.columns().into_iter().filter(with).map(|f| f.name).collect();
            (!names.is_empty()).then(|| format!("{} ({})", source.key, names.join(", ")))
        };
        self.sources().filter_map(of).collect::<Vec<_>>().join("; ")
    }

    /// The sections of a dossier that this bundle can fill.
    pub fn sections(&self, key: &str) -> Vec<&'static str> {
        let Some(source) = crate::catalog::source(key) else { return Vec::new() };
        let held = |name: &&str| {
            source.sub(name).is_some_and(|sub| service::describe_sub(&self.bundle, source, sub).is_some())
        };
        dossier::sections(key).unwrap_or_default().iter().copied().filter(held).collect()
    }

    pub fn listed_sections(&self, key: &str) -> String {
        self.sections(key).join(", ")
    }
}
