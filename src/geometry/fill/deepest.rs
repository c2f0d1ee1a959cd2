//! The deepest point inside a surface.

use crate::geometry::VolumeMesh;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::math::Vector3;

/// The search for the deepest point starts at this many vertices, takes this many steps or halvings of its
/// step from each, and tries these directions.
const CLIMBS: usize = 2;
const CLIMB_STEPS: usize = 24;
const CLIMB_DIRECTIONS: [[f64; 3]; 14] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, -1.0],
    [0.58, 0.58, 0.58],
    [-0.58, 0.58, 0.58],
    [0.58, -0.58, 0.58],
    [-0.58, -0.58, 0.58],
    [0.58, 0.58, -0.58],
    [-0.58, 0.58, -0.58],
    [0.58, -0.58, -0.58],
    [-0.58, -0.58, -0.58],
];

/// The largest distance to a surface inside it \[m\], near the deepest vertex of a filling: uphill in shorter
/// and shorter steps. The lattice's own points miss it by up to half a spacing.
pub(super) fn deepest(mesh: &VolumeMesh, depth: &[f64], surface: &SurfaceDistance, spacing: f64) -> f64 {
    let mut order: Vec<usize> = (0..depth.len()).collect();
    order.sort_by(|a, b| depth[*b].total_cmp(&depth[*a]).then(a.cmp(b)));
    let mut largest = order.first().map_or(0.0, |vertex| depth[*vertex]);
    let (mut guess, mut found) = (0, 0);
    for vertex in order.into_iter().take(CLIMBS) {
        let (mut at, mut height, mut step) = (mesh.vertices[vertex], depth[vertex], 0.5 * spacing);
        for _ in 0..CLIMB_STEPS {
            let mut rises = false;
            for along in CLIMB_DIRECTIONS {
                // The ball of the present depth lies inside, and so does every point of it.
                let point = at + Vector3::from(along) * step.min(0.99 * height);
                if !surface.is_within(&point, height, &mut found) {
                    (height, at, rises) = (surface.nearest(&point, &mut guess).distance, point, true);
                }
            }
            if !rises {
                step *= 0.5;
            }
        }
        largest = largest.max(height);
    }
    largest
}
