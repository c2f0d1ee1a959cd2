//! The inputs of the contacts of a dynamic or complementarity step.

use super::columns::RelativeColumns;
use super::free_path::FreePath;
use super::pairs::surface_velocity;
use crate::math::{BlockDiagonal, BodyIndex, Vector3};
use crate::multibody::Data;
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::{DissipationLaw, FaceScheme, PatchBlock, PatchLaw};
use crate::stepping::settings::{CommonSettings, ContactScheme, DissipationModel, DynamicStepping};

/// The inputs of the contacts of a dynamic step.
#[derive(Clone, Copy)]
pub(in crate::stepping) struct ContactInput<'a> {
    pub(in crate::stepping) scene: &'a Scene,
    pub(in crate::stepping) settings: &'a CommonSettings,
    pub(in crate::stepping) options: &'a DynamicStepping,
    /// Poses and velocities of the bodies at the start of the step.
    pub(in crate::stepping) data: &'a Data,
    /// Poses at the end of free motion, to which the momentum matrix belongs; those of the start without any.
    pub(in crate::stepping) later: &'a Data,
    /// The generalized velocities at the start of the step [rad/s, m/s].
    pub(in crate::stepping) v: &'a [f64],
    /// The generalized forces of external wrenches [N m, N].
    pub(in crate::stepping) external: &'a [f64],
    /// The bodies' free path, if they move.
    pub(in crate::stepping) motion: Option<FreePath<'a>>,
}

impl<'a> ContactInput<'a> {
    /// The free path for the surfaces of contact. Without one, they are those of the start of the step.
    pub(super) fn path(&self) -> Option<&FreePath<'a>> {
        self.motion.as_ref().filter(|_| self.options.on_free_path())
    }

    /// Computes the columns of a pair's Jacobian at the patch point, with the bodies at the poses in `data`.
    pub(super) fn columns_at(&self, pair: &ContactPair, p_WC: &Vector3, data: &Data, columns: &mut RelativeColumns) {
        self.columns_apart(pair, (p_WC, p_WC), data, columns);
    }

    /// Computes the columns of a pair's Jacobian at the patch point, with the bodies at the poses `there` of
    /// their free path, or of the start.
    ///
    /// The impulses of a step act on the momenta of bodies that start at their poses `data`. Two free bodies
    /// whose centres of mass move by d_A and d_B on their way to `there` keep their total angular momentum if
    /// the impulse acts on them at two points whose distance is d_B - d_A: this is one point of the start.
    /// The points lie on both sides of the patch point, nearer to it for the body that is easier to turn: a
    /// needle is hit on its axis. If one of the bodies is not free, both have the patch point, and the result
    /// is false.
    pub(super) fn columns_on_path(
        &self,
        pair: &ContactPair,
        p_WC: &Vector3,
        there: &Data,
        columns: &mut RelativeColumns,
    ) -> bool {
        let (model, geometries) = (self.scene.model(), self.scene.geometries());
        let bodies = (geometries[pair.A].body, geometries[pair.B].body);
        if !model.is_free(bodies.0) || !model.is_free(bodies.1) {
            self.columns_at(pair, p_WC, there, columns);
            return false;
        }
        let way = |body: BodyIndex| {
            let [there, start] = [there, self.data].map(|data| model.free_center_of_mass(data, body));
            there.unwrap_or_default() - start.unwrap_or_default()
        };
        let way = way(bodies.1) - way(bodies.0);
        let [a, b] = [bodies.0, bodies.1].map(|body| model.smallest_moment(self.data, body));
        let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
        let points = (p_WC - way * share, p_WC + way * (1.0 - share));
        self.columns_apart(pair, (&points.0, &points.1), there, columns);
        true
    }

    /// Computes the columns for the velocity of the second of two points [m, world], on body B, relative to
    /// the first one, on body A, with the bodies at the poses in `data`.
    pub(super) fn columns_apart(
        &self,
        pair: &ContactPair,
        points: (&Vector3, &Vector3),
        data: &Data,
        columns: &mut RelativeColumns,
    ) {
        let geometries = self.scene.geometries();
        let bodies = (geometries[pair.A].body, geometries[pair.B].body);
        columns.merge_for(self.scene.model(), (data, self.later), bodies, points);
    }

    /// Starts the patch of a pair: its law and its Jacobian.
    pub(super) fn start_patch(
        &self,
        pair: &ContactPair,
        momentum_matrix: &BlockDiagonal,
        columns: &RelativeColumns,
        block: &mut PatchBlock,
    ) {
        block.reset(self.patch_law(pair));
        block.set_scheme(self.face_scheme(pair));
        block.set_surface_velocity(surface_velocity(self.scene, self.data, pair));
        columns.push(block, self.v);
        block.compute_weights(momentum_matrix);
    }

    /// The scheme of the faces. The stiffness of rigid points is a near-rigid one already.
    fn face_scheme(&self, pair: &ContactPair) -> FaceScheme {
        match self.options.scheme {
            ContactScheme::Lagged | ContactScheme::Coupled => FaceScheme::Lagged,
            ContactScheme::Similar => FaceScheme::Similar,
            ContactScheme::Sap { near_rigid } => {
                FaceScheme::Sap { near_rigid: if pair.kind == ContactKind::PressureField { near_rigid } else { 0.0 } }
            }
            ContactScheme::Tamsi => FaceScheme::Tamsi,
        }
    }

    fn patch_law(&self, pair: &ContactPair) -> PatchLaw {
        let ContactPair { material, .. } = pair;
        PatchLaw {
            step: self.settings.step(),
            dissipation: match self.options.dissipation {
                // Restitution replaces dissipation
                _ if pair.restitution().is_some() => DissipationLaw::HuntCrossley { dissipation: 0.0 },
                DissipationModel::HuntCrossley => DissipationLaw::HuntCrossley { dissipation: material.dissipation },
                DissipationModel::Linear => DissipationLaw::Linear { relaxation_time: material.relaxation_time },
            },
            friction: material.friction,
            stiction_tolerance: self.settings.stiction_tolerance,
            friction_compliance: self.options.friction_compliance,
        }
    }
}
