//! Rigid meshes that overlap deeply: contact points at every depth, along the shortest way out.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::{PointContacts, Shape, SurfaceMesh};
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot};

use crate::fill::surfaces;
use crate::worlds::{at, points_of, settings};

/// Depths of an overlap of bodies of 100 mm \[m\].
const DEPTHS: [f64; 6] = [1e-4, 3e-4, 1e-3, 3e-3, 5e-3, 1e-2];

/// A body of a constant outline in x and z, 100 mm wide along y.
fn prism(outline: &[[f64; 2]], caps: &[[u32; 3]]) -> SurfaceMesh {
    let SurfaceMesh { mut vertices, triangles } = surfaces::prism(outline, 0.05, caps);
    vertices.iter_mut().for_each(|p| *p = Vector3::new(p.x, -p.z, p.y));
    SurfaceMesh { vertices, triangles }
}

/// A foot from x = 0 to 100 mm and a leg up to 100 mm, both 40 mm thick.
fn ell() -> SurfaceMesh {
    prism(
        &[[0.0, 0.0], [0.1, 0.0], [0.1, 0.04], [0.04, 0.04], [0.04, 0.1], [0.0, 0.1]],
        &[[0, 1, 3], [1, 2, 3], [0, 3, 4], [0, 4, 5]],
    )
}

/// A channel that is open below: legs of 25 mm and a roof of 50 mm, inside 50 mm wide and 50 mm high, with
/// the inside's top at z = 0.
fn arch() -> SurfaceMesh {
    let outline = [
        [-0.05, -0.05],
        [-0.025, -0.05],
        [-0.025, 0.0],
        [0.025, 0.0],
        [0.025, -0.05],
        [0.05, -0.05],
        [0.05, 0.05],
        [-0.05, 0.05],
    ];
    prism(&outline, &[[0, 1, 2], [0, 2, 7], [2, 3, 7], [3, 6, 7], [3, 4, 5], [3, 5, 6]])
}

fn shape(mesh: &SurfaceMesh) -> Shape {
    Shape::Mesh(Arc::new(mesh.clone()))
}

/// Asserts that the points are those of an overlap by `depth` with the way out along `out` for B: at least
/// four at that depth, and none that pushes in another direction.
fn assert_way_out(points: &PointContacts, out: &Vector3, depth: f64, name: &str) {
    let deep = points.phi.iter().filter(|phi| (**phi + depth).abs() < 1e-9).count();
    assert!(deep >= 4, "{name}, {depth} m: {deep} of {points:?}");
    for (normal, phi) in points.normal.iter().zip(&points.phi) {
        assert!(normal.dot(out) > 0.999 || *phi > -1e-9, "{name}, {depth} m: {normal:?}, {phi}");
    }
}

/// An L on an L, an arch on a bar that is a mesh (an L's foot) or a box, and an L on its side are pushed out
/// along the shortest way, at all depths and in any pose of the world.
#[test]
fn deep_overlaps_have_their_way_out() {
    let (ell, arch) = (shape(&ell()), shape(&arch()));
    let bar = Shape::Box { size: Vector3::new(0.048, 0.2, 0.06) };
    let world =
        RigidTransform::from_parts(Vector3::new(0.3, -0.2, 0.1).into(), Rotation::from_euler_angles(0.4, -0.7, 1.1));
    for turned in [RigidTransform::identity(), world] {
        let check =
            |a: &Shape, X_WA: RigidTransform, b: &Shape, X_WB: RigidTransform, out: Vector3, depth: f64, name: &str| {
                let (X_WA, X_WB, out) = (turned * X_WA, turned * X_WB, turned.rotation * out);
                assert_way_out(&points_of(a, &X_WA, b, &X_WB, 1e-4), &out, depth, name);
                assert_way_out(&points_of(b, &X_WB, a, &X_WA, 1e-4), &-out, depth, name);
            };
        let (origin, up) = (RigidTransform::identity(), Vector3::z());
        for depth in DEPTHS {
            // The second stands on the first one's foot, clear of its leg, or on the leg's top.
            check(&ell, origin, &ell, at(0.045, 0.013, 0.04 - depth), up, depth, "foot on foot");
            check(&ell, origin, &ell, at(-0.02, 0.013, 0.1 - depth), up, depth, "foot on leg");
            check(&ell, origin, &ell, at(0.1 - depth, 0.013, 0.003), Vector3::x(), depth, "heel on toe");
            // Past the end of the foot, 12 mm from the way out along x.
            check(&ell, origin, &ell, at(0.088, 0.013, 0.04 - depth), up, depth, "heel on toe's end");
            check(&bar, origin, &arch, at(0.0, 0.0, 0.03 - depth), up, depth, "arch on bar");
        }
    }
}

/// The mesh with each triangle cut into four, `times` times.
fn divided(mesh: &SurfaceMesh, times: u32) -> SurfaceMesh {
    let mut mesh = mesh.clone();
    for _ in 0..times {
        let mut fine = SurfaceMesh::default();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize]);
            let (ab, bc, ca) = ((a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5);
            for corners in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
                let first = fine.vertices.len() as u32;
                fine.vertices.extend(corners);
                fine.triangles.push([first, first + 1, first + 2]);
            }
        }
        mesh = fine;
    }
    mesh
}

/// The same for meshes with triangles that are smaller than the depth: the faces of the two bodies are then
/// farther apart than the triangles are large.
#[test]
fn fine_meshes_have_the_same_way_out() {
    let fine = shape(&divided(&ell(), 4));
    let origin = RigidTransform::identity();
    for depth in DEPTHS {
        for (pose, out) in
            [(at(0.045, 0.013, 0.04 - depth), Vector3::z()), (at(0.1 - depth, 0.013, 0.003), Vector3::x())]
        {
            assert_way_out(&points_of(&fine, &origin, &fine, &pose, 1e-4), &out, depth, "fine meshes");
        }
    }
}

/// Thin plates that touch have no contact of their far sides, even where another part of the two overlaps
/// deeply: combs of three plates of 2 mm, 1 mm apart.
#[test]
fn far_sides_of_thin_plates_do_not_touch() {
    // A back of 20 mm and three teeth of 2 mm along x, with gaps of 6 mm.
    let tooth = |k: f64| [[0.06, 0.008 * k], [0.06, 0.008 * k + 0.002], [0.0, 0.008 * k + 0.002]];
    let mut outline = vec![[-0.02, 0.0]];
    outline.extend(tooth(0.0));
    outline.push([0.0, 0.008]);
    outline.extend(tooth(1.0));
    outline.extend([[0.0, 0.016], [0.06, 0.016], [0.06, 0.018], [-0.02, 0.018]]);
    // 0 back low, 1-3 first tooth, 4 root, 5-7 second, 8-10 third, 11 back high.
    let caps = [
        [0, 1, 2],
        [0, 2, 3],
        [0, 3, 4],
        [0, 4, 7],
        [4, 5, 6],
        [4, 6, 7],
        [0, 7, 8],
        [0, 8, 11],
        [8, 9, 10],
        [8, 10, 11],
    ];
    let comb = shape(&prism(&outline, &caps));
    // The second comb faces the first, its teeth on the first one's teeth; its tips end 1 mm inside the
    // back of the first.
    let facing = at(0.059, 0.0, 0.02)
        * RigidTransform::from_parts(
            Vector3::zeros().into(),
            Rotation::from_axis_angle(&Vector3::y_axis(), std::f64::consts::PI),
        );
    let found = points_of(&comb, &RigidTransform::identity(), &comb, &facing, 1e-4);
    assert!(found.phi.iter().any(|phi| (*phi + 1e-3).abs() < 1e-9), "{found:?}");
    for (normal, phi) in found.normal.iter().zip(&found.phi) {
        assert!(*phi > -1.0001e-3 && (normal.x.abs() > 0.999 || *phi > -1e-6), "{normal:?}, {phi}");
    }
}

/// A mesh that is wholly inside another one has contact as well.
#[test]
fn a_mesh_inside_another_is_pushed_out() {
    let ell = shape(&ell());
    let small = SurfaceMesh {
        vertices: self::ell().vertices.iter().map(|p| p.component_mul(&Vector3::new(0.2, 0.2, 0.02))).collect(),
        triangles: self::ell().triangles,
    };
    // 20 mm x 20 mm x 2 mm, its top 0.5 mm below the top of the foot.
    let found = points_of(&ell, &RigidTransform::identity(), &shape(&small), &at(0.06, 0.0, 0.0375), 1e-4);
    assert!(!found.is_empty() && found.normal.iter().all(|normal| normal.z > 0.999), "{found:?}");
}

/// Law: an L that starts 5 mm inside another rises at the speed of recovery, 0.1 m/s, without going aside,
/// and then stands on it: the forces carry the weight.
#[test]
fn an_overlapping_mesh_leaves_and_stands() {
    let mut builder = SceneBuilder::new();
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.5), ..ContactProperties::default() };
    let lower = builder.add_geometry(BodyIndex::WORLD, "lower", RigidTransform::identity(), shape(&ell()), &rigid);
    lower.unwrap();
    let inertia = SpatialInertia::from_central(1.0, &Vector3::new(0.035, 0.0, 0.035), &(Matrix3::identity() * 2e-3));
    let body = builder.add_body("body", inertia);
    builder.add_geometry(body, "upper", RigidTransform::identity(), shape(&ell()), &rigid).unwrap();
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap());
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, body, &at(0.045, 0.013, 0.035));
    let mut simulation = Simulation::new(scene, state, settings(1e-3)).unwrap();
    let mut now = Snapshot::default();
    let mut highest = 0.0_f64;
    for _ in 0..500 {
        simulation.step(&JointCommand::default()).unwrap();
        simulation.snapshot_into(&mut now);
        highest = highest.max(now.V_WB[body].v.norm());
    }
    let place = now.X_WB[body].translation.vector;
    assert!(highest < 0.11, "{highest} m/s");
    // It leaves at 0.1 m/s and rises by up to v^2/2g = 0.5 mm.
    assert!((place - Vector3::new(0.045, 0.013, 0.04)).norm() < 2e-4, "{place:?}");
    assert!((now.F_BBo_W[body].f - Vector3::z() * 9.81).norm() < 1e-3, "{:?}", now.F_BBo_W[body].f);
}

/// Two plates of 2 mm with a hole, drawn inclined in their files, so that the boxes around their far sides
/// overlap: apart they have no point, and at rest only those of the faces that touch. Regression: the far
/// sides attracted each other over 14 mm and held each other.
#[test]
fn thin_plates_apart_do_not_attract_each_other() {
    let frame = |half: f64, tilt: Rotation| {
        let square = |half: f64, z: f64| {
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, y]| tilt * Vector3::new(half * x, half * y, z))
        };
        let vertices = [square(half, 0.0), square(half, -0.002), square(0.02, 0.0), square(0.02, -0.002)].concat();
        let mut triangles = Vec::new();
        for i in 0..4_u32 {
            let j = (i + 1) % 4;
            for [a, b, c, d] in [
                [i, j, j + 8, i + 8],
                [j + 4, i + 4, i + 12, j + 12],
                [i + 4, j + 4, j, i],
                [j + 12, i + 12, i + 8, j + 8],
            ] {
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        shape(&SurfaceMesh { vertices, triangles })
    };
    let (tilt_A, tilt_B) = (Rotation::from_euler_angles(-0.5, -0.4, -0.3), Rotation::from_euler_angles(0.3, 0.0, -0.7));
    let pose = |tilt: Rotation, z: f64| RigidTransform::from_parts(Vector3::new(0.01, 0.005, z).into(), tilt.inverse());
    let (lower, upper) = (frame(0.1, tilt_A), frame(0.09, tilt_B));
    for gap in [0.014, 0.005, 5e-4, 1e-5, 0.0] {
        let found = points_of(&lower, &pose(tilt_A, 0.0), &upper, &pose(tilt_B, 0.002 + gap), 1e-4);
        assert!(found.phi.iter().all(|phi| (phi - gap).abs() < 1e-9), "{gap}: {found:?}");
        assert_eq!(found.is_empty(), gap > 1e-4, "{gap}: {found:?}");
        assert!(found.normal.iter().all(|normal| normal.z > 0.999), "{gap}: {found:?}");
    }
}

/// A block that stands in a tray, with one corner inside the floor by rounding, is not inside the tray: it
/// touches the floor only, with the points of its lower face.
#[test]
fn a_block_in_a_tray_is_not_inside_its_floor() {
    let outline =
        [[-0.1, -0.01], [0.1, -0.01], [0.1, 0.1], [0.09, 0.1], [0.09, 0.0], [-0.09, 0.0], [-0.09, 0.1], [-0.1, 0.1]];
    let caps = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    let tray = shape(&prism(&outline, &caps));
    let mut corners = surfaces::cuboid(Vector3::repeat(0.02));
    corners.vertices[0].z -= 1e-9;
    let points = points_of(&tray, &RigidTransform::identity(), &shape(&corners), &at(0.0, 0.0, 0.02), 1e-4);
    assert!(points.normal.iter().all(|normal| normal.z > 0.999), "{points:?}");
    assert!(points.phi.iter().all(|&phi| phi > -1e-8), "{points:?}");
    for (x, y) in [(-0.02, -0.02), (-0.02, 0.02), (0.02, -0.02), (0.02, 0.02)] {
        let corner = Vector3::new(x, y, 0.0);
        assert!(points.p_WC.iter().any(|position| (position - corner).norm() < 1e-6), "{corner:?}: {points:?}");
    }
}
