//! What a surface is made of, and how two materials combine.

/// Contact properties as a file states them: everything optional, so that a scene can fill in or override.
/// The names are those of `drake:proximity_properties`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactProperties {
    /// `Some(true)`: compliant (a pressure field); `Some(false)`: rigid; `None`: not stated.
    pub compliant: Option<bool>,
    /// Hydroelastic modulus [Pa].
    pub hydroelastic_modulus: Option<f64>,
    /// Wanted edge length of the tessellation [m].
    pub mesh_resolution_hint: Option<f64>,
    /// Thickness of the compliant layer of a half space [m].
    pub slab_thickness: Option<f64>,
    /// Inflation of the geometry for speculative contact [m].
    pub margin: Option<f64>,
    /// Hunt-Crossley dissipation [s/m].
    pub hunt_crossley_dissipation: Option<f64>,
    /// Relaxation time of the linear dissipation law [s].
    pub relaxation_time: Option<f64>,
    /// Dynamic friction coefficient [-]; the one that the discrete step uses.
    pub mu_dynamic: Option<f64>,
    /// Static friction coefficient [-]; read, and unused by the discrete step.
    pub mu_static: Option<f64>,
    /// Stiffness of point contact [N/m]; read for files that give it.
    pub point_contact_stiffness: Option<f64>,
}

impl ContactProperties {
    /// These properties where stated, those of `fallback` elsewhere.
    pub fn or(&self, fallback: &Self) -> Self {
        Self {
            compliant: self.compliant.or(fallback.compliant),
            hydroelastic_modulus: self.hydroelastic_modulus.or(fallback.hydroelastic_modulus),
            mesh_resolution_hint: self.mesh_resolution_hint.or(fallback.mesh_resolution_hint),
            slab_thickness: self.slab_thickness.or(fallback.slab_thickness),
            margin: self.margin.or(fallback.margin),
            hunt_crossley_dissipation: self.hunt_crossley_dissipation.or(fallback.hunt_crossley_dissipation),
            relaxation_time: self.relaxation_time.or(fallback.relaxation_time),
            mu_dynamic: self.mu_dynamic.or(fallback.mu_dynamic),
            mu_static: self.mu_static.or(fallback.mu_static),
            point_contact_stiffness: self.point_contact_stiffness.or(fallback.point_contact_stiffness),
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
        /// Hydroelastic modulus [Pa].
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
    /// Relaxation time of the linear law [s].
    pub relaxation_time: f64,
    /// Friction coefficient [-].
    pub friction: f64,
}
