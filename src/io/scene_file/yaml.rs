//! YAML text as a tree with the line and column of every node. Only this file uses `serde_saphyr`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::error::{Place, SceneError};

/// A value of the file with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The start of the value.
    pub(super) place: Place,
    /// The value.
    pub(super) value: Value,
}

/// The contents of a node.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// Keys in the file's order; the parser refuses duplicates.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping with its place.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) place: Place,
    pub(super) name: String,
}

impl Value {
    /// The value's type in messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Parses `text`; `file` names it in places.
pub(super) fn parse(text: &str, file: &Path) -> Result<Node, SceneError> {
    let file: Arc<Path> = Arc::from(file);
    match tree(text, &file) {
        Ok(node) => {
            check_characters(&node)?;
            Ok(node)
        }
        Err(error) => {
            let place = error.location().map_or_else(|| Place::start(&file), |location| to_place(location, &file));
            Err(SceneError::Syntax { place, detail: plain_message(&error) })
        }
    }
}

fn tree(text: &str, file: &Arc<Path>) -> Result<Node, serde_saphyr::Error> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options).map(|raw| to_node(raw, file))
}

/// Parses `text` into a type of its own, whose serde attributes define the allowed contents.
pub(super) fn parse_as<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T, SceneError> {
    let file: Arc<Path> = Arc::from(file);
    // A text that is no tree of plain values is reported below, with the meaning that the type gives to it.
    if let Ok(node) = tree(text, &file) {
        check_characters(&node)?;
    }
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map_or_else(|| Place::start(&file), |location| to_place(location, &file));
        SceneError::Syntax { place, detail: plain_message(&error) }
    })
}

/// Refuses control characters: no name or topic can hold one, and C ends a text at NUL. Texts may have
/// several lines.
fn check_characters(node: &Node) -> Result<(), SceneError> {
    let check = |place: &Place, text: &str, lines: bool| match text
        .chars()
        .find(|c| c.is_control() && !(lines && *c == '\n'))
    {
        Some(control) => {
            let detail = format!("names and texts must not contain the control character {control:?}; remove it");
            Err(SceneError::Syntax { place: place.clone(), detail })
        }
        None => Ok(()),
    };
    match &node.value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::Text(text) => check(&node.place, text, true),
        Value::List(items) => items.iter().try_for_each(check_characters),
        Value::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            check(&key.place, &key.name, false)?;
            check_characters(value)
        }),
    }
}

/// The parser's message without its location suffix, because the error already has the place.
fn plain_message(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    if line.starts_with("multiple YAML documents") {
        return "the file has several documents, which lines `---` separate; one scene is one document".to_owned();
    }
    // Settings of the parser are of no use to the author of a file.
    let ends = [" at line ", ", set DuplicateKeyPolicy"].map(|suffix| line.rfind(suffix).unwrap_or(line.len()));
    line[..ends[0].min(ends[1])].to_owned()
}

fn to_place(location: Location, file: &Arc<Path>) -> Place {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Place { file: Arc::clone(file), line: narrow(location.line()), column: narrow(location.column()) }
}

fn to_node(raw: Spanned<Raw>, file: &Arc<Path>) -> Node {
    let place = to_place(raw.referenced, file);
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Bool(value) => Value::Bool(value),
        Raw::Number(value) => Value::Number(value),
        Raw::Text(value) => Value::Text(value),
        Raw::List(items) => Value::List(items.into_iter().map(|item| to_node(item, file)).collect()),
        Raw::Map(entries) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Raw>)| {
                (Key { place: to_place(key.referenced, file), name: key.value }, to_node(value, file))
            };
            Value::Map(entries.into_iter().map(entry).collect())
        }
    };
    Node { place, value }
}

/// A value from the parser.
enum Raw {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every node and key has its line and column, counted from 1, in block and in flow style.
    #[test]
    fn places_are_those_of_the_text() {
        let node =
            parse("step: 1e-3\nmodels:\n  - name: 'a b'\n    at: [1, x, yes, null]\n", Path::new("f.yaml")).unwrap();
        let Value::Map(top) = &node.value else { panic!("{node:?}") };
        assert!(matches!(top[0].1.value, Value::Number(value) if value == 1e-3));
        assert_eq!((top[0].1.place.line, top[0].1.place.column), (1, 7));
        assert_eq!((top[1].0.place.line, top[1].0.place.column), (2, 1));
        let Value::List(models) = &top[1].1.value else { panic!("{:?}", top[1]) };
        let Value::Map(model) = &models[0].value else { panic!("{:?}", models[0]) };
        assert!(matches!(&model[0].1.value, Value::Text(name) if name == "a b"));
        let Value::List(at) = &model[1].1.value else { panic!("{:?}", model[1]) };
        assert_eq!((at[1].place.line, at[1].place.column), (4, 13));
        assert!(matches!(&at[2].value, Value::Text(_)), "yes is a text, not a truth value");
        assert!(matches!(at[3].value, Value::Null));
    }

    /// Control characters are refused with their place, line ends in a text are not.
    #[test]
    fn control_characters_are_refused() {
        for text in ["a: 1\nb: \"x\\0y\"\n", "a: 1\n\"k\\n\": 2\n", "a: 1\nb: [\"\\x1b\"]\n", "a: 1\nb: \"\\t\"\n"] {
            let Err(SceneError::Syntax { place, detail }) = parse(text, Path::new("f.yaml")) else { panic!("{text}") };
            assert!(place.line == 2 && detail.contains("control character"), "{place}: {detail}");
        }
        assert!(parse("a: |\n  two\n  lines\n", Path::new("f.yaml")).is_ok());
    }

    /// Text that is not YAML, or has a key twice, is refused with its place.
    #[test]
    fn broken_text_is_refused_with_its_place() {
        for (text, line) in [("a: [1, 2\nb: 3\n", 2), ("a: 1\nb: 2\na: 3\n", 3), ("a: {b: 1, b: 2}", 1)] {
            let Err(SceneError::Syntax { place, detail }) = parse(text, Path::new("f.yaml")) else { panic!("{text}") };
            assert_eq!(place.line, line, "{detail}");
            assert!(!detail.contains("line "), "{detail}");
        }
    }
}
