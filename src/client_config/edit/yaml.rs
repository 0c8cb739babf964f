//! YAML: one mapping entry below a key of the root, in block style as people write it, or in braces
//! where the file has those.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Value, json};

use super::super::render::{yaml_block, yaml_key};
use super::layout::{Items, newline};
use super::{EditError, Editor, Splice};

/// Nesting that no file of settings has.
const DEEPEST: usize = 100;

pub struct Yaml {
    text: String,
    root: Option<Node>,
}

/// A node with its bytes.
struct Node {
    from: usize,
    to: usize,
    kind: Kind,
}

/// A key and its value.
type Pair = (Node, Node);

enum Kind {
    /// In braces or not.
    Mapping(Vec<Pair>, bool),
    Other(Value),
}

impl Node {
    fn value(&self) -> Value {
        match &self.kind {
            Kind::Mapping(pairs, _) => {
                let key = |node: &Node| match node.value() {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                Value::Object(pairs.iter().map(|(k, v)| (key(k), v.value())).collect())
            }
            Kind::Other(value) => value.clone(),
        }
    }

    fn pairs(&self, what: &str) -> Result<(&[Pair], bool), EditError> {
        match &self.kind {
            Kind::Mapping(pairs, is_flow) => Ok((pairs, *is_flow)),
            Kind::Other(_) => Err(EditError::Unusual(format!("{what} is not a mapping"))),
        }
    }
}

impl Editor for Yaml {
    const NAME: &'static str = "YAML";

    fn parse(text: &str) -> Result<Yaml, String> {
        let root = Reader::new(text)?.document()?;
        Ok(Yaml { text: text.to_string(), root })
    }

    fn value(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, Node::value)
    }

    fn set(&self, container: &str, name: &str, entry: &Value) -> Result<Splice, EditError> {
        let empty = |node: &Node| matches!(node.kind, Kind::Other(Value::Null));
        let Some(root) = self.root.as_ref().filter(|root| !empty(root)) else {
            return Ok(self.block(self.text.len(), 0, &json!({ container: { name: entry } })));
        };
        let (pairs, is_flow) = root.pairs("the file")?;
        let Some((key, servers)) = find(pairs, container)? else {
            let value = json!({ container: { name: entry } });
            return Ok(match is_flow {
                true => self.insert_flow(root, pairs, container, &json!({ name: entry })),
                false => self.block(self.end(pairs), self.column(pairs[0].0.from), &value),
            });
        };
        let outer = self.column(key.from);
        if empty(servers) {
            let at = self.line_end(key.to);
            return Ok(self.block(at, outer + 2, &json!({ name: entry })));
        }
        let (inner, is_flow) = servers.pairs(container)?;
        let own = find(inner, name)?;
        match (own, is_flow) {
            (Some((_, own)), true) => {
                Ok(Splice { from: own.from, to: own.to, text: entry.to_string() })
            }
            (None, true) => Ok(self.insert_flow(servers, inner, name, entry)),
            (Some((key, own)), false) => {
                let text = self.lines(self.column(key.from), &json!({ name: entry }));
                let text = text.trim_start().trim_end().to_string();
                Ok(Splice { from: key.from, to: own.to.max(key.to + 1), text })
            }
            (None, false) => {
                let column = self.column(inner[0].0.from);
                Ok(self.block(self.end(inner), column, &json!({ name: entry })))
            }
        }
    }

    fn remove(&self, container: &str, name: &str) -> Result<Option<Splice>, EditError> {
        let Some(Node { kind: Kind::Mapping(pairs, _), .. }) = &self.root else { return Ok(None) };
        let Some((_, servers)) = find(pairs, container)? else { return Ok(None) };
        let Kind::Mapping(own, is_flow) = &servers.kind else { return Ok(None) };
        let Some((key, value)) = find(own, name)? else { return Ok(None) };
        if *is_flow {
            let number = own.iter().position(|(other, _)| other.from == key.from);
            return Ok(number.map(|number| self.items(servers, own).remove(number)));
        }
        let from = self.text[..key.from].rfind('\n').map_or(0, |n| n + 1);
        let to = self.line_end(value.to.max(key.to));
        Ok(Some(Splice { from, to, text: String::new() }))
    }
}

impl Yaml {
    fn column(&self, at: usize) -> usize {
        at - self.text[..at].rfind('\n').map_or(0, |n| n + 1)
    }

    /// The beginning of the line after the one on which something ends.
    fn line_end(&self, at: usize) -> usize {
        // A block scalar ends at the beginning of the next line.
        if at > 0 && self.text[..at].ends_with('\n') {
            return at;
        }
        self.text[at..].find('\n').map_or(self.text.len(), |n| at + n + 1)
    }

    /// Behind the last entry of a mapping.
    fn end(&self, pairs: &[Pair]) -> usize {
        let last = pairs.iter().map(|(key, value)| value.to.max(key.to)).max();
        self.line_end(last.unwrap_or_default())
    }

    fn lines(&self, column: usize, value: &Value) -> String {
        yaml_block(value, column).replace('\n', newline(&self.text))
    }

    /// Entries in block style at the beginning of a line.
    fn block(&self, at: usize, column: usize, value: &Value) -> Splice {
        let is_at_line_start = at == 0 || self.text[..at].ends_with('\n');
        let before = if is_at_line_start { "" } else { newline(&self.text) };
        Splice { from: at, to: at, text: format!("{before}{}", self.lines(column, value)) }
    }

    fn items(&self, node: &Node, pairs: &[Pair]) -> Items<'_> {
        let (from, to) = (node.from + 1, node.to - 1);
        // A key without a value has an empty one, which the parser puts behind the bracket.
        let end = |(key, value): &Pair| match value.from < value.to {
            true => value.to,
            false => key.to,
        };
        let items = pairs.iter().map(|pair| (pair.0.from, end(pair).min(to))).collect();
        Items { text: &self.text, from, to, items, line_comment: "#" }
    }

    fn insert_flow(&self, node: &Node, pairs: &[Pair], key: &str, value: &Value) -> Splice {
        let item = format!("{}: {value}", yaml_key(key));
        self.items(node, pairs).insert_inline(&item)
    }
}

/// The pair with this key; of two with one key, readers take either.
fn find<'a>(pairs: &'a [Pair], name: &str) -> Result<Option<&'a Pair>, EditError> {
    let mut found = pairs.iter().filter(|(key, _)| key.value() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EditError::Unusual(format!("it has {name:?} twice"))),
        (first, None) => Ok(first),
    }
}

/// Builds nodes from the events of a parser.
struct Reader<'a> {
    text: &'a str,
    events: std::vec::IntoIter<(Event<'a>, Span)>,
    /// Byte offsets of characters: the parser counts those.
    offsets: Vec<usize>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Result<Reader<'a>, String> {
        let mut events = Vec::new();
        for event in Parser::new_from_str(text) {
            events.push(event.map_err(|error| error.to_string())?);
        }
        let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        offsets.push(text.len());
        Ok(Reader { text, events: events.into_iter(), offsets, depth: 0 })
    }

    fn bytes(&self, span: Span) -> (usize, usize) {
        let at = |index: usize| self.offsets.get(index).copied().unwrap_or(self.text.len());
        (at(span.start.index()), at(span.end.index()))
    }

    /// The one document of a file.
    fn document(mut self) -> Result<Option<Node>, String> {
        let mut root = None;
        while let Some((event, span)) = self.events.next() {
            match event {
                Event::DocumentStart(_) if root.is_some() => {
                    return Err("it holds several documents".into());
                }
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
                event => root = Some(self.node(event, span)?),
            }
        }
        Ok(root)
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        self.events.next().ok_or_else(|| "it ends early".into())
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST} levels"));
        }
        let (from, mut to) = self.bytes(span);
        let kind = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle, tag.suffix));
                Kind::Other(scalar(&text, style, anchor, tag.as_deref()))
            }
            Event::Alias(anchor) => Kind::Other(json!({ "alias": anchor })),
            Event::SequenceStart(anchor, _) => {
                to = from;
                let mut items = vec![json!({ "anchor": anchor })];
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        to = to.max(self.flow_end(span, ']'));
                        break;
                    }
                    let item = self.node(event, span)?;
                    to = to.max(item.to);
                    items.push(item.value());
                }
                // Without an anchor a list is just that.
                if anchor == 0 {
                    items.remove(0);
                }
                Kind::Other(Value::Array(items))
            }
            Event::MappingStart(_, _) => {
                to = from;
                let is_flow = self.text[from..].starts_with('{');
                let mut pairs: Vec<Pair> = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        to = to.max(self.flow_end(span, '}'));
                        break;
                    }
                    let key = self.node(event, span)?;
                    let (event, span) = self.next()?;
                    let value = self.node(event, span)?;
                    to = to.max(value.to).max(key.to);
                    pairs.push((key, value));
                }
                Kind::Mapping(pairs, is_flow)
            }
            other => return Err(format!("unexpected {other:?}")),
        };
        self.depth -= 1;
        Ok(Node { from, to, kind })
    }

    /// Where a list or mapping in brackets ends; one without has no end of its own. The parser's
    /// span may include white space behind the bracket.
    fn flow_end(&self, span: Span, bracket: char) -> usize {
        let (from, _) = self.bytes(span);
        if self.text[from..].starts_with(bracket) { from + 1 } else { 0 }
    }
}

/// A scalar, as far as it has to be told from others: what is equal here is equal in the file.
fn scalar(text: &str, style: ScalarStyle, anchor: usize, tag: Option<&str>) -> Value {
    let plain = match (style, text, tag) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL", None) => Value::Null,
        (ScalarStyle::Plain, "true" | "True" | "TRUE", None) => Value::Bool(true),
        (ScalarStyle::Plain, "false" | "False" | "FALSE", None) => Value::Bool(false),
        (ScalarStyle::Plain, text, None) => {
            let number = text.parse::<i64>().map(Value::from).ok();
            number.unwrap_or_else(|| Value::from(text))
        }
        (_, text, None) => Value::from(text),
        (_, text, Some(tag)) => json!({ "tag": tag, "text": text }),
    };
    match anchor {
        0 => plain,
        anchor => {
            let pairs = [("anchor", Value::from(anchor)), ("value", plain)];
            Value::Object(pairs.into_iter().map(|(k, v)| (k.to_string(), v)).collect::<Map<_, _>>())
        }
    }
}
