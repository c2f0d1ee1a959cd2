//! Which of two parts that go through each other is a body, and which a hole in it.
//!
//! A file may be inside out as a whole, so that the sign of a part's volume does not tell. A hole goes
//! through the body, or ends on its faces: outside the body its surface has no piece, or more pieces than
//! inside, or it has a whole end on a face. A part that only ends in another one, like a peg or a handle, may
//! as well be a body that was turned by mistake.

use std::collections::{BTreeMap, BTreeSet};

use super::divide::{Division, TOLERANCES};
use super::push;
use crate::geometry::SurfaceMesh;
use crate::geometry::winding::{Crossing, Winding};
use crate::math::Vector3;

/// Connected pieces with a smaller share of their part's area are rounding. [-]
const AREA_MIN: f64 = 1e-4;

/// The findings about parts that intersect.
pub(in super::super) struct Roles {
    /// The sign of the volume of bodies.
    pub(in super::super) main: f64,
    /// Whether each part is a hole; for those with the opposite sign.
    pub(in super::super) holes: Vec<bool>,
}

/// The place of a piece of a hole: in the body, outside, or on its surface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    In,
    Out,
    On,
}

/// Finds the holes among parts, of which `part_of` has the one of each triangle, and `volumes` the signed
/// volume or zero for those that do not matter \[m³\]. The file is inside out as a whole only if `may_turn`.
/// `None` if the surface cannot be cut.
pub(in super::super) fn roles(mesh: &SurfaceMesh, part_of: &[usize], volumes: &[f64], may_turn: bool) -> Option<Roles> {
    let divided = |mesh: &SurfaceMesh| TOLERANCES.iter().find_map(|tolerance| Division::new(mesh, *tolerance));
    let plain = divided(mesh);
    let holes = |main: f64| {
        if let Some(division) = &plain {
            let has_end = &vec![false; volumes.len()];
            return Some(Finder { division, winding: Winding::new(mesh), part_of, volumes, has_end }.holes(main));
        }
        let (mesh, has_end) = &push::pushed(mesh, part_of, volumes, main);
        let division = &divided(mesh)?;
        Some(Finder { division, winding: Winding::new(mesh), part_of, volumes, has_end }.holes(main))
    };
    let found = [1.0, -1.0].map(holes);
    if found == [None, None] {
        return None;
    }
    let [plain, turned] = found.map(|holes| holes.unwrap_or_else(|| vec![false; volumes.len()]));
    let share = |main: f64, holes: &[bool]| {
        let opposite = volumes.iter().filter(|volume| **volume * main < 0.0).count();
        holes.iter().filter(|is_hole| **is_hole).count() as f64 / opposite.max(1) as f64
    };
    let (for_plain, for_turned) = (share(1.0, &plain), share(-1.0, &turned));
    // A file that is inside out has no other part of its holes' sign. If both are as likely, the larger part
    // is a body.
    let largest =
        volumes.iter().fold(0.0, |largest: f64, volume| if volume.abs() > largest.abs() { *volume } else { largest });
    let is_plain = !may_turn || for_turned < 1.0 || (for_plain == 1.0 && largest > 0.0);
    Some(if is_plain { Roles { main: 1.0, holes: plain } } else { Roles { main: -1.0, holes: turned } })
}

/// The material in which a point is.
struct Inside {
    /// Whether it is in that of all bodies and holes together.
    any: bool,
    /// The bodies in which it is.
    bodies: Vec<usize>,
}

struct Finder<'a> {
    division: &'a Division,
    winding: Winding<'a>,
    part_of: &'a [usize],
    volumes: &'a [f64],
    /// Whether an end of each part was on a face and was moved outward.
    has_end: &'a [bool],
}

impl Finder<'_> {
    /// The parts that are holes if bodies have volumes of the sign `main`.
    fn holes(&self, main: f64) -> Vec<bool> {
        let is_body: Vec<bool> = self.volumes.iter().map(|volume| volume * main > 0.0).collect();
        let first = self.through(main, &is_body);
        // A hole may end in another one.
        let with_holes: Vec<bool> = is_body.iter().zip(&first).map(|(a, b)| *a || *b).collect();
        let second = self.through(main, &with_holes);
        first.iter().zip(second).map(|(a, b)| *a || b).collect()
    }

    /// The parts with the other sign that go through the material of those given, or end on its faces.
    fn through(&self, main: f64, given: &[bool]) -> Vec<bool> {
        let mut pieces: Vec<Vec<(usize, [Inside; 2])>> = self.volumes.iter().map(|_| Vec::new()).collect();
        let mut crossings = Vec::new();
        for (number, parent) in self.division.pieces.parents.iter().enumerate() {
            let part = self.part_of[*parent];
            if self.volumes[part] * main >= 0.0 || given[part] {
                continue;
            }
            let Some(sides) = self.division.sides(number) else { continue };
            pieces[part].push((number, sides.map(|point| self.inside(&point, main, given, &mut crossings))));
        }
        pieces.iter().zip(self.has_end).map(|(pieces, has_end)| self.is_hole_of_any(pieces, *has_end)).collect()
    }

    /// Whether a part with these pieces is a hole in all bodies together or in one of them: a bolt in a hole
    /// may reach beyond it.
    fn is_hole_of_any(&self, pieces: &[(usize, [Inside; 2])], has_end: bool) -> bool {
        let is_hole = |is_in: &dyn Fn(&Inside) -> bool| {
            let place = |sides: &[Inside; 2]| match sides.each_ref().map(is_in) {
                [true, true] => Place::In,
                [false, false] => Place::Out,
                _ => Place::On,
            };
            let pieces: Vec<_> = pieces.iter().map(|(piece, sides)| (*piece, place(sides))).collect();
            self.is_hole(&pieces, has_end)
        };
        let all = pieces.iter().flat_map(|(_, sides)| sides).flat_map(|side| &side.bodies);
        let bodies: BTreeSet<usize> = all.copied().collect();
        is_hole(&|side| side.any)
            || bodies.len() > 1 && bodies.iter().any(|body| is_hole(&|side| side.bodies.contains(body)))
    }

    /// The given parts in whose material a point is.
    fn inside(&self, point: &Vector3, main: f64, given: &[bool], crossings: &mut Vec<Crossing>) -> Inside {
        self.winding.line(point.y, point.z, crossings);
        let mut turns: BTreeMap<usize, i32> = BTreeMap::new();
        for crossing in crossings.iter().take_while(|crossing| crossing.x < point.x) {
            let part = self.part_of[crossing.triangle as usize];
            if given[part] {
                *turns.entry(part).or_default() += crossing.change;
            }
        }
        let is_in = |turns: i32| f64::from(turns) * main > 0.0;
        let bodies = turns.iter().filter(|(_, turns)| is_in(**turns)).map(|(part, _)| *part).collect();
        Inside { any: is_in(turns.values().sum()), bodies }
    }

    /// Whether a part with these pieces is a hole.
    fn is_hole(&self, pieces: &[(usize, Place)], has_end: bool) -> bool {
        let area = |piece: usize| {
            let [a, b, c] = self.division.pieces.triangles[piece].map(|vertex| self.division.points.at(vertex));
            0.5 * (b - a).cross(&(c - a)).norm()
        };
        let mut at_edge: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (k, (piece, _)) in pieces.iter().enumerate() {
            let [a, b, c] = self.division.pieces.triangles[*piece];
            for [p, q] in [[a, b], [b, c], [c, a]] {
                at_edge.entry([p.min(q), p.max(q)]).or_default().push(k);
            }
        }
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
        for at in at_edge.values() {
            at.iter().for_each(|k| neighbours[*k].extend(at.iter().filter(|other| *other != k)));
        }
        let total: f64 = pieces.iter().map(|(piece, _)| area(*piece)).sum();
        let (mut inside, mut outside, mut whole_ends) = (0, 0, 0);
        let mut seen = vec![false; pieces.len()];
        for seed in 0..pieces.len() {
            if std::mem::replace(&mut seen[seed], true) {
                continue;
            }
            let place = pieces[seed].1;
            let (mut members, mut next, mut reaches_out) = (vec![seed], 0, false);
            while let Some(&k) = members.get(next) {
                next += 1;
                for &other in &neighbours[k] {
                    reaches_out |= pieces[other].1 == Place::Out;
                    if pieces[other].1 == place && !std::mem::replace(&mut seen[other], true) {
                        members.push(other);
                    }
                }
            }
            if members.iter().map(|k| area(pieces[*k].0)).sum::<f64>() < AREA_MIN * total {
                continue;
            }
            match place {
                Place::In => inside += 1,
                Place::Out => outside += 1,
                Place::On => whole_ends += usize::from(!reaches_out),
            }
        }
        inside > 0 && (outside == 0 || outside > inside || whole_ends > 0 || has_end)
    }
}
