//! The nesting of components: the outermost ones enclose material, those inside them bound cavities, and so
//! on inward.

use super::cut::{self, Roles};
use super::defect::SurfaceDefect;
use super::work::Work;
use super::{orient, weld};
use crate::geometry::winding::{Crossing, Winding};
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// The number of triangles of a component from which its surroundings are examined.
const SAMPLES: usize = 5;
/// The number of triangles of a cavity from which parts that fill it are looked for.
const CAVITY_SAMPLES: usize = 64;

/// The surroundings of a component are examined this far inside it, as a share of its size. [-]
const INWARD: f64 = 1e-5;

/// Parts that overlap in a cavity are looked for on its wall and at this depth, as a share of its smallest
/// extent: another part with a cavity there, whose wall lies a little inside, leaves it empty. [-]
const CAVITY_DEPTH: f64 = 0.25;
/// Halvings of that depth until a point is inside the cavity.
const CAVITY_HALVINGS: i32 = 5;

/// One component.
struct Part {
    triangles: Vec<usize>,
    /// The signed volume inside as the file gives it \[m3\].
    volume: f64,
    bounds: Aabb,
    /// Whether it intersects another component or itself.
    touches: bool,
    turned: bool,
    is_cavity: bool,
    /// Whether it intersects another one, is turned against the bodies of the file, and goes through one or
    /// ends on its faces; `None` if that is not known.
    goes_through: Option<bool>,
    /// Whether it is a cavity that reaches out of the material or ends on its surface.
    is_hole: bool,
    /// Whether it adds nothing to the material and is left out.
    buried: bool,
}

/// The surroundings of a component.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    /// Whether it lies in the material of the larger components.
    in_material: bool,
    /// Whether the innermost component around it was turned inside out.
    holder_turned: bool,
}

/// Turns components so that material and cavities alternate from outside in. A component with a negative
/// volume inside the material of another one is a cavity. A component with a positive volume there is also a
/// cavity if the outer one had to be turned, so that a hollow body that is entirely inside out is corrected.
/// Otherwise it adds nothing to the material and is left out, unless it intersects another component
/// (`touched`, for each triangle).
pub(super) fn nest(work: &mut Work, touched: &[bool], components: Vec<Vec<usize>>) -> Result<(), SurfaceDefect> {
    let mut parts = Vec::new();
    for triangles in components {
        let volume = orient::enclosed(work, &triangles)?;
        let bounds = triangles
            .iter()
            .map(|triangle| Aabb::around(&work.corners(*triangle)))
            .fold(Aabb::EMPTY, |bounds, other| bounds.union(&other));
        let touches = triangles.iter().any(|triangle| touched[*triangle]);
        parts.push(Part {
            triangles,
            volume,
            bounds,
            touches,
            turned: false,
            is_cavity: false,
            goes_through: None,
            is_hole: false,
            buried: false,
        });
    }
    work.report.components = parts.len();
    parts.sort_by(|a, b| b.volume.abs().total_cmp(&a.volume.abs()));
    let are_known = find_holes(work, &mut parts);
    // A drill may be larger than the plate that it goes through.
    parts.sort_by_key(|part| part.goes_through == Some(true));
    for part in parts.iter_mut().filter(|part| part.goes_through == Some(true)) {
        part.turned = part.volume > 0.0;
    }
    // Most meshes have one part, or parts side by side.
    let nested = (0..parts.len()).any(|k| parts[..k].iter().any(|other| other.bounds.overlaps(&parts[k].bounds)));
    let mesh = if nested {
        SurfaceMesh { vertices: work.vertices.clone(), triangles: work.triangles.clone() }
    } else {
        SurfaceMesh::default()
    };
    let around = nested.then(|| Around::new(&mesh, &parts));
    for k in 0..parts.len() {
        let surroundings = around.as_ref().map(|around| around.of(k, &parts));
        let Surroundings { in_material, holder_turned } = surroundings.unwrap_or_default();
        let part = &mut parts[k];
        part.is_cavity = part.goes_through.unwrap_or(in_material && (part.volume < 0.0 || holder_turned));
        part.is_hole = part.is_cavity && part.touches;
        part.turned = part.is_cavity == (part.volume > 0.0);
        part.buried = in_material && !part.is_cavity && !part.touches;
    }
    let cavities = || (0..parts.len()).filter(|k| parts[*k].is_cavity);
    work.report.cavities = cavities().count();
    work.report.holes = parts.iter().filter(|part| part.is_hole).count();
    let is_doubtful = |part: &&Part| match part.goes_through {
        Some(is_hole) => !is_hole,
        None => !are_known && part.touches && part.turned && !part.is_cavity,
    };
    work.report.doubtful = parts.iter().filter(is_doubtful).count();
    if let Some(around) = &around {
        work.report.filled_cavities = cavities().filter(|k| around.fills(*k, &parts)).count();
        work.report.lost = (0..parts.len()).filter(|k| around.is_lost(*k, &parts)).count();
    }
    for part in parts.iter().filter(|part| part.turned) {
        part.triangles.iter().for_each(|triangle| work.triangles[*triangle].swap(1, 2));
        work.report.inverted += 1;
    }
    let mut gone = vec![false; work.triangles.len()];
    let buried = || parts.iter().filter(|part| part.buried);
    buried().flat_map(|part| &part.triangles).for_each(|triangle| gone[*triangle] = true);
    work.leave_out(&gone);
    work.report.buried = buried().count();
    weld::compact(work);
    Ok(())
}

/// Finds the holes among parts that intersect others, if some of these are inside out. Returns whether this
/// was possible.
fn find_holes(work: &Work, parts: &mut [Part]) -> bool {
    let has = |sign: f64| parts.iter().any(|part| part.touches && part.volume * sign > 0.0);
    if !(has(1.0) && has(-1.0)) {
        return true;
    }
    let mesh = SurfaceMesh { vertices: work.vertices.clone(), triangles: work.triangles.clone() };
    let part_of = part_of(parts, mesh.triangles.len());
    // Parts that touch nothing do not matter here.
    let volumes: Vec<f64> = parts.iter().map(|part| if part.touches { part.volume } else { 0.0 }).collect();
    // Bodies beside those that intersect tell that the file is not inside out.
    let is_inner = |part: &Part| {
        let larger = parts.iter().filter(|other| other.volume.abs() > part.volume.abs());
        larger.into_iter().any(|other| other.bounds.union(&part.bounds) == other.bounds)
    };
    let may_turn = !parts.iter().any(|part| !part.touches && part.volume > 0.0 && !is_inner(part));
    let Some(Roles { main, holes }) = cut::roles(&mesh, &part_of, &volumes, may_turn) else { return false };
    for (part, is_hole) in parts.iter_mut().zip(holes).filter(|(part, _)| part.touches && part.volume * main < 0.0) {
        part.goes_through = Some(is_hole);
    }
    true
}

/// The number of the part of each of `count` triangles.
fn part_of(parts: &[Part], count: usize) -> Vec<usize> {
    orient::part_of(parts.iter().map(|part| &part.triangles), count)
}

/// Finds the surroundings of components with lines through them.
struct Around<'a> {
    winding: Winding<'a>,
    mesh: &'a SurfaceMesh,
    /// The component of each triangle.
    part_of: Vec<usize>,
}

impl<'a> Around<'a> {
    fn new(mesh: &'a SurfaceMesh, parts: &[Part]) -> Self {
        Self { winding: Winding::new(mesh), mesh, part_of: part_of(parts, mesh.triangles.len()) }
    }

    /// The surroundings of component `k` among the larger ones, which come first and whose orientation is
    /// known, and the holes of any size.
    fn of(&self, k: usize, parts: &[Part]) -> Surroundings {
        let (mut inside, mut holder, mut samples) = (0, None, 0);
        let mut memory = Memory::default();
        for (point, _) in self.points_inside(k, parts, SAMPLES) {
            let counts = self.counts(&point, parts, &mut memory);
            let larger = &counts[..k];
            // Parts are sorted by size: the last one around the point is the smallest.
            holder = larger.iter().rposition(|count| *count != 0).or(holder);
            let counted = |p: &usize| *p < k || (*p > k && parts[*p].goes_through == Some(true));
            let material: i32 = (0..parts.len()).filter(counted).map(|p| parts[p].material(counts[p])).sum();
            inside += usize::from(material > 0);
            samples += 1;
        }
        let in_material = if parts[k].touches { inside == samples } else { 2 * inside > samples };
        Surroundings { in_material, holder_turned: holder.is_some_and(|holder| parts[holder].turned) }
    }

    /// Whether larger components overlap in the cavity `k`, at its wall and deeper in it: it takes the
    /// material of one away, and that of another stays. Cavities of any size count, other smaller components
    /// do not: they may lie in the cavity.
    fn fills(&self, k: usize, parts: &[Part]) -> bool {
        let mut memory = Memory::default();
        // Whether a point is inside the cavity, and whether it is filled there
        let mut at = |point: &Vector3| {
            let counts = self.counts(point, parts, &mut memory);
            let matters = |p: &usize| *p <= k || parts[*p].is_cavity;
            let material: i32 = (0..parts.len()).filter(matters).map(|p| parts[p].material(counts[p])).sum();
            (counts[k] != 0, material > 0)
        };
        let bounds = &parts[k].bounds;
        let depth = CAVITY_DEPTH * (bounds.max - bounds.min).min();
        self.points_inside(k, parts, CAVITY_SAMPLES).any(|(wall, inward)| {
            let mut deeper = (0..CAVITY_HALVINGS).map(|i| wall + inward * (depth * 0.5_f64.powi(i)));
            at(&wall) == (true, true)
                && deeper.find_map(|point| Some(at(&point)).filter(|(is_inside, _)| *is_inside)).is_none_or(|at| at.1)
        })
    }

    /// Whether the body `k` lies in holes, and partly outside the bodies that these go through.
    fn is_lost(&self, k: usize, parts: &[Part]) -> bool {
        let has_holes = parts.iter().any(|part| part.is_hole && part.bounds.overlaps(&parts[k].bounds));
        if !has_holes || parts[k].is_cavity || parts[k].buried {
            return false;
        }
        let mut memory = Memory::default();
        let mut is_outside = false;
        self.points_inside(k, parts, CAVITY_SAMPLES).all(|(point, _)| {
            let counts = self.counts(&point, parts, &mut memory);
            is_outside |= parts.iter().zip(counts).map(|(part, count)| part.material(*count)).sum::<i32>() <= 0;
            parts.iter().zip(counts).any(|(part, count)| part.is_hole && *count != 0)
        }) && is_outside
    }

    /// Up to `most` points just inside component `k`, since its surface may lie on that of another one, each
    /// with the direction to the inside.
    fn points_inside(&self, k: usize, parts: &[Part], most: usize) -> impl Iterator<Item = (Vector3, Vector3)> {
        let Part { triangles, volume, bounds, .. } = &parts[k];
        let samples = most.min(triangles.len());
        let depth = INWARD * (bounds.max - bounds.min).norm();
        (0..samples).map(move |sample| {
            let triangle = triangles[sample * triangles.len() / samples];
            let corners = self.mesh.triangles[triangle].map(|vertex| self.mesh.vertices[vertex as usize]);
            let [a, b, c] = corners;
            let inward = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default() * -volume.signum();
            (corners.iter().sum::<Vector3>() / 3.0 + inward * depth, inward)
        })
    }

    /// The number of times that each component is around a point, as the file gives it.
    fn counts<'m>(&self, point: &Vector3, parts: &[Part], memory: &'m mut Memory) -> &'m [i32] {
        let Memory { crossings, counts } = memory;
        self.winding.line(point.y, point.z, crossings);
        counts.clear();
        counts.resize(parts.len(), 0);
        for Crossing { change, triangle, .. } in crossings.iter().take_while(|crossing| crossing.x < point.x) {
            counts[self.part_of[*triangle as usize]] += change;
        }
        counts
    }
}

/// Memory of [`Around::counts`].
#[derive(Default)]
struct Memory {
    crossings: Vec<Crossing>,
    counts: Vec<i32>,
}

impl Part {
    /// The contribution to the winding number of a point that the component is around `count` times; none if
    /// it is left out.
    fn material(&self, count: i32) -> i32 {
        match (self.buried, self.turned) {
            (true, _) => 0,
            (false, true) => -count,
            (false, false) => count,
        }
    }
}
