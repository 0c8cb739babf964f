//! `josh-data-build eval-names`: measures name resolution against a labelled file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use josh::api::{Arguments, Context as CallContext};
use josh::bundle::{Bundle, sample_path};
use josh::toolsets::Toolsets;
use serde_json::Value;

use josh::output::say;

#[derive(Args)]
pub struct EvalNames {
    /// Lines of `name<TAB>registry<TAB>id`; the id of a name that matches no record is `-`
    #[arg(long, value_name = "FILE")]
    names: PathBuf,
    /// Bundle in which the names are looked up [default: the embedded sample]
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

#[derive(Default)]
struct NameCounts {
    total: usize,
    /// Labelled with a record.
    labelled: usize,
    /// Labelled with a record, and that record came first.
    correct: usize,
    /// Something was returned.
    answered: usize,
    /// Labelled with no record, and nothing was returned.
    correctly_empty: usize,
}

impl EvalNames {
    pub fn run(&self) -> Result<()> {
        let path = match &self.bundle {
            Some(path) => path.clone(),
            None => sample_path()?,
        };
        let context = Arc::new(CallContext::unbounded(Arc::new(Bundle::open(&path)?)));
        let toolsets = Toolsets::default();
        let text = std::fs::read_to_string(&self.names)
            .with_context(|| format!("cannot read {}", self.names.display()))?;
        let mut counts: BTreeMap<&str, NameCounts> = BTreeMap::new();
        for (at, line) in
            text.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
        {
            let columns: Vec<&str> = line.split('\t').collect();
            let [name, registry, id] = columns.as_slice() else {
                anyhow::bail!("{}, line {}: expected three columns", self.names.display(), at + 1)
            };
            let mut arguments = Arguments::default();
            arguments.push_one("{source}", *registry);
            arguments.push_one("q", *name);
            arguments.push_one("limit", "1");
            let outcome = toolsets.run("resolve_entity", arguments, &context)?;
            let first = outcome.output.items().and_then(|(_, items)| items.into_iter().next());
            let first: Option<Value> = first.and_then(|item| serde_json::from_str(&item).ok());
            let first = first.as_ref().and_then(|record| record["id"].as_str());
            for count in [*registry, "all"] {
                let count = counts.entry(count).or_default();
                count.total += 1;
                count.labelled += usize::from(*id != "-");
                count.correct += usize::from(first == Some(id));
                count.answered += usize::from(first.is_some());
                count.correctly_empty += usize::from(*id == "-" && first.is_none());
            }
            if first.unwrap_or("-") != *id {
                say!(
                    "wrong: {name:?} in {registry} returns {}, expected {id}",
                    first.unwrap_or("nothing")
                );
            }
        }
        say!(
            "{:<30} {:>6} {:>7} {:>10} {:>7}",
            "registry",
            "names",
            "top-1",
            "precision",
            "recall"
        );
        for (registry, c) in counts {
            let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
            let top = share(c.correct + c.correctly_empty, c.total);
            let (precision, recall) = (share(c.correct, c.answered), share(c.correct, c.labelled));
            say!("{registry:<30} {:>6} {top:>7.3} {precision:>10.3} {recall:>7.3}", c.total);
        }
        Ok(())
    }
}
