//! Closes small holes.

use std::collections::BTreeMap;

use super::defect::SurfaceDefect;
use super::work::Work;
use crate::geometry::Aabb;
use crate::math::Vector3;

/// A hole whose border is not longer than this share of the mesh's size is closed: a slit or a lost triangle.
/// [-]
const BORDER_MAX: f64 = 0.1;
/// A hole whose area is not larger than this share of the surface is closed: a lost face. A tenth can be
/// the lid of a box, whose absence is intended. [-]
const AREA_MAX: f64 = 0.02;

/// The directed edges that are missing where an edge is passed more often in one direction than in the other.
fn missing(work: &Work) -> Vec<[u32; 2]> {
    let mut missing = Vec::new();
    for same in work.edges().chunk_by(|x, y| x.0 == y.0) {
        let [a, b] = same[0].0;
        let forward = same.iter().filter(|edge| edge.2).count();
        let backward = same.len() - forward;
        missing.extend(std::iter::repeat_n([b, a], forward.saturating_sub(backward)));
        missing.extend(std::iter::repeat_n([a, b], backward.saturating_sub(forward)));
    }
    missing
}

/// Closes each short or small loop of missing edges by a fan of triangles. The fan of a flat loop that is not
/// convex lies on itself, but winds around each point as often as a flat face would.
pub(super) fn close_holes(work: &mut Work) -> Result<(), SurfaceDefect> {
    let missing = missing(work);
    if missing.is_empty() {
        return Ok(());
    }
    let bounds = Aabb::around(&work.vertices);
    let longest = BORDER_MAX * (bounds.max - bounds.min).norm();
    let largest = AREA_MAX * (0..work.triangles.len()).map(|triangle| work.area_vector(triangle).norm()).sum::<f64>();
    let loops = loops(&missing);
    for border in &loops {
        let length: f64 = (0..border.len())
            .map(|i| (work.position(border[i]).0 - work.position(border[(i + 1) % border.len()]).0).norm())
            .sum();
        if length > longest && fan_area(work, border) > largest {
            return Err(open(work, [border[0], border[1]]));
        }
    }
    for border in loops {
        close(work, &border);
        work.report.closed_holes += 1;
    }
    Ok(())
}

/// The defect at a missing edge.
fn open(work: &Work, [a, b]: [u32; 2]) -> SurfaceDefect {
    let edges = work.edges();
    let key = [a.min(b), a.max(b)];
    let triangles: Vec<u32> =
        edges.iter().filter(|edge| edge.0 == key).map(|edge| work.source[edge.1 as usize]).collect();
    let (from, to) = (work.position(key[0]), work.position(key[1]));
    let groups = || edges.chunk_by(|x, y| x.0 == y.0);
    match triangles.as_slice() {
        [triangle] => SurfaceDefect::Open {
            count: groups().filter(|same| same.len() == 1).count(),
            triangle: *triangle,
            from,
            to,
        },
        _ => SurfaceDefect::NonManifold { count: groups().filter(|same| same.len() > 2).count(), triangles, from, to },
    }
}

/// Closed walks over directed edges, none of which passes a vertex twice. Each vertex has as many outgoing
/// edges as incoming ones, because the missing edges bound the existing surface.
fn loops(edges: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut leaving: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    edges.iter().rev().for_each(|[a, b]| leaving.entry(*a).or_default().push(*b));
    let mut loops = Vec::new();
    for [start, _] in edges {
        let mut walk = vec![*start];
        while let Some(next) = walk.last().and_then(|at| leaving.get_mut(at)).and_then(Vec::pop) {
            if let Some(position) = walk.iter().position(|vertex| *vertex == next) {
                loops.push(walk.split_off(position));
            }
            walk.push(next);
        }
    }
    loops.retain(|border| border.len() > 2);
    loops
}

/// The area of the fan around the middle of a border \[m²\].
fn fan_area(work: &Work, border: &[u32]) -> f64 {
    let at = |i: usize| work.position(border[i % border.len()]).0;
    let middle = (0..border.len()).map(at).sum::<Vector3>() / border.len() as f64;
    (0..border.len()).map(|i| 0.5 * (at(i) - middle).cross(&(at(i + 1) - middle)).norm()).sum()
}

fn close(work: &mut Work, border: &[u32]) {
    let count = border.len();
    let source = work.source.first().copied().unwrap_or(0);
    let add = |work: &mut Work, triangle| {
        work.triangles.push(triangle);
        work.source.push(source);
    };
    if count <= 4 {
        // A loop of four edges is split along its shorter diagonal.
        let length = |a: u32, b: u32| (work.position(a).0 - work.position(b).0).norm();
        let turn = usize::from(count == 4 && length(border[1], border[3]) < length(border[0], border[2]));
        let at = |i: usize| border[(i + turn) % count];
        let fan: Vec<[u32; 3]> = (2..count).map(|i| [at(0), at(i - 1), at(i)]).collect();
        fan.into_iter().for_each(|triangle| add(work, triangle));
        return;
    }
    let center = border.iter().map(|vertex| work.position(*vertex).0).sum::<Vector3>() / count as f64;
    let middle = work.vertices.len() as u32;
    work.vertices.push(center);
    for i in 0..count {
        add(work, [border[i], border[(i + 1) % count], middle]);
    }
}
