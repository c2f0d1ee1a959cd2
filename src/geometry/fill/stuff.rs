//! Isosurface stuffing [Labelle & Shewchuk 2007]: lattice tetrahedra fitted to a surface.
//!
//! 1. A lattice edge from inside to outside has a cut point on the surface.
//! 2. A lattice point that is closer to one of its cut points than a share alpha of the edge moves there. It
//!    is then on the surface, and the cut points of its edges vanish. The remaining cuts are well away from
//!    the lattice points.
//! 3. Each lattice tetrahedron with a point inside is replaced by the part of it that lies inside: a
//!    tetrahedron, a pyramid (two) or a prism (three). Quadrilaterals between neighbours are split by a rule
//!    that depends on the face only, so both neighbours split alike.
//!
//! Every tetrahedron keeps a lattice point strictly inside, so none has all its corners on the surface.

use super::FillError;
use super::lattice::{Lattice, Site};
use super::wrap::Wrap;
use crate::geometry::VolumeMesh;
use crate::geometry::surface_check::Position;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::winding::Winding;
use crate::math::Vector3;

/// A lattice point moves to a cut point nearer than these shares of a long and of a short edge; for these
/// values the authors prove dihedral angles between 10.7 and 164.8 degrees. [-]
const ALPHA_LONG: f64 = 0.24999;
const ALPHA_SHORT: f64 = 0.41189;

/// The search for a cut point ends this close to the surface, as a share of the lattice's spacing. [-]
const CUT_TOLERANCE: f64 = 1e-13;
/// Steps of the search for a cut point; a plane needs one, bisection alone would need 45.
const CUT_STEPS: usize = 64;

/// Offsets of seven neighbours of a lattice point: three along long edges, four along short ones. The
/// opposite offsets lead to the other seven.
const FORWARD: [Site; 7] = [[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1]];

/// The method that distinguishes inside from outside.
pub(super) enum Sides<'a> {
    /// By the normal at the nearest point: for surfaces that do not meet themselves.
    Normals(&'a SurfaceDistance<'a>),
    /// By the winding number, for any closed surface.
    Winding(&'a Winding<'a>),
    /// By winding numbers from solid angles, for any triangles.
    Wrap(&'a Wrap<'a>),
}

impl Sides<'_> {
    /// A value at each lattice point, negative inside: the signed distance \[m\], or minus the winding
    /// number.
    fn sample(&self, lattice: &Lattice) -> Vec<f64> {
        match self {
            Self::Normals(surface) => lattice.sample(surface),
            Self::Winding(winding) => winding.sample(lattice),
            Self::Wrap(wrap) => wrap.sample(lattice),
        }
    }

    /// The point where the surface cuts the segment between two lattice points with different signs.
    fn cut_point(&self, ends: [(Vector3, f64); 2], guess: &mut u32) -> Vector3 {
        match self {
            Self::Normals(surface) => cut_point(ends, surface, guess),
            Self::Winding(winding) => {
                let [inside, outside] = in_to_out(ends);
                winding.cut_point(inside.0, -inside.1 as i32, outside.0)
            }
            Self::Wrap(wrap) => {
                let [inside, outside] = in_to_out(ends);
                wrap.cut_point(inside.0, outside.0)
            }
        }
    }
}

fn in_to_out(ends: [(Vector3, f64); 2]) -> [(Vector3, f64); 2] {
    if ends[0].1 < 0.0 { ends } else { [ends[1], ends[0]] }
}

/// A filled surface: its tetrahedra and the depths of their vertices.
#[derive(Clone)]
pub(super) struct Stuffing {
    pub(super) mesh: VolumeMesh,
    /// The depth of each vertex: zero on the surface, positive inside. It is the distance to the surface
    /// \[m\] where signs come from normals.
    pub(super) depth: Vec<f64>,
}

/// A lattice edge that the surface cuts.
struct Cut {
    /// Numbers of the two lattice points, one inside and one outside, smaller first.
    ends: [u32; 2],
    position: Vector3,
}

/// Fills a surface with the tetrahedra of `lattice`.
///
/// # Errors
/// A lattice edge whose ends lie on different sides has no cut: inside and outside are contradictory there.
pub(super) fn stuff(lattice: &Lattice, sides: &Sides) -> Result<Stuffing, FillError> {
    let mut phi = sides.sample(lattice);
    let cuts = cuts(lattice, sides, &phi);
    let mut positions: Vec<Option<Vector3>> = vec![None; phi.len()];
    warp(lattice, &cuts, &mut phi, &mut positions);
    let mut builder = Builder { lattice, phi: &phi, positions: &positions, cuts: &cuts, tets: Vec::new() };
    for number in 0..phi.len() as u32 {
        let site = lattice.site(number);
        builder.tets_of(site).ok_or_else(|| FillError::Sides { at: Position(lattice.position(site)) })?;
    }
    let tets = builder.tets;
    Ok(number_vertices(lattice, &phi, &positions, &cuts, tets))
}

/// The cut points of all lattice edges, sorted by their ends.
fn cuts(lattice: &Lattice, sides: &Sides, phi: &[f64]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut guess = 0;
    for number in 0..phi.len() as u32 {
        let at = phi[number as usize];
        if at == f64::INFINITY || at == 0.0 {
            continue;
        }
        let site = lattice.site(number);
        for step in FORWARD {
            let other = [site[0] + step[0], site[1] + step[1], site[2] + step[2]];
            if !lattice.contains(other) {
                continue;
            }
            let other_number = lattice.number(other);
            let other_phi = phi[other_number as usize];
            if other_phi.is_finite() && at * other_phi < 0.0 {
                let ends = [(lattice.position(site), at), (lattice.position(other), other_phi)];
                let position = sides.cut_point(ends, &mut guess);
                cuts.push(Cut { ends: [number.min(other_number), number.max(other_number)], position });
            }
        }
    }
    cuts.sort_unstable_by_key(|cut| cut.ends);
    cuts
}

/// The zero of the signed distance between two points where it has opposite signs, by regula falsi with
/// halving (the Illinois rule). On a plane it ends after one step.
fn cut_point(ends: [(Vector3, f64); 2], surface: &SurfaceDistance, guess: &mut u32) -> Vector3 {
    let [(p, f_p), (q, f_q)] = ends;
    let tolerance = CUT_TOLERANCE * (q - p).norm();
    let (mut low, mut f_low, mut high, mut f_high) = (0.0, f_p, 1.0, f_q);
    let mut best = (f64::INFINITY, p);
    for _ in 0..CUT_STEPS {
        let t = ((low * f_high - high * f_low) / (f_high - f_low)).clamp(low, high);
        let x = p + (q - p) * t;
        let f = surface.signed(&x, guess);
        if f.abs() < best.0 {
            best = (f.abs(), x);
        }
        if f.abs() <= tolerance || high - low <= f64::EPSILON {
            break;
        }
        if (f < 0.0) == (f_low < 0.0) {
            (low, f_low) = (t, f);
            f_high *= 0.5;
        } else {
            (high, f_high) = (t, f);
            f_low *= 0.5;
        }
    }
    best.1
}

/// Moves lattice points onto near cut points; their signed distance becomes zero.
fn warp(lattice: &Lattice, cuts: &[Cut], phi: &mut [f64], positions: &mut [Option<Vector3>]) {
    // Lattice point, its distance from the cut [m], and the cut.
    let mut near: Vec<(u32, f64, usize)> = Vec::new();
    for (k, cut) in cuts.iter().enumerate() {
        let sites = cut.ends.map(|end| lattice.site(end));
        let alpha = if is_long(sites) { ALPHA_LONG } else { ALPHA_SHORT };
        let ends = sites.map(|site| lattice.position(site));
        let length = (ends[1] - ends[0]).norm();
        for (end, position) in cut.ends.iter().zip(&ends) {
            let distance = (cut.position - position).norm();
            if distance < alpha * length {
                near.push((*end, distance, k));
            }
        }
    }
    near.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    for (point, _, k) in near {
        // A cut point vanishes when one of its ends moves.
        if cuts[k].ends.iter().all(|end| phi[*end as usize] != 0.0) {
            phi[point as usize] = 0.0;
            positions[point as usize] = Some(cuts[k].position);
        }
    }
}

/// Whether two neighbouring points belong to the same grid.
fn is_long([a, b]: [Site; 2]) -> bool {
    (a[0] ^ b[0]) & 1 == 0
}

/// A vertex of the new mesh: a lattice point, or the cut of the edge between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Corner {
    Point(u32),
    Cut(usize),
}

struct Builder<'a> {
    lattice: &'a Lattice,
    phi: &'a [f64],
    positions: &'a [Option<Vector3>],
    cuts: &'a [Cut],
    tets: Vec<[Corner; 4]>,
}

impl Builder<'_> {
    /// The tetrahedra around the three long edges that start at a point of the even grid. They include those
    /// around the long edges of the odd grid, since each tetrahedron has one long edge in each grid. `None`
    /// if an edge that needs a cut has none.
    fn tets_of(&mut self, site: Site) -> Option<()> {
        if site[0] & 1 == 1 {
            return Some(());
        }
        for axis in 0..3 {
            let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut end = site;
            end[axis] += 2;
            if !self.lattice.contains(end) {
                continue;
            }
            let ring = [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(|[a, b]| {
                let mut point = site;
                point[axis] += 1;
                point[u] += a;
                point[w] += b;
                point
            });
            for k in 0..4 {
                let (c, d) = (ring[k], ring[(k + 1) % 4]);
                if self.lattice.contains(c) && self.lattice.contains(d) {
                    self.cut_tet([site, end, c, d].map(|site| self.lattice.number(site)))?;
                }
            }
        }
        Some(())
    }

    /// The part of a lattice tetrahedron that lies inside. Its long edges are (0, 1) and (2, 3).
    fn cut_tet(&mut self, tet: [u32; 4]) -> Option<()> {
        let sign = tet.map(|point| self.phi[point as usize]);
        let select = |test: fn(f64) -> bool| (0..4).filter(move |i| test(sign[*i])).map(move |i| tet[i]);
        let inside: Vec<u32> = select(|x| x < 0.0).collect();
        let outside: Vec<u32> = select(|x| x > 0.0).collect();
        let on: Vec<Corner> = select(|x| x == 0.0).map(Corner::Point).collect();
        match (inside.as_slice(), outside.as_slice()) {
            ([], _) => {}
            (_, []) => self.push(tet.map(Corner::Point)),
            ([n], others) => {
                let mut corners = vec![Corner::Point(*n)];
                for p in others {
                    corners.push(self.cut(*n, *p)?);
                }
                corners.extend(on);
                if let Ok(corners) = corners.try_into() {
                    self.push(corners);
                }
            }
            ([n, m], [p]) => {
                let (cn, cm) = (self.cut(*n, *p)?, self.cut(*m, *p)?);
                let (n_corner, m_corner) = (Corner::Point(*n), Corner::Point(*m));
                let (first, second) = if self.diagonal_from(*n, *m, *p)? {
                    ([n_corner, m_corner, cm], [n_corner, cm, cn])
                } else {
                    ([n_corner, m_corner, cn], [m_corner, cm, cn])
                };
                for [a, b, c] in [first, second] {
                    on.iter().for_each(|apex| self.push([a, b, c, *apex]));
                }
            }
            ([n, m], [p, q]) => {
                let A = [Corner::Point(*n), self.cut(*n, *p)?, self.cut(*n, *q)?];
                let B = [Corner::Point(*m), self.cut(*m, *p)?, self.cut(*m, *q)?];
                // The quadrilateral of the four cut points lies on the surface, so no neighbour shares it.
                let (first, third) = (self.diagonal_from(*n, *m, *p)?, !self.diagonal_from(*n, *m, *q)?);
                let free = if first == third { !first } else { self.shorter(A[1], B[2], A[2], B[1]) };
                self.prism(A, B, [first, free, third])?;
            }
            ([n, m, l], [p]) => {
                let points = [*n, *m, *l];
                let B = points.map(Corner::Point);
                let A = [self.cut(*n, *p)?, self.cut(*m, *p)?, self.cut(*l, *p)?];
                // a_i - b_{i+1} is the diagonal that starts at point i + 1
                let from_first = [
                    !self.diagonal_from(*n, *m, *p)?,
                    !self.diagonal_from(*m, *l, *p)?,
                    !self.diagonal_from(*l, *n, *p)?,
                ];
                self.prism(A, B, from_first)?;
            }
            _ => {}
        }
        Some(())
    }

    /// Selects the diagonal of the quadrilateral between two inner points, n and m, and the cuts of their
    /// edges to p outside: true for the diagonal from n (to the cut of m p), false for the one from m (to the
    /// cut of n p).
    fn diagonal_from(&self, n: u32, m: u32, p: u32) -> Option<bool> {
        let [site_n, site_m, site_p] = [n, m, p].map(|point| self.lattice.site(point));
        if is_long([site_n, site_p]) {
            return Some(false);
        }
        if is_long([site_m, site_p]) {
            return Some(true);
        }
        // n and m in the order of their numbers, so that both sides get the same answer
        let (low, high) = (n.min(m), n.max(m));
        let from_low = self.shorter(Corner::Point(low), self.cut(high, p)?, Corner::Point(high), self.cut(low, p)?);
        Some(from_low == (n == low))
    }

    /// Whether the diagonal a b is not longer than c d.
    fn shorter(&self, a: Corner, b: Corner, c: Corner, d: Corner) -> bool {
        (self.at(a) - self.at(b)).norm_squared() <= (self.at(c) - self.at(d)).norm_squared()
    }

    /// Three tetrahedra of the prism with the triangles A and B and the edges A_i B_i. If flag i is set, the
    /// quadrilateral between i and i + 1 is split from A_i to B_{i+1}, otherwise from A_{i+1} to B_i. The
    /// three flags are not all equal.
    fn prism(&mut self, A: [Corner; 3], B: [Corner; 3], flags: [bool; 3]) -> Option<()> {
        let i = (0..3).find(|i| flags[*i] && !flags[(i + 2) % 3])?;
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        self.push([A[i], B[i], B[j], B[k]]);
        if flags[j] {
            self.push([A[i], A[j], B[k], B[j]]);
            self.push([A[i], A[j], A[k], B[k]]);
        } else {
            self.push([A[i], A[k], B[k], B[j]]);
            self.push([A[i], A[j], A[k], B[j]]);
        }
        Some(())
    }

    fn cut(&self, a: u32, b: u32) -> Option<Corner> {
        let ends = [a.min(b), a.max(b)];
        self.cuts.binary_search_by_key(&ends, |cut| cut.ends).ok().map(Corner::Cut)
    }

    fn at(&self, corner: Corner) -> Vector3 {
        at(self.lattice, self.positions, self.cuts, corner)
    }

    /// Adds a tetrahedron, turned so that its volume is positive.
    fn push(&mut self, mut tet: [Corner; 4]) {
        let [a, b, c, d] = tet.map(|corner| self.at(corner));
        if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
            tet.swap(2, 3);
        }
        self.tets.push(tet);
    }
}

fn at(lattice: &Lattice, positions: &[Option<Vector3>], cuts: &[Cut], corner: Corner) -> Vector3 {
    match corner {
        Corner::Point(point) => positions[point as usize].unwrap_or_else(|| lattice.position(lattice.site(point))),
        Corner::Cut(cut) => cuts[cut].position,
    }
}

/// Numbers the used corners: lattice points first, then cuts.
fn number_vertices(
    lattice: &Lattice,
    phi: &[f64],
    positions: &[Option<Vector3>],
    cuts: &[Cut],
    tets: Vec<[Corner; 4]>,
) -> Stuffing {
    let mut used: Vec<Corner> = tets.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let number = |corner: Corner| used.partition_point(|other| *other < corner) as u32;
    let depth = used
        .iter()
        .map(|corner| match corner {
            Corner::Point(point) => (-phi[*point as usize]).max(0.0),
            Corner::Cut(_) => 0.0,
        })
        .collect();
    Stuffing {
        mesh: VolumeMesh {
            vertices: used.iter().map(|corner| at(lattice, positions, cuts, *corner)).collect(),
            tets: tets.iter().map(|tet| tet.map(number)).collect(),
        },
        depth,
    }
}
