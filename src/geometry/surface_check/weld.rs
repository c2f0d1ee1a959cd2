//! Merges vertices at the same or nearly the same position, and removes triangles without area.

use std::collections::{BTreeMap, BTreeSet};

use super::defect::SurfaceDefect;
use super::work::Work;
use crate::geometry::Aabb;
use crate::math::Vector3;

/// Vertices closer than this share of the mesh's size are merged if the mesh would be open otherwise; it
/// covers the rounding of text files and of single precision. [-]
const WELD_TOLERANCE: f64 = 1e-6;
/// Height of a triangle over its longest edge; below this a triangle has no usable normal. Single precision
/// leaves 1e-7 of a flat one. [-]
const FLATNESS_MIN: f64 = 1e-7;
/// The largest number of rounds of flips; a round without flips is the last.
const ROUNDS_MAX: usize = 20;

/// Merges vertices and drops the triangles that collapse.
pub(super) fn weld(work: &mut Work) -> Result<(), SurfaceDefect> {
    merge(work, 0.0);
    if is_open(work) {
        let bounds = Aabb::around(&work.vertices);
        if !bounds.is_empty() {
            merge(work, WELD_TOLERANCE * (bounds.max - bounds.min).norm());
        }
    }
    drop_opposite_pairs(work);
    if work.triangles.is_empty() {
        return Err(SurfaceDefect::Empty { triangles: work.report.triangles_given });
    }
    compact(work);
    Ok(())
}

/// Flips edges of triangles without area until no flip is left, for at most [`ROUNDS_MAX`] rounds.
pub(super) fn flatten(work: &mut Work) -> Result<(), SurfaceDefect> {
    for _ in 0..ROUNDS_MAX {
        if flip_caps(work) == 0 {
            break;
        }
    }
    drop_opposite_pairs(work);
    if work.triangles.is_empty() {
        return Err(SurfaceDefect::Empty { triangles: work.report.triangles_given });
    }
    compact(work);
    Ok(())
}

/// Whether a triangle without area is left.
pub(super) fn has_flat(work: &Work) -> bool {
    (0..work.triangles.len()).any(|k| cap_edge(&work.corners(k)).is_some())
}

fn is_open(work: &Work) -> bool {
    work.edges().chunk_by(|x, y| x.0 == y.0).any(|same| same.len() == 1)
}

/// Merges vertices within `tolerance` \[m\] of each other and drops the triangles that collapse.
fn merge(work: &mut Work, tolerance: f64) {
    let cell = |x: &Vector3| -> [i64; 3] {
        if tolerance > 0.0 {
            std::array::from_fn(|axis| (x[axis] / tolerance).floor() as i64)
        } else {
            // Adding zero makes -0 and 0 the same bits.
            std::array::from_fn(|axis| (x[axis] + 0.0).to_bits() as i64)
        }
    };
    let reach: i64 = if tolerance > 0.0 { 1 } else { 0 };
    let mut cells: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut merged = Vec::with_capacity(work.vertices.len());
    for (vertex, position) in work.vertices.iter().enumerate() {
        let [i, j, k] = cell(position);
        let mut into = vertex as u32;
        for (di, dj, dk) in neighbours(reach) {
            let key = [i.wrapping_add(di), j.wrapping_add(dj), k.wrapping_add(dk)];
            for other in cells.get(&key).into_iter().flatten() {
                if (work.vertices[*other as usize] - position).norm() <= tolerance {
                    into = into.min(*other);
                }
            }
        }
        if into == vertex as u32 {
            cells.entry([i, j, k]).or_default().push(into);
        } else {
            work.report.welded += 1;
        }
        merged.push(into);
    }
    work.triangles.iter_mut().flatten().for_each(|vertex| *vertex = merged[*vertex as usize]);
    drop_triangles(work, |[a, b, c]| a == b || b == c || c == a);
}

fn neighbours(reach: i64) -> impl Iterator<Item = (i64, i64, i64)> {
    let along = move || -reach..=reach;
    along().flat_map(move |i| along().flat_map(move |j| along().map(move |k| (i, j, k))))
}

fn drop_triangles(work: &mut Work, goes: impl Fn([u32; 3]) -> bool) {
    let before = work.triangles.len();
    let mut keep = work.triangles.iter().map(|triangle| !goes(*triangle)).collect::<Vec<_>>().into_iter();
    work.source.retain(|_| keep.next().unwrap_or(true));
    work.triangles.retain(|triangle| !goes(*triangle));
    work.report.dropped += before - work.triangles.len();
}

/// Flips the longest edge of each triangle whose third vertex lies on it, with the neighbour there: the
/// vertex then splits the neighbour's edge. Returns how many were flipped.
fn flip_caps(work: &mut Work) -> usize {
    let edges = work.edges();
    let mut touched = vec![false; work.triangles.len()];
    let mut flipped = 0;
    for k in 0..work.triangles.len() {
        let Some(i) = cap_edge(&work.corners(k)) else { continue };
        let t = work.triangles[k];
        let (a, b, c) = (t[i], t[(i + 1) % 3], t[(i + 2) % 3]);
        let key = [a.min(b), a.max(b)];
        let start = edges.partition_point(|edge| edge.0 < key);
        let sharing: Vec<usize> =
            edges[start..].iter().take_while(|edge| edge.0 == key).map(|edge| edge.1 as usize).collect();
        let (&[first, second], false) = (sharing.as_slice(), touched[k]) else { continue };
        let other = if first == k { second } else { first };
        if other == k || touched[other] {
            continue;
        }
        let Some(d) = work.triangles[other].iter().copied().find(|vertex| *vertex != a && *vertex != b) else {
            continue;
        };
        if d == c || has_edge(&edges, c, d) {
            continue;
        }
        // (a, b, c) and (b, a, d) become (c, a, d) and (b, c, d); the same turned around if the neighbour is
        // turned
        work.triangles[k] = [c, a, d];
        work.triangles[other] = [b, c, d];
        touched[k] = true;
        touched[other] = true;
        flipped += 1;
    }
    work.report.flipped_edges += flipped;
    flipped
}

fn has_edge(edges: &[([u32; 2], u32, bool)], a: u32, b: u32) -> bool {
    let key = [a.min(b), a.max(b)];
    edges.binary_search_by(|edge| edge.0.cmp(&key)).is_ok()
}

/// The longest edge of a triangle without area; its third vertex lies on it.
fn cap_edge(p: &[Vector3; 3]) -> Option<usize> {
    let length = |i: usize| (p[(i + 1) % 3] - p[i]).norm();
    let i = (0..3).max_by(|a, b| length(*a).total_cmp(&length(*b)).then(b.cmp(a)))?;
    let (a, b, c) = (p[i], p[(i + 1) % 3], p[(i + 2) % 3]);
    let longest = length(i);
    let height = (b - a).cross(&(c - a)).norm() / longest;
    (longest == 0.0 || height < FLATNESS_MIN * longest).then_some(i)
}

/// Two triangles with the same corners: with opposite orientations they enclose nothing and both are removed,
/// otherwise one is. One of each pair stays where such pairs form a closed surface of their own, or are all
/// that there is: the surface is then drawn from both sides.
fn drop_opposite_pairs(work: &mut Work) {
    let mut keys: Vec<([u32; 3], bool, usize)> = work
        .triangles
        .iter()
        .enumerate()
        .map(|(k, triangle)| {
            let mut key = *triangle;
            key.sort_unstable();
            let at = triangle.iter().position(|vertex| *vertex == key[0]).unwrap_or(0);
            (key, triangle[(at + 1) % 3] == key[1], k)
        })
        .collect();
    keys.sort_unstable();
    let mut gone = vec![false; work.triangles.len()];
    let mut pairs = Vec::new();
    for same in keys.chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() > 1) {
        let forward = same.iter().filter(|key| key.1).count();
        let surplus = (2 * forward).abs_diff(same.len()).min(1);
        let kept = usize::from(surplus > 0);
        let majority = 2 * forward > same.len();
        let mut left = kept;
        if kept == 0 {
            pairs.extend(same.iter().map(|key| key.2).min());
        }
        for key in same {
            if left > 0 && key.1 == majority {
                left -= 1;
            } else {
                gone[key.2] = true;
            }
        }
    }
    for stays in double_sided(work, &pairs, &gone) {
        gone[stays] = false;
    }
    let dropped = gone.iter().filter(|gone| **gone).count();
    if dropped > 0 {
        let (mut triangle, mut source) = (gone.iter(), gone.iter());
        work.triangles.retain(|_| !triangle.next().copied().unwrap_or(false));
        work.source.retain(|_| !source.next().copied().unwrap_or(false));
        work.report.dropped += dropped;
    }
}

/// Of the triangles that are drawn from both sides, one for each pair, those that form a closed surface apart
/// from all triangles that stay; all of them if none stays.
fn double_sided(work: &Work, pairs: &[usize], gone: &[bool]) -> Vec<usize> {
    if !gone.contains(&false) || pairs.is_empty() {
        return pairs.to_vec();
    }
    let edges_of = |triangle: usize| {
        let [a, b, c] = work.triangles[triangle];
        [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)])
    };
    let mut at_edge: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        edges_of(*pair).into_iter().for_each(|edge| at_edge.entry(edge).or_default().push(number));
    }
    let mut ends: BTreeSet<[u32; 2]> =
        at_edge.iter().filter(|(_, pairs)| pairs.len() % 2 == 1).map(|(edge, _)| *edge).collect();
    let staying = (0..gone.len()).filter(|triangle| !gone[*triangle]).flat_map(edges_of);
    ends.extend(staying.filter(|edge| at_edge.contains_key(edge)));
    let mut stays = Vec::new();
    let mut seen = vec![false; pairs.len()];
    for first in 0..pairs.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let (mut patch, mut next, mut is_closed) = (vec![first], 0, true);
        while let Some(&number) = patch.get(next) {
            next += 1;
            for edge in edges_of(pairs[number]) {
                is_closed &= !ends.contains(&edge);
                for other in at_edge.get(&edge).into_iter().flatten() {
                    if !std::mem::replace(&mut seen[*other], true) {
                        patch.push(*other);
                    }
                }
            }
        }
        if is_closed {
            stays.extend(patch.iter().map(|number| pairs[*number]));
        }
    }
    stays
}

/// Leaves out vertices that no triangle uses.
pub(super) fn compact(work: &mut Work) {
    let mut number = vec![u32::MAX; work.vertices.len()];
    work.triangles.iter().flatten().for_each(|vertex| number[*vertex as usize] = 0);
    let mut kept = Vec::new();
    for (old, new) in number.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = kept.len() as u32;
        kept.push(work.vertices[old]);
    }
    work.vertices = kept;
    work.triangles.iter_mut().flatten().for_each(|vertex| *vertex = number[*vertex as usize]);
}
