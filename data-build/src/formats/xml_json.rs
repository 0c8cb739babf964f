//! XML records turned into the JSON that congress.gov's API makes of them, so that one reader serves both.

use roxmltree::Node;
use serde_json::{Map, Value};

/// An element as JSON: its text when it has no children, otherwise an object by local name. An element that comes
/// several times becomes a list; of texts under one name the first that says something is kept, since the older
/// BILLSTATUS repeats fields (`number`, `type`) within one amendment.
pub fn value(node: Node<'_, '_>) -> Value {
    let mut object = Map::new();
    for child in node.children().filter(Node::is_element) {
        let new = value(child);
        match object.get_mut(child.tag_name().name()) {
            None => {
                object.insert(child.tag_name().name().to_string(), new);
            }
            Some(Value::Array(list)) => list.push(new),
            Some(old) if old.is_string() => {
                if old.as_str() == Some("") || new.is_object() {
                    *old = new;
                }
            }
            Some(old) => {
                if new.is_object() {
                    let first = old.take();
                    *old = Value::Array(vec![first, new]);
                }
            }
        }
    }
    if object.is_empty() {
        let text: String = node.children().filter_map(|n| n.text()).collect();
        return Value::String(text.trim().to_string());
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::xml;

    #[test]
    fn repeated_elements_become_a_list_and_repeated_texts_one() {
        let document = xml::parse("<a><n/><n>7</n><n>8</n><i><t>x</t></i><i><t>y</t></i></a>").expect("well-formed");
        assert_eq!(value(document.root_element()), serde_json::json!({"n": "7", "i": [{"t": "x"}, {"t": "y"}]}));
    }
}
