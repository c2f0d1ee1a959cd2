//! The free path of the bodies within a step, and the division of a step for the search for contact surfaces
//! on it.

use crate::math::{SpatialVelocity, Vector3};
use crate::multibody::{Data, FreeMotion, Model, State, integrate, positions};

/// The motion of bodies through a step without contact.
#[derive(Clone, Copy, Debug)]
pub(in crate::stepping) struct FreePath<'a> {
    pub(in crate::stepping) model: &'a Model,
    /// Coordinates and velocities at the start of the step.
    pub(in crate::stepping) start: &'a State,
    /// The end of free motion. Trees that free motion does not move follow the velocities of the start.
    pub(in crate::stepping) free: &'a FreeMotion,
    /// Step dt \[s\].
    pub(in crate::stepping) step: f64,
    /// Whether external wrenches act: they may move bodies farther than speeds and weight do.
    pub(in crate::stepping) pushed: bool,
}

/// The poses of all bodies on their free path, after a fraction of the step.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct FreePathPoses {
    data: Option<Box<Data>>,
    q: Vec<f64>,
    change: Vec<f64>,
    /// The generalized velocities u of the path [rad/s, m/s].
    u: Vec<f64>,
    /// The fraction of the step to which `data` belongs [-]; NaN before the first.
    part: f64,
}

impl FreePathPoses {
    /// Starts a step.
    pub(in crate::stepping) fn begin(&mut self, path: &FreePath<'_>) {
        self.part = f64::NAN;
        self.u.clone_from(&path.start.v);
        for (number, tree) in path.model.trees().iter().enumerate() {
            if path.free.moved(number) {
                self.u[tree.clone()].copy_from_slice(&path.free.base.v[tree.clone()]);
            }
        }
    }

    /// Starts a step with the expected motion. Free bodies follow free motion, unless their tree is
    /// `carried`: the contacts or joints that held it before are expected to hold it in its motion.
    pub(in crate::stepping) fn expect(&mut self, path: &FreePath<'_>, carried: &[bool]) {
        self.part = f64::NAN;
        self.u.clone_from(&path.start.v);
        for (number, tree) in path.model.trees().iter().enumerate() {
            if tree.len() == 6 && path.free.moved(number) && !carried[number] {
                self.u[tree.clone()].copy_from_slice(&path.free.base.v[tree.clone()]);
            }
        }
    }

    /// Starts the motion with the velocities `v` [rad/s, m/s], which ends at the poses of a step that ends
    /// with them.
    pub(in crate::stepping) fn follow(&mut self, v: &[f64]) {
        self.part = f64::NAN;
        self.u.clear();
        self.u.extend_from_slice(v);
    }

    /// Moves the velocities for which `is_part` is true halfway to those of `other`.
    pub(in crate::stepping) fn go_halfway_to(&mut self, other: &Self, is_part: impl Fn(usize) -> bool) {
        self.part = f64::NAN;
        for (dof, (u, other)) in self.u.iter_mut().zip(&other.u).enumerate() {
            if is_part(dof) {
                *u = 0.5 * (*u + other);
            }
        }
    }

    /// The kinematics after the fraction `part` of the step, with q = q_f (+) dt (part u - v_f). With a
    /// fraction of 1, trees that free motion moves are exactly at its end. Only positions are valid.
    pub(in crate::stepping) fn at(&mut self, path: &FreePath<'_>, part: f64) -> &Data {
        let data = self.data.get_or_insert_with(|| Box::new(Data::new(path.model)));
        if self.part != part {
            self.part = part;
            self.change.clear();
            self.change.extend(self.u.iter().zip(&path.free.base.v).map(|(u, free)| part * u - free));
            self.q.clone_from(&path.free.base.q);
            integrate(path.model, &mut self.q, &self.change, path.step);
            positions(path.model, &self.q, data);
        }
        data
    }

    /// The velocity V = sum of the columns times u [rad/s, m/s]; `columns` are (degree of freedom, column).
    pub(in crate::stepping) fn velocity(&self, columns: &[(usize, crate::math::Vector6)]) -> SpatialVelocity {
        let total = columns.iter().map(|(dof, column)| column * self.u[*dof]).sum();
        SpatialVelocity::from_vector(&total)
    }
}

/// The number of parts into which a step is divided to find where two bodies meet. The bodies approach each
/// other by `travel` \[m\] in the step. In each part they approach by at most half the `thickness` \[m\] of
/// the body that could be passed through, unless [`PARTS_MAX`] limits the number.
pub(in crate::stepping) fn parts(travel: f64, thickness: f64) -> u32 {
    let parts = (2.0 * travel / thickness).ceil();
    if parts.is_finite() { parts.clamp(1.0, f64::from(PARTS_MAX)) as u32 } else { 1 }
}

/// The largest number of parts of a step. Each costs a query for a contact surface, and most queries find the
/// bodies apart.
const PARTS_MAX: u32 = 64;

/// The smallest extent of a box \[m\], infinite without bounds.
pub(in crate::stepping) fn thickness(half_extents: &Vector3) -> f64 {
    2.0 * half_extents.min()
}
