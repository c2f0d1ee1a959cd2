//! Inside and outside at lattice points, and the cut points of lattice edges, by winding numbers.

use super::lattice::Lattice;
use crate::geometry::Aabb;
use crate::geometry::winding::Winding;
use crate::math::Vector3;

/// Lattice edges are shifted sideways by this share of their length while crossings are counted, so that they
/// do not hit edges of triangles. [-]
const EDGE_NUDGE: f64 = 1e-7;
/// The number of halvings of a lattice edge whose crossings do not determine the cut point.
const HALVINGS: usize = 45;

impl Winding<'_> {
    /// Minus the winding number at each lattice point inside, and 1 at each lattice point outside.
    pub(super) fn sample(&self, lattice: &Lattice) -> Vec<f64> {
        let mut phi = vec![1.0; lattice.len()];
        let mut crossings = Vec::new();
        for line in lattice.lines() {
            let start = lattice.position(line);
            self.line(start.y, start.z, &mut crossings);
            let mut next = crossings.iter().peekable();
            let mut winding = 0;
            let mut site = line;
            while !crossings.is_empty() && lattice.contains(site) {
                let x = lattice.position(site).x;
                while let Some(crossing) = next.next_if(|crossing| crossing.x < x) {
                    winding += crossing.change;
                }
                if winding > 0 {
                    phi[lattice.number(site) as usize] = -f64::from(winding);
                }
                site[0] += 2;
            }
        }
        phi
    }

    /// The point where the segment from `inside`, with the given winding number, to `outside` leaves the
    /// union.
    pub(super) fn cut_point(&self, inside: Vector3, winding: i32, outside: Vector3) -> Vector3 {
        let along = outside - inside;
        let offset = Vector3::new(0.371, 0.617, 0.709) * (EDGE_NUDGE * along.norm());
        let start = inside + offset;
        let reach = Aabb::around(&[inside, outside, start, start + along]);
        let mut crossings: Vec<(f64, i32)> = Vec::new();
        let (mesh, bvh) = self.parts();
        bvh.walk(
            |bounds| bounds.overlaps(&reach),
            |triangle, _| {
                let [a, b, c] = mesh.triangles[triangle as usize].map(|v| mesh.vertices[v as usize]);
                let normal = (b - a).cross(&(c - a));
                let rate = normal.dot(&along);
                let t = normal.dot(&(a - start)) / rate;
                let at = start + along * t;
                let within = [(a, b), (b, c), (c, a)]
                    .iter()
                    .all(|(from, to)| normal.cross(&(to - from)).dot(&(at - from)) >= 0.0);
                if rate != 0.0 && (0.0..=1.0).contains(&t) && within {
                    // On the lattice edge itself, not on the shifted one.
                    let exact = (normal.dot(&(a - inside)) / rate).clamp(0.0, 1.0);
                    crossings.push((exact, if rate > 0.0 { -1 } else { 1 }));
                }
            },
        );
        crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut count = winding;
        for (t, change) in crossings {
            count += change;
            if count <= 0 {
                return inside + along * t;
            }
        }
        self.halve(inside, outside)
    }

    fn halve(&self, mut inside: Vector3, mut outside: Vector3) -> Vector3 {
        let mut crossings = Vec::new();
        for _ in 0..HALVINGS {
            let middle = (inside + outside) * 0.5;
            if self.at(&middle, &mut crossings) > 0 { inside = middle } else { outside = middle }
        }
        inside
    }
}
