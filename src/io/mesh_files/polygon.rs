//! Cuts polygons into triangles by ear clipping [Meisters 1975; holes as in Eberly 2008].
//!
//! Every corner is used, also one on a straight side: the neighbours of the polygon have it too, and the
//! surface stays closed.

use crate::math::Vector3;

/// A corner whose triangle has less than this share of the area of the square around the polygon is straight.
/// [-]
const STRAIGHT: f64 = 1e-12;

/// A corner of the polygon, projected along its normal, and its number in the lists given.
#[derive(Clone, Copy)]
struct Corner {
    at: [f64; 2],
    number: usize,
}

/// The triangles of a flat polygon, as numbers of its corners. The first of the `loops` is its outline,
/// counter-clockwise from outside; the others are its holes, in any direction. Corners are numbered through
/// all loops. A convex outline becomes a fan from its first corner.
pub(super) fn triangles(loops: &[Vec<Vector3>]) -> Vec<[usize; 3]> {
    let Some((outline, holes)) = loops.split_first() else { return Vec::new() };
    let normal = newell(outline);
    // The projection that leaves out the largest component of the normal keeps the direction around.
    let axis = normal.iamax();
    let (u, v) = if normal[axis] >= 0.0 { ((axis + 1) % 3, (axis + 2) % 3) } else { ((axis + 2) % 3, (axis + 1) % 3) };
    let mut next = 0;
    let mut flat = |points: &Vec<Vector3>| {
        let first = next;
        next += points.len();
        let corner = |(k, p): (usize, &Vector3)| Corner { at: [p[u], p[v]], number: first + k };
        points.iter().enumerate().map(corner).collect::<Vec<_>>()
    };
    let mut polygon = flat(outline);
    let mut holes: Vec<Vec<Corner>> = holes.iter().map(&mut flat).filter(|hole| hole.len() > 2).collect();
    let size = polygon.iter().map(|c| distance(c, &polygon[0])).fold(0.0, f64::max);
    let straight = STRAIGHT * size * size;
    let count = polygon.len();
    let is_convex =
        (0..count).all(|k| turn(&polygon[(k + count - 1) % count], &polygon[k], &polygon[(k + 1) % count]) > straight);
    if count < 3 || ((count == 3 || is_convex) && holes.is_empty()) {
        return (2..count).map(|k| [polygon[0].number, polygon[k - 1].number, polygon[k].number]).collect();
    }
    for hole in &mut holes {
        if area(hole) > 0.0 {
            hole.reverse();
        }
    }
    connect(&mut polygon, holes);
    clip(&polygon, straight)
}

/// The area along the normal, times two.
fn newell(outline: &[Vector3]) -> Vector3 {
    let Some(first) = outline.first() else { return Vector3::z() };
    outline.windows(2).map(|edge| (edge[0] - first).cross(&(edge[1] - first))).sum()
}

/// Twice the area of the triangle; positive if it turns left.
fn turn(a: &Corner, b: &Corner, c: &Corner) -> f64 {
    let ([ax, ay], [bx, by], [cx, cy]) = (a.at, b.at, c.at);
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

fn distance(a: &Corner, b: &Corner) -> f64 {
    (a.at[0] - b.at[0]).hypot(a.at[1] - b.at[1])
}

fn area(polygon: &[Corner]) -> f64 {
    (2..polygon.len()).map(|k| turn(&polygon[0], &polygon[k - 1], &polygon[k])).sum()
}

/// Joins the holes to the outline, each by two edges there and back: from its rightmost corner to the nearest
/// corner of the outline that it sees on its right. Holes farther right go first, so that no hole lies
/// between.
fn connect(outline: &mut Vec<Corner>, mut holes: Vec<Vec<Corner>>) {
    let rightmost = |hole: &[Corner]| {
        let by = |a: &usize, b: &usize| hole[*a].at[0].total_cmp(&hole[*b].at[0]).then(b.cmp(a));
        (0..hole.len()).max_by(by).unwrap_or(0)
    };
    holes.sort_by(|a, b| b[rightmost(b)].at[0].total_cmp(&a[rightmost(a)].at[0]));
    for mut hole in holes {
        let first = rightmost(&hole);
        hole.rotate_left(first);
        let from = hole[0];
        let count = outline.len();
        let mut near: Vec<usize> = (0..count).collect();
        near.sort_by(|a, b| distance(&from, &outline[*a]).total_cmp(&distance(&from, &outline[*b])).then(a.cmp(b)));
        let sees = |k: &usize| {
            let to = &outline[*k];
            let (before, after) = (&outline[(k + count - 1) % count], &outline[(k + 1) % count]);
            // Whether the edge leaves the corner into the polygon.
            let (left, right) = (turn(to, after, &from) > 0.0, turn(before, to, &from) > 0.0);
            let inward = if turn(before, to, after) >= 0.0 { left && right } else { left || right };
            let is_right = to.at[0] >= from.at[0];
            is_right && inward && (0..count).all(|i| !crosses(&from, to, &outline[i], &outline[(i + 1) % count]))
        };
        let at = near.iter().copied().find(sees).or(near.first().copied()).unwrap_or(0);
        let back = [from, outline[at]];
        outline.splice(at + 1..at + 1, hole.into_iter().chain(back));
    }
}

/// Whether two segments cross at a point inside both, or a corner of the second lies inside the first.
fn crosses(a: &Corner, b: &Corner, c: &Corner, d: &Corner) -> bool {
    if [a.at, b.at].contains(&c.at) || [a.at, b.at].contains(&d.at) {
        return false;
    }
    let (c_side, d_side) = (turn(a, b, c), turn(a, b, d));
    let (a_side, b_side) = (turn(c, d, a), turn(c, d, b));
    c_side * d_side <= 0.0 && a_side * b_side <= 0.0 && !(c_side == 0.0 && d_side == 0.0)
}

/// Cuts off corners whose triangle contains no other corner, until a triangle is left.
fn clip(polygon: &[Corner], straight: f64) -> Vec<[usize; 3]> {
    let count = polygon.len();
    let mut after: Vec<usize> = (0..count).map(|k| (k + 1) % count).collect();
    let mut before: Vec<usize> = (0..count).map(|k| (k + count - 1) % count).collect();
    let bend = |after: &[usize], before: &[usize], k: usize| turn(&polygon[before[k]], &polygon[k], &polygon[after[k]]);
    // Only corners that do not bend outward can lie inside the triangle of another one.
    let mut hollow: Vec<usize> = (0..count).filter(|k| bend(&after, &before, *k) <= straight).collect();
    let mut cut = Vec::with_capacity(count.saturating_sub(2));
    let (mut at, mut tried, mut left) = (0, 0, count);
    while left > 3 {
        let (a, c) = (before[at], after[at]);
        let is_ear = bend(&after, &before, at) > straight
            && !hollow
                .iter()
                .any(|k| *k != a && *k != c && is_within(&polygon[*k], [&polygon[a], &polygon[at], &polygon[c]]));
        // An outline that crosses itself has no ear: its corners are cut off in their order.
        if !is_ear && tried < left {
            (at, tried) = (c, tried + 1);
            continue;
        }
        cut.push([polygon[a].number, polygon[at].number, polygon[c].number]);
        (after[a], before[c]) = (c, a);
        hollow.retain(|k| *k != at && (![a, c].contains(k) || bend(&after, &before, *k) <= straight));
        // The corner after next gives triangles that are less thin.
        (at, tried, left) = (after[c], 0, left - 1);
    }
    cut.push([before[at], at, after[at]].map(|k| polygon[k].number));
    cut
}

/// Whether a corner lies in the triangle or on its border, and is none of its corners.
fn is_within(corner: &Corner, [a, b, c]: [&Corner; 3]) -> bool {
    turn(a, b, corner) >= 0.0
        && turn(b, c, corner) >= 0.0
        && turn(c, a, corner) >= 0.0
        && ![a.at, b.at, c.at].contains(&corner.at)
}
