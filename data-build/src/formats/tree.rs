//! Names and values in a tree, read alike from JSON and from the XML that congress.gov makes its JSON of: one reader serves both,
//! and nothing is copied from the one into the other.

use std::borrow::Cow;

use roxmltree::Node;
use serde_json::Value;

/// A place in a tree.
pub trait Tree<'a>: Copy {
    /// What is under a name.
    fn get(self, name: &str) -> Option<Self>;
    /// What is under the first of these names that is there, and the name.
    fn first_of<'n>(self, names: &[&'n str]) -> Option<(&'n str, Self)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }
    /// The text of what is under a name.
    fn text_under(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }
    /// Calls `f` with what is under a name, one at a time where there are several.
    fn each(self, name: &str, f: &mut dyn FnMut(Self));
    /// Calls `f` with the elements of a list, or with what is no list.
    fn unlisted(self, f: &mut dyn FnMut(Self));
    fn is_list(self) -> bool;
    /// Whether it is of the kind that can hold something, even if it holds nothing.
    fn can_have_parts(self) -> bool;
    /// Whether there is something under it.
    fn has_parts(self) -> bool;
    /// Its text, trimmed, if it has no parts; a number is written out.
    fn text(self) -> Option<Cow<'a, str>>;
    /// Its truth, where the format knows any.
    fn truth(self) -> Option<bool>;
}

impl<'a> Tree<'a> for &'a Value {
    fn get(self, name: &str) -> Option<Self> {
        Value::get(self, name)
    }

    fn each(self, name: &str, f: &mut dyn FnMut(Self)) {
        if let Some(value) = Value::get(self, name) {
            value.unlisted(f);
        }
    }

    fn unlisted(self, f: &mut dyn FnMut(Self)) {
        match self {
            Value::Array(items) => items.iter().for_each(|item| item.unlisted(f)),
            one => f(one),
        }
    }

    fn is_list(self) -> bool {
        self.is_array()
    }

    fn can_have_parts(self) -> bool {
        self.is_object() || self.is_array()
    }

    fn has_parts(self) -> bool {
        match self {
            Value::Object(map) => !map.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        }
    }

    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Value::String(s) => Some(s.trim().into()),
            Value::Number(n) => Some(n.to_string().into()),
            _ => None,
        }
    }

    fn truth(self) -> Option<bool> {
        self.as_bool()
    }
}

/// An element by the local names of its children. Of several under one name the first that says something counts, since the
/// older BILLSTATUS repeats fields (`number`, `type`) within one amendment.
impl<'a, 'd: 'a> Tree<'a> for Node<'a, 'd> {
    fn get(self, name: &str) -> Option<Self> {
        let mut empty = None;
        for child in self.children().filter(|child| child.tag_name().name() == name) {
            if Tree::text(child).is_none_or(|text| !text.is_empty()) {
                return Some(child);
            }
            empty = empty.or(Some(child));
        }
        empty
    }

    /// What `get` looks at to choose is what is asked for.
    fn text_under(self, name: &str) -> Option<Cow<'a, str>> {
        let mut empty = None;
        for child in self.children().filter(|child| child.tag_name().name() == name) {
            match Tree::text(child) {
                Some(text) if text.is_empty() => empty = Some(text),
                said => return said,
            }
        }
        empty
    }

    /// In one pass: siblings lie far apart in memory, and a list has thousands that bear another name.
    fn first_of<'n>(self, names: &[&'n str]) -> Option<(&'n str, Self)> {
        let named = |child: Node<'_, '_>| names.iter().copied().find(|name| *name == child.tag_name().name());
        let name = self.children().find_map(named)?;
        Some((name, Tree::get(self, name)?))
    }

    fn each(self, name: &str, f: &mut dyn FnMut(Self)) {
        self.children().filter(|child| child.tag_name().name() == name).for_each(f);
    }

    fn unlisted(self, f: &mut dyn FnMut(Self)) {
        f(self);
    }

    fn is_list(self) -> bool {
        false
    }

    fn can_have_parts(self) -> bool {
        self.has_parts()
    }

    fn has_parts(self) -> bool {
        self.children().any(|child| child.is_element())
    }

    fn text(self) -> Option<Cow<'a, str>> {
        let mut first = "";
        let mut joined: Option<String> = None;
        for child in self.children() {
            if child.is_element() {
                return None;
            }
            let Some(text) = child.text_storage().filter(|_| child.is_text()) else { continue };
            match &mut joined {
                // A text is in several pieces where a CDATA section begins or ends.
                Some(joined) => joined.push_str(text.as_str()),
                None if first.is_empty() => first = text.as_str(),
                None => joined = Some([first, text.as_str()].concat()),
            }
        }
        Some(joined.map_or_else(|| first.trim().into(), |joined| joined.trim().to_string().into()))
    }

    fn truth(self) -> Option<bool> {
        None
    }
}

/// What is at a path of names.
pub fn at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<T> {
    path.iter().try_fold(tree, |t, name| t.get(name))
}

fn text_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<Cow<'a, str>> {
    match path.split_last() {
        Some((name, above)) => at(tree, above)?.text_under(name),
        None => tree.text(),
    }
}

/// The text at a path, trimmed; empty when there is none.
pub fn str_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Cow<'a, str> {
    text_at(tree, path).unwrap_or_default()
}

/// The integer at a path: a number, or a text that holds one ("1,234", "12.00").
pub fn int_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<i64> {
    let text = text_at(tree, path)?;
    let whole = |text: &str| text.parse::<i64>().ok();
    whole(&text).or_else(|| {
        let text = text.replace([',', '$'], "");
        whole(&text).or_else(|| text.parse::<f64>().ok().map(|f| f.round() as i64))
    })
}

/// The truth at a path: a boolean or "True", "Y", "1" as a text.
pub fn bool_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<bool> {
    let found = at(tree, path)?;
    let said = |names: [&str; 4], text: &str| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    found.truth().or_else(|| match found.text()? {
        text if said(["true", "y", "yes", "1"], &text) => Some(true),
        text if said(["false", "n", "no", "0"], &text) => Some(false),
        _ => None,
    })
}

/// The items of a list however it is wrapped: `{"actions": [..]}`, `{"item": {..}}`, `{"billCommittees": {"item":
/// [..]}}`. `wrappers` are the names of the layers to look through; what has none of them is an item, but
/// not at the top, where it is a count or an empty element.
pub fn items<'a, T: Tree<'a>>(tree: Option<T>, wrappers: &[&str]) -> Vec<T> {
    let mut found = Vec::new();
    if let Some(tree) = tree {
        tree.unlisted(&mut |one| unwrap(one, wrappers, tree.is_list(), &mut found));
    }
    found
}

fn unwrap<'a, T: Tree<'a>>(tree: T, wrappers: &[&str], inside: bool, found: &mut Vec<T>) {
    match tree.first_of(wrappers) {
        Some((name, inner)) if inner.can_have_parts() => tree.each(name, &mut |one| unwrap(one, wrappers, true, found)),
        _ if inside && tree.has_parts() => found.push(tree),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::xml;

    #[test]
    fn lists_come_in_every_wrapping() {
        let one = json!({"item": {"n": 1}});
        let many = json!({"billCommittees": {"item": [{"n": 1}, {"n": 2}]}});
        let (listed, none) = (json!([{"n": 1}]), json!({"count": "0"}));
        let emptied = json!({"billCommittees": {"item": []}});
        assert!(items(Some(&emptied), &["billCommittees", "item"]).is_empty());
        assert_eq!(items(Some(&one), &["item"]).len(), 1);
        assert_eq!(items(Some(&many), &["billCommittees", "item"]).len(), 2);
        assert_eq!(items(Some(&listed), &["item"]).len(), 1);
        assert!(items(Some(&none), &["item"]).is_empty());
        assert!(items(Some(&json!("")), &["item"]).is_empty());
    }

    #[test]
    fn elements_are_read_like_objects() {
        let text = "<a><n/><n>7</n><n>8</n><!-- 9 --><i><t>x</t></i><i/><i><t> y<![CDATA[ & z]]></t></i><e/></a>";
        let document = xml::parse(text).expect("well-formed");
        let root = document.root_element();
        assert_eq!((int_at(root, &["n"]), str_at(root, &["e"]), str_at(root, &["i"])), (Some(7), "".into(), "".into()));
        let texts: Vec<_> = items(Some(root), &["i"]).into_iter().map(|i| str_at(i, &["t"])).collect();
        assert_eq!(texts, ["x", "y & z"]);
        let number = at(root, &["n"]).expect("a number");
        assert_eq!((int_at(number, &[]), str_at(&json!(" 7 "), &[])), (Some(7), "7".into()));
    }
}
