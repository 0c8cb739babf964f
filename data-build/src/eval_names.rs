//! `josh-data-build eval-names`: how often a name as people type it leads to the record that is meant, over a labelled file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use josh::bundle::{Bundle, sample_path};
use josh::query::Params;
use josh::service;
use serde_json::Value;

use crate::output::say;

#[derive(Args)]
pub struct EvalNames {
    /// Lines of `name<TAB>registry<TAB>id`, with - for the id of a name that nobody bears
    #[arg(long, value_name = "FILE")]
    names: PathBuf,
    /// Bundle that the names are looked up in [default: the embedded sample]
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

#[derive(Default)]
struct Counts {
    asked: usize,
    /// Labelled with a record, and that record came first.
    right: usize,
    /// Labelled with a record.
    borne: usize,
    /// Something was returned.
    answered: usize,
    /// Labelled with none, and nothing was returned.
    rightly_none: usize,
}

impl EvalNames {
    pub fn run(&self) -> Result<()> {
        let path = match &self.bundle {
            Some(path) => path.clone(),
            None => sample_path()?,
        };
        let bundle = Bundle::open(&path)?;
        let text =
            std::fs::read_to_string(&self.names).with_context(|| format!("cannot read {}", self.names.display()))?;
        let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#')) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [name, registry, id] = columns.as_slice() else {
                anyhow::bail!("{}, line {}: three columns are expected", self.names.display(), at + 1)
            };
            let mut params = Params::default();
            params.push("q", name);
            params.push("limit", "1");
            let (_, page) = service::list_records(&bundle, registry, &params)?;
            let first: Option<Value> = page.items.first().and_then(|item| serde_json::from_str(item).ok());
            let first = first.as_ref().and_then(|record| record["id"].as_str());
            for count in [*registry, "all"] {
                let count = counts.entry(count).or_default();
                count.asked += 1;
                count.borne += usize::from(*id != "-");
                count.right += usize::from(first == Some(id));
                count.answered += usize::from(first.is_some());
                count.rightly_none += usize::from(*id == "-" && first.is_none());
            }
            if first.unwrap_or("-") != *id {
                say!("wrong: {name:?} in {registry} gives {}, not {id}", first.unwrap_or("nothing"));
            }
        }
        say!("{:<30} {:>6} {:>7} {:>10} {:>7}", "registry", "names", "top-1", "precision", "recall");
        for (registry, c) in counts {
            let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
            let top = share(c.right + c.rightly_none, c.asked);
            let (precision, recall) = (share(c.right, c.answered), share(c.right, c.borne));
            say!("{registry:<30} {:>6} {top:>7.3} {precision:>10.3} {recall:>7.3}", c.asked);
        }
        Ok(())
    }
}
