//! Balls and cones of normals around triangles and groups of them: pairs that cannot touch are skipped as a
//! whole.

use super::edge_cones::EdgeCones;
use super::offset::{Cone, Offset};
use super::triangle::Triangle;
use crate::geometry::RigidSurface;
use crate::math::{RigidTransform, Vector3};

/// Triangles face each other if the cosine between their normals is below this; above it, another face of the
/// convex corner faces the other triangle. [-]
pub(super) const FACING_COSINE: f64 = -0.01;
/// Cones whose half angles have a sum with a smaller cosine are not compared. [-]
const WIDE_COSINE: f64 = 0.1;
/// The balls are larger than necessary by this share, so that rounding skips no pair. [-]
const SLACK: f64 = 1e-6;

/// A ball around one triangle or several, and cones of normals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) center: Vector3,
    pub(super) radius: f64,
    normal: Vector3,
    /// Holds the normals of the triangles.
    own: Cone,
    wide_normal: Vector3,
    /// Around `wide_normal`: holds also the normals beyond the convex edges.
    wide: Cone,
}

/// The limits of a search \[m\].
#[derive(Clone, Copy, Debug)]
pub(super) struct ReachLimits {
    /// Triangles that are farther apart have no points.
    pub(super) distance: f64,
    /// Points of triangles that lie behind each other are not deeper.
    pub(super) depth: f64,
}

impl Reach {
    /// The reaches of the triangles below each node of the tree of a surface, by the node's number.
    pub(super) fn of_nodes(surface: &RigidSurface, cones: &EdgeCones) -> Vec<Self> {
        let (elements, groups) = surface.bvh().groups();
        let beyond = |element: &u32| cones.beyond[*element as usize].iter().flatten();
        let each: Vec<Self> = elements
            .iter()
            .map(|element| {
                let corners = surface.corners(*element);
                let center = (corners[0] + corners[1] + corners[2]) / 3.0;
                let radius = corners.iter().map(|p| (p - center).norm_squared()).fold(0.0, f64::max).sqrt();
                let normal = &surface.normals()[*element as usize];
                let (wide_normal, wide) = cone_of([normal].into_iter().chain(beyond(element)));
                let normal = *normal;
                Self { center, radius, normal, own: (1.0, 0.0), wide_normal, wide }
            })
            .collect();
        groups
            .into_iter()
            .map(|group| {
                let (members, elements) = (&each[group.clone()], &elements[group]);
                if let [one] = members {
                    return *one;
                }
                let center = members.iter().map(|one| one.center).sum::<Vector3>() / members.len() as f64;
                let radius = members.iter().map(|one| (one.center - center).norm() + one.radius).fold(0.0, f64::max);
                let normals = members.iter().map(|one| &one.normal);
                let (normal, own) = cone_of(normals.clone());
                let (wide_normal, wide) = cone_of(normals.chain(elements.iter().flat_map(beyond)));
                Self { center, radius, normal, own, wide_normal, wide }
            })
            .collect()
    }

    pub(super) fn moved(&self, X: &RigidTransform) -> Self {
        let center = X.rotation * self.center + X.translation.vector;
        let (normal, wide_normal) = (X.rotation * self.normal, X.rotation * self.wide_normal);
        Self { center, normal, wide_normal, ..*self }
    }

    /// Whether no triangle of A here can touch one of B in `other`: they are too far apart, do not face each
    /// other, or do not overlap as seen along any direction in which they may touch (the normal of one of
    /// them, or one between the faces of edges of both). `triangle` is that of A, if there is only one.
    pub(super) fn is_out_of(&self, triangle: Option<&Triangle>, other: &Self, limits: &ReachLimits) -> bool {
        let offset = self.offset_to(other, limits);
        let apart = offset.size + limits.distance;
        offset.square >= apart * apart
            || self.looks_away_from(other)
            || self.normals_miss(other, &offset)
                && (offset.is_beside(&self.wide_normal, self.wide)
                    || offset.is_beside(&-other.wide_normal, other.wide)
                    || triangle.is_some_and(|triangle| !triangle.edges_meet(&offset, 1.0)))
    }

    /// Whether the two do not overlap as seen along the normals of either.
    pub(super) fn normals_miss(&self, other: &Self, offset: &Offset) -> bool {
        offset.is_beside(&self.normal, self.own) && offset.is_beside(&-other.normal, other.own)
    }

    /// The offset to another ball.
    pub(super) fn offset_to(&self, other: &Self, limits: &ReachLimits) -> Offset {
        let between = other.center - self.center;
        let size = (self.radius + other.radius) * (1.0 + SLACK);
        let (square, apart) = (between.norm_squared(), size + limits.depth);
        Offset { between, square, size, is_far: square > apart * apart }
    }

    fn looks_away_from(&self, other: &Self) -> bool {
        let ((cosine_A, sine_A), (cosine_B, sine_B)) = (self.own, other.own);
        let (cosine, sine) = (cosine_A * cosine_B - sine_A * sine_B, sine_A * cosine_B + cosine_A * sine_B);
        if cosine_A < WIDE_COSINE || cosine_B < WIDE_COSINE || cosine < WIDE_COSINE {
            return false;
        }
        let facing = self.normal.dot(&other.normal);
        facing * cosine - (1.0 - facing * facing).max(0.0).sqrt() * sine > FACING_COSINE + SLACK
    }
}

/// A cone that holds all `normals` and the directions between them, and its axis.
fn cone_of<'a>(normals: impl Iterator<Item = &'a Vector3> + Clone) -> (Vector3, Cone) {
    let axis = normals.clone().sum::<Vector3>().try_normalize(0.0).unwrap_or_default();
    let least = normals.map(|other| other.dot(&axis)).fold(1.0, f64::min);
    // A wider cone need not hold all directions between two of its own.
    (axis, if least > 0.0 { (least, (1.0 - least * least).sqrt()) } else { (-1.0, 0.0) })
}
