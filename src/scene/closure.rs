//! Loop closures: constraints between two bodies, in addition to the tree of joints.

use crate::math::{BodyIndex, RigidTransform, Vector3, Vector6, rotation_vector};

/// The constraint that a [`Closure`] puts on its two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClosureKind {
    /// The two frames coincide, in position and orientation.
    Weld,
    /// The origins of the two frames coincide.
    Point,
    /// The origins keep this distance \[m\].
    Distance(f64),
}

/// A joint that closes a loop: a frame on a body A, a frame on a body B, and the constraint between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// Name for messages.
    pub name: String,
    /// The constraint.
    pub kind: ClosureKind,
    /// Body A and the pose of its frame F.
    pub A: (BodyIndex, RigidTransform),
    /// Body B and the pose of its frame G.
    pub B: (BodyIndex, RigidTransform),
}

/// The error of a closure at given poses, row by row.
#[derive(Clone, Copy, Debug)]
pub struct ClosureError {
    /// The origins p_WF and p_WG [m, world].
    pub points: (Vector3, Vector3),
    /// For each row, its weights on (w; v) of G relative to F in world axes, and its error \[rad\] or \[m\].
    pub rows: [(Vector6, f64); 6],
    /// The number of `rows` in use.
    pub count: usize,
}

impl ClosureError {
    /// The largest error of a position \[m\] and of an angle \[rad\].
    pub fn largest(&self) -> (f64, f64) {
        let largest = |turns: bool| {
            let rows = self.rows[..self.count].iter().filter(|(row, _)| (row.fixed_rows::<3>(0).norm() > 0.0) == turns);
            rows.map(|(_, error)| error.abs()).fold(0.0, f64::max)
        };
        (largest(false), largest(true))
    }
}

impl Closure {
    /// The error at the poses X_WA and X_WB of the bodies.
    pub fn error(&self, X_WA: &RigidTransform, X_WB: &RigidTransform) -> ClosureError {
        let (X_WF, X_WG) = (X_WA * self.A.1, X_WB * self.B.1);
        let (p_WF, p_WG) = (X_WF.translation.vector, X_WG.translation.vector);
        let p_FG = p_WG - p_WF;
        let mut found = ClosureError { points: (p_WF, p_WG), rows: [(Vector6::zeros(), 0.0); 6], count: 0 };
        let mut add = |row: Vector6, error: f64| {
            found.rows[found.count] = (row, error);
            found.count += 1;
        };
        let unit = |axis: usize| Vector6::ith(axis, 1.0);
        match self.kind {
            ClosureKind::Distance(length) => {
                let distance = p_FG.norm();
                let n = if distance > 0.0 { p_FG / distance } else { Vector3::z() };
                add(Vector6::new(0.0, 0.0, 0.0, n.x, n.y, n.z), distance - length);
            }
            ClosureKind::Point | ClosureKind::Weld => {
                (0..3).for_each(|axis| add(unit(3 + axis), p_FG[axis]));
                if self.kind == ClosureKind::Weld {
                    let turn_W = rotation_vector(&(X_WG.rotation * X_WF.rotation.inverse()));
                    (0..3).for_each(|axis| add(unit(axis), turn_W[axis]));
                }
            }
        }
        found
    }
}
