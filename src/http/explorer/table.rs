//! Tables of records and rows: which columns, their headings, one row per item.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{self, Query};
use super::values::{field_label, has_names, is_empty, value};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::{Field, Kind, Source, SubResource, SubResourceKind};

/// Fields that say most about a record, in this order, before any others that records are grouped
/// by.
const TELLING: [&str; 10] = [
    "status",
    "result",
    "position",
    "type",
    "policy_area",
    "agency",
    "chamber",
    "party",
    "state",
    "congress",
];

/// Columns of a table beside the title and the date.
const COLUMNS: usize = 4;

/// The columns of a source that this bundle offers.
pub fn offered(source: &'static Source, facts: &SourceFacts) -> Vec<Field> {
    source.columns().into_iter().filter(|f| facts.fields.contains_key(f.name)).collect()
}

/// The columns of a table of records: those that `fields` names, or the most telling.
pub fn columns(source: &'static Source, facts: &SourceFacts, query: &Query) -> Vec<Field> {
    let all = offered(source, facts);
    if let Some(wanted) = query.get("fields") {
        let wanted: Vec<&str> = wanted.split(',').map(str::trim).collect();
        let is_wanted = |f: &Field| f.name == source.title || wanted.contains(&f.name);
        return all.into_iter().filter(is_wanted).collect();
    }
    let find = |name: &str| all.iter().find(|f| f.name == name).copied();
    let mut shown: Vec<Field> = find(source.title).into_iter().collect();
    shown.extend(source.main_date.and_then(find));
    // A column whose values are all the same says nothing.
    let is_fixed = |f: &&Field| query.get(f.name).is_some_and(|value| !value.contains(','));
    let is_short =
        |f: &&Field| f.group && !f.kind.is_list() && f.left_out.is_none() && !is_fixed(f);
    let telling = TELLING.iter().filter_map(|name| find(name)).filter(|f| is_short(&f));
    let sums = all.iter().filter(|f| f.sum).take(1).copied();
    let others = all.iter().filter(is_short).copied();
    for field in telling.take(COLUMNS - 1).chain(sums).chain(others) {
        let is_shown = shown.iter().any(|known| known.name == field.name);
        if !is_shown && shown.len() < COLUMNS + 2 {
            shown.push(field);
        }
    }
    shown
}

/// The columns of a sub-resource's own rows: those that any row fills. A name beside ids that are
/// shown by name is left out.
pub fn row_columns(bundle: &Bundle, fields: &[Field], rows: &[Value]) -> Vec<Field> {
    let is_held = |f: &Field, row: &Value| {
        row[f.name].as_str().is_some_and(|id| bundle.records().by_id(id).is_some())
    };
    let shows_names = |f: &Field| {
        matches!(f.kind, Kind::Id(source) if has_names(source))
            && rows.iter().all(|row| is_held(f, row))
    };
    let is_named = fields.iter().any(shows_names);
    let is_shown = |f: &&Field| {
        !(is_named && f.name == "name") && rows.iter().any(|row| !is_empty(&row[f.name]))
    };
    fields.iter().filter(is_shown).copied().collect()
}

/// What the items of a sub-resource are: records of a source, or rows with these fields.
pub fn items_of<'b>(
    bundle: &'b Bundle,
    sub: &SubResource,
) -> (Option<(&'static Source, &'b SourceFacts)>, &'static [Field]) {
    match sub.kind {
        SubResourceKind::Records { source, .. } => (bundle.source(source), &[]),
        SubResourceKind::Rows(fields) => (None, fields),
        SubResourceKind::Body => (None, crate::catalog::spec::BODY),
        SubResourceKind::Toc => (None, crate::catalog::spec::TOC),
    }
}

/// A table. With `sorted`, headings are links that sort the list at this address.
pub struct Table<'a> {
    pub bundle: &'a Bundle,
    pub caption: String,
    pub columns: &'a [Field],
    /// The source whose records these are; their titles are links.
    pub source: Option<&'static Source>,
    pub sorted: Option<(&'a str, &'a Query)>,
}

impl Table<'_> {
    pub fn render(&self, items: &[Value]) -> Markup {
        html! {
            div .scroll tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead { tr { @for field in self.columns { (self.heading(field)) } } }
                    tbody data-walk {
                        @for item in items {
                            tr { @for field in self.columns { (self.cell(field, item)) } }
                        }
                    }
                }
            }
        }
    }

    fn heading(&self, field: &Field) -> Markup {
        let class = if is_number(field) { "n" } else { "" };
        let name = field_label(field);
        let Some((path, query)) = self.sorted.filter(|_| field.can_sort()) else {
            return html! { th scope="col" class=(class) title=(field.about) { (name) } };
        };
        let sort = query.get("sort").unwrap_or_default();
        let (descending, ascending) = (format!("-{}", field.name), field.name);
        let (next, order, arrow) = match sort {
            sort if sort == ascending => (descending.as_str(), Some("ascending"), " ↑"),
            sort if sort == descending => (ascending, Some("descending"), " ↓"),
            _ if matches!(field.kind, Kind::Date | Kind::Int) => (descending.as_str(), None, ""),
            _ => (ascending, None, ""),
        };
        let address = query.without(&["cursor"]).with("sort", next).at(path);
        html! {
            th scope="col" class=(class) aria-sort=[order] {
                a href=(address) title=(field.about) { (name) (arrow) }
            }
        }
    }

    fn cell(&self, field: &Field, item: &Value) -> Markup {
        let shown = &item[field.name];
        if let Some(source) = self.source.filter(|source| source.title == field.name) {
            let id = item["id"].as_str().unwrap_or_default();
            let title = shown.as_str().filter(|title| !title.is_empty()).unwrap_or(id);
            let is_other = title != id;
            return html! {
                td .title {
                    a href=(address::record(source.key, id)) { (short(title)) }
                    @if is_other { br; span .soft { (id) } }
                }
            };
        }
        let class = match field.kind {
            Kind::Date => "date",
            _ if is_number(field) => "n",
            _ => "",
        };
        html! { td class=(class) { (value(self.bundle, field, shown)) } }
    }
}

fn is_number(field: &Field) -> bool {
    matches!(field.kind, Kind::Int) && !field.is_period()
}

/// A long title, cut where a line of a table ends being one.
fn short(title: &str) -> String {
    const MOST: usize = 160;
    if title.chars().count() <= MOST {
        return title.to_string();
    }
    let cut: String = title.chars().take(MOST).collect();
    format!("{} …", cut.trim_end())
}
