//! The convex program of a quasistatic step.

use std::ops::Range;

use crate::math::{Vector3, Vector6};
use crate::solvers::{BoxRow, PatchBlock};

/// The identity of a contact, the same from step to step: the key of warm starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey {
    /// The pair of geometries.
    pub pair: u32,
    /// The index of the point among those of the pair.
    pub point: u32,
}

/// A rigid contact point. With n the normal from A into B, t1 and t2 the tangents (right-handed, t1 x t2 =
/// n), and v_C the velocity of B relative to A there, the friction constraint [Pang & Tedrake 2021, eq. 10b;
/// Anitescu 2006] is
///   phi/h + n . v_C >= mu |(t1 . v_C, t2 . v_C)|   (exact cone), or
///   phi/h + (n + mu d_j) . v_C >= 0 for d_j = cos(2 pi j/m) t1 + sin(2 pi j/m) t2, j = 0 .. m-1
///   (pyramid of m rays).
#[derive(Clone, Debug)]
pub struct ConeContact {
    /// Identity over steps.
    pub key: ContactKey,
    /// phi/h: signed distance at the start of the step over the step [m/s].
    pub gap_rate: f64,
    /// Velocity (t1, t2) of B's surface relative to body B, minus that of A's surface relative to body A
    /// [m/s]. It adds to v_C in the slip that friction opposes.
    pub surface_velocity: [f64; 2],
    /// Coulomb friction coefficient mu >= 0 [-].
    pub friction: f64,
    /// 1/(h^2 k) with the point's normal stiffness k [m/s per N s]. Only Coulomb's law uses it, to divide a
    /// load among points whose shares rigid contact leaves undetermined.
    pub compliance: f64,
    /// The slip speed of a point that sticks over its friction impulse [m/s per N s]. Only Coulomb's law uses
    /// it: friction that nothing determines, as between a pusher and the face that it presses, fades.
    pub creep: f64,
    /// The bound mu gamma_n of friction [N s] that stands for Coulomb's law: |gamma_t| <= bound, and the
    /// normal impulse obeys phi/h + n . v_C + compliance gamma_n >= 0. `None`: the friction constraint above.
    pub friction_bound: Option<f64>,
    /// The weight of the contact's barrier in smoothed steps, relative to that of the others: from 1 for near
    /// contacts to almost 0 where contacts begin to be found [-].
    pub barrier_weight: f64,
    /// The derivative of `barrier_weight` by the gap rate [s/m].
    pub barrier_slope: f64,
    columns: Range<usize>,
}

/// The change of the friction bounds of a contact or patch in a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BoundChange {
    /// The largest change [N s].
    pub(super) impulse: f64,
    /// The largest of the old and new bounds [N s].
    pub(super) largest: f64,
}

/// The numbers of a contact point's law on which its impulse depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointLaw {
    /// mu [-].
    pub(super) friction: f64,
    /// [m/s per N s].
    pub(super) compliance: f64,
    /// [m/s per N s].
    pub(super) creep: f64,
    /// [N s].
    pub(super) bound: Option<f64>,
}

impl ConeContact {
    /// (phi/h, u1, u2): the part of y that does not depend on v [m/s].
    pub fn offset(&self) -> Vector3 {
        let [u1, u2] = self.surface_velocity;
        Vector3::new(self.gap_rate, u1, u2)
    }
    pub(super) fn law(&self) -> PointLaw {
        PointLaw { friction: self.friction, compliance: self.compliance, creep: self.creep, bound: self.friction_bound }
    }
}

/// lower <= v_dof <= upper: a joint limit, (q_limit - q)/h [m/s] or [rad/s].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityBound {
    /// The generalized velocity.
    pub dof: u32,
    /// Smallest velocity [m/s] or [rad/s]; minus infinity without a limit.
    pub lower: f64,
    /// Largest velocity [m/s] or [rad/s]; infinite without a limit.
    pub upper: f64,
}

/// min over v of  1/2 v^T Q v - b^T v + potentials of rows and patches,  subject to the contacts' friction
/// constraints and the bounds.
///
/// Q = blkdiag(M_u, h^2 K_a) with M_u = 0 in a purely quasistatic step, b = h (tau_u; K_a dq_cmd + tau_a):
/// the linear term has a block of tau_u and the commanded increment dq_cmd = q_cmd - q, which eqs. 10a and 11
/// of the paper misprint. Multipliers of the constraints are impulses [N s]; impulse / h is the contact
/// force. All memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct QuasistaticProblem {
    size: usize,
    /// Step h \[s\].
    pub step: f64,
    /// Q, row-major, symmetric positive semidefinite [kg, kg m, kg m2].
    pub quadratic: Vec<f64>,
    /// b [N s, N m s].
    pub linear: Vec<f64>,
    /// Impedances with effort limits, gamma = clamp(h (K (dq_cmd - h v)), +-h limit), and dry friction.
    pub rows: Vec<BoxRow>,
    /// Velocities whose term in Q is too weak a resistance to set the scale of the contacts' penalties.
    pub light: Vec<u32>,
    /// Joint limits.
    pub bounds: Vec<VelocityBound>,
    contacts: Vec<ConeContact>,
    columns: Vec<(u32, Vector3)>,
    patches: Vec<PatchBlock>,
    patch_count: usize,
}

impl QuasistaticProblem {
    /// Empties the problem for `size` generalized velocities and a step of `step` seconds; keeps the memory.
    pub fn reset(&mut self, size: usize, step: f64) {
        self.size = size;
        self.step = step;
        self.quadratic.clear();
        self.quadratic.resize(size * size, 0.0);
        self.linear.clear();
        self.linear.resize(size, 0.0);
        self.rows.clear();
        self.light.clear();
        self.bounds.clear();
        self.contacts.clear();
        self.columns.clear();
        self.patch_count = 0;
    }
    /// Removes contacts and patches; keeps everything else.
    pub fn clear_contacts(&mut self) {
        self.contacts.clear();
        self.columns.clear();
        self.patch_count = 0;
    }
    /// Number of generalized velocities.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Adds a contact; `columns` are the non-zero columns of its Jacobian, (n . v_C, t1 . v_C, t2 . v_C) for
    /// each generalized velocity, ascending.
    pub fn add_contact(
        &mut self,
        key: ContactKey,
        gap_rate: f64,
        friction: f64,
        columns: impl IntoIterator<Item = (u32, Vector3)>,
    ) {
        let start = self.columns.len();
        self.columns.extend(columns);
        debug_assert!(
            self.columns[start..].windows(2).all(|pair| pair[0].0 < pair[1].0),
            "columns come in ascending order"
        );
        let columns = start..self.columns.len();
        self.contacts.push(ConeContact {
            key,
            gap_rate,
            surface_velocity: [0.0; 2],
            friction,
            compliance: 0.0,
            creep: 0.0,
            friction_bound: None,
            barrier_weight: 1.0,
            barrier_slope: 0.0,
            columns,
        });
    }
    /// Leaves out the constraint of the contact that was added last, if no velocity moves it along its normal
    /// by more than the fraction `least` of its motion across: it gets the gap `gap` \[m\] and no friction.
    /// Returns whether it did.
    pub fn leave_out_immovable(&mut self, least: f64, gap: f64) -> bool {
        let Some(contact) = self.contacts.last_mut() else { return false };
        let largest = |size: fn(&Vector3) -> f64, columns: &[(u32, Vector3)]| {
            columns.iter().fold(0.0_f64, |largest, (_, column)| largest.max(size(column)))
        };
        let columns = &self.columns[contact.columns.clone()];
        let is_immovable =
            largest(|column| column.x.abs(), columns) <= least * largest(|column| column.norm(), columns);
        if is_immovable {
            (contact.gap_rate, contact.friction) = (gap / self.step, 0.0);
        }
        is_immovable
    }
    /// Sets [`ConeContact::surface_velocity`] of the contact that was added last.
    pub fn set_surface_velocity(&mut self, surface_velocity: [f64; 2]) {
        if let Some(contact) = self.contacts.last_mut() {
            contact.surface_velocity = surface_velocity;
        }
    }
    /// Sets [`ConeContact::compliance`] and [`ConeContact::creep`] of the contact that was added last.
    pub fn set_compliance(&mut self, compliance: f64, creep: f64) {
        if let Some(contact) = self.contacts.last_mut() {
            contact.compliance = compliance;
            contact.creep = creep;
        }
    }
    /// Sets [`ConeContact::barrier_weight`] and [`ConeContact::barrier_slope`] of the contact that was added
    /// last.
    pub fn set_barrier_weight(&mut self, (weight, slope): (f64, f64)) {
        if let Some(contact) = self.contacts.last_mut() {
            (contact.barrier_weight, contact.barrier_slope) = (weight, slope);
        }
    }
    /// Sets [`ConeContact::friction_bound`] of a contact.
    pub(super) fn bound_friction(&mut self, index: usize, bound: Option<f64>) {
        self.contacts[index].friction_bound = bound;
    }
    /// The contacts, in the order in which they were added.
    pub fn contacts(&self) -> &[ConeContact] {
        &self.contacts
    }
    /// The non-zero columns (n, t1, t2) of a contact's Jacobian.
    pub fn columns(&self, contact: &ConeContact) -> &[(u32, Vector3)] {
        &self.columns[contact.columns.clone()]
    }
    /// Whether all columns of all contacts are finite, without a branch for each number: 0 x is NaN if x is
    /// not finite.
    pub(super) fn columns_are_finite(&self) -> bool {
        let (pairs, rest) = self.columns.as_chunks::<2>();
        let mut sums = [Vector3::zeros(); 2];
        for pair in pairs {
            for (sum, (_, column)) in sums.iter_mut().zip(pair) {
                *sum += column * 0.0;
            }
        }
        for (_, column) in rest {
            sums[0] += column * 0.0;
        }
        sums[0] + sums[1] == Vector3::zeros()
    }
    /// y = (phi/h, u1, u2) + J v with the surface velocity u: the velocity (n, t1, t2) of B relative to A at
    /// the contact, with the gap as a normal velocity [m/s].
    pub fn contact_velocity(&self, contact: &ConeContact, v: &[f64]) -> Vector3 {
        let mut y = contact.offset();
        for (dof, column) in self.columns(contact) {
            y += column * v[*dof as usize];
        }
        y
    }
    /// Reduces all gaps and the range between bounds by `margin` [m/s].
    pub(super) fn narrow(&mut self, margin: f64) {
        for contact in &mut self.contacts {
            contact.gap_rate -= margin;
        }
        for bound in &mut self.bounds {
            let middle = 0.5 * (bound.lower + bound.upper);
            let open = middle.is_finite();
            bound.lower = if open { (bound.lower + margin).min(middle) } else { bound.lower + margin };
            bound.upper = if open { (bound.upper - margin).max(middle) } else { bound.upper - margin };
        }
    }
    /// Sets the friction bounds of all patches to mu times their normal impulses at v, and writes their
    /// changes, by patch.
    pub(super) fn refresh_patches(&mut self, v: &[f64], changes: &mut Vec<BoundChange>) {
        changes.clear();
        changes.extend(self.patches[..self.patch_count].iter_mut().map(|patch| {
            let V = patch.velocity(v);
            let (impulse, largest) = patch.refresh_friction(&V);
            BoundChange { impulse, largest }
        }));
    }
    /// Adds a pressure-field patch and returns it, to be reset and filled. Its law must have the step h and
    /// no Hunt-Crossley dissipation. Spare memory is reused.
    pub fn add_patch(&mut self) -> &mut PatchBlock {
        if self.patch_count == self.patches.len() {
            self.patches.push(PatchBlock::new());
        }
        self.patch_count += 1;
        &mut self.patches[self.patch_count - 1]
    }
    /// The non-zero columns of a patch's Jacobian: the velocity of B relative to A at the patch point.
    pub fn patch_columns<'a>(&self, patch: &'a PatchBlock) -> impl Iterator<Item = (u32, &'a Vector6)> + use<'a> {
        patch.jacobian.dofs.iter().copied().zip(&patch.jacobian.columns)
    }
    /// The patches of this step, in the order in which they were added.
    pub fn patches(&self) -> &[PatchBlock] {
        &self.patches[..self.patch_count]
    }
}
