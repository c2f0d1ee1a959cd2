//! The tree of a scene file before its sections are read: included files are merged, and parameters replaced
//! by their values.

use std::path::{Path, PathBuf};

use super::address::resolve;
use super::error::{Place, SceneError};
use super::names;
use super::reader::{Named, mapping, text, unknown_name, wrong_type};
use super::yaml::{self, Key, Node, Value};
use crate::io::limits;
use crate::io::package::PackageMap;

/// The largest number of files that a scene includes, directly and indirectly.
const INCLUDES_MAX: usize = 100;
/// Sections that are lists: entries of included files come first.
const LISTS: [&str; 5] = ["models", "materials", "no_contact", "closures", "force_torque"];

/// A value for a parameter of a scene, which replaces the default in the file.
pub type ParameterValue = (String, String);

/// A scene file with those that it includes.
pub(super) struct Tree {
    pub(super) scene: Node,
    /// A warning for each parameter that has no effect.
    pub(super) warnings: Vec<String>,
}

/// Parses the text of the file `label`, merges the files that it includes, and replaces its parameters.
pub(super) fn read(
    text: &str,
    label: &Path,
    packages: &PackageMap,
    set: &[ParameterValue],
) -> Result<Tree, SceneError> {
    let mut includes = Includes { packages, reading: vec![absolute(label)], files: Vec::new() };
    let mut scene = includes.merged(yaml::parse(text, label)?)?;
    let parameters = Parameters::of(&mut scene, set)?;
    parameters.insert(&mut scene)?;
    let warnings = parameters.unused().collect();
    Ok(Tree { scene, warnings })
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The files that a scene includes. Each is read once.
struct Includes<'a> {
    packages: &'a PackageMap,
    /// The files that are being read, each included by the one before it.
    reading: Vec<PathBuf>,
    /// All included files.
    files: Vec<PathBuf>,
}

impl Includes<'_> {
    /// Merges the files of the `include` of `scene` into it. The values of `scene` take precedence.
    fn merged(&mut self, mut scene: Node) -> Result<Node, SceneError> {
        let Value::Map(entries) = &mut scene.value else { return Ok(scene) };
        let Some(index) = entries.iter().position(|(key, _)| key.name == "include") else { return Ok(scene) };
        let (_, included) = entries.remove(index);
        let files: Vec<&Node> = match &included.value {
            Value::List(files) => files.iter().collect(),
            Value::Null => Vec::new(),
            _ => vec![&included],
        };
        let mut below = Vec::new();
        for file in files {
            if let Some(Node { value: Value::Map(entries), .. }) = self.read(&text(file, "a file of `include`")?)? {
                below = merge(below, entries);
            }
        }
        if let Value::Map(entries) = &mut scene.value {
            *entries = merge(below, std::mem::take(entries));
        }
        Ok(scene)
    }

    /// The tree of an included file; `None` if it was included before.
    fn read(&mut self, address: &Named) -> Result<Option<Node>, SceneError> {
        let file = resolve(address, "the included scene file", self.packages)?;
        let conflict = |problem: String| SceneError::Conflict { place: address.place.clone(), problem };
        let whole = absolute(&file);
        if self.reading.contains(&whole) {
            return Err(conflict(format!("`{}` includes itself; remove one of the `include` lines", address.name)));
        }
        if self.files.contains(&whole) {
            return Ok(None);
        }
        if self.files.len() == INCLUDES_MAX {
            return Err(conflict(format!("the scene includes more than {INCLUDES_MAX} files; put several into one")));
        }
        self.files.push(whole.clone());
        let text = limits::read_text(&file).map_err(|source| SceneError::Load {
            place: address.place.clone(),
            what: format!("the included scene file `{}`", address.name),
            source: Box::new(source),
        })?;
        let tree = yaml::parse(&text, &file)?;
        mapping(&tree, "an included scene")?;
        self.reading.push(whole);
        let merged = self.merged(tree);
        self.reading.pop();
        merged.map(Some)
    }
}

/// Merges two mappings: lists are joined, sections are joined key by key, and other values of `above` replace
/// those of `below`.
fn merge(mut below: Vec<(Key, Node)>, above: Vec<(Key, Node)>) -> Vec<(Key, Node)> {
    for (key, node) in above {
        let Some((_, old)) = below.iter_mut().find(|(other, _)| other.name == key.name) else {
            below.push((key, node));
            continue;
        };
        match (&mut old.value, node.value) {
            (Value::List(items), Value::List(own)) if LISTS.contains(&key.name.as_str()) => items.extend(own),
            (Value::Map(entries), Value::Map(own)) => {
                for (key, node) in own {
                    entries.retain(|(other, _)| other.name != key.name);
                    entries.push((key, node));
                }
            }
            (_, Value::Null) => {}
            (_, value) => *old = Node { place: node.place, value },
        }
    }
    below
}

/// The parameters of a scene with their values.
struct Parameters {
    values: Vec<(Key, Node)>,
    used: Vec<std::cell::Cell<bool>>,
}

impl Parameters {
    /// Takes the section `parameters` out of the scene and applies `set`.
    fn of(scene: &mut Node, set: &[ParameterValue]) -> Result<Self, SceneError> {
        let mut values = Vec::new();
        if let Value::Map(entries) = &mut scene.value
            && let Some(index) = entries.iter().position(|(key, _)| key.name == "parameters")
        {
            let (_, section) = entries.remove(index);
            mapping(&section, "`parameters`")?;
            if let Value::Map(entries) = section.value {
                values = entries;
            }
        }
        for (key, _) in &values {
            if !is_name(&key.name) {
                let problem = format!("`{}` cannot be the name of a parameter: use letters, digits and _", key.name);
                return Err(SceneError::Conflict { place: key.place.clone(), problem });
            }
        }
        for (index, (name, text)) in set.iter().enumerate() {
            let refused = |problem| SceneError::Parameter { name: name.clone(), value: text.clone(), problem };
            if set[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(refused("the parameter is set twice; keep one of the two".to_owned()));
            }
            let Some((_, value)) = values.iter_mut().find(|(key, _)| key.name == *name) else {
                let known: Vec<&str> = values.iter().map(|(key, _)| key.name.as_str()).collect();
                let near = names::suggestion(name, known.iter().copied());
                let known = names::list(known.iter().copied());
                return Err(refused(format!(
                    "the scene has no parameter `{name}`{near}; its parameters are {known}; correct the name"
                )));
            };
            let given = yaml::parse(text, Path::new("--set")).map_err(|error| refused(error.to_string()))?;
            let (kind, expected) = (given.value.kind(), value.value.kind());
            if kind != expected {
                let place = &value.place;
                return Err(refused(format!("this is {kind}, and the value in the file ({place}) is {expected}")));
            }
            value.value = given.value;
        }
        if let Some((place, written)) = values.iter().find_map(|(_, value)| reference(value)) {
            let problem = format!("`{written}`: a parameter cannot refer to another one; write its value");
            return Err(SceneError::Conflict { place: place.clone(), problem });
        }
        let used = values.iter().map(|_| std::cell::Cell::new(false)).collect();
        Ok(Self { values, used })
    }

    /// Replaces `$name` by the parameter's value, and `${name}` inside a text by its text.
    fn insert(&self, node: &mut Node) -> Result<(), SceneError> {
        match &mut node.value {
            Value::List(items) => items.iter_mut().try_for_each(|item| self.insert(item)),
            Value::Map(entries) => entries.iter_mut().try_for_each(|(_, value)| self.insert(value)),
            Value::Text(written) => {
                if let Some(name) = written.strip_prefix('$').filter(|name| is_name(name)) {
                    let named = Named { place: node.place.clone(), name: name.to_owned() };
                    node.value = self.value(&named)?.value.clone();
                    return Ok(());
                }
                if !written.contains("${") {
                    return Ok(());
                }
                let written = std::mem::take(written);
                let whole = self.text(&written, node)?;
                node.value = Value::Text(whole);
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn text(&self, written: &str, node: &Node) -> Result<String, SceneError> {
        let (mut whole, mut rest) = (String::new(), written);
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').ok_or_else(|| SceneError::Conflict {
                place: node.place.clone(),
                problem: format!("`{written}` has `${{` without `}}`: close the name of the parameter"),
            })?;
            whole += before;
            let named = Named { place: node.place.clone(), name: name.to_owned() };
            let value = self.value(&named)?;
            match &value.value {
                Value::Text(text) => whole += text,
                Value::Number(number) => whole += &number.to_string(),
                _ => return Err(wrong_type(value, &format!("parameter `{name}` inside a text"), "a text or a number")),
            }
            rest = after;
        }
        Ok(whole + rest)
    }

    fn value(&self, named: &Named) -> Result<&Node, SceneError> {
        let found = self.values.iter().zip(&self.used).find(|((key, _), _)| key.name == named.name);
        let known: Vec<&str> = self.values.iter().map(|(key, _)| key.name.as_str()).collect();
        let ((_, value), used) = found.ok_or_else(|| unknown_name(named, "parameter", known))?;
        used.set(true);
        Ok(value)
    }

    /// A warning for each parameter that the scene does not use.
    fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.values.iter().zip(&self.used).filter(|(_, used)| !used.get());
        unused.map(|((key, _), _)| {
            let (place, name) = (&key.place, &key.name);
            format!("{place}: parameter `{name}` has no effect; use it as `${name}`, or remove it")
        })
    }
}

/// The first text in a parameter's value that refers to a parameter.
fn reference(node: &Node) -> Option<(&Place, &str)> {
    match &node.value {
        Value::Text(text) => {
            let refers = text.contains("${") || text.strip_prefix('$').is_some_and(is_name);
            refers.then_some((&node.place, text.as_str()))
        }
        Value::List(items) => items.iter().find_map(reference),
        Value::Map(entries) => entries.iter().find_map(|(_, value)| reference(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether `text` consists of letters, digits and underscores, and does not start with a digit.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
