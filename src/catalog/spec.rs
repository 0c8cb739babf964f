//! The types that describe a source. Everything that depends on the source (routes, filters, sorts,
//! docs, SQL columns, ids, names, dossiers) is read from these, so that a source is described once,
//! in one file under `sources/`. Must not name a source.

use serde_json::{Map, Value};

use super::ids::spelling::Ids;

/// One record as the bundle holds it: field name to value.
pub type Fields = Map<String, Value>;

/// Which surfaces accept a source. The shapes are disjoint on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Long texts: lexical and semantic search.
    BodyBearing,
    /// Short texts: lexical search only.
    ShortBody,
    /// Names and numbers: resolved by name, never searched as text.
    Registry,
}

impl Shape {
    pub const fn name(self) -> &'static str {
        match self {
            Shape::BodyBearing => "body-bearing",
            Shape::ShortBody => "short-body",
            Shape::Registry => "registry",
        }
    }

    /// Whether records of this shape carry a text of their own.
    pub const fn has_body(self) -> bool {
        !matches!(self, Shape::Registry)
    }
}

/// The type of a field, which decides its column, its filters and its place in OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Prose: shown, never filtered or sorted.
    Text,
    /// A short string with a meaning of its own (a code, a name, a status).
    Keyword,
    /// A list of keywords; a filter matches when any of them is equal.
    Keywords,
    /// The id of a record of the named source, in canonical form.
    Id(&'static str),
    /// A list of ids of the named source.
    Ids(&'static str),
    Int,
    /// A number with a fraction. Only for computing: what was published stays in a keyword.
    Number,
    Bool,
    Date,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Keyword => "keyword",
            Kind::Keywords => "keyword list",
            Kind::Id(_) => "id",
            Kind::Ids(_) => "id list",
            Kind::Int => "integer",
            Kind::Number => "number",
            Kind::Bool => "boolean",
            Kind::Date => "date",
        }
    }

    /// The DuckDB column type.
    pub const fn sql(self) -> &'static str {
        match self {
            Kind::Text | Kind::Keyword | Kind::Id(_) => "VARCHAR",
            Kind::Keywords | Kind::Ids(_) => "VARCHAR[]",
            Kind::Int => "BIGINT",
            Kind::Number => "DOUBLE",
            Kind::Bool => "BOOLEAN",
            Kind::Date => "DATE",
        }
    }

    pub const fn is_list(self) -> bool {
        matches!(self, Kind::Keywords | Kind::Ids(_))
    }

    /// The source that the values of this field name, if they are ids.
    pub const fn target(self) -> Option<&'static str> {
        match self {
            Kind::Id(source) | Kind::Ids(source) => Some(source),
            _ => None,
        }
    }
}

/// One field of a record or of a sub-resource's row.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// Can be grouped by in an aggregation.
    pub group: bool,
    /// Can be summed in an aggregation.
    pub sum: bool,
    /// Can be bucketed by time in an aggregation.
    pub time: bool,
    /// Records with this flag are left out of counts and sums, unless a filter on it asks for them;
    /// says which ones they are.
    pub left_out: Option<&'static str>,
    /// Values that it mostly has, where the manifest does not list them: rows of sub-resources.
    pub vocabulary: &'static [&'static str],
    /// Holds names of organizations, which people write in several ways.
    pub named: bool,
    pub about: &'static str,
}

impl Field {
    const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        let (group, sum, time, named) = (false, false, false, false);
        let (left_out, vocabulary): (_, &[_]) = (None, &[]);
        Field { name, kind, group, sum, time, left_out, vocabulary, named, about }
    }
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Text, about)
    }
    pub const fn keyword(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Keyword, about)
    }
    pub const fn keywords(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Keywords, about)
    }
    pub const fn id(name: &'static str, source: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Id(source), about)
    }
    pub const fn ids(name: &'static str, source: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Ids(source), about)
    }
    pub const fn int(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Int, about)
    }
    pub const fn number(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Number, about)
    }
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Bool, about)
    }
    pub const fn date(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Date, about)
    }
    pub const fn group(mut self) -> Self {
        self.group = true;
        self
    }
    pub const fn sum(mut self) -> Self {
        self.sum = true;
        self
    }
    pub const fn time(mut self) -> Self {
        self.time = true;
        self
    }

    pub const fn left_out(mut self, which: &'static str) -> Self {
        self.left_out = Some(which);
        self
    }
    pub const fn mostly(mut self, vocabulary: &'static [&'static str]) -> Self {
        self.vocabulary = vocabulary;
        self
    }
    pub const fn named(mut self) -> Self {
        self.named = true;
        self
    }

    /// Whether its numbers stand for stretches of time.
    pub fn is_period(&self) -> bool {
        self.name == "congress" || self.name.ends_with("year")
    }

    /// Whether values come before and after one another.
    pub const fn can_compare(&self) -> bool {
        matches!(self.kind, Kind::Int | Kind::Number | Kind::Date)
    }

    /// Text is too long to filter or sort by.
    pub const fn can_filter(&self) -> bool {
        !matches!(self.kind, Kind::Text)
    }
    pub const fn can_sort(&self) -> bool {
        self.can_filter() && !self.kind.is_list()
    }
}

/// A list that belongs to one record: `/v1/{source}/{id}/{name}`.
#[derive(Clone, Copy, Debug)]
pub struct SubResource {
    pub name: &'static str,
    pub kind: SubResourceKind,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum SubResourceKind {
    /// Rows that belong to the record, in table `{source table}_{name}`, keyed by the column
    /// `parent`.
    Rows(&'static [Field]),
    /// Records of another source whose `field` names this record.
    Records { source: &'static str, field: &'static str },
    /// The text, section by section; without `version` the current one.
    Body,
    /// The headings of the text.
    Toc,
}

/// Whether a text has the official wording: a field of the records that have a text, and of each
/// section. A text is a summary if its version says so: `summary`, or `summary-ih` for an older
/// one.
pub const TEXT_STATUS: Field = Field::keyword(
    "text_status",
    "`summary` where the text served is not the official wording, `extract` where it is but lost \
     its quotation marks; absent where it is to the character",
);

/// The value of `text_status` for a text in other words than the official ones.
pub const SUMMARY: &str = "summary";

/// The value of `text_status` for the official words without their quotation marks.
pub const EXTRACT: &str = "extract";

/// How a text that is not the official one to the character is marked wherever it is served.
pub struct TextStatus {
    /// The value of `text_status`.
    pub name: &'static str,
    /// Begins its snippets.
    pub mark: &'static str,
    /// Begins the text itself, and is in its citation.
    pub note: &'static str,
}

const TEXT_STATUSES: [TextStatus; 2] = [
    TextStatus {
        name: SUMMARY,
        mark: "[Summary, not the official wording] ",
        note: "The text served here is a summary, not the official wording, and can't be quoted \
               as this document's words. The official text is at the url.",
    },
    TextStatus {
        name: EXTRACT,
        mark: "[Extract without its quotation marks] ",
        note: "The text served here was extracted from the official one and lost the quotation \
               marks around inserted and struck matter: what it inserts or strikes must be read \
               at the url before it is quoted.",
    },
];

impl TextStatus {
    pub fn named(name: &str) -> Option<&'static TextStatus> {
        TEXT_STATUSES.iter().find(|status| status.name == name)
    }
}

/// The columns of every `{source table}_body` table.
pub const BODY: &[Field] = &[
    Field::keyword(
        "version",
        "Version of the text: ih, rh, eh, enr … for bills, `text` where there is only one, \
         `summary` where it is not the official wording",
    ),
    Field::flag("current", "Whether this is the newest version"),
    Field::keyword("section", "Section label, as cited; empty for text before the first heading"),
    Field::text("heading", "Heading of the section, with the headings above it"),
    Field::int("level", "Depth of the heading, 1 at the top"),
    Field::text("text", "The section's text"),
    Field::flag(
        "is_amendatory",
        "Whether it amends another law: what it strikes or inserts is not the law as it stands",
    ),
    Field::keywords("amends", "The laws that it says it amends"),
    TEXT_STATUS,
];

/// Columns of rows about a member.
pub const PARTY: Field = Field::keyword("party", "Party").mostly(&["D", "R", "I"]);
pub const STATE: Field = Field::keyword("state", "State, two letters");
pub const POSITION: Field = Field::keyword(
    "position",
    "yea, nay, present, not_voting; guilty or not_guilty; a name in an election",
)
.mostly(&["yea", "nay", "present", "not_voting"]);

/// The columns of every `{source table}_mentions` table: records that name the record, and where.
pub const MENTIONS: &[Field] = &[
    Field::keyword("source", "Source of the record that names it"),
    Field::keyword("record_id", "The record that names it, as for /v1/fetch/{id}"),
    Field::keyword("found_in", "A field's name, or `text` with the section"),
];

/// The columns of a table of contents: a body without its text.
pub const TOC: &[Field] = &[BODY[0], BODY[1], BODY[2], BODY[3], BODY[4], BODY[6], TEXT_STATUS];

impl SubResource {
    pub const fn rows(name: &'static str, fields: &'static [Field], about: &'static str) -> Self {
        SubResource { name, kind: SubResourceKind::Rows(fields), about }
    }
    pub const fn records(
        name: &'static str,
        source: &'static str,
        field: &'static str,
        about: &'static str,
    ) -> Self {
        SubResource { name, kind: SubResourceKind::Records { source, field }, about }
    }
    pub const fn body() -> Self {
        SubResource {
            name: "body",
            kind: SubResourceKind::Body,
            about: "The text, section by section (`version`, `section`)",
        }
    }
    pub const fn toc() -> Self {
        SubResource { name: "toc", kind: SubResourceKind::Toc, about: "The headings of the text" }
    }
}

/// Receives a name of a record: its kind, which a match reports as `matched_on`, and the name.
pub type AddName<'a> = dyn FnMut(&'static str, &str) + 'a;

/// How the records of a registry are resolved by name.
#[derive(Debug)]
pub struct Naming {
    /// Passes on every name of a record, the most important first.
    pub names: fn(&Fields, &mut AddName),
    /// Kinds of names that match only in full, such as acronyms and numbers.
    pub exact_kinds: &'static [&'static str],
    pub hints: HintFields,
    /// The date by which the newer of equal matches comes first, where it isn't `main_date`.
    pub recency: Option<&'static str>,
}

impl Naming {
    /// Names and nothing else, to be updated by a source that has more.
    pub const fn new(names: fn(&Fields, &mut AddName)) -> Self {
        Naming { names, exact_kinds: &[], hints: HintFields::NONE, recency: None }
    }
}

/// The fields with which hints in a question ("Sen. Smith of Ohio", "Pfizer 2024") are compared.
#[derive(Debug)]
pub struct HintFields {
    /// `house` or `senate`.
    pub chamber: Option<&'static str>,
    pub party: Option<&'static str>,
    pub state: Option<&'static str>,
    /// Years or dates; the first that a record has counts.
    pub year: &'static [&'static str],
}

impl HintFields {
    pub const NONE: Self = HintFields { chamber: None, party: None, state: None, year: &[] };
}

/// The dossier of a source: which sub-resources are shown with a record.
#[derive(Debug)]
pub struct DossierSpec {
    /// Names of sub-resources in the order in which they are shown.
    pub sections: &'static [&'static str],
    /// Whether `congress=` narrows any of them.
    pub takes_congress: bool,
}

/// Everything about one kind of record.
#[derive(Debug)]
pub struct Source {
    /// As in the route: `bills`.
    pub key: &'static str,
    /// What one record is called in a sentence: `bill`.
    pub singular: &'static str,
    pub shape: Shape,
    pub about: &'static str,
    pub ids: Ids,
    /// Beyond those of every record: `id`, `source`, the title, `url`, `outside_bundle`, and
    /// `text_status` where records have a text.
    pub fields: &'static [Field],
    /// `title` or `name`.
    pub title: &'static str,
    /// The field that `since` and `until` refer to.
    pub main_date: Option<&'static str>,
    /// Default order: (field, descending). Ties are broken by id.
    pub order: &'static [(&'static str, bool)],
    pub sub_resources: &'static [SubResource],
    /// For registries, and only for them.
    pub naming: Option<Naming>,
    pub dossier: Option<DossierSpec>,
    /// The official page of a record whose reader found no address of its own.
    pub url: fn(&Fields) -> String,
    /// How a person would cite it.
    pub cite: fn(&Fields) -> String,
    pub publisher: &'static str,
    pub licence: &'static str,
}

/// Works of the United States Government carry no copyright (17 U.S.C. 105).
pub const US_WORK: &str = "U.S. Government work (17 U.S.C. 105)";

impl Source {
    /// The DuckDB table: the key with underscores.
    pub fn table(&self) -> String {
        self.key.replace('-', "_")
    }

    /// The table of one of its sub-resources.
    pub fn sub_table(&self, sub: &str) -> String {
        format!("{}_{sub}", self.table())
    }

    /// Every column of a record in the order it is shown.
    pub fn columns(&self) -> Vec<Field> {
        let mut all = vec![
            Field::keyword("id", "Canonical id, as for /v1/fetch/{id}"),
            Field::keyword("source", "The source's key"),
            Field::text(self.title, "Title or name"),
        ];
        all.extend(self.fields.iter().copied().filter(|f| f.name != self.title));
        if self.shape.has_body() {
            all.push(TEXT_STATUS);
        }
        all.push(Field::text("url", "Official page"));
        all.push(Field::keywords(
            "outside_bundle",
            "Ids in this record whose records this bundle does not hold",
        ));
        all
    }

    pub fn field(&self, name: &str) -> Option<Field> {
        self.columns().into_iter().find(|f| f.name == name)
    }

    pub fn sub_resource(&self, name: &str) -> Option<&'static SubResource> {
        self.sub_resources.iter().find(|s| s.name == name)
    }
}

/// A string field, or the empty string: for citations and addresses.
pub fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// An integer field, or 0: for citations and addresses.
pub fn int(fields: &Fields, name: &str) -> i64 {
    fields.get(name).and_then(Value::as_i64).unwrap_or_default()
}
