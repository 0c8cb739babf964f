//! Which capabilities this server offers, and which of their tools: `--toolsets`,
//! `--exclude-tools`. The same set rules tools, prompts, resources and instructions.

use std::sync::Arc;

use crate::api::{Arguments, Capability, Context, Error, Operation, Outcome, Scope, Tool};
use crate::bundle::Bundle;
use crate::{clients, forms, policy, statistics};

/// Every capability. Adding one: its folder and a line here.
pub const CAPABILITIES: &[&Capability] =
    &[&policy::CAPABILITY, &clients::CAPABILITY, &statistics::CAPABILITY, &forms::CAPABILITY];

/// What is offered unless the operator says otherwise.
pub const DEFAULT: &str = "policy";

/// The configured selection.
#[derive(Clone)]
pub struct Toolsets {
    capabilities: Arc<[&'static Capability]>,
    excluded: Arc<[String]>,
}

impl std::fmt::Debug for Toolsets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.capabilities().map(|capability| capability.name).collect();
        write!(f, "{} without {:?}", names.join(", "), self.excluded)
    }
}

impl Default for Toolsets {
    fn default() -> Toolsets {
        Toolsets::of(&[&policy::CAPABILITY])
    }
}

impl Toolsets {
    pub fn of(capabilities: &[&'static Capability]) -> Toolsets {
        Toolsets { capabilities: capabilities.into(), excluded: Arc::new([]) }
    }

    /// Reads names of toolsets, or `all`, and names of tools to leave out. Forms that are off are
    /// not part of `all`.
    pub fn read(
        toolsets: &[String],
        excluded: &[String],
        has_forms: bool,
    ) -> Result<Toolsets, String> {
        let is_known = |c: &&&'static Capability| has_forms || c.name != forms::CAPABILITY.name;
        let known: Vec<&'static Capability> =
            CAPABILITIES.iter().filter(is_known).copied().collect();
        if !has_forms && toolsets.iter().any(|name| name == forms::CAPABILITY.name) {
            return Err("toolsets: forms are off; give --forms describe or --forms run".into());
        }
        Toolsets::read_from(&known, toolsets, excluded)
    }

    /// The same with other capabilities to choose from.
    pub fn read_from(
        known: &[&'static Capability],
        toolsets: &[String],
        excluded: &[String],
    ) -> Result<Toolsets, String> {
        let mut chosen: Vec<&'static Capability> = Vec::new();
        for name in toolsets {
            let before = chosen.len();
            let is_meant = |c: &&&'static Capability| name == "all" || c.name == name.as_str();
            for capability in known.iter().filter(is_meant) {
                if !chosen.iter().any(|c| c.name == capability.name) {
                    chosen.push(capability);
                }
            }
            let is_known = name == "all" || known.iter().any(|c| c.name == name.as_str());
            if !is_known && chosen.len() == before {
                let names: Vec<&str> = known.iter().map(|c| c.name).chain(["all"]).collect();
                return Err(format!(
                    "toolsets: there is no {name:?}; choose from {}",
                    names.join(", ")
                ));
            }
        }
        if chosen.is_empty() {
            return Err("toolsets: none is named; leave the setting out for policy".into());
        }
        let all = Toolsets { capabilities: chosen.into(), excluded: Arc::new([]) };
        let tools: Vec<&str> = all.every_tool().map(|(_, tool)| tool.name).collect();
        if let Some(unknown) = excluded.iter().find(|name| !tools.contains(&name.as_str())) {
            let near = crate::spelling::nearest(unknown, &tools);
            let near = near.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            return Err(format!("exclude_tools: there is no tool {unknown:?}.{near}"));
        }
        Ok(Toolsets { excluded: excluded.into(), ..all })
    }

    /// Only one of the configured toolsets, for an endpoint of its own.
    pub fn only(&self, name: &str) -> Option<Toolsets> {
        let capability = self.capabilities().find(|c| c.name == name)?;
        Some(Toolsets { capabilities: [capability].into(), excluded: self.excluded.clone() })
    }

    pub fn capabilities(&self) -> impl Iterator<Item = &'static Capability> + '_ {
        self.capabilities.iter().copied()
    }

    /// Whether configuration for clients is offered, which needs a key, profiles and an address.
    pub fn hand_out_client_configs(&self) -> bool {
        self.capabilities().any(|capability| capability.name == clients::CAPABILITY.name)
    }

    pub fn has_forms(&self) -> bool {
        self.capabilities().any(|capability| capability.name == forms::CAPABILITY.name)
    }

    pub fn operations(&self) -> impl Iterator<Item = &'static Operation> + '_ {
        self.capabilities().flat_map(|capability| capability.operations)
    }

    /// Runs an operation on this thread, without limits: for programs that hold a bundle
    /// themselves.
    pub fn run(
        &self,
        name: &str,
        arguments: Arguments,
        context: &Arc<Context>,
    ) -> Result<Outcome, Error> {
        let operation = self.operations().find(|operation| operation.name == name);
        let unknown = || Error::internal(format!("there is no operation {name}"));
        (operation.ok_or_else(unknown)?.run)(arguments, context)
    }

    fn every_tool(&self) -> impl Iterator<Item = (&'static Operation, &'static Tool)> + '_ {
        self.operations()
            .flat_map(|operation| operation.tools.iter().map(move |tool| (operation, tool)))
    }

    /// The tools that are offered over this bundle, in order, each with its operation.
    pub fn tools<'a>(
        &'a self,
        bundle: &'a Bundle,
    ) -> impl Iterator<Item = (&'static Operation, &'static Tool)> + 'a {
        self.every_tool().filter(move |(_, tool)| self.is_offered(tool, bundle))
    }

    /// The tool with this name, if it is offered.
    pub fn tool(&self, bundle: &Bundle, name: &str) -> Option<(&'static Operation, &'static Tool)> {
        let found = self.every_tool().find(|(_, tool)| tool.name == name);
        found.filter(|(_, tool)| self.is_offered(tool, bundle))
    }

    fn is_offered(&self, tool: &Tool, bundle: &Bundle) -> bool {
        !self.excluded.iter().any(|name| name == tool.name) && (tool.is_offered)(bundle)
    }

    /// What a tool's caller must be allowed to do; nothing for a tool that is not known.
    pub fn scope_of_tool(&self, name: &str) -> Option<Scope> {
        let found = self.every_tool().find(|(_, tool)| tool.name == name);
        found.map(|(operation, _)| operation.scope)
    }
}
