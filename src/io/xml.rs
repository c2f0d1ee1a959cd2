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
    if let Some((at, found)) = text.char_indices().find(|(_, c)| !is_xml(*c)) {
        let detail = format!("no XML document contains the character {found:?}; remove it");
        return Err(XmlError { detail, ..at_byte(&text, at) });
    }
    if let Some(blank) = without_document_type(&text)? {
        text = blank.into();
    }
    for _ in 0..UNDECLARED_PREFIXES_MAX {
        let options = roxmltree::ParsingOptions { nodes_limit: XML_NODES_MAX, ..Default::default() };
        match roxmltree::Document::parse_with_options(&text, options) {
            Ok(document) => {
                // To look for the line of each element from the start takes minutes for large documents.
                let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
                return convert(&document, document.root_element(), &line_ends, 0);
            }
            Err(roxmltree::Error::DtdDetected) => {
                let at = text.find("<!DOCTYPE").unwrap_or(0);
                let detail = "this document type has no end, or is not the first one before the root; remove it";
                return Err(XmlError { detail: detail.to_owned(), ..at_byte(&text, at) });
            }
            Err(roxmltree::Error::UnknownNamespace(prefix, position)) => match declare(&text, &prefix) {
                Some(repaired) => text = repaired.into(),
                None => return Err(error(format!("the prefix `{prefix}:` is not declared"), position)),
            },
            Err(roxmltree::Error::UnclosedRootNode) => {
                let detail = "the file ends before its root element is closed: add what is missing";
                return Err(XmlError { detail: detail.to_owned(), ..at_byte(&text, text.len()) });
            }
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

/// Whether XML 1.0 allows the character. The parser does not look at those of a document type.
fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// An error without a detail at the byte `at` of a text.
fn at_byte(text: &str, at: usize) -> XmlError {
    let before = text.get(..at).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    XmlError { detail: String::new(), line: number(line), column: number(column) }
}

/// The text with spaces in place of its document type, if it has one. So no declaration in it has an effect,
/// and references to entities other than those of XML itself are errors. Bytes and lines stay where they are.
///
/// # Errors
/// The document type declares an entity.
fn without_document_type(text: &str) -> Result<Option<String>, XmlError> {
    let Some(start) = document_type(text) else { return Ok(None) };
    let Some(length) = document_type_length(&text[start..]).map_err(|at| {
        let detail = "entity declarations are refused, because a few lines of them can make a document of any size; write \
                      the text itself, and remove the <!ENTITY ...> lines";
        XmlError { detail: detail.to_owned(), ..at_byte(text, start + at) }
    })?
    else {
        return Ok(None);
    };
    let (before, rest) = text.split_at(start);
    let (inside, after) = rest.split_at(length);
    let blank: String = inside.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    Ok(Some([before, &blank, after].concat()))
}

/// The start of the document type, which only comments and instructions may precede.
fn document_type(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        let end = match rest {
            _ if rest.starts_with("<!DOCTYPE") => return Some(at),
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            _ => return None,
        };
        at += rest.find(end)? + end.len();
    }
}

/// The length of the document type at the start of `text`; `None` if it has no end. A quoted text, a comment
/// or an instruction in it may contain what looks like its end or like a declaration.
///
/// # Errors
/// The first entity declaration in it.
fn document_type_length(text: &str) -> Result<Option<usize>, usize> {
    let (mut at, mut in_subset, mut in_declaration) = ("<!DOCTYPE".len(), false, true);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let past = |start: usize, end: &str| rest.get(start..)?.find(end).map(|found| start + found + end.len());
        let length = match rest.as_bytes()[0] {
            b'<' if !in_declaration && rest.starts_with("<!--") => past(4, "-->"),
            b'<' if !in_declaration && rest.starts_with("<?") => past(2, "?>"),
            b'<' if !in_declaration && rest.starts_with("<!ENTITY") => return Err(at),
            b'"' if in_declaration => past(1, "\""),
            b'\'' if in_declaration => past(1, "'"),
            byte => {
                match byte {
                    b'<' => in_declaration = true,
                    b'[' if in_declaration && !in_subset => (in_subset, in_declaration) = (true, false),
                    b']' if in_subset && !in_declaration => (in_subset, in_declaration) = (false, true),
                    b'>' if !in_subset => return Ok(Some(at + 1)),
                    b'>' => in_declaration = false,
                    _ => {}
                }
                rest.chars().next().map(char::len_utf8)
            }
        };
        let Some(length) = length else { return Ok(None) };
        at += length;
    }
    Ok(None)
}

/// The start of the first element.
fn root_element(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('<')?;
        let rest = text.get(at..)?;
        if rest.starts_with("<!--") {
            at += rest.find("-->")?;
        } else if rest.starts_with("<?") {
            at += rest.find("?>")?;
        } else if rest.starts_with("<!") {
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

/// The element `node` with its children. `line_ends` are the bytes of the document at which lines end.
fn convert(
    document: &roxmltree::Document,
    node: roxmltree::Node,
    line_ends: &[usize],
    depth: usize,
) -> Result<Element, XmlError> {
    let start = node.range().start;
    if depth > DEPTH_MAX {
        return Err(error(format!("elements nest deeper than {DEPTH_MAX}"), document.text_pos_at(start)));
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
            document.text_pos_at(start),
        ));
    }
    let children = node
        .children()
        .filter(roxmltree::Node::is_element)
        .map(|child| convert(document, child, line_ends, depth + 1))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Element {
        name: qualify(node.tag_name().namespace(), node.tag_name().name()),
        attributes,
        children,
        text: text.trim().to_owned(),
        line: u32::try_from(1 + line_ends.partition_point(|end| *end < start)).unwrap_or(u32::MAX),
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
        // Instructions and texts may have what looks like the root or a comment.
        for before in
            ["<?p > <a ?>", "<?p <!-- ?>", "<!-- <? -->", "<!DOCTYPE r SYSTEM '<!--' [", "<!DOCTYPE r [<?p ]> <r/> ?>"]
        {
            let start = if before.starts_with("<!DOCTYPE") { "" } else { "<!DOCTYPE r [" };
            let refused = parse(&format!("{before}{start}<!ENTITY a 'x'>]>\n<r n='&a;'/>")).unwrap_err();
            assert!(refused.detail.contains("entity declarations"), "{before}: {refused}");
        }
        for type_ in ["<!DOCTYPE r SYSTEM 'a\0b'>", "<!DOCTYPE r [\n<!ELEMENT r '\0'>]>", "<!-- \u{1} -->"] {
            let refused = parse(&format!("{type_}<r/>")).unwrap_err();
            assert!(refused.detail.contains("no XML document contains"), "{type_:?}: {refused}");
        }
        assert!(parse("<!DOCTYPE r>\n<r n='&lt;&#65;'/>").is_ok(), "a document type without entities");
        // Regression: a comment behind the document type was taken for a declaration.
        for harmless in [
            "<!DOCTYPE r>\n<!-- <!ENTITY a 'x'> -->",
            "<!DOCTYPE r [<!-- <!ENTITY a 'x'> ]> --><!ELEMENT r ANY>]>",
            "<!DOCTYPE r PUBLIC \"<!ENTITY\" ']>' [<?p <!ENTITY ]> ?><!ATTLIST r n CDATA '> <!ENTITY ]>'> ] >",
            "<!-- <!DOCTYPE r [<!ENTITY a 'x'>]> --><!DOCTYPE r>",
        ] {
            assert!(parse(&format!("{harmless}\n<r n='é'/>")).is_ok_and(|root| root.line > 1), "{harmless}");
        }
        // No comment or quote hides a declaration.
        for hidden in [
            "<!DOCTYPE r [<!-- ' --><!ENTITY a 'x'><!-- ' -->]>",
            "<!DOCTYPE r [<!ELEMENT r (a|b)><!ENTITY a 'x'>]>",
            "<!DOCTYPE r [<?p <!-- ?><!ENTITY a 'x'><!-- -->]>",
            "<!DOCTYPE r [<!ATTLIST r n CDATA \"'\"><!ENTITY a 'x'><!ATTLIST r m CDATA \"'\">]>",
            "<!-- --><!DOCTYPE r SYSTEM \"<!--\" [ <!ENTITY % a 'x'> <!-- -->]>",
        ] {
            let refused = parse(&format!("{hidden}<r/>")).unwrap_err();
            assert!(refused.detail.contains("entity declarations"), "{hidden}: {refused}");
        }
        for endless in [
            "<!DOCTYPE r [<!ELEMENT r ANY>",
            "<!DOCTYPE r '",
            "<!DOCTYPE r [<!-- >",
            "<!DOCTYPE",
            "<!DOCTYPE r><!DOCTYPE r>",
        ] {
            assert!(parse(&format!("{endless}<r/>")).is_err(), "{endless}");
        }
        assert!(parse("<!DOCTYPE r>\n<r n='&a;'/>").unwrap_err().line == 2, "an unknown entity");
        assert!(parse("<?p > <a ?><r><x:y/></r>").is_ok(), "a prefix that is declared on the root");
        assert!(parse("<r><!-- <!DOCTYPE r [<!ENTITY a 'x'>]> --></r>").is_ok(), "a comment");
        for control in ["&#1;", "&#x7f;", "&#0;", "\0", "&#10;", "\u{85}"] {
            let refused = parse(&format!("<r>\n<link name='a{control}b'/></r>")).unwrap_err();
            assert_eq!(refused.line, 2, "{control:?}: {refused}");
        }
        assert!(parse("<r>\n<a xyz='0 0\n1'>two\n\tlines</a></r>").is_ok(), "layout");
        let wide = format!("<r>{}</r>", "<a/>".repeat(XML_NODES_MAX as usize + 1));
        assert!(parse(&wide).unwrap_err().detail.contains("200000 nodes"));
        // As many elements as are read, behind a long text: each has its line.
        let many = format!("<r><!--{}-->{}</r>", "\n".repeat(1 << 20), "<a/>\n".repeat(90_000));
        let root = parse(&many).unwrap();
        assert!(root.children.iter().enumerate().all(|(number, child)| child.line as usize == (1 << 20) + 1 + number));
    }

    #[test]
    fn errors_have_a_position() {
        let error = parse("<robot>\n  <link>\n</robot>").unwrap_err();
        assert_eq!(error.line, 3, "{error}");
    }
}
