//! The faces of one contact patch, laid out for the face kernel, and the patch's Jacobian.

use crate::math::lanes::{LANES, Lanes, Lanes3};
use crate::math::{Matrix3, SpatialVelocity, Vector3, Vector6};

/// How a face dissipates when it is compressed or released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DissipationLaw {
    /// Hunt-Crossley: f = fe (1 - d vn)+ with dissipation d [s/m].
    HuntCrossley {
        /// d [s/m].
        dissipation: f64,
    },
    /// Linear, [Masterjohn 2022, eqs. 1-3]: f = (fe - tau k vn)+ with relaxation time tau [s] (d c = tau there).
    Linear {
        /// tau [s].
        relaxation_time: f64,
    },
}

/// What all faces of a patch share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchLaw {
    /// Step dt [s].
    pub step: f64,
    /// Dissipation law with its coefficient.
    pub dissipation: DissipationLaw,
    /// Coulomb friction coefficient mu [-].
    pub friction: f64,
    /// Stiction tolerance v_s [m/s]: the slip speed below which friction is regularized.
    pub stiction_tolerance: f64,
    /// sigma [-]: with n0 the lagged normal impulse of a face and w the patch's inverse effective mass, the
    /// regularization speed of the face is max(v_s, mu sigma w n0). Zero leaves v_s alone.
    pub friction_compliance: f64,
}

/// One face as a discretization states it, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceInput {
    /// Position from the patch point C [m].
    pub p_CF: Vector3,
    /// Unit normal from A into B [-].
    pub normal: Vector3,
    /// Stiffness k = g A [N/m].
    pub stiffness: f64,
    /// Elastic force at the start of the step, fe0 = A p0 = -k phi0 [N].
    pub elastic_force: f64,
}

/// Eight faces side by side; unused lanes hold faces that never push.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceLanes {
    /// Positions from C [m].
    pub(super) p_CF: Lanes3,
    /// Unit normals from A into B [-].
    pub(super) normal: Lanes3,
    /// fe0 [N].
    pub(super) elastic_force: Lanes,
    /// (dt + tau) k [N s/m]: how fast the force falls with the separation speed.
    pub(super) force_rate: Lanes,
    /// mu n0: bound of the friction impulse [N s].
    pub(super) friction_bound: Lanes,
    /// Square of the regularization speed [m2/s2].
    pub(super) slip_scale_squared: Lanes,
}

impl FaceLanes {
    const EMPTY: Self = Self {
        p_CF: Lanes3::ZERO,
        normal: Lanes3::ZERO,
        elastic_force: Lanes::ZERO,
        force_rate: Lanes::ZERO,
        friction_bound: Lanes::ZERO,
        slip_scale_squared: Lanes::splat(1.0), // any positive number: keeps 1/sqrt finite in unused lanes
    };
}

/// A patch of `len` faces: its law, faces and Jacobian. V = J v is the spatial velocity of B relative to A at the patch
/// point C, in world axes; J is stored by its non-zero columns.
#[derive(Clone, Debug)]
pub struct PatchBlock {
    pub(super) law: PatchLaw,
    /// Dissipation d [s/m] of the Hunt-Crossley factor; 0 in the linear law.
    pub(super) hunt_crossley: f64,
    /// dt + tau [s].
    damped_step: f64,
    pub(super) lanes: Vec<FaceLanes>,
    len: usize,
    /// The generalized velocities that move the patch, ascending.
    pub(super) dofs: Vec<u32>,
    /// The column (w; v) of J for each of `dofs`.
    pub(super) columns: Vec<Vector6>,
    /// J v0: what the lagged impulses are taken at.
    V0: SpatialVelocity,
    /// Estimate of the translational block of J A^-1 J^T at C, from the diagonal of A [1/kg].
    inverse_mass: Matrix3,
}

impl PatchBlock {
    /// An empty patch, to be filled by [`PatchBlock::reset`], [`PatchBlock::push_column`] and [`PatchBlock::push_face`].
    pub fn new() -> Self {
        Self {
            law: PatchLaw {
                step: 0.0,
                dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
                friction: 0.0,
                stiction_tolerance: 1.0,
                friction_compliance: 0.0,
            },
            hunt_crossley: 0.0,
            damped_step: 0.0,
            lanes: Vec::new(),
            len: 0,
            dofs: Vec::new(),
            columns: Vec::new(),
            V0: SpatialVelocity::ZERO,
            inverse_mass: Matrix3::zeros(),
        }
    }

    /// Empties the patch, keeps its memory and sets its law.
    pub fn reset(&mut self, law: PatchLaw) {
        (self.hunt_crossley, self.damped_step) = match law.dissipation {
            DissipationLaw::HuntCrossley { dissipation } => (dissipation, law.step),
            DissipationLaw::Linear { relaxation_time } => (0.0, law.step + relaxation_time),
        };
        self.law = law;
        self.lanes.clear();
        self.len = 0;
        self.dofs.clear();
        self.columns.clear();
        self.V0 = SpatialVelocity::ZERO;
        self.inverse_mass = Matrix3::zeros();
    }

    /// Adds a column of J, with the initial velocity and the diagonal entry A_ii of its degree of freedom; call in
    /// ascending order of `dof`, and before the first face.
    pub fn push_column(&mut self, dof: u32, column: Vector6, v0: f64, mass: f64) {
        debug_assert!(self.dofs.last().is_none_or(|last| *last < dof), "columns come in ascending order");
        debug_assert_eq!(self.len, 0, "faces come after the columns: their lagged impulses need J v0");
        self.V0 += SpatialVelocity::from_vector(&(column * v0));
        let translation = column.fixed_rows::<3>(3).into_owned();
        self.inverse_mass += translation * translation.transpose() / mass;
        self.dofs.push(dof);
        self.columns.push(column);
    }

    /// Adds a face and fixes its lagged normal impulse, with vn0 = n . v_F(v0):
    ///   n0 = dt (fe0+ - tau k vn0)+ (1 - d vn0)+   [N s].
    pub fn push_face(&mut self, face: &FaceInput) {
        let law = &self.law;
        let vn0 = self.V0.shift(&face.p_CF).v.dot(&face.normal);
        let viscous = (self.damped_step - law.step) * face.stiffness * vn0;
        let n0 =
            law.step * (face.elastic_force.max(0.0) - viscous).max(0.0) * (1.0 - self.hunt_crossley * vn0).max(0.0);
        let w = self.inverse_mass.norm() / 3.0;
        let slip_scale = law.stiction_tolerance.max(law.friction * law.friction_compliance * w * n0);
        let lane = self.len % LANES;
        if lane == 0 {
            self.lanes.push(FaceLanes::EMPTY);
        }
        if let Some(block) = self.lanes.last_mut() {
            block.p_CF.set(lane, &face.p_CF);
            block.normal.set(lane, &face.normal);
            block.elastic_force.0[lane] = face.elastic_force;
            block.force_rate.0[lane] = self.damped_step * face.stiffness;
            block.friction_bound.0[lane] = law.friction * n0;
            block.slip_scale_squared.0[lane] = slip_scale * slip_scale;
        }
        self.len += 1;
    }

    /// How many faces the patch has.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether the patch has no face.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// V = J v: velocity of B relative to A at C, in world axes.
    pub fn velocity(&self, v: &[f64]) -> SpatialVelocity {
        let mut V = Vector6::zeros();
        for (dof, column) in self.dofs.iter().zip(&self.columns) {
            V += column * v[*dof as usize];
        }
        SpatialVelocity::from_vector(&V)
    }
}

impl Default for PatchBlock {
    fn default() -> Self {
        Self::new()
    }
}
