//! The elements of a COLLADA file by their ids, which references name.

use std::collections::BTreeMap;

use crate::io::xml::Element;

/// The elements of the file by their ids.
pub(super) type Ids<'a> = BTreeMap<&'a str, &'a Element>;

pub(super) fn collect_ids<'a>(element: &'a Element, ids: &mut Ids<'a>) {
    if let Some(id) = element.attribute("id") {
        ids.entry(id).or_insert(element);
    }
    element.children.iter().for_each(|child| collect_ids(child, ids));
}

/// The element that a local reference such as `url="#mesh"` names.
pub(super) fn target<'a>(element: &Element, attribute: &str, ids: &Ids<'a>) -> Option<&'a Element> {
    ids.get(element.attribute(attribute)?.strip_prefix('#')?).copied()
}
