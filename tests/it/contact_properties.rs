//! Laws of contact surfaces at random: pairs of all shapes, of random sizes, stiffnesses and poses.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use isobar::geometry::fill::{FillSettings, fill};
use isobar::geometry::make::{boundary, sphere};
use isobar::geometry::{
    ContactSurface, FACE_AREA_MIN, FACE_GRADIENT_COSINE_MIN, FaceRepresentation, HydroelasticGeometry,
    HydroelasticParameters, HydroelasticWorkspace, Shape, SurfaceMesh, contact_surface,
};
use isobar::math::{RigidTransform, Rotation, SpatialForce, Vector3};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::random::Random;

/// The number of pairs, each at one pose.
const CASES: u32 = 10_000;
/// Rounding of a sum of a few dozen products, as a share of the largest of them.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Rounding of a position [m]: [`ROUNDING`] of half a metre, in a corner of a face a few times as flat as it
/// is wide.
const PLACE_ROUNDING: f64 = 1e-12;
/// About half the size of the shapes [m].
const SIZE: f64 = 0.05;

/// The definition of a geometry. The numbers of a shape are shares of [`SIZE`].
#[derive(Clone, Debug)]
struct Recipe {
    kind: Kind,
    numbers: [f64; 3],
    /// Modulus [Pa]; `None` is rigid.
    modulus: Option<f64>,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Sphere,
    Ellipsoid,
    Box,
    Cylinder,
    Capsule,
    HalfSpace,
    Convex,
    Mesh,
    Volume,
}

const KINDS: [Kind; 9] = [
    Kind::Sphere,
    Kind::Ellipsoid,
    Kind::Box,
    Kind::Cylinder,
    Kind::Capsule,
    Kind::HalfSpace,
    Kind::Convex,
    Kind::Mesh,
    Kind::Volume,
];

/// A ball with a dent, an L and a ring, none of them convex.
static MESHES: LazyLock<Vec<SurfaceMesh>> = LazyLock::new(|| {
    let mut dented = boundary(&sphere(SIZE, 0.4 * SIZE)).unwrap();
    for vertex in dented.vertices.iter_mut().filter(|vertex| vertex.x > 0.6 * SIZE) {
        vertex.x = 1.2 * SIZE - vertex.x;
    }
    let mut ell = crate::fill::surfaces::ell();
    ell.vertices.iter_mut().for_each(|vertex| *vertex -= Vector3::new(0.04, 0.04, 0.0));
    vec![dented, ell, crate::fill::surfaces::ring(0.7 * SIZE, 0.3 * SIZE, 24, 12)]
});

/// The same, filled with tetrahedra once: the vertices, the tetrahedra and the depths.
static FILLINGS: LazyLock<Vec<isobar::geometry::fill::Filling>> = LazyLock::new(|| {
    let settings = FillSettings { resolution_hint: Some(0.4 * SIZE), ..FillSettings::default() };
    MESHES.iter().map(|mesh| fill(mesh, &settings).unwrap()).collect()
});

impl Recipe {
    fn build(&self) -> HydroelasticGeometry {
        let [x, y, z] = self.numbers.map(|share| share * SIZE);
        let choice = self.seed as usize % MESHES.len();
        let shape = match self.kind {
            Kind::Sphere => Shape::Sphere { radius: x },
            Kind::Ellipsoid => Shape::Ellipsoid { semi_axes: Vector3::new(x, y, z) },
            Kind::Box => Shape::Box { size: Vector3::new(x, y, z) * 2.0 },
            Kind::Cylinder => Shape::Cylinder { radius: x, length: 2.0 * y },
            Kind::Capsule => Shape::Capsule { radius: x, length: 2.0 * y },
            Kind::HalfSpace => Shape::HalfSpace,
            Kind::Convex => {
                let mut random = Random::new(self.seed);
                let vertices =
                    (0..20).map(|_| Vector3::new(random.next() * x, random.next() * y, random.next() * z)).collect();
                Shape::Convex(Arc::new(SurfaceMesh { vertices, triangles: Vec::new() }))
            }
            Kind::Mesh => match self.modulus {
                None => return HydroelasticGeometry::from_surface(MESHES[choice].clone()).unwrap(),
                Some(modulus) => {
                    let filling = &FILLINGS[choice];
                    let pressure = filling.pressure(modulus);
                    return HydroelasticGeometry::from_volume(filling.mesh.clone(), pressure).unwrap();
                }
            },
            // A mesh of tetrahedra with its own pressure, zero on the boundary.
            Kind::Volume => match self.modulus {
                None => return HydroelasticGeometry::from_surface(boundary(&FILLINGS[choice].mesh).unwrap()).unwrap(),
                Some(modulus) => {
                    let filling = &FILLINGS[choice];
                    let mut random = Random::new(self.seed);
                    let own = |share: &f64| if *share > 0.0 { share * (1.5 + random.next()) } else { 0.0 };
                    let pressure = filling.pressure(modulus).iter().map(own).collect();
                    return HydroelasticGeometry::from_volume(filling.mesh.clone(), pressure).unwrap();
                }
            },
        };
        // The half space's layer is as thick as the others are deep.
        let parameters = HydroelasticParameters {
            compliant: self.modulus,
            resolution_hint: None,
            slab_thickness: Some(SIZE),
            margin: 0.0,
            ..HydroelasticParameters::default()
        };
        HydroelasticGeometry::new(&shape, &parameters).unwrap()
    }
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let modulus = prop_oneof![1 => Just(None), 3 => (4.0..9.0_f64).prop_map(|power| Some(10.0_f64.powf(power)))];
    (prop::sample::select(&KINDS[..]), prop::array::uniform3(0.3..1.0_f64), modulus, any::<u64>())
        .prop_map(|(kind, numbers, modulus, seed)| Recipe { kind, numbers, modulus, seed })
}

fn poses() -> impl Strategy<Value = RigidTransform> {
    let turn = prop::array::uniform3(-3.2..3.2_f64);
    (turn, prop::array::uniform3(-0.2..0.2_f64)).prop_map(|(turn, p)| {
        RigidTransform::from_parts(Vector3::from(p).into(), Rotation::from_scaled_axis(Vector3::from(turn)))
    })
}

/// Two geometries that have a contact surface, and poses at which most of them touch.
fn pairs() -> impl Strategy<Value = (Recipe, Recipe, RigidTransform, RigidTransform)> {
    let direction = prop::array::uniform3(-1.0..1.0_f64).prop_map(Vector3::from);
    (recipes(), recipes(), poses(), poses(), direction, 0.0..1.4_f64)
        .prop_filter("one of them compliant, and one of them bounded", |(a, b, ..)| {
            (a.modulus.is_some() || b.modulus.is_some()) && !(a.kind == Kind::HalfSpace && b.kind == Kind::HalfSpace)
        })
        .prop_map(|(a, b, X_WA, X_WB, direction, share)| {
            let between = direction.try_normalize(1e-3).unwrap_or_else(Vector3::z) * (share * SIZE);
            let p_WB = X_WA.translation.vector + between;
            (a, b, X_WA, RigidTransform::from_parts(p_WB.into(), X_WB.rotation))
        })
}

/// A compliant side of a face at a point Q.
struct Field {
    /// Pressure by the face's own element [Pa].
    pressure: f64,
    /// Its rounding [Pa]: from the position of Q, and from the gradient, whose error grows with the element's
    /// length over its height.
    error: f64,
    gradient_W: Vector3,
    /// The distance of Q outside the element [m].
    outside: f64,
}

/// `None` where the geometry is rigid.
fn field(geometry: &HydroelasticGeometry, element: u32, X_WG: &RigidTransform, p_WQ: &Vector3) -> Option<Field> {
    let p_GQ = X_WG.inverse_transform_point(&(*p_WQ).into()).coords;
    let reach = p_WQ.norm() + X_WG.translation.vector.norm() + p_GQ.norm();
    match geometry {
        HydroelasticGeometry::CompliantVolume(field) => {
            let linear = field.linear()[element as usize];
            let planes = field.planes(element);
            let corners = field.mesh().tets[element as usize].map(|vertex| field.mesh().vertices[vertex as usize]);
            let height = planes.iter().zip(&corners).map(|(plane, p)| -plane.distance(p)).fold(f64::INFINITY, f64::min);
            let length = corners.iter().map(|corner| (corner - corners[0]).norm()).fold(0.0, f64::max);
            Some(Field {
                pressure: linear.at(&p_GQ),
                error: ROUNDING * (linear.gradient.norm() * reach + linear.at_origin.abs()) * (length / height),
                gradient_W: X_WG.rotation * linear.gradient,
                outside: planes.iter().map(|plane| plane.distance(&p_GQ)).fold(f64::NEG_INFINITY, f64::max),
            })
        }
        HydroelasticGeometry::CompliantHalfSpace { stiffness, .. } => Some(Field {
            pressure: -stiffness * p_GQ.z,
            error: ROUNDING * stiffness * reach,
            gradient_W: X_WG.rotation * Vector3::new(0.0, 0.0, -stiffness),
            outside: p_GQ.z,
        }),
        HydroelasticGeometry::RigidSurface(_) | HydroelasticGeometry::RigidHalfSpace => None,
    }
}

/// The outward normal of a rigid side in the world, and how far Q is from its plane [m].
fn rigid_side(
    geometry: &HydroelasticGeometry,
    element: u32,
    X_WG: &RigidTransform,
    p_WQ: &Vector3,
) -> Option<(Vector3, f64)> {
    let p_GQ = X_WG.inverse_transform_point(&(*p_WQ).into()).coords;
    let (normal, origin) = match geometry {
        HydroelasticGeometry::RigidSurface(surface) => {
            let corner = surface.mesh().triangles[element as usize][0];
            (surface.normals()[element as usize], surface.mesh().vertices[corner as usize])
        }
        HydroelasticGeometry::RigidHalfSpace => (Vector3::z(), Vector3::zeros()),
        _ => return None,
    };
    Some((X_WG.rotation * normal, normal.dot(&(p_GQ - origin)).abs()))
}

/// A geometry at its pose.
type Posed<'a> = (&'a HydroelasticGeometry, &'a RigidTransform);

/// Laws of a single face: both fields have its pressure at its corners and its centroid, which lie in both
/// elements; its normal points from A into B, its corners turn about it, and the slopes are those of the
/// fields along it.
fn check_face(surface: &ContactSurface, face: usize, A: Posed, B: Posed) -> Result<(), TestCaseError> {
    let (normal, area) = (surface.normal[face], surface.area[face]);
    let (corners, pressures) = surface.polygon(face);
    prop_assert!(area.is_finite() && area > FACE_AREA_MIN && corners.len() >= 3);
    prop_assert!((normal.norm() - 1.0).abs() < 1e-12);
    let turn: Vector3 =
        (1..corners.len() - 1).map(|i| (corners[i] - corners[0]).cross(&(corners[i + 1] - corners[0]))).sum();
    let on_half_space = [A.0, B.0].iter().any(|geometry| matches!(geometry, HydroelasticGeometry::RigidHalfSpace));
    let span = corners.iter().map(|corner| (corner - corners[0]).norm()).fold(0.0, f64::max);
    prop_assert!((turn * 0.5 - normal * area).norm() <= span * PLACE_ROUNDING, "area {area}, but {turn}");
    for (p_WQ, pressure) in corners.iter().zip(pressures).chain([(&surface.centroid[face], &surface.pressure[face])]) {
        prop_assert!(pressure.is_finite() && p_WQ.iter().all(|x| x.is_finite()));
        let field_A = field(A.0, surface.element_A[face], A.1, p_WQ);
        let field_B = field(B.0, surface.element_B[face], B.1, p_WQ);
        let error =
            [&field_A, &field_B].iter().filter_map(|field| field.as_ref()).map(|field| field.error).sum::<f64>();
        prop_assert!(*pressure >= -error, "pressure {pressure}");
        for (field, slope, inward) in [(&field_A, surface.g_A[face], -normal), (&field_B, surface.g_B[face], normal)] {
            let Some(field) = field else { continue };
            prop_assert!((field.pressure - pressure).abs() <= error, "{} and {pressure} ({error})", field.pressure);
            prop_assert!(field.outside < PLACE_ROUNDING, "{} m outside", field.outside);
            let steepness = field.gradient_W.norm();
            prop_assert!((field.gradient_W.dot(&inward) - slope).abs() <= 1e-12 * steepness);
            // A rigid half space has no far side: the whole section counts.
            prop_assert!(slope >= FACE_GRADIENT_COSINE_MIN * steepness || on_half_space, "slope {slope}");
        }
        if let (Some(a), Some(b)) = (&field_A, &field_B) {
            // Beyond the face B's pressure is the larger one, and no pressure rises along it.
            let difference = b.gradient_W - a.gradient_W;
            let along = difference - normal * difference.dot(&normal);
            prop_assert!(difference.dot(&normal) > 0.0);
            prop_assert!(along.norm() <= 1e-12 * (a.gradient_W.norm() + b.gradient_W.norm()));
        }
    }
    for ((geometry, X_WG), element, slope, outward) in [
        (A, surface.element_A[face], surface.g_A[face], normal),
        (B, surface.element_B[face], surface.g_B[face], -normal),
    ] {
        for p_WQ in corners {
            if let Some((normal, distance)) = rigid_side(geometry, element, X_WG, p_WQ) {
                prop_assert!((normal - outward).norm() < 1e-12 && distance < PLACE_ROUNDING, "{distance} m off");
                prop_assert!(slope == f64::INFINITY);
            }
        }
    }
    Ok(())
}

fn wrench(surface: &ContactSurface) -> SpatialForce {
    surface.static_wrench_on_B()
}

/// Counts that make a run without contact fail.
#[derive(Default)]
struct Seen {
    touching: u32,
    faces: usize,
    /// Pairs that touch, by the kind of one of the two.
    kinds: BTreeMap<(Kind, bool), u32>,
}

/// Newton's third law, equilibrium on every face, and signs: at 10,000 random poses of random pairs.
/// Exchanging A and B gives the same faces and the opposite wrench.
#[test]
fn random_pairs_obey_newton_and_share_their_pressure() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let seen = std::cell::RefCell::new(Seen::default());
    let outcome = runner.run(&pairs(), |(a, b, X_WA, X_WB)| {
        let (A, B) = (a.build(), b.build());
        let mut workspace = HydroelasticWorkspace::default();
        let (mut forward, mut backward, mut fan) = <(ContactSurface, ContactSurface, ContactSurface)>::default();
        contact_surface(&A, &X_WA, &B, &X_WB, &mut workspace, &mut forward).unwrap();
        contact_surface(&B, &X_WB, &A, &X_WA, &mut workspace, &mut backward).unwrap();
        workspace.representation = FaceRepresentation::TriangleFan;
        contact_surface(&A, &X_WA, &B, &X_WB, &mut workspace, &mut fan).unwrap();
        for face in 0..forward.len() {
            check_face(&forward, face, (&A, &X_WA), (&B, &X_WB))?;
        }
        prop_assert_eq!(forward.len(), backward.len());
        // The forces of faces cancel in part; rounding goes by their sum.
        let scale: f64 = forward.pressure.iter().zip(&forward.area).map(|(p, area)| p * area).sum();
        let (on_B, on_A) = (wrench(&forward), wrench(&backward));
        let reach = X_WA.translation.vector.norm() + 4.0 * SIZE;
        prop_assert!((on_A.f + on_B.f).norm() <= 1e-10 * scale, "{} {} of {scale} N", on_A.f, on_B.f);
        prop_assert!((on_A.tau + on_B.tau).norm() <= 1e-10 * scale * reach, "{} {}", on_A.tau, on_B.tau);
        // A fan covers the same faces.
        let area = forward.total_area();
        prop_assert!((fan.total_area() - area).abs() <= 1e-10 * area + FACE_AREA_MIN * 8.0 * forward.len() as f64);
        prop_assert!((wrench(&fan).f - on_B.f).norm() <= 1e-8 * scale, "{} {}", wrench(&fan).f, on_B.f);
        let mut seen = seen.borrow_mut();
        seen.touching += u32::from(!forward.is_empty());
        seen.faces += forward.len();
        for recipe in [&a, &b] {
            *seen.kinds.entry((recipe.kind, recipe.modulus.is_some())).or_default() += u32::from(!forward.is_empty());
        }
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (a, b, X_WA, X_WB))) => panic!("{why}\nA: {a:?} at {X_WA}\nB: {b:?} at {X_WB}"),
        Err(abort) => panic!("{abort}"),
    }
    let seen = seen.into_inner();
    println!("{CASES} pairs, {} touch, {} faces; by kind and compliance {:?}", seen.touching, seen.faces, seen.kinds);
    assert!(seen.touching > CASES * 6 / 10 && seen.kinds.len() == 2 * KINDS.len());
    assert!(seen.kinds.values().all(|count| *count > 100));
}
