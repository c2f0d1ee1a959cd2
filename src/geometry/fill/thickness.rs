//! Local thickness of a body, for pressures that reach the modulus in the middle of every part.
//!
//! The largest ball inside a body that touches its surface at a point is found by shrinking (Ma, Bae and
//! Choi, 2012): its centre lies on the medial axis, and its radius is half the thickness there. Half the
//! thickness at a point is the largest radius of a ball that reaches it. A ball counts fully out to [`FULL`]
//! radii, the distance of a cube's corner from its centre. From there its weight falls to zero at [`END`]
//! radii. A handle therefore has its own thickness and not that of the body that carries it, with a smooth
//! change between the two.

use crate::geometry::VolumeMesh;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::math::Vector3;

/// Distance from a ball's centre, in radii, up to which it counts fully: the square root of 3. [-]
const FULL: f64 = 1.732_050_807_568_877_2;
/// Distance from a ball's centre, in radii, from which it does not count. [-]
const END: f64 = 2.5;
/// Steps of the search for the largest ball at a point.
const SHRINKS: usize = 40;
/// A ball may reach through the surface by this share of its radius. [-]
const TOUCH: f64 = 1e-6;
/// A ball is left out if others give at least this share of its radius at its centre. [-]
const COVERED: f64 = 0.97;

/// A ball inside the body.
#[derive(Clone, Copy)]
struct Ball {
    center: Vector3,
    radius: f64,
}

impl Ball {
    /// Half the thickness that the ball gives to a point \[m\].
    fn at(&self, point: &Vector3) -> f64 {
        let radii = (point - self.center).norm() / self.radius;
        self.radius * ((END - radii) / (END - FULL)).clamp(0.0, 1.0)
    }
}

/// Half the local thickness at each vertex \[m\], at least its depth. It is 1 at vertices of the boundary
/// that no ball reaches. `size` is the largest possible radius \[m\].
pub(super) fn local(mesh: &VolumeMesh, depth: &[f64], surface: &SurfaceDistance, size: f64) -> Vec<f64> {
    let mut guess = 0;
    let mut balls: Vec<Ball> = mesh
        .vertices
        .iter()
        .zip(depth)
        .filter(|(_, depth)| **depth > 0.0)
        .filter_map(|(vertex, depth)| largest_ball(vertex, *depth, surface, size, &mut guess))
        .collect();
    balls.sort_by(|a, b| {
        let by = |axis: usize| a.center[axis].total_cmp(&b.center[axis]);
        b.radius.total_cmp(&a.radius).then(by(0)).then(by(1)).then(by(2))
    });
    let mut kept: Vec<Ball> = Vec::new();
    for ball in balls {
        if !kept.iter().any(|other| other.at(&ball.center) >= COVERED * ball.radius) {
            kept.push(ball);
        }
    }
    mesh.vertices
        .iter()
        .zip(depth)
        .map(|(vertex, depth)| kept.iter().map(|ball| ball.at(vertex)).fold(*depth, f64::max))
        .map(|thickness| if thickness > 0.0 { thickness } else { 1.0 })
        .collect()
}

/// The largest ball that touches the surface at the point nearest to `point` and whose centre lies on the ray
/// from there through `point`.
fn largest_ball(point: &Vector3, depth: f64, surface: &SurfaceDistance, size: f64, guess: &mut u32) -> Option<Ball> {
    let foot = surface.nearest(point, guess).point;
    let inward = (point - foot).try_normalize(0.0)?;
    let mut radius = size;
    for _ in 0..SHRINKS {
        let center = foot + inward * radius;
        let nearest = surface.nearest(&center, guess);
        if nearest.distance >= radius * (1.0 - TOUCH) {
            break;
        }
        let to = nearest.point - foot;
        let smaller = to.norm_squared() / (2.0 * inward.dot(&to));
        if !(smaller > depth && smaller < radius) {
            radius = depth;
            break;
        }
        radius = smaller;
    }
    Some(Ball { center: foot + inward * radius, radius })
}
