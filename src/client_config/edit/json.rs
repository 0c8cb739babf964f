//! JSON, with comments and trailing commas where a client allows them.

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value, json};

use super::layout::{Items, indent_at, newline, pretty, unit};
use super::{EditError, Editor, Splice};

pub struct Json {
    text: String,
    /// Offsets stay valid for `text`.
    root: Option<Tree>,
}

/// A value with its bytes.
struct Tree {
    from: usize,
    to: usize,
    kind: Kind,
}

enum Kind {
    Object(Vec<Member>),
    Array(Vec<Tree>),
    Plain(Value),
}

struct Member {
    from: usize,
    name: String,
    value: Tree,
}

impl Editor for Json {
    const NAME: &'static str = "JSON";

    fn parse(text: &str) -> Result<Json, String> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
        let parsed = parsed.map_err(|error| error.to_string())?;
        let root = parsed.value.map(|node| tree(&node)).transpose()?;
        Ok(Json { text: text.to_string(), root })
    }

    fn value(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, to_value)
    }

    fn set(&self, container: &str, name: &str, entry: &Value) -> Result<Splice, EditError> {
        let Some(root) = &self.root else {
            return Ok(self.new_document(&json!({ container: { name: entry } })));
        };
        let members = members(root, "the file")?;
        let Some(servers) = find(members, container)? else {
            return Ok(self.insert(root, Some(container), &json!({ name: entry })));
        };
        if matches!(servers.value.kind, Kind::Plain(Value::Null)) {
            return Ok(self.replace(servers, &json!({ name: entry })));
        }
        match find(self::members(&servers.value, container)?, name)? {
            Some(own) => Ok(self.replace(own, entry)),
            None => Ok(self.insert(&servers.value, Some(name), entry)),
        }
    }

    fn remove(&self, container: &str, name: &str) -> Result<Option<Splice>, EditError> {
        let Some(root) = &self.root else { return Ok(None) };
        let Some(servers) = find(members(root, "the file")?, container)? else { return Ok(None) };
        if matches!(servers.value.kind, Kind::Plain(Value::Null)) {
            return Ok(None);
        }
        let own = members(&servers.value, container)?;
        if find(own, name)?.is_none() {
            return Ok(None);
        }
        let number = own.iter().position(|member| member.name == name);
        Ok(number.map(|number| self.items(&servers.value).remove(number)))
    }

    fn push(&self, list: &str, element: &Value) -> Result<Splice, EditError> {
        let Some(root) = &self.root else {
            return Ok(self.new_document(&json!({ list: [element] })));
        };
        let Some(found) = find(members(root, "the file")?, list)? else {
            return Ok(self.insert(root, Some(list), &json!([element])));
        };
        match found.value.kind {
            Kind::Array(_) => Ok(self.insert(&found.value, None, element)),
            _ => Err(EditError::Unusual(format!("{list:?} is not a list"))),
        }
    }

    fn pull(&self, list: &str, id: &str) -> Option<Splice> {
        let found = find(members(self.root.as_ref()?, "the file").ok()?, list).ok()??;
        let Kind::Array(elements) = &found.value.kind else { return None };
        let has_id = |element: &Tree| to_value(element).get("id").is_some_and(|own| own == id);
        let number = elements.iter().position(has_id)?;
        Some(self.items(&found.value).remove(number))
    }
}

impl Json {
    /// A file that was empty, or held nothing but comments.
    fn new_document(&self, value: &Value) -> Splice {
        let newline = newline(&self.text);
        let at = self.text.len();
        let is_at_line_start = self.text.is_empty() || self.text.ends_with('\n');
        let before = if is_at_line_start { "" } else { newline };
        let body = pretty(value, "  ", "", newline);
        Splice { from: at, to: at, text: format!("{before}{body}{newline}") }
    }

    fn items(&self, tree: &Tree) -> Items<'_> {
        let items = match &tree.kind {
            Kind::Object(members) => members.iter().map(|m| (m.from, m.value.to)).collect(),
            Kind::Array(elements) => elements.iter().map(|e| (e.from, e.to)).collect(),
            Kind::Plain(_) => Vec::new(),
        };
        let (from, to) = (tree.from + 1, tree.to - 1);
        Items { text: &self.text, from, to, items, line_comment: "//" }
    }

    fn insert(&self, parent: &Tree, key: Option<&str>, value: &Value) -> Splice {
        let (unit, newline) = (unit(&self.text), newline(&self.text));
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        self.items(parent).insert(unit, |indent| match indent {
            Some(indent) => format!("{key}{}", pretty(value, unit, indent, newline)),
            None => format!("{key}{value}"),
        })
    }

    fn replace(&self, member: &Member, value: &Value) -> Splice {
        let Tree { from, to, .. } = member.value;
        let indent = indent_at(&self.text, member.from);
        let is_first_on_line = self.text[..member.from].ends_with(indent)
            && self.text[..member.from - indent.len()].ends_with('\n');
        let text = match is_first_on_line {
            true => pretty(value, unit(&self.text), indent, newline(&self.text)),
            false => value.to_string(),
        };
        Splice { from, to, text }
    }
}

fn members<'a>(tree: &'a Tree, what: &str) -> Result<&'a [Member], EditError> {
    match &tree.kind {
        Kind::Object(members) => Ok(members),
        _ => Err(EditError::Unusual(format!("{what} is not an object"))),
    }
}

/// The member with this name. Of two with one name clients take either.
fn find<'a>(members: &'a [Member], name: &str) -> Result<Option<&'a Member>, EditError> {
    let mut found = members.iter().filter(|member| member.name == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EditError::Unusual(format!("it has {name:?} twice"))),
        (first, None) => Ok(first),
    }
}

fn tree(node: &Node) -> Result<Tree, String> {
    let range = node.range();
    let kind = match node {
        Node::Object(object) => Kind::Object(read_members(object)?),
        Node::Array(array) => {
            Kind::Array(array.elements.iter().map(tree).collect::<Result<_, _>>()?)
        }
        Node::StringLit(text) => Kind::Plain(Value::from(text.value.as_ref())),
        Node::BooleanLit(flag) => Kind::Plain(Value::from(flag.value)),
        Node::NullKeyword(_) => Kind::Plain(Value::Null),
        Node::NumberLit(number) => {
            let wrong = || format!("{} is not a number", number.value);
            Kind::Plain(serde_json::from_str(number.value).map_err(|_| wrong())?)
        }
    };
    Ok(Tree { from: range.start, to: range.end, kind })
}

fn read_members(object: &Object) -> Result<Vec<Member>, String> {
    let member = |property: &ObjectProp| {
        let name = property.name.clone().into_string();
        let value = tree(&property.value)?;
        Ok(Member { from: property.range.start, name, value })
    };
    object.properties.iter().map(member).collect()
}

fn to_value(tree: &Tree) -> Value {
    match &tree.kind {
        Kind::Object(members) => {
            let pairs = members.iter().map(|m| (m.name.clone(), to_value(&m.value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Kind::Array(elements) => elements.iter().map(to_value).collect(),
        Kind::Plain(value) => value.clone(),
    }
}
