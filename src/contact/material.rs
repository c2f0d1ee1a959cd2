//! Materials of surfaces, and how two materials combine.

use crate::geometry::fill::FieldScale;
use crate::math::Vector3;

/// Contact properties as stated in a file. All are optional, so that a scene can fill in or override them.
/// The names are those of `drake:proximity_properties`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactProperties {
    /// `Some(true)`: compliant (a pressure field); `Some(false)`: rigid; `None`: not stated.
    pub compliant: Option<bool>,
    /// Hydroelastic modulus \[Pa\].
    pub hydroelastic_modulus: Option<f64>,
    /// Requested edge length of the tessellation \[m\].
    pub mesh_resolution_hint: Option<f64>,
    /// Thickness of the compliant layer of a half space \[m\].
    pub slab_thickness: Option<f64>,
    /// Distance of a wrap of a mesh that need not be closed \[m\].
    pub wrap: Option<f64>,
    /// Largest distance between a mesh's surface and its filling \[m\].
    pub surface_tolerance: Option<f64>,
    /// The depth at which the pressure in a filled mesh reaches the modulus.
    pub pressure_field: Option<FieldScale>,
    /// Inflation of the geometry for speculative contact \[m\].
    pub margin: Option<f64>,
    /// Hunt-Crossley dissipation [s/m].
    pub hunt_crossley_dissipation: Option<f64>,
    /// Relaxation time of the linear dissipation law \[s\].
    pub relaxation_time: Option<f64>,
    /// Dynamic friction coefficient [-], which the discrete step uses.
    pub mu_dynamic: Option<f64>,
    /// Static friction coefficient [-]; the discrete step uses it only if `mu_dynamic` is not stated.
    pub mu_static: Option<f64>,
    /// Stiffness of each point of rigid contact [N/m]; near-rigid if not stated.
    pub point_contact_stiffness: Option<f64>,
    /// Velocity of the surface in the geometry's own axes [m/s], as of a conveyor belt: friction carries the
    /// bodies that lie on the surface.
    pub surface_velocity: Option<Vector3>,
    /// Radius of the area of each point of rigid contact, over which its friction resists spin \[m\].
    pub torsional_radius: Option<f64>,
    /// Coefficient of the rolling friction of each point of rigid contact \[m\].
    pub rolling_friction: Option<f64>,
    /// Coefficient of restitution of rigid contact [-].
    pub restitution: Option<f64>,
}

impl ContactProperties {
    /// Returns these properties, with missing ones taken from `fallback`.
    pub fn or(&self, fallback: &Self) -> Self {
        Self {
            compliant: self.compliant.or(fallback.compliant),
            hydroelastic_modulus: self.hydroelastic_modulus.or(fallback.hydroelastic_modulus),
            mesh_resolution_hint: self.mesh_resolution_hint.or(fallback.mesh_resolution_hint),
            slab_thickness: self.slab_thickness.or(fallback.slab_thickness),
            wrap: self.wrap.or(fallback.wrap),
            surface_tolerance: self.surface_tolerance.or(fallback.surface_tolerance),
            pressure_field: self.pressure_field.or(fallback.pressure_field),
            margin: self.margin.or(fallback.margin),
            hunt_crossley_dissipation: self.hunt_crossley_dissipation.or(fallback.hunt_crossley_dissipation),
            relaxation_time: self.relaxation_time.or(fallback.relaxation_time),
            mu_dynamic: self.mu_dynamic.or(fallback.mu_dynamic),
            mu_static: self.mu_static.or(fallback.mu_static),
            point_contact_stiffness: self.point_contact_stiffness.or(fallback.point_contact_stiffness),
            surface_velocity: self.surface_velocity.or(fallback.surface_velocity),
            torsional_radius: self.torsional_radius.or(fallback.torsional_radius),
            rolling_friction: self.rolling_friction.or(fallback.rolling_friction),
            restitution: self.restitution.or(fallback.restitution),
        }
    }
}

/// Whether a geometry carries a pressure field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compliance {
    /// A surface without a field of its own.
    Rigid,
    /// A pressure field that reaches the modulus at the medial axis.
    Compliant {
        /// Hydroelastic modulus \[Pa\].
        modulus: f64,
    },
}

/// The complete contact material of one geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMaterial {
    /// Rigid or compliant.
    pub compliance: Compliance,
    /// Hunt-Crossley dissipation d [s/m].
    pub dissipation: f64,
    /// Relaxation time of the linear law \[s\].
    pub relaxation_time: f64,
    /// Friction coefficient [-].
    pub friction: f64,
    /// Stiffness of each point of rigid contact [N/m]; `None` for near-rigid.
    pub point_stiffness: Option<f64>,
    /// Velocity of the surface in the geometry's axes [m/s].
    pub surface_velocity: Vector3,
    /// The properties of rigid points; `None` if not stated.
    pub points: PointProperties<Option<f64>>,
}

/// Properties of the points of rigid contact in dynamic steps, for one material (`Option<f64>`) or two
/// (`f64`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointProperties<T> {
    /// r \[m\]: friction resists spin about the normal with a torque of up to mu r times the normal force.
    pub torsional_radius: T,
    /// c \[m\]: rolling is resisted by a torque of up to c times the normal force.
    pub rolling_friction: T,
    /// e [-]: a point that hits with the speed v leaves with e v.
    pub restitution: T,
}

/// Two materials in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CombinedMaterial {
    /// Hunt-Crossley dissipation d [s/m].
    pub dissipation: f64,
    /// Relaxation time of the linear law \[s\].
    pub relaxation_time: f64,
    /// Friction coefficient [-].
    pub friction: f64,
    /// Stiffness of each point of rigid contact [N/m]; `None` for near-rigid.
    pub point_stiffness: Option<f64>,
    /// The properties of rigid points.
    pub points: PointProperties<f64>,
}

impl PointProperties<Option<f64>> {
    /// One stated value applies; of two, the larger radius, the larger rolling friction and the smaller
    /// restitution.
    fn combine(&self, other: &Self) -> PointProperties<f64> {
        let one = |a: Option<f64>, b: Option<f64>, both: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => both(a, b),
            (stated, None) | (None, stated) => stated.unwrap_or(0.0),
        };
        PointProperties {
            torsional_radius: one(self.torsional_radius, other.torsional_radius, f64::max),
            rolling_friction: one(self.rolling_friction, other.rolling_friction, f64::max),
            restitution: one(self.restitution, other.restitution, f64::min),
        }
    }
}

impl ContactMaterial {
    /// Combines two materials: dissipation and relaxation time weighted by compliance, d = (E_B d_A + E_A
    /// d_B)/(E_A + E_B), so that a rigid side adds nothing to a compliant one; friction by the harmonic mean,
    /// mu = 2 mu_A mu_B/(mu_A + mu_B); point stiffnesses in series.
    pub fn combine(&self, other: &Self) -> CombinedMaterial {
        let weight = match (self.compliance, other.compliance) {
            (Compliance::Compliant { modulus: E_A }, Compliance::Compliant { modulus: E_B }) => E_B / (E_A + E_B),
            (Compliance::Compliant { .. }, Compliance::Rigid) => 1.0,
            (Compliance::Rigid, Compliance::Compliant { .. }) => 0.0,
            (Compliance::Rigid, Compliance::Rigid) => 0.5,
        };
        let blend = |a: f64, b: f64| weight * a + (1.0 - weight) * b;
        let sum = self.friction + other.friction;
        CombinedMaterial {
            dissipation: blend(self.dissipation, other.dissipation),
            relaxation_time: blend(self.relaxation_time, other.relaxation_time),
            friction: if sum > 0.0 { 2.0 * self.friction * other.friction / sum } else { 0.0 },
            point_stiffness: match (self.point_stiffness, other.point_stiffness) {
                (Some(a), Some(b)) => Some(a * b / (a + b)),
                (one, None) | (None, one) => one,
            },
            points: self.points.combine(&other.points),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rigid_side_adds_no_dissipation() {
        let soft = ContactMaterial {
            compliance: Compliance::Compliant { modulus: 1e5 },
            dissipation: 5.0,
            relaxation_time: 0.1,
            friction: 1.0,
            point_stiffness: Some(2e5),
            surface_velocity: Vector3::zeros(),
            points: PointProperties { torsional_radius: Some(0.01), restitution: Some(0.5), ..Default::default() },
        };
        let rigid = ContactMaterial {
            compliance: Compliance::Rigid,
            dissipation: 50.0,
            friction: 0.5,
            point_stiffness: None,
            points: PointProperties { restitution: Some(0.2), rolling_friction: Some(1e-3), ..soft.points },
            ..soft
        };
        let both = soft.combine(&rigid);
        assert_eq!((both.dissipation, both.point_stiffness), (5.0, Some(2e5)));
        assert_eq!(both, rigid.combine(&soft));
        let points = PointProperties { torsional_radius: 0.01, rolling_friction: 1e-3, restitution: 0.2 };
        assert_eq!(both.points, points);
        assert!((both.friction - 2.0 / 3.0).abs() < 1e-15);
        let stiff = ContactMaterial { compliance: Compliance::Compliant { modulus: 3e5 }, dissipation: 1.0, ..soft };
        assert_eq!(soft.combine(&stiff).point_stiffness, Some(1e5));
        assert!((soft.combine(&stiff).dissipation - 4.0).abs() < 1e-15);
    }
}
