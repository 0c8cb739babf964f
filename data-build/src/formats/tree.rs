//! A common interface to JSON and to the XML from which congress.gov generates its JSON, so that
//! one reader handles both without converting.

use std::borrow::Cow;

use roxmltree::Node;
use serde_json::Value;

/// A node of a tree.
pub trait Tree<'a>: Copy {
    /// The child with this name.
    fn get(self, name: &str) -> Option<Self>;
    /// The first existing child of these names, with its name.
    fn first_of<'n>(self, names: &[&'n str]) -> Option<(&'n str, Self)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }
    /// The text of the child with this name.
    fn child_text(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }
    /// Calls `f` with each child of this name.
    fn each_child(self, name: &str, f: &mut dyn FnMut(Self));
    /// Calls `f` with the elements of a list, or with the node itself if it is not a list.
    fn each_element(self, f: &mut dyn FnMut(Self));
    fn is_list(self) -> bool;
    /// Whether it is a container, possibly empty.
    fn is_container(self) -> bool;
    fn has_children(self) -> bool;
    /// The trimmed text or the number of a leaf.
    fn text(self) -> Option<Cow<'a, str>>;
    /// The value of a boolean; XML has none.
    fn boolean(self) -> Option<bool>;
}

impl<'a> Tree<'a> for &'a Value {
    fn get(self, name: &str) -> Option<Self> {
        Value::get(self, name)
    }

    fn each_child(self, name: &str, f: &mut dyn FnMut(Self)) {
        if let Some(value) = Value::get(self, name) {
            value.each_element(f);
        }
    }

    fn each_element(self, f: &mut dyn FnMut(Self)) {
        match self {
            Value::Array(items) => items.iter().for_each(|item| item.each_element(f)),
            one => f(one),
        }
    }

    fn is_list(self) -> bool {
        self.is_array()
    }

    fn is_container(self) -> bool {
        self.is_object() || self.is_array()
    }

    fn has_children(self) -> bool {
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

    fn boolean(self) -> Option<bool> {
        self.as_bool()
    }
}

/// Children by local name. Of several with one name the first non-empty one is used: the older
/// BILLSTATUS repeats fields (`number`, `type`) within an amendment.
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

    /// Like `get`, but extracts the text only once.
    fn child_text(self, name: &str) -> Option<Cow<'a, str>> {
        let mut empty = None;
        for child in self.children().filter(|child| child.tag_name().name() == name) {
            match Tree::text(child) {
                Some(text) if text.is_empty() => empty = Some(text),
                text => return text,
            }
        }
        empty
    }

    /// One pass for all names: a list may have thousands of children, far apart in memory.
    fn first_of<'n>(self, names: &[&'n str]) -> Option<(&'n str, Self)> {
        let named = |child: Node<'_, '_>| {
            names.iter().copied().find(|name| *name == child.tag_name().name())
        };
        let name = self.children().find_map(named)?;
        Some((name, Tree::get(self, name)?))
    }

    fn each_child(self, name: &str, f: &mut dyn FnMut(Self)) {
        self.children().filter(|child| child.tag_name().name() == name).for_each(f);
    }

    fn each_element(self, f: &mut dyn FnMut(Self)) {
        f(self);
    }

    fn is_list(self) -> bool {
        false
    }

    fn is_container(self) -> bool {
        Tree::has_children(self)
    }

    fn has_children(self) -> bool {
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
                // CDATA sections split a text into several nodes.
                Some(joined) => joined.push_str(text.as_str()),
                None if first.is_empty() => first = text.as_str(),
                None => joined = Some([first, text.as_str()].concat()),
            }
        }
        Some(joined.map_or_else(|| first.trim().into(), |joined| joined.trim().to_string().into()))
    }

    fn boolean(self) -> Option<bool> {
        None
    }
}

/// The node at a path of names.
pub fn at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<T> {
    path.iter().try_fold(tree, |t, name| t.get(name))
}

fn text_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<Cow<'a, str>> {
    match path.split_last() {
        Some((name, parents)) => at(tree, parents)?.child_text(name),
        None => tree.text(),
    }
}

/// The trimmed text at a path; empty if there is none.
pub fn str_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Cow<'a, str> {
    text_at(tree, path).unwrap_or_default()
}

/// The integer at a path: a number, or a text like "1,234" or "12.00".
pub fn int_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<i64> {
    let text = text_at(tree, path)?;
    let whole = |text: &str| text.parse::<i64>().ok();
    whole(&text).or_else(|| {
        let text = text.replace([',', '$'], "");
        whole(&text).or_else(|| text.parse::<f64>().ok().map(|f| f.round() as i64))
    })
}

/// The boolean at a path: a boolean, or a text like "True", "Y" or "1".
pub fn bool_at<'a, T: Tree<'a>>(tree: T, path: &[&str]) -> Option<bool> {
    let found = at(tree, path)?;
    let is_any =
        |names: [&str; 4], text: &str| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    found.boolean().or_else(|| match found.text()? {
        text if is_any(["true", "y", "yes", "1"], &text) => Some(true),
        text if is_any(["false", "n", "no", "0"], &text) => Some(false),
        _ => None,
    })
}

/// The items of a list in any wrapping: `{"actions": [..]}`, `{"item": {..}}`,
/// `{"billCommittees": {"item": [..]}}`. `wrappers` are the names of possible layers. A node
/// without them is an item, except at the top, where it is a count or an empty element.
pub fn items<'a, T: Tree<'a>>(tree: Option<T>, wrappers: &[&str]) -> Vec<T> {
    let mut found = Vec::new();
    if let Some(tree) = tree {
        tree.each_element(&mut |one| unwrap_items(one, wrappers, tree.is_list(), &mut found));
    }
    found
}

fn unwrap_items<'a, T: Tree<'a>>(tree: T, wrappers: &[&str], inside: bool, found: &mut Vec<T>) {
    match tree.first_of(wrappers) {
        Some((name, inner)) if inner.is_container() => {
            tree.each_child(name, &mut |one| unwrap_items(one, wrappers, true, found))
        }
        _ if inside && tree.has_children() => found.push(tree),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::xml;

    #[test]
    fn lists_are_unwrapped() {
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
        let text = "<a><n/><n>7</n><n>8</n><!-- 9 --><i><t>x</t></i><i/>\
                    <i><t> y<![CDATA[ & z]]></t></i><e/></a>";
        let document = xml::parse(text).expect("well-formed");
        let root = document.root_element();
        assert_eq!(
            (int_at(root, &["n"]), str_at(root, &["e"]), str_at(root, &["i"])),
            (Some(7), "".into(), "".into())
        );
        let texts: Vec<_> =
            items(Some(root), &["i"]).into_iter().map(|i| str_at(i, &["t"])).collect();
        assert_eq!(texts, ["x", "y & z"]);
        let number = at(root, &["n"]).expect("a number");
        assert_eq!((int_at(number, &[]), str_at(&json!(" 7 "), &[])), (Some(7), "7".into()));
    }
}
