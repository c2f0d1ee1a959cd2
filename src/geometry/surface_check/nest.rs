//! The nesting of components: the outermost ones enclose material, those inside them bound cavities, and so
//! on inward.

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

/// One component.
struct Part {
    triangles: Vec<usize>,
    /// The signed volume inside as the file gives it \[m3\].
    volume: f64,
    bounds: Aabb,
    /// Whether it intersects another component or itself.
    touches: bool,
    turned: bool,
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
pub(super) fn nest(work: &mut Work, touched: &[bool]) -> Result<(), SurfaceDefect> {
    let mut parts = Vec::new();
    for triangles in orient::components(work) {
        let volume = orient::enclosed(work, &triangles)?;
        let bounds = triangles
            .iter()
            .map(|triangle| Aabb::around(&work.corners(*triangle)))
            .fold(Aabb::EMPTY, |bounds, other| bounds.union(&other));
        let touches = triangles.iter().any(|triangle| touched[*triangle]);
        parts.push(Part { triangles, volume, bounds, touches, turned: false, buried: false });
    }
    work.report.components = parts.len();
    parts.sort_by(|a, b| b.volume.abs().total_cmp(&a.volume.abs()));
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
        let is_cavity = in_material && (part.volume < 0.0 || holder_turned);
        part.turned = is_cavity == (part.volume > 0.0);
        work.report.cavities += usize::from(is_cavity);
        part.buried = in_material && !is_cavity && !part.touches;
        if is_cavity && around.as_ref().is_some_and(|around| around.fills(k, &parts)) {
            work.report.filled_cavities += 1;
        }
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

/// Finds the surroundings of components with lines through them.
struct Around<'a> {
    winding: Winding<'a>,
    mesh: &'a SurfaceMesh,
    /// The component of each triangle.
    part_of: Vec<usize>,
}

impl<'a> Around<'a> {
    fn new(mesh: &'a SurfaceMesh, parts: &[Part]) -> Self {
        let mut part_of = vec![0; mesh.triangles.len()];
        for (k, part) in parts.iter().enumerate() {
            part.triangles.iter().for_each(|triangle| part_of[*triangle] = k);
        }
        Self { winding: Winding::new(mesh), mesh, part_of }
    }

    /// The surroundings of component `k` among the larger ones, which come first and whose orientation is
    /// known.
    fn of(&self, k: usize, parts: &[Part]) -> Surroundings {
        let (mut inside, mut holder) = (0, None);
        let samples = self.sample(k, parts, SAMPLES, |count| {
            // Parts are sorted by size: the last one around the point is the smallest.
            holder = count.iter().rposition(|count| *count != 0).or(holder);
            inside += usize::from(material(count, parts) > 0);
        });
        let in_material = if parts[k].touches { inside == samples } else { 2 * inside > samples };
        Surroundings { in_material, holder_turned: holder.is_some_and(|holder| parts[holder].turned) }
    }

    /// Whether larger components overlap in the cavity `k`: it takes the material of one away, and that of
    /// another stays.
    fn fills(&self, k: usize, parts: &[Part]) -> bool {
        let mut fills = false;
        self.sample(k, parts, CAVITY_SAMPLES, |count| fills |= material(count, parts) > 1);
        fills
    }

    /// Calls `visit` with the number of times that each larger component is around a point inside component
    /// `k`, at up to `most` points, and returns their number.
    fn sample(&self, k: usize, parts: &[Part], most: usize, mut visit: impl FnMut(&[i32])) -> usize {
        let part = &parts[k];
        let samples = most.min(part.triangles.len());
        let inward = INWARD * (part.bounds.max - part.bounds.min).norm();
        let (mut crossings, mut count) = (Vec::new(), vec![0_i32; k]);
        for sample in 0..samples {
            let triangle = part.triangles[sample * part.triangles.len() / samples];
            let corners = self.mesh.triangles[triangle].map(|vertex| self.mesh.vertices[vertex as usize]);
            let [a, b, c] = corners;
            let outward = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default() * part.volume.signum();
            // Just inside the part, since its surface may lie on that of another one.
            let point = corners.iter().sum::<Vector3>() / 3.0 - outward * inward;
            self.winding.line(point.y, point.z, &mut crossings);
            count.fill(0);
            for Crossing { change, triangle, .. } in crossings.iter().take_while(|crossing| crossing.x < point.x) {
                if let Some(count) = count.get_mut(self.part_of[*triangle as usize]) {
                    *count += change;
                }
            }
            visit(&count);
        }
        samples
    }
}

/// The winding number of a point that the components are around `count` times, without those left out.
fn material(count: &[i32], parts: &[Part]) -> i32 {
    let turned = |(count, part): (&i32, &Part)| if part.turned { -count } else { *count };
    count.iter().zip(parts).filter(|(_, part)| !part.buried).map(turned).sum()
}
