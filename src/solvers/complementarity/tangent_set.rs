//! Sets of friction impulses in the tangent plane of a contact.

use std::f64::consts::PI;

/// The friction impulses that a bound allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TangentSet {
    /// A square with its sides along the two tangents; each side is twice the bound.
    Box,
    /// A disc with the bound as its radius.
    Disc,
    /// A regular polygon with its corners at the distance of the bound, the first on the first tangent.
    Polygon {
        /// Corners.
        corners: u32,
    },
}

impl TangentSet {
    /// The point of the set of `bound` [N s] that is nearest to `x`, and the derivative of that point.
    pub(super) fn project(self, [x, y]: [f64; 2], bound: f64) -> ([f64; 2], [[f64; 2]; 2]) {
        const FREE: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];
        let length = x.hypot(y);
        match self {
            Self::Box => {
                let inside = |x: f64| if x.abs() <= bound { 1.0 } else { 0.0 };
                ([x.clamp(-bound, bound), y.clamp(-bound, bound)], [[inside(x), 0.0], [0.0, inside(y)]])
            }
            Self::Disc if length <= bound => ([x, y], FREE),
            Self::Disc => {
                let (along_x, along_y) = (x / length, y / length);
                let rate = bound / length;
                let derivative = [
                    [rate * along_y * along_y, -rate * along_x * along_y],
                    [-rate * along_x * along_y, rate * along_x * along_x],
                ];
                ([bound * along_x, bound * along_y], derivative)
            }
            Self::Polygon { corners } => {
                let half = PI / f64::from(corners);
                let sector = (y.atan2(x) / (2.0 * half)).floor();
                let (sin, cos) = (2.0 * half * sector + half).sin_cos();
                let (out, along) = (cos * x + sin * y, cos * y - sin * x);
                let (apothem, end) = (bound * half.cos(), bound * half.sin());
                if out <= apothem {
                    return ([x, y], FREE);
                }
                let clamped = along.clamp(-end, end);
                let point = [cos * apothem - sin * clamped, sin * apothem + cos * clamped];
                let rate = if along.abs() <= end { 1.0 } else { 0.0 };
                (point, [[rate * sin * sin, -rate * sin * cos], [-rate * sin * cos, rate * cos * cos]])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: of all points of a fine grid of the polygon, none is nearer than the projection; and the
    /// derivative is that of finite differences.
    #[test]
    fn the_nearest_point_of_each_set_is_found() {
        let sets = [
            TangentSet::Box,
            TangentSet::Disc,
            TangentSet::Polygon { corners: 3 },
            TangentSet::Polygon { corners: 4 },
            TangentSet::Polygon { corners: 8 },
        ];
        let is_inside = |set: TangentSet, p: [f64; 2], bound: f64| match set {
            TangentSet::Box => p[0].abs() <= bound && p[1].abs() <= bound,
            TangentSet::Disc => p[0].hypot(p[1]) <= bound,
            TangentSet::Polygon { corners } => (0..corners).all(|edge| {
                let angle = PI * f64::from(2 * edge + 1) / f64::from(corners);
                p[0] * angle.cos() + p[1] * angle.sin() <= bound * (PI / f64::from(corners)).cos() + 1e-12
            }),
        };
        for set in sets {
            for number in 0..40 {
                let angle = 0.1 + 0.157 * f64::from(number);
                for length in [0.2, 0.9, 1.1, 3.0] {
                    let x = [length * angle.cos(), length * angle.sin()];
                    let bound = 0.8;
                    let (p, derivative) = set.project(x, bound);
                    let distance = |q: [f64; 2]| (q[0] - x[0]).hypot(q[1] - x[1]);
                    assert!(is_inside(set, [p[0] * 0.999_999, p[1] * 0.999_999], bound), "{set:?} {x:?} {p:?}");
                    for i in -50..=50 {
                        for j in -50..=50 {
                            let q = [f64::from(i) * 0.02, f64::from(j) * 0.02];
                            let nearer = is_inside(set, q, bound) && distance(q) < distance(p) - 1e-9;
                            assert!(!nearer, "{set:?} {x:?}: {q:?} is nearer than {p:?}");
                        }
                    }
                    let step = 1e-7;
                    for axis in 0..2 {
                        let mut moved = x;
                        moved[axis] += step;
                        let (q, _) = set.project(moved, bound);
                        for k in 0..2 {
                            let slope = (q[k] - p[k]) / step;
                            assert!((slope - derivative[k][axis]).abs() < 1e-5, "{set:?} {x:?} {slope}");
                        }
                    }
                }
            }
        }
    }
}
