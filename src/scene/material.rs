//! The contact material of a geometry, from its stated properties and the defaults.

use super::error::SceneBuildError;
use crate::contact::{Compliance, ContactMaterial, ContactProperties, PointProperties};
use crate::geometry::Shape;

/// Default modulus of a compliant geometry \[Pa\]: stiff rubber.
pub const DEFAULT_MODULUS: f64 = 1e7;
/// Default Hunt-Crossley dissipation [s/m].
pub const DEFAULT_DISSIPATION: f64 = 10.0;
/// Default relaxation time of the linear law \[s\].
pub const DEFAULT_RELAXATION_TIME: f64 = 0.01;
/// Default friction coefficient [-].
pub const DEFAULT_FRICTION: f64 = 0.5;

/// The material of `shape` from `properties`, with defaults filled in.
pub(super) fn material_of(
    name: &str,
    shape: &Shape,
    properties: &ContactProperties,
) -> Result<ContactMaterial, SceneBuildError> {
    let check = |property, value: Option<f64>, default: f64, positive: bool| {
        let value = value.unwrap_or(default);
        if value.is_finite() && (value > 0.0 || (!positive && value == 0.0)) {
            Ok(value)
        } else {
            let range = if positive { "positive and finite" } else { "zero or positive, and finite" };
            Err(SceneBuildError::Property { geometry: name.to_owned(), property, value, range })
        }
    };
    let rigid_by_default = matches!(shape, Shape::Mesh(_) | Shape::HalfSpace);
    let compliant = properties.compliant.unwrap_or(properties.hydroelastic_modulus.is_some() || !rigid_by_default);
    let modulus = check("hydroelastic_modulus", properties.hydroelastic_modulus, DEFAULT_MODULUS, true)?;
    check("mesh_resolution_hint", properties.mesh_resolution_hint, 1.0, true)?;
    check("slab_thickness", properties.slab_thickness, 1.0, true)?;
    check("wrap", properties.wrap, 1.0, true)?;
    check("surface_tolerance", properties.surface_tolerance, 1.0, true)?;
    check("margin", properties.margin, 0.0, false)?;
    check("torsional_radius", properties.torsional_radius, 0.0, false)?;
    check("rolling_friction", properties.rolling_friction, 0.0, false)?;
    if let Some(value) = properties.restitution.filter(|value| !(0.0..=1.0).contains(value)) {
        let (geometry, property) = (name.to_owned(), "restitution");
        return Err(SceneBuildError::Property { geometry, property, value, range: "from 0 to 1" });
    }
    Ok(ContactMaterial {
        compliance: if compliant { Compliance::Compliant { modulus } } else { Compliance::Rigid },
        dissipation: check(
            "hunt_crossley_dissipation",
            properties.hunt_crossley_dissipation,
            DEFAULT_DISSIPATION,
            false,
        )?,
        relaxation_time: check("relaxation_time", properties.relaxation_time, DEFAULT_RELAXATION_TIME, false)?,
        surface_velocity: {
            let velocity = properties.surface_velocity.unwrap_or_default();
            for component in velocity.iter() {
                check("surface_velocity", Some(component.abs()), 0.0, false)?;
            }
            velocity
        },
        point_stiffness: match properties.point_contact_stiffness {
            None => None,
            stiffness => Some(check("point_contact_stiffness", stiffness, 1.0, true)?),
        },
        points: PointProperties {
            torsional_radius: properties.torsional_radius,
            rolling_friction: properties.rolling_friction,
            restitution: properties.restitution,
        },
        friction: check("mu_dynamic", properties.mu_dynamic.or(properties.mu_static), DEFAULT_FRICTION, false)?,
    })
}
