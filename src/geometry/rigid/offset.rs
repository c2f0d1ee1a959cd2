//! The offset between two balls, seen along directions in which triangles inside them may touch.

use crate::math::Vector3;

/// A cone around a direction: cosine and sine of the half angle [-].
pub(super) type Cone = (f64, f64);

/// The offset between the centres of two balls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offset {
    pub(super) between: Vector3,
    /// Its squared length \[m2\].
    pub(super) square: f64,
    /// The sum of the radii \[m\].
    pub(super) size: f64,
    /// Whether they are too far apart for points of triangles that lie behind each other.
    pub(super) is_far: bool,
}

impl Offset {
    /// Whether the balls do not overlap as seen along the unit vector `n`.
    pub(super) fn is_across(&self, n: &Vector3) -> bool {
        let along = self.between.dot(n);
        self.square - along * along > self.size * self.size
    }

    /// Whether the offset is farther than the size from all directions within a cone; those opposite to them
    /// count too, unless the balls are far apart.
    pub(super) fn is_beside(&self, normal: &Vector3, (cosine, sine): Cone) -> bool {
        if cosine <= 0.0 {
            return false;
        }
        let along = self.between.dot(normal);
        let across = self.square - along * along;
        let along = if self.is_far { along } else { along.abs() };
        // Past a right angle from the cone, its tip is the nearest point, and farther away than the size
        if along < 0.0 && across * sine * sine < along * along * cosine * cosine {
            return true;
        }
        let reach = self.size + along * sine;
        reach < 0.0 || across * cosine * cosine > reach * reach
    }

    /// Whether the balls may overlap as seen along a direction between two faces with the normals `from` and
    /// `to`, which share the edge `along`; `sign` is -1 if the faces are those of the second ball.
    pub(super) fn is_between(&self, from: &Vector3, to: &Vector3, along: &Vector3, sign: f64) -> bool {
        let reach = self.size * along.norm();
        let from_first = sign * from.cross(&self.between).dot(along);
        let to_second = sign * self.between.cross(to).dot(along);
        self.between.dot(along).abs() <= reach && (!self.is_far || (from_first >= -reach && to_second >= -reach))
    }
}
