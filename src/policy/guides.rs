//! Guides to read once, with the open bundle's own sources in them.

use super::advertised;
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::Source;

/// A guide, served by `get_guide` and as a resource.
pub struct Guide {
    pub key: &'static str,
    pub title: &'static str,
    text: &'static str,
}

pub const GUIDES: &[Guide] = &[
    Guide {
        key: "choosing-a-tool",
        title: "Choosing a tool",
        text: include_str!("../../assets/guides/choosing-a-tool.md"),
    },
    Guide { key: "ids", title: "Writing ids", text: include_str!("../../assets/guides/ids.md") },
    Guide {
        key: "filters",
        title: "Filters, sorting and pages",
        text: include_str!("../../assets/guides/filters.md"),
    },
    Guide {
        key: "bill-text",
        title: "Reading bill text",
        text: include_str!("../../assets/guides/bill-text.md"),
    },
    Guide { key: "citing", title: "Citing", text: include_str!("../../assets/guides/citing.md") },
];

pub const KEYS: &[&str] =
    &[GUIDES[0].key, GUIDES[1].key, GUIDES[2].key, GUIDES[3].key, GUIDES[4].key];

impl Guide {
    pub fn text(&self, bundle: &Bundle) -> String {
        self.text
            .replace("{searchable}", &advertised::searchable(bundle).join(", "))
            .replace("{with_vectors}", &advertised::with_vectors(bundle).join(", "))
            .replace("{registries}", &advertised::registries(bundle).join(", "))
            .replace("{ids}", &ids(bundle))
            .replace("{as_of}", &bundle.manifest.as_of)
    }
}

fn ids(bundle: &Bundle) -> String {
    let line = |(source, _): (&Source, &SourceFacts)| {
        let (key, ids) = (source.key, &source.ids);
        format!("- {key}: `{}`, for example `{}`\n", ids.form, ids.example)
    };
    bundle.sources().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_can_be_chosen() {
        assert_eq!(GUIDES.iter().map(|guide| guide.key).collect::<Vec<_>>(), KEYS);
    }
}
