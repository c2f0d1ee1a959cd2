//! Signed distance between convex shapes by GJK and EPA. Only this file uses `parry3d`.

use parry3d::math::{Pose, Rot3, Vec3};
use parry3d::query::epa::EPA;
use parry3d::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d::shape::SharedShape;

use crate::math::{RigidTransform, Rotation, Vector3};

/// The closest points of two convex shapes, or the deepest ones if they overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Witness {
    /// Point on A [m, A's frame].
    pub(crate) p_A: Vector3,
    /// Point on B [m, A's frame].
    pub(crate) p_B: Vector3,
    /// Unit normal from A into B [-, A's frame].
    pub(crate) normal: Vector3,
    /// (p_B - p_A) . normal \[m\]: negative where they overlap.
    pub(crate) phi: f64,
}

/// Memory of the two algorithms, reused between calls. The reuse does not change a result.
#[derive(Default)]
pub(crate) struct WitnessSearch {
    simplex: VoronoiSimplex,
    polytope: EPA,
}

impl Clone for WitnessSearch {
    /// A clone starts empty: there is nothing to keep.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for WitnessSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WitnessSearch")
    }
}

/// A convex shape for the algorithms, in its geometry's frame.
#[derive(Clone)]
pub(crate) struct ConvexSolid {
    shape: SharedShape,
    /// Rotation from the axes of a `parry3d` cylinder (along y) to ours (along z).
    X_GS: Pose,
}

impl std::fmt::Debug for ConvexSolid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConvexSolid({:?})", self.shape.shape_type())
    }
}

fn vector(v: &Vector3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn from_vector(v: Vec3) -> Vector3 {
    Vector3::new(v.x, v.y, v.z)
}

fn pose(X: &RigidTransform) -> Pose {
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&X.rotation);
    Pose::from_parts(vector(&X.translation.vector), Rot3::from_xyzw(q.i, q.j, q.k, q.w).normalize())
}

impl ConvexSolid {
    fn upright(shape: SharedShape) -> Self {
        Self { shape, X_GS: Pose::IDENTITY }
    }

    /// The box with the half edge lengths `half` \[m\].
    pub(crate) fn cuboid(half: &Vector3) -> Self {
        Self::upright(SharedShape::cuboid(half.x, half.y, half.z))
    }

    /// The segment along z with the half length `half` \[m\]: the core of a capsule.
    pub(crate) fn segment(half: f64) -> Self {
        Self::upright(SharedShape::segment(Vec3::new(0.0, 0.0, -half), Vec3::new(0.0, 0.0, half)))
    }

    /// The cylinder along z.
    pub(crate) fn cylinder(radius: f64, half: f64) -> Self {
        let quarter = Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
        let X_GS = pose(&RigidTransform::from_parts(Vector3::zeros().into(), quarter));
        Self { shape: SharedShape::cylinder(half, radius), X_GS }
    }

    /// The polyhedron with these vertices and outward triangles, which must be convex; `None` if it is
    /// degenerate.
    pub(crate) fn polyhedron(vertices: &[Vector3], triangles: &[[u32; 3]]) -> Option<Self> {
        let points: Vec<Vec3> = vertices.iter().map(vector).collect();
        SharedShape::convex_mesh(points.clone(), triangles)
            .or_else(|| SharedShape::convex_hull(&points))
            .map(Self::upright)
    }

    /// The closest or deepest points of this shape, A, and `other`, B, if the shapes are nearer than
    /// `distance` \[m\]. If both algorithms fail, as may happen where the shapes just touch, those along the
    /// line of the origins. Allocates nothing once `search` has grown to its largest use.
    pub(crate) fn witness(
        &self,
        other: &Self,
        X_AB: &RigidTransform,
        distance: f64,
        search: &mut WitnessSearch,
    ) -> Option<Witness> {
        let pose12 = self.X_GS.inverse() * pose(X_AB) * other.X_GS;
        let (first, second) = (self.shape.as_support_map()?, other.shape.as_support_map()?);
        let WitnessSearch { simplex, polytope } = search;
        let toward = pose12.translation.try_normalize().unwrap_or(Vec3::X);
        simplex.reset(CsoPoint::from_shapes(&pose12, first, second, toward));
        // The deepest points along a direction, whose distance is at most that of the shapes
        let along = |n: Vec3| {
            let points = CsoPoint::from_shapes(&pose12, first, second, n);
            (points.orig1, points.orig2, n)
        };
        let is_apart = |(point_A, point_B, n): (Vec3, Vec3, Vec3)| (point_B - point_A).dot(n) > distance;
        let found = match gjk::closest_points(&pose12, first, second, distance, true, simplex) {
            GJKResult::ClosestPoints(point_A, point_B, normal) => Some((point_A, point_B, normal)),
            GJKResult::Intersection => polytope.closest_points(&pose12, first, second, simplex),
            GJKResult::Proximity(n) | GJKResult::NoIntersection(n) if is_apart(along(n)) => return None,
            // It has reached the limit of its iterations
            GJKResult::Proximity(_) | GJKResult::NoIntersection(_) => None,
        };
        let is_right = |(point_A, point_B, n): &(Vec3, Vec3, Vec3)| {
            (point_B - point_A).dot(*n).is_finite() && (n.length() - 1.0).abs() < 0.5
        };
        let (point_A, point_B, normal) = found.filter(is_right).unwrap_or_else(|| along(toward));
        let phi = (point_B - point_A).dot(normal);
        let normal = from_vector(self.X_GS.rotation * normal).try_normalize(0.5)?;
        Some(Witness { p_A: from_vector(self.X_GS * point_A), p_B: from_vector(self.X_GS * point_B), normal, phi })
    }

    /// The point on the surface nearest to `p` \[m\], and whether `p` lies inside.
    pub(crate) fn nearest(&self, p: &Vector3) -> (Vector3, bool) {
        let local = self.X_GS.inverse() * vector(p);
        let projection = self.shape.project_local_point(local, false);
        (from_vector(self.X_GS * projection.point), projection.is_inside)
    }
}
