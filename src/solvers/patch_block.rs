//! The faces of one contact patch, laid out for the face kernel, and the patch's Jacobian.

use super::face_scheme::FaceScheme;
use super::jacobian::PatchJacobian;
use crate::math::dense::{cholesky_in_place, cholesky_solve_in_place};
use crate::math::lanes::{LANES, LaneSum, Lanes, Lanes3};
use crate::math::{BlockDiagonal, Matrix6, SpatialVelocity, Vector3, Vector6};

/// The dissipation law of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DissipationLaw {
    /// Hunt-Crossley: f = fe (1 - d vn)+ with dissipation d [s/m].
    HuntCrossley {
        /// d [s/m].
        dissipation: f64,
    },
    /// Linear, [Masterjohn 2022, eqs. 1-3]: f = (fe - tau k vn)+ with relaxation time tau \[s\] (tau = d c
    /// there).
    Linear {
        /// tau \[s\].
        relaxation_time: f64,
    },
}

/// The data shared by all faces of a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchLaw {
    /// Step dt \[s\].
    pub step: f64,
    /// Dissipation law with its coefficient.
    pub dissipation: DissipationLaw,
    /// Coulomb friction coefficient mu [-].
    pub friction: f64,
    /// Stiction tolerance v_s [m/s]: the slip speed below which friction is regularized.
    pub stiction_tolerance: f64,
    /// sigma [-]: with n0 the lagged normal impulse of a face and w its inverse effective mass, the
    /// regularization speed of the face is max(v_s, mu sigma w n0). With zero it is v_s.
    pub friction_compliance: f64,
}

/// One face as given by a discretization, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceInput {
    /// Position from the patch point C \[m\].
    pub p_CF: Vector3,
    /// Unit normal from A into B [-].
    pub normal: Vector3,
    /// Stiffness k = g A [N/m].
    pub stiffness: f64,
    /// Elastic force at the start of the step, fe0 = A p0 = -k phi0 \[N\]. For
    /// [`PatchBlock::push_face_about`] it is the force at the end.
    pub elastic_force: f64,
    /// Square of the arm rho \[m2\] at which the friction of the face resists spin about its own normal; 0
    /// for a point.
    pub spin_arm_squared: f64,
}

/// A point at which a share of a face's friction acts, while the whole normal force acts at the face itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionPart {
    /// Position from the patch point C \[m\].
    pub p_CF: Vector3,
    /// Share of the face's friction bound [-]; the shares of a face sum to 1.
    pub share: f64,
    /// As [`FaceInput::spin_arm_squared`] \[m2\].
    pub spin_arm_squared: f64,
}

/// A face whose friction acts at the lanes that follow it.
#[derive(Clone, Copy, Debug)]
struct DividedFace {
    face: usize,
    /// The end of its parts in `shares`; they start at the end of those of the previous divided face.
    end: usize,
    /// mu n0 of the whole face [N s].
    bound: f64,
}

/// A two-sided spring on the velocity of a patch: gamma = weight (target - row . V), along `row`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosureRow {
    /// The row vector that multiplies V = (w; v).
    pub(super) row: Vector6,
    /// [kg, kg m2]
    pub(super) weight: f64,
    /// [m/s, rad/s]
    pub(super) target: f64,
}

/// A point that resists rolling.
#[derive(Clone, Copy, Debug)]
pub(super) struct RollingPoint {
    pub(super) face: usize,
    /// Coefficient c \[m\].
    pub(super) coefficient: f64,
    /// c n0 [N m s].
    pub(super) bound: f64,
}

/// A face in impact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impact {
    pub(super) face: usize,
    /// -vn0 [m/s].
    pub(super) speed: f64,
    /// fe0 without restitution \[N\].
    pub(super) elastic_force: f64,
}

/// A face slides, and a point rolls, if it is faster than this multiple of its regularization speed [-].
pub(super) const SLIDING: f64 = 10.0;

/// [`LANES`] faces side by side; unused lanes hold faces that never push.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceLanes {
    /// Positions from C \[m\].
    pub(super) p_CF: Lanes3,
    /// Unit normals from A into B [-].
    pub(super) normal: Lanes3,
    /// fe0 \[N\].
    pub(super) elastic_force: Lanes,
    /// (dt + tau) k [N s/m]: minus the derivative of the force with the separation speed.
    pub(super) force_rate: Lanes,
    /// mu n0: bound of the friction impulse [N s].
    pub(super) friction_bound: Lanes,
    /// Square of the regularization speed [m2/s2].
    pub(super) slip_scale_squared: Lanes,
    /// rho^2 \[m2\].
    pub(super) spin_arm_squared: Lanes,
}

impl FaceLanes {
    const EMPTY: Self = Self {
        p_CF: Lanes3::ZERO,
        normal: Lanes3::ZERO,
        elastic_force: Lanes::ZERO,
        force_rate: Lanes::ZERO,
        friction_bound: Lanes::ZERO,
        slip_scale_squared: Lanes::splat(1.0), // any positive number: keeps 1/sqrt finite in unused lanes
        spin_arm_squared: Lanes::ZERO,
    };
}

/// A patch of `len` faces: its law, faces and Jacobian. V = J v is the spatial velocity of B relative to A at
/// the patch point C, in world axes; J is stored by its non-zero columns.
#[derive(Clone, Debug)]
pub struct PatchBlock {
    pub(super) law: PatchLaw,
    pub(super) scheme: FaceScheme,
    /// w of each face, in the scheme SAP [1/kg].
    pub(super) face_inverse_masses: Vec<f64>,
    /// Dissipation d [s/m] of the Hunt-Crossley factor; 0 in the linear law.
    pub(super) hunt_crossley: f64,
    /// dt + tau \[s\].
    pub(super) damped_step: f64,
    pub(super) lanes: Vec<FaceLanes>,
    len: usize,
    /// The rows of a loop closure; empty for a contact.
    pub(super) closure: Vec<ClosureRow>,
    divided: Vec<DividedFace>,
    /// The points that resist rolling.
    pub(super) rolling: Vec<RollingPoint>,
    /// The faces that bounce in this step.
    pub(super) impacts: Vec<Impact>,
    /// The fraction of the restitution that does not gain energy [-].
    pub(super) bounce: f64,
    /// The work of the patch without restitution, or 0 if it is less \[J\].
    pub(super) work_most: f64,
    /// The shares of all parts [-].
    shares: Vec<f64>,
    /// Whether a face has a spin arm, or the surface moves. If not, the kernel leaves those terms out.
    pub(super) spins: bool,
    /// Velocity of B's surface relative to body B, minus that of A's surface relative to body A [m/s, world].
    /// Friction depends on it, the normal force does not.
    pub(super) surface_velocity: Vector3,
    /// The spin of that motion: at a face the surface velocity is u + spin x p_CF [rad/s, world]. 0 in other
    /// than quasistatic steps.
    pub(super) surface_spin: Vector3,
    pub(super) jacobian: PatchJacobian,
    /// J v0: the velocity at which the lagged impulses are evaluated.
    pub(super) V0: SpatialVelocity,
    /// J A^-1 J^T at C, [w; v] by [w; v]; zero if the law does not use it.
    pub(super) inverse_mass: Matrix6,
    /// Scratch: A of `dofs` and a row of J.
    masses: Vec<f64>,
    row: Vec<f64>,
}

impl PatchBlock {
    /// An empty patch, to be filled by [`PatchBlock::reset`], [`PatchBlock::push_column`] and
    /// [`PatchBlock::push_face`].
    pub fn new() -> Self {
        Self {
            law: PatchLaw {
                step: 0.0,
                dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
                friction: 0.0,
                stiction_tolerance: 1.0,
                friction_compliance: 0.0,
            },
            scheme: FaceScheme::Lagged,
            face_inverse_masses: Vec::new(),
            hunt_crossley: 0.0,
            damped_step: 0.0,
            lanes: Vec::new(),
            len: 0,
            closure: Vec::new(),
            divided: Vec::new(),
            rolling: Vec::new(),
            impacts: Vec::new(),
            bounce: 1.0,
            work_most: 0.0,
            shares: Vec::new(),
            spins: false,
            surface_velocity: Vector3::zeros(),
            surface_spin: Vector3::zeros(),
            jacobian: PatchJacobian::default(),
            V0: SpatialVelocity::ZERO,
            inverse_mass: Matrix6::zeros(),
            masses: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Empties the patch, keeps its memory and sets its law.
    pub fn reset(&mut self, law: PatchLaw) {
        (self.hunt_crossley, self.damped_step) = match law.dissipation {
            DissipationLaw::HuntCrossley { dissipation } => (dissipation, law.step),
            DissipationLaw::Linear { relaxation_time } => (0.0, law.step + relaxation_time),
        };
        self.law = law;
        self.scheme = FaceScheme::Lagged;
        self.face_inverse_masses.clear();
        self.lanes.clear();
        self.len = 0;
        self.closure.clear();
        self.divided.clear();
        self.rolling.clear();
        self.impacts.clear();
        self.shares.clear();
        self.spins = false;
        self.surface_velocity = Vector3::zeros();
        self.surface_spin = Vector3::zeros();
        self.jacobian.clear();
        self.V0 = SpatialVelocity::ZERO;
        self.inverse_mass = Matrix6::zeros();
    }

    /// Empties the patch, which becomes a loop closure over a step `step` \[s\]: it has rows in place of
    /// faces.
    pub fn reset_closure(&mut self, step: f64) {
        self.reset(PatchLaw {
            step,
            dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
            friction: 0.0,
            stiction_tolerance: 1.0,
            friction_compliance: 0.0,
        });
    }

    /// Adds the impulse `weight` (`target` - row . V) along `row`, with V = (w; v). Units: `weight` \[kg\]
    /// or [kg m2], `target` [m/s] or [rad/s].
    pub fn push_closure_row(&mut self, row: &Vector6, weight: f64, target: f64) {
        self.closure.push(ClosureRow { row: *row, weight, target });
    }

    /// Sets the velocity of B's surface relative to body B, minus that of A's surface relative to body A
    /// [m/s, world].
    pub fn set_surface_velocity(&mut self, surface_velocity: Vector3) {
        self.surface_velocity = surface_velocity;
        self.spins |= surface_velocity != Vector3::zeros();
    }

    /// Adds a motion of B's surface about C, as by [`PatchBlock::set_surface_velocity`], with a spin [rad/s,
    /// m/s, world]. Friction depends on it, the normal force does not.
    pub fn add_surface_motion(&mut self, motion: &SpatialVelocity) {
        self.surface_velocity += motion.v;
        self.surface_spin += motion.w;
        self.spins |= *motion != SpatialVelocity::ZERO;
    }

    /// Adds a column of J, with the initial velocity of its degree of freedom. Call it in ascending order of
    /// `dof`, and before the first face.
    pub fn push_column(&mut self, dof: u32, column: Vector6, v0: f64) {
        debug_assert_eq!(self.len, 0, "faces come after the columns: their lagged impulses need J v0");
        self.V0 += SpatialVelocity::from_vector(&(column * v0));
        self.jacobian.push(dof, column);
    }

    /// Computes the inverse mass for friction compliance from A: J A^-1 J^T with
    /// the part of A that belongs to the patch's degrees of freedom. It is an estimate if these are coupled
    /// to others. Call it between the last column and the first face; it does nothing without friction
    /// compliance.
    pub fn compute_weights(&mut self, momentum_matrix: &BlockDiagonal) {
        if self.law.friction_compliance == 0.0 {
            return;
        }
        let PatchJacobian { dofs, columns, .. } = &self.jacobian;
        let n = dofs.len();
        self.masses.clear();
        for i in dofs {
            self.masses.extend(dofs.iter().map(|j| momentum_matrix[(*i as usize, *j as usize)]));
        }
        // If A is not positive definite, the solver fails too, and the error names the joint without inertia.
        if cholesky_in_place(&mut self.masses, n).is_err() {
            return;
        }
        for r in 0..6 {
            self.row.clear();
            self.row.extend(columns.iter().map(|column| column[r]));
            cholesky_solve_in_place(&self.masses, n, &mut self.row);
            let column: Vector6 = columns.iter().zip(&self.row).map(|(column, x)| column * *x).sum();
            self.inverse_mass.set_column(r, &column);
        }
    }

    /// Adds a face; [`PatchBlock::lag_friction`] fixes its friction.
    pub fn push_face(&mut self, face: &FaceInput) {
        self.store(face, face.elastic_force, 0.0);
    }

    /// Adds a face whose `elastic_force` fe is the force at the velocities v0, that is, at the end of the
    /// step and not at its start. The law must have no dissipation. With vn0 = n . v_F(v0):
    ///   f = (fe - dt k (vn - vn0))+,   friction bound mu dt fe+.
    pub fn push_face_about(&mut self, face: &FaceInput) {
        debug_assert!(self.hunt_crossley == 0.0 && self.damped_step == self.law.step, "no dissipation");
        let vn0 = self.V0.shift(&face.p_CF).v.dot(&face.normal);
        let at_rest = face.elastic_force + self.law.step * face.stiffness * vn0;
        let n0 = self.law.step * face.elastic_force.max(0.0);
        self.store(face, at_rest, self.law.friction * n0);
    }

    /// Moves a share of the friction of the last face to a point of its own, which counts as a face without
    /// normal force. Once a face has parts, none of its friction acts at the face itself.
    pub fn push_friction_part(&mut self, part: &FrictionPart) {
        let Some(last) = self.len.checked_sub(1) else { return };
        let open = self.divided.last().filter(|divided| {
            let first = self.divided.iter().rev().nth(1).map_or(0, |before| before.end);
            divided.face + divided.end - first == last
        });
        if open.is_none() {
            let bound = &mut self.lanes[last / LANES].friction_bound.0[last % LANES];
            self.divided.push(DividedFace { face: last, end: self.shares.len(), bound: std::mem::take(bound) });
        }
        let Some(divided) = self.divided.last_mut() else { return };
        divided.end += 1;
        let (face, bound) = (divided.face, part.share * divided.bound);
        self.shares.push(part.share);
        let normal = self.lanes[face / LANES].normal.get(face % LANES);
        let FrictionPart { p_CF, spin_arm_squared, .. } = *part;
        let input = FaceInput { p_CF, normal, stiffness: 0.0, elastic_force: 0.0, spin_arm_squared };
        self.store(&input, 0.0, bound);
    }

    /// For each divided face, its index, the shares of its parts, and its friction bound [N s]. Its parts are
    /// the faces that follow it.
    pub(super) fn divided_faces(&self) -> impl Iterator<Item = (usize, &[f64], f64)> {
        let starts = std::iter::once(0).chain(self.divided.iter().map(|divided| divided.end));
        starts
            .zip(&self.divided)
            .map(|(start, divided)| (divided.face, &self.shares[start..divided.end], divided.bound))
    }

    /// Divides the friction bounds of the divided faces among their parts. Deviation: a part's regularization
    /// speed from friction compliance is its share of that of the face. The variation of the inverse mass
    /// within the face is neglected.
    pub(super) fn divide_bounds(&mut self) {
        let mut start = 0;
        for divided in &mut self.divided {
            let (block, lane) = (divided.face / LANES, divided.face % LANES);
            divided.bound = std::mem::take(&mut self.lanes[block].friction_bound.0[lane]);
            let slip_squared = self.lanes[block].slip_scale_squared.0[lane];
            for (number, share) in self.shares[start..divided.end].iter().enumerate() {
                let part = divided.face + 1 + number;
                let (block, lane) = (&mut self.lanes[part / LANES], part % LANES);
                block.friction_bound.0[lane] = share * divided.bound;
                let least = self.law.stiction_tolerance * self.law.stiction_tolerance;
                block.slip_scale_squared.0[lane] = least.max(share * share * slip_squared);
            }
            start = divided.end;
        }
    }

    /// Fills the next lane.
    fn store(&mut self, face: &FaceInput, elastic_force: f64, friction_bound: f64) {
        let lane = self.len % LANES;
        if lane == 0 {
            self.lanes.push(FaceLanes::EMPTY);
        }
        if let Some(block) = self.lanes.last_mut() {
            block.p_CF.set(lane, &face.p_CF);
            block.normal.set(lane, &face.normal);
            block.elastic_force.0[lane] = elastic_force;
            block.force_rate.0[lane] = self.damped_step * face.stiffness;
            block.friction_bound.0[lane] = friction_bound;
            block.slip_scale_squared.0[lane] = self.law.stiction_tolerance * self.law.stiction_tolerance;
            block.spin_arm_squared.0[lane] = face.spin_arm_squared;
        }
        self.spins |= face.spin_arm_squared > 0.0;
        self.len += 1;
    }

    /// The generalized velocities that move the patch, ascending.
    pub fn dofs(&self) -> &[u32] {
        &self.jacobian.dofs
    }
    /// Sets the bound of each face's friction to mu times its normal impulse at the relative velocity V of C.
    /// Returns the largest change and the largest of the old and new bounds [N s].
    pub fn refresh_friction(&mut self, V: &SpatialVelocity) -> (f64, f64) {
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        for divided in &self.divided {
            self.lanes[divided.face / LANES].friction_bound.0[divided.face % LANES] = divided.bound;
        }
        for face in 0..self.len {
            let (elastic, damping) = self.normal_force(face, V);
            let bound = self.law.friction * self.law.step * elastic * damping;
            let (block, lane) = (&mut self.lanes[face / LANES], face % LANES);
            if block.force_rate.0[lane] == 0.0 {
                continue; // a friction part: its bound follows from that of its face
            }
            let before = std::mem::replace(&mut block.friction_bound.0[lane], bound);
            change = change.max((bound - before).abs());
            largest = largest.max(bound).max(before);
        }
        self.refresh_rolling(V);
        self.divide_bounds();
        (change, largest)
    }

    /// The largest friction bound of a face or of a part of it [N s].
    pub fn largest_friction_bound(&self) -> f64 {
        self.lanes.iter().flat_map(|lanes| lanes.friction_bound.0).fold(0.0, f64::max)
    }

    /// The largest normal impulse of a face at the relative velocity V of C [N s].
    pub fn largest_normal_impulse(&self, V: &SpatialVelocity) -> f64 {
        (0..self.len).map(|face| self.normal_impulse(face, V)).fold(0.0, f64::max)
    }

    /// The normal impulse of a face at the relative velocity V of C [N s].
    pub(super) fn normal_impulse(&self, face: usize, V: &SpatialVelocity) -> f64 {
        if self.scheme != FaceScheme::Lagged {
            return self.scheme_face_impulse(face, V).1;
        }
        let (elastic, damping) = self.normal_force(face, V);
        self.law.step * elastic * damping
    }

    /// The elastic force of a face at the relative velocity V of C \[N\], and the factor of its dissipation
    /// [-].
    pub(super) fn normal_force(&self, face: usize, V: &SpatialVelocity) -> (f64, f64) {
        let (block, lane) = (&self.lanes[face / LANES], face % LANES);
        let vn = V.shift(&block.p_CF.get(lane)).v.dot(&block.normal.get(lane));
        let elastic = (block.elastic_force.0[lane] - block.force_rate.0[lane] * vn).max(0.0);
        (elastic, (1.0 - self.hunt_crossley * vn).max(0.0))
    }

    /// The elastic force of each face at the end of a step that ends with the relative velocity V of C \[N\],
    /// in the order in which the faces were pushed.
    pub fn elastic_forces(&self, V: &SpatialVelocity) -> impl Iterator<Item = f64> {
        let (part, V) = (self.law.step / self.damped_step, *V);
        (0..self.len).map(move |face| {
            let (block, lane) = (&self.lanes[face / LANES], face % LANES);
            let vn = V.shift(&block.p_CF.get(lane)).v.dot(&block.normal.get(lane));
            (block.elastic_force.0[lane] - part * block.force_rate.0[lane] * vn).max(0.0)
        })
    }

    /// The elastic energy of the faces at the end of a step that ends with the relative velocity V of C
    /// \[J\]: the sum of fe^2/(2 k).
    pub fn elastic_energy(&self, V: &SpatialVelocity) -> f64 {
        let rates = self.lanes.iter().flat_map(|lanes| lanes.force_rate.0);
        let energies = self.elastic_forces(V).zip(rates).filter(|(_, rate)| *rate > 0.0);
        0.5 * self.damped_step * energies.map(|(force, rate)| force * force / rate).sum::<f64>()
    }

    /// The sums over the faces of fe0 \[N\] and of k [N/m].
    pub fn elastic_sums(&self) -> (f64, f64) {
        let (mut force, mut rate) = (LaneSum::ZERO, LaneSum::ZERO);
        for faces in &self.lanes {
            force.add(faces.elastic_force);
            rate.add(faces.force_rate);
        }
        (force.total(), rate.total() / self.damped_step)
    }
    /// Step dt \[s\].
    pub fn step(&self) -> f64 {
        self.law.step
    }
    /// Number of faces.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether the patch has no face.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// V = J v: velocity of B relative to A at C, in world axes.
    pub fn velocity(&self, v: &[f64]) -> SpatialVelocity {
        self.jacobian.velocity(v)
    }
}

impl Default for PatchBlock {
    fn default() -> Self {
        Self::new()
    }
}
