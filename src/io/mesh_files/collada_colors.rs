//! The colours of COLLADA materials. A primitive names a symbol, the instance of its geometry binds the
//! symbol to a material, and the material's effect states the colour.

use std::collections::BTreeMap;

use super::collada_ids::{Ids, target};
use super::welder::Color;
use crate::io::xml::Element;

/// The shadings of the common profile.
const SHADINGS: [&str; 4] = ["phong", "lambert", "blinn", "constant"];

/// The bindings of an instance of a geometry: `<instance_material>` by symbols.
pub(super) struct Bindings<'a>(BTreeMap<&'a str, &'a Element>);

impl<'a> Bindings<'a> {
    pub(super) fn of(instance: Option<&'a Element>) -> Self {
        let common = instance
            .and_then(|instance| instance.child("bind_material"))
            .and_then(|bind| bind.child("technique_common"));
        let bound = common.into_iter().flat_map(|common| common.children("instance_material"));
        Self(bound.filter_map(|bound| Some((bound.attribute("symbol")?, bound))).collect())
    }

    /// The colour of a primitive, if its material states one. Some writers bind no symbols and name the
    /// material itself.
    pub(super) fn color(&self, primitive: &Element, ids: &Ids) -> Option<Color> {
        let symbol = primitive.attribute("material")?;
        let material = match self.0.get(symbol) {
            Some(bound) => target(bound, "target", ids)?,
            None => ids.get(symbol).copied()?,
        };
        diffuse(material, ids)
    }
}

/// The diffuse colour of a material; that of a `<constant>` shading, which has none, is the emitted one.
fn diffuse(material: &Element, ids: &Ids) -> Option<Color> {
    let instance = material.child("instance_effect")?;
    let effect = target(instance, "url", ids)?;
    let profile = effect.child("profile_COMMON")?;
    let technique = profile.child("technique")?;
    let shading = technique.children.iter().find(|child| SHADINGS.contains(&child.name.as_str()))?;
    let emitted = || shading.child("emission").filter(|_| shading.name == "constant");
    let stated = shading.child("diffuse").or_else(emitted)?;
    if let Some(color) = stated.child("color") {
        return rgb(color);
    }
    let name = Some(stated.child("param")?.attribute("ref")?);
    let set = instance.children("setparam").find(|set| set.attribute("ref") == name);
    let new = || {
        let scopes = [technique, profile, effect];
        scopes.into_iter().flat_map(|scope| scope.children("newparam")).find(|new| new.attribute("sid") == name)
    };
    let value = set.or_else(new)?;
    rgb(value.child("float4").or_else(|| value.child("float3"))?)
}

/// The first three numbers of an element.
fn rgb(element: &Element) -> Option<Color> {
    let mut color = [0.0; 3];
    let mut words = element.text.split_whitespace();
    for channel in &mut color {
        *channel = words.next()?.parse().ok().filter(|number: &f32| number.is_finite())?.clamp(0.0, 1.0);
    }
    Some(color)
}
