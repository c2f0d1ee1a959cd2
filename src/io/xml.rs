//! XML with line numbers, read by `roxmltree`. All other code uses the plain tree of [`Element`]s.

use crate::io::limits::XML_NODES_MAX;

/// The namespace of Drake's URDF extensions; an undeclared prefix `drake:` means the same.
const DRAKE_NAMESPACE: &str = "http://drake.mit.edu";

/// The largest number of undeclared prefixes that are repaired.
const UNDECLARED_PREFIXES_MAX: usize = 64;

/// Deeper documents are refused: no robot or mesh file nests like this, and the tree is walked recursively.
const DEPTH_MAX: usize = 200;

/// An element, its attributes in document order, and its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Element {
    /// Local name, preceded by `prefix:` if the element is in a prefixed namespace.
    pub(crate) name: String,
    /// Attribute names (prefixed like the element's) and values.
    pub(crate) attributes: Vec<(String, String)>,
    /// Child elements.
    pub(crate) children: Vec<Element>,
    /// The text directly inside, trimmed.
    pub(crate) text: String,
    /// Line of the start tag, from 1.
    pub(crate) line: u32,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
    /// The first child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }
    /// All children of that name.
    pub(crate) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// The reason why a text is not an XML document.
#[derive(Debug, thiserror::Error)]
#[error("{detail} (line {line}, column {column})")]
pub(crate) struct XmlError {
    /// The fault.
    pub(crate) detail: String,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column, from 1.
    pub(crate) column: u32,
}

/// Reads a document. Prefixes that the file uses without declaring them (many robot files do) are
/// declared on the root.
pub(crate) fn parse(text: &str) -> Result<Element, XmlError> {
    let mut text = std::borrow::Cow::Borrowed(text.trim_start_matches('\u{feff}'));
    if let Some(at) = entity_declaration(&text) {
        let line = 1 + text[..at].matches('\n').count();
        let detail = "entity declarations are refused, because a few lines of them can make a document of any \
                      size; write the text itself, and remove the <!ENTITY ...> lines";
        return Err(XmlError { detail: detail.to_owned(), line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 });
    }
    for _ in 0..UNDECLARED_PREFIXES_MAX {
        let options = roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: XML_NODES_MAX, ..Default::default() };
        match roxmltree::Document::parse_with_options(&text, options) {
            Ok(document) => return convert(&document, document.root_element(), 0),
            Err(roxmltree::Error::UnknownNamespace(prefix, position)) => match declare(&text, &prefix) {
                Some(repaired) => text = repaired.into(),
                None => return Err(error(format!("the prefix `{prefix}:` is not declared"), position)),
            },
            Err(roxmltree::Error::NodesLimitReached) => {
                let detail = format!("the document has more than the {XML_NODES_MAX} nodes that are read");
                return Err(XmlError { detail, line: 1, column: 1 });
            }
            Err(refused) => {
                let position = refused.pos();
                return Err(error(without_position(&refused.to_string()), position));
            }
        }
    }
    Err(XmlError { detail: "too many undeclared prefixes".to_owned(), line: 1, column: 1 })
}

fn error(detail: String, position: roxmltree::TextPos) -> XmlError {
    XmlError { detail, line: position.row, column: position.col }
}

/// roxmltree ends its messages with " at row:column"; here the position is a separate field.
fn without_position(message: &str) -> String {
    message.rsplit_once(" at ").map_or(message, |(head, _)| head).to_owned()
}

/// The start of the document type, if it declares entities.
fn entity_declaration(text: &str) -> Option<usize> {
    let root = root_element(text).unwrap_or(text.len());
    let prolog = &text[..root];
    let document_type = prolog.find("<!DOCTYPE")?;
    // A declaration may contain elements, so the first element may be inside it.
    text[document_type..].contains("<!ENTITY").then_some(document_type)
}

/// The start of the first element.
fn root_element(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('<')?;
        let rest = text.get(at..)?;
        if rest.starts_with("<!--") {
            at += rest.find("-->")?;
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            at += rest.find('>')?;
        } else {
            return Some(at);
        }
    }
}

/// The text with `prefix` declared on the root element; lines stay where they are.
fn declare(text: &str, prefix: &str) -> Option<String> {
    let at = root_element(text)?;
    let name_end = at + 1 + text.get(at + 1..)?.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
    let uri = if prefix == "drake" { DRAKE_NAMESPACE.to_owned() } else { format!("urn:undeclared:{prefix}") };
    Some(format!("{} xmlns:{prefix}=\"{uri}\"{}", text.get(..name_end)?, text.get(name_end..)?))
}

fn convert(document: &roxmltree::Document, node: roxmltree::Node, depth: usize) -> Result<Element, XmlError> {
    let position = document.text_pos_at(node.range().start);
    if depth > DEPTH_MAX {
        return Err(error(format!("elements nest deeper than {DEPTH_MAX}"), position));
    }
    let qualify = |namespace: Option<&str>, name: &str| match namespace {
        Some(DRAKE_NAMESPACE) => format!("drake:{name}"),
        Some(uri) => match node.lookup_prefix(uri) {
            Some(prefix) if !prefix.is_empty() => format!("{prefix}:{name}"),
            _ => name.to_owned(),
        },
        None => name.to_owned(),
    };
    let attributes: Vec<(String, String)> =
        node.attributes().map(|a| (qualify(a.namespace(), a.name()), a.value().to_owned())).collect();
    let text: String = node.children().filter(|child| child.is_text()).filter_map(|child| child.text()).collect();
    // Names and topics cannot contain control characters, and C ends a text at NUL. Line ends and tabs are
    // layout.
    let layout = |c: &char| !matches!(c, '\n' | '\r' | '\t');
    let mut inside = attributes.iter().flat_map(|(_, value)| value.chars()).chain(text.chars().filter(layout));
    if let Some(control) = inside.find(|c| c.is_control()) {
        return Err(error(
            format!("names and values must not contain the control character {control:?}; remove it"),
            position,
        ));
    }
    let children = node
        .children()
        .filter(roxmltree::Node::is_element)
        .map(|child| convert(document, child, depth + 1))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Element {
        name: qualify(node.tag_name().namespace(), node.tag_name().name()),
        attributes,
        children,
        text: text.trim().to_owned(),
        line: position.row,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_prefixes_are_repaired_and_lines_stay() {
        let root =
            parse("<?xml version=\"1.0\"?>\n<!-- <a> -->\n<robot name='r'>\n <drake:x y:b='1'/>\n</robot>").unwrap();
        assert_eq!(root.line, 3);
        assert_eq!(root.children[0].name, "drake:x");
        assert_eq!(root.children[0].line, 4);
        assert_eq!(root.children[0].attribute("y:b"), Some("1"));
    }

    /// Declared entities make a large document of a small one; names cannot contain control characters.
    #[test]
    fn entities_and_control_characters_are_refused() {
        let bomb =
            "<?xml version='1.0'?>\n<!-- <a> -->\n<!DOCTYPE r [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]>\n<r n='&b;'/>";
        let refused = parse(bomb).unwrap_err();
        assert!(refused.detail.contains("entity declarations") && refused.line == 3, "{refused}");
        assert!(parse("<!DOCTYPE r>\n<r n='&lt;&#65;'/>").is_ok(), "a document type without entities");
        assert!(parse("<r><!-- <!DOCTYPE r [<!ENTITY a 'x'>]> --></r>").is_ok(), "a comment");
        for control in ["&#1;", "&#x7f;", "&#0;", "\0", "&#10;", "\u{85}"] {
            let refused = parse(&format!("<r>\n<link name='a{control}b'/></r>")).unwrap_err();
            assert_eq!(refused.line, 2, "{control:?}: {refused}");
        }
        assert!(parse("<r>\n<a xyz='0 0\n1'>two\n\tlines</a></r>").is_ok(), "layout");
        let wide = format!("<r>{}</r>", "<a/>".repeat(XML_NODES_MAX as usize + 1));
        assert!(parse(&wide).unwrap_err().detail.contains("200000 nodes"));
    }

    #[test]
    fn errors_have_a_position() {
        let error = parse("<robot>\n  <link>\n</robot>").unwrap_err();
        assert_eq!(error.line, 3, "{error}");
    }
}
