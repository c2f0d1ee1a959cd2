//! Closed, two triangles at each edge, the same outside everywhere, positive volume.

use super::{SurfaceDefect, Work};
use crate::math::Vector3;

/// A component encloses nothing below this share of its area to the power 3/2 (a ball has 0.09). [-]
const VOLUME_MIN: f64 = 1e-9;

/// Refuses open and non-manifold edges, then turns triangles and components.
pub(super) fn close_and_orient(work: &mut Work) -> Result<(), SurfaceDefect> {
    let edges = work.edges();
    refuse_open(work, &edges)?;
    refuse_non_manifold(work, &edges)?;
    let component = agree(work, &edges)?;
    turn_outward(work, &component)
}

fn refuse_open(work: &Work, edges: &[([u32; 2], u32, bool)]) -> Result<(), SurfaceDefect> {
    let mut open = edges.chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() == 1);
    let Some(first) = open.next() else { return Ok(()) };
    let ([a, b], triangle, _) = first[0];
    Err(SurfaceDefect::Open {
        count: 1 + open.count(),
        triangle: work.source[triangle as usize],
        from: work.place(a),
        to: work.place(b),
    })
}

fn refuse_non_manifold(work: &Work, edges: &[([u32; 2], u32, bool)]) -> Result<(), SurfaceDefect> {
    let mut many = edges.chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() > 2);
    let Some(first) = many.next() else { return Ok(()) };
    let [a, b] = first[0].0;
    Err(SurfaceDefect::NonManifold {
        count: 1 + many.count(),
        triangles: first.iter().map(|edge| work.source[edge.1 as usize]).collect(),
        from: work.place(a),
        to: work.place(b),
    })
}

/// Turns triangles until neighbours agree; returns the component of each. Of two ways to turn a component, the one that turns
/// fewer triangles is taken.
fn agree(work: &mut Work, edges: &[([u32; 2], u32, bool)]) -> Result<Vec<u32>, SurfaceDefect> {
    let count = work.triangles.len();
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for same in edges.chunk_by(|x, y| x.0 == y.0) {
        if let [(_, first, forward), (_, second, other)] = same {
            let agrees = forward != other;
            neighbours[*first as usize].push((*second, agrees));
            neighbours[*second as usize].push((*first, agrees));
        }
    }
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; count];
    let mut turned = vec![false; count];
    let mut components = 0;
    for seed in 0..count {
        if component[seed] != NONE {
            continue;
        }
        component[seed] = components;
        let mut members = vec![seed];
        let mut next = 0;
        while let Some(&triangle) = members.get(next) {
            next += 1;
            for &(other, agrees) in &neighbours[triangle] {
                let other = other as usize;
                if component[other] == NONE {
                    component[other] = components;
                    turned[other] = if agrees { turned[triangle] } else { !turned[triangle] };
                    members.push(other);
                } else if (turned[other] == turned[triangle]) != agrees {
                    let (triangle, at) = (work.source[other], work.center(other));
                    return Err(SurfaceDefect::OneSided { triangle, at });
                }
            }
        }
        let minority = members.iter().filter(|member| turned[**member]).count();
        if 2 * minority > members.len() {
            members.iter().for_each(|member| turned[*member] = !turned[*member]);
        }
        components += 1;
    }
    for (triangle, _) in work.triangles.iter_mut().zip(&turned).filter(|(_, turned)| **turned) {
        triangle.swap(1, 2);
        work.report.turned += 1;
    }
    work.report.components = components as usize;
    Ok(component)
}

/// Turns components with negative volume inside out where no other holds them; inside another one they are cavities.
fn turn_outward(work: &mut Work, component: &[u32]) -> Result<(), SurfaceDefect> {
    let count = work.report.components;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (triangle, component) in component.iter().enumerate() {
        members[*component as usize].push(triangle);
    }
    let volumes = members.iter().map(|members| enclosed(work, members)).collect::<Result<Vec<f64>, _>>()?;
    let mut inverted = Vec::new();
    for k in 0..count {
        if volumes[k] > 0.0 {
            continue;
        }
        let point = work.corners(members[k][0])[0];
        // inside another component an inverted one bounds a cavity
        let holders = (0..count)
            .filter(|other| *other != k && volumes[*other].abs() > volumes[k].abs())
            .filter(|other| winding(work, &members[*other], &point).abs() > 0.5)
            .count();
        if holders % 2 == 1 {
            work.report.cavities += 1;
        } else {
            inverted.push(k);
        }
    }
    for k in inverted {
        members[k].iter().for_each(|triangle| work.triangles[*triangle].swap(1, 2));
        work.report.inverted += 1;
    }
    Ok(())
}

/// The signed volume inside a component [m³].
fn enclosed(work: &Work, members: &[usize]) -> Result<f64, SurfaceDefect> {
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

/// How often the triangles go around a point: the sum of their solid angles over 4 pi [van Oosterom & Strackee 1983].
fn winding(work: &Work, members: &[usize], point: &Vector3) -> f64 {
    let mut sum = 0.0;
    for triangle in members {
        let [a, b, c] = work.corners(*triangle).map(|corner| corner - point);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let under = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        sum += 2.0 * a.cross(&b).dot(&c).atan2(under);
    }
    sum / (4.0 * std::f64::consts::PI)
}
