//! Open parts inside closed ones: inner walls, screws and labels that bound no material.

use super::orient;
use super::work::Work;
use crate::geometry::SurfaceMesh;
use crate::geometry::winding::Winding;

/// Vertices of a part that must lie inside.
const SAMPLES: usize = 200;

/// Leaves out each open component all of whose vertices lie inside closed ones. Without a closed component
/// nothing changes.
pub(super) fn leave_out_loose(work: &mut Work) {
    if work.open_edges() == 0 {
        return;
    }
    let shared_edges = work.report.shared_edges;
    let components = orient::components(work);
    work.report.shared_edges = shared_edges;
    let mut open = vec![false; work.triangles.len()];
    for same in work.edges().chunk_by(|x, y| x.0 == y.0) {
        let forward = same.iter().filter(|edge| edge.2).count();
        if 2 * forward != same.len() {
            same.iter().for_each(|edge| open[edge.1 as usize] = true);
        }
    }
    let (open, closed): (Vec<_>, Vec<_>) =
        components.into_iter().partition(|members| members.iter().any(|triangle| open[*triangle]));
    if open.is_empty() || closed.is_empty() {
        return;
    }
    let triangles = closed.iter().flatten().map(|triangle| work.triangles[*triangle]).collect();
    let shell = SurfaceMesh { vertices: work.vertices.clone(), triangles };
    let winding = Winding::new(&shell);
    let mut crossings = Vec::new();
    let mut gone = vec![false; work.triangles.len()];
    for members in &open {
        let step = members.len().div_ceil(SAMPLES);
        // The shell may still be inside out.
        let inside = members
            .iter()
            .step_by(step)
            .all(|triangle| work.corners(*triangle).iter().all(|corner| winding.at(corner, &mut crossings) != 0));
        if inside {
            members.iter().for_each(|triangle| gone[*triangle] = true);
            work.report.loose += 1;
        }
    }
    work.leave_out(&gone);
}
