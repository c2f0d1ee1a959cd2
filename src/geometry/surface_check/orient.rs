//! The orientation of components and the volumes that they enclose.

use super::defect::SurfaceDefect;
use super::work::Work;

/// A component whose volume is below this share of its area to the power 3/2 encloses nothing; for a ball the
/// share is 0.09. [-]
const VOLUME_MIN: f64 = 1e-9;

/// Turns triangles until the two at each edge agree. Of two ways to turn a component, the one that turns
/// fewer triangles is taken.
///
/// # Errors
/// A component with one side. Its triangles agree as far as they can.
pub(super) fn agree(work: &mut Work) -> Result<(), SurfaceDefect> {
    let count = work.triangles.len();
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for same in work.edges().chunk_by(|x, y| x.0 == y.0) {
        if let [(_, first, forward), (_, second, other)] = same {
            let agrees = forward != other;
            neighbours[*first as usize].push((*second, agrees));
            neighbours[*second as usize].push((*first, agrees));
        }
    }
    let mut turned = vec![false; count];
    let mut is_set = vec![false; count];
    let mut one_sided = None;
    for members in connected(&neighbours, |(other, _)| *other) {
        is_set[members[0]] = true;
        for &triangle in &members {
            for &(other, agrees) in &neighbours[triangle] {
                let other = other as usize;
                let expected = turned[triangle] == agrees;
                if !std::mem::replace(&mut is_set[other], true) {
                    turned[other] = expected;
                } else if turned[other] != expected && one_sided.is_none() {
                    let (triangle, at) = (work.source[other], work.center(other));
                    one_sided = Some(SurfaceDefect::OneSided { triangle, at });
                }
            }
        }
        let minority = members.iter().filter(|member| turned[**member]).count();
        if 2 * minority > members.len() {
            members.iter().for_each(|member| turned[*member] = !turned[*member]);
        }
    }
    for (triangle, _) in work.triangles.iter_mut().zip(&turned).filter(|(_, turned)| **turned) {
        triangle.swap(1, 2);
        work.report.turned += 1;
    }
    one_sided.map_or(Ok(()), Err)
}

/// Triangles that are connected by edges of two triangles each.
pub(super) struct Patch {
    pub(super) triangles: Vec<usize>,
    /// Whether it has an edge that belongs to one triangle of it only.
    pub(super) is_open: bool,
}

/// The patches of a surface.
pub(super) fn patches(work: &Work) -> Vec<Patch> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); work.triangles.len()];
    for same in work.edges().chunk_by(|x, y| x.0 == y.0) {
        if let [(_, first, _), (_, second, _)] = same {
            neighbours[*first as usize].push(*second);
            neighbours[*second as usize].push(*first);
        }
    }
    connected(&neighbours, |other| *other)
        .into_iter()
        .map(|triangles| {
            let is_open = triangles.iter().any(|triangle| neighbours[*triangle].len() < 3);
            Patch { triangles, is_open }
        })
        .collect()
}

/// The number of the component of each of `count` triangles.
pub(super) fn part_of<'a>(components: impl Iterator<Item = &'a Vec<usize>>, count: usize) -> Vec<usize> {
    let mut part_of = vec![0; count];
    for (k, triangles) in components.enumerate() {
        triangles.iter().for_each(|triangle| part_of[*triangle] = k);
    }
    part_of
}

/// The triangles of each component, that is, the triangles that are connected by edges.
pub(super) fn components(work: &mut Work) -> Vec<Vec<usize>> {
    let edges = work.edges();
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); work.triangles.len()];
    for same in edges.chunk_by(|x, y| x.0 == y.0) {
        for pair in same.windows(2) {
            at[pair[0].1 as usize].push(pair[1].1);
            at[pair[1].1 as usize].push(pair[0].1);
        }
        work.report.shared_edges += usize::from(same.len() > 2);
    }
    connected(&at, |other| *other)
}

/// The triangles of each connected set, breadth first. `neighbours` holds the neighbours of each triangle,
/// and `index` returns the triangle of a neighbour.
fn connected<N>(neighbours: &[Vec<N>], index: impl Fn(&N) -> u32) -> Vec<Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut sets = Vec::new();
    for seed in 0..neighbours.len() {
        if std::mem::replace(&mut seen[seed], true) {
            continue;
        }
        let mut members = vec![seed];
        let mut next = 0;
        while let Some(&triangle) = members.get(next) {
            next += 1;
            for other in neighbours[triangle].iter().map(|neighbour| index(neighbour) as usize) {
                if !std::mem::replace(&mut seen[other], true) {
                    members.push(other);
                }
            }
        }
        sets.push(members);
    }
    sets
}

/// The signed volume inside a component \[m³\].
pub(super) fn enclosed(work: &Work, members: &[usize]) -> Result<f64, SurfaceDefect> {
    let origin = work.corners(members[0])[0];
    let (mut volume, mut area) = (0.0, 0.0);
    for triangle in members {
        let [a, b, c] = work.corners(*triangle).map(|corner| corner - origin);
        volume += a.cross(&b).dot(&c) / 6.0;
        area += 0.5 * (b - a).cross(&(c - a)).norm();
    }
    if volume.abs() > VOLUME_MIN * area.powf(1.5) {
        return Ok(volume);
    }
    Err(SurfaceDefect::NoVolume {
        triangles: members.len(),
        triangle: work.source[members[0]],
        at: work.center(members[0]),
    })
}
