//! What an operation gives back. Outcomes stay typed until a surface encodes them; records that the
//! bundle holds as JSON stay prepared bytes.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::{Error, Result};
use crate::bundle::Bundle;

/// The result of an operation, as surfaces encode it. Several callers may share one.
pub trait Output: Send + Sync {
    /// Appends the result as one JSON object.
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()>;

    /// The result as a tree, for protocols that want one. Prepared parts are parsed here, once.
    fn to_value(&self) -> Result<Map<String, Value>> {
        let mut json = Vec::new();
        self.write_json(&mut json)?;
        serde_json::from_slice(&json).map_err(Error::internal)
    }

    /// The same from whoever needs the result no longer.
    fn into_value(self: Arc<Self>) -> Result<Map<String, Value>> {
        self.to_value()
    }

    /// The items of a list, each as a JSON object, and the columns of a table of them.
    fn items(&self) -> Option<(Vec<&'static str>, Vec<Cow<'_, str>>)> {
        None
    }

    /// How many items the whole list has, and where the next page begins.
    fn page(&self) -> Option<(u64, Option<&str>)> {
        None
    }

    /// The same without items at the end, so that the JSON has about so many bytes, with a cursor
    /// that continues there; and what `meta.shown` then says. Nothing for a result that fits or is
    /// no list.
    fn shortened(&self, _bytes: usize) -> Option<(Arc<dyn Output>, String)> {
        None
    }
}

/// A result that is a plain value: its JSON and its schema come from one type.
pub struct Typed<T>(pub T);

impl<T: Serialize + Send + Sync> Output for Typed<T> {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        append(out, &self.0)
    }

    fn to_value(&self) -> Result<Map<String, Value>> {
        fields(serde_json::to_value(&self.0).map_err(Error::internal)?)
    }
}

/// A result that is a tree already.
struct Tree(Value);

impl Output for Tree {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        append(out, &self.0)
    }

    fn to_value(&self) -> Result<Map<String, Value>> {
        fields(self.0.clone())
    }

    fn into_value(self: Arc<Self>) -> Result<Map<String, Value>> {
        fields(Arc::try_unwrap(self).map_or_else(|shared| shared.0.clone(), |own| own.0))
    }
}

fn fields(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(Error::internal("a result that is not an object")),
    }
}

/// Appends a value as JSON.
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    serde_json::to_writer(out, value).map_err(Error::internal)
}

/// A result with what `meta` says about it.
#[derive(Clone)]
pub struct Outcome {
    pub output: Arc<dyn Output>,
    pub notes: Notes,
    pub form: Form,
    pub images: Vec<Image>,
    /// Why the work did not succeed, where the result says how far it came.
    pub failure: Option<Arc<Error>>,
}

/// How an agent gets a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Without what is empty, with Josh's `meta`, cut where it is too long.
    #[default]
    Usual,
    /// The same with members that hold nothing: a document that was signed is what it is.
    Whole,
    /// As it is: the contract of another program, which sees to its size.
    Verbatim,
    /// The same, as the error of a tool.
    Failed,
}

/// A picture that belongs to a result. Protocols without pictures carry it as Base64.
#[derive(Clone)]
pub struct Image {
    /// What it shows.
    pub title: String,
    pub mime: &'static str,
    pub base64: String,
}

impl Outcome {
    pub fn new(output: impl Output + 'static) -> Outcome {
        Outcome {
            output: Arc::new(output),
            notes: Notes::default(),
            form: Form::Usual,
            images: Vec::new(),
            failure: None,
        }
    }

    pub fn typed<T: Serialize + Send + Sync + 'static>(value: T) -> Outcome {
        Outcome::new(Typed(value))
    }

    pub fn tree(value: Value) -> Outcome {
        Outcome::new(Tree(value))
    }

    /// Keeps members that hold nothing: a document that was signed is what it is.
    pub fn whole(mut self) -> Outcome {
        self.form = Form::Whole;
        self
    }

    pub fn verbatim(mut self) -> Outcome {
        self.form = Form::Verbatim;
        self
    }

    /// As it is, as the error of a tool.
    pub fn verbatim_error(mut self) -> Outcome {
        self.form = Form::Failed;
        self
    }

    pub fn show(mut self, images: Vec<Image>) -> Outcome {
        self.images = images;
        self
    }

    /// A result that says how far the work came before it failed.
    pub fn failed(mut self, failure: Option<Error>) -> Outcome {
        self.failure = failure.map(Arc::new);
        self
    }

    pub fn with(mut self, notes: Notes) -> Outcome {
        self.notes = notes;
        self
    }
}

/// The schema of a result that brings everything it refers to.
pub fn schema<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// What `meta` says beyond the request's own facts.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    pub resolved: Option<Resolved>,
    pub understood: Vec<Understood>,
    pub unknown_words: Vec<UnknownWord>,
    pub empty: Option<Value>,
    pub shown: Option<String>,
    pub not_covered: Option<String>,
    pub left_out: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resolved {
    pub asked: String,
    pub id: String,
}

/// A name that was given where an id or an exact value is asked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Understood {
    pub argument: String,
    pub given: String,
    /// The id or value that it was read as
    pub value: String,
    pub name: String,
}

/// A word of a search that no text has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnknownWord {
    pub word: String,
    /// The nearest word that texts have
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub did_you_mean: Option<String>,
}

/// Facts about the answer itself.
#[derive(Serialize, JsonSchema)]
pub struct Meta<'a> {
    pub request_id: &'a str,
    pub bundle: BundleMeta<'a>,
    pub took_ms: u64,
    /// That texts of this bundle are summaries, not the official wording
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub notice: Option<&'a str>,
    /// How the id was written, and the id that it was read as
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Resolved")]
    pub resolved: Option<&'a Resolved>,
    /// Names that were given, and what they were read as
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub understood: &'a [Understood],
    /// Words of a search that no text has: what was found has the others, or is near in meaning
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub unknown_words: &'a [UnknownWord],
    /// Why a list is empty
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub empty: Option<&'a Value>,
    /// How much of the list this is and what would narrow it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub shown: Option<&'a str>,
    /// What of the question the bundle does not cover: there it knows nothing, which is not zero
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub not_covered: Option<&'a str>,
    /// Records that the numbers leave out, and the filter that includes them
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub left_out: Option<&'a str>,
    /// Who publishes each source among the results, instead of in each citation
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub publishers: Option<&'a Value>,
    /// That the result was cut to size, and how to get the rest
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub truncated: Option<&'a str>,
}

impl<'a> Meta<'a> {
    pub fn new(
        request_id: &'a str,
        bundle: &'a Bundle,
        started: Instant,
        notes: &'a Notes,
    ) -> Meta<'a> {
        Meta {
            request_id,
            bundle: BundleMeta { id: &bundle.manifest.id, as_of: &bundle.manifest.as_of },
            took_ms: started.elapsed().as_millis() as u64,
            notice: bundle.manifest.notice.as_deref(),
            resolved: notes.resolved.as_ref(),
            understood: &notes.understood,
            unknown_words: &notes.unknown_words,
            empty: notes.empty.as_ref(),
            shown: notes.shown.as_deref(),
            not_covered: notes.not_covered.as_deref(),
            left_out: notes.left_out.as_deref(),
            publishers: None,
            truncated: None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bundle")]
pub struct BundleMeta<'a> {
    pub id: &'a str,
    /// Day up to which the data go
    pub as_of: &'a str,
}

/// A value as the text of a table's cell; the elements of a list are joined by "; ".
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

/// Bytes of a result that an agent gets: hosts cut larger ones, silently.
pub const MOST_RESULT_BYTES: usize = 100_000;
