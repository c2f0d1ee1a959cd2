//! A steady step allocates nothing: a counting allocator says so.
#![allow(unsafe_code, reason = "a global allocator can only be written with it")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]
#![allow(non_snake_case)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use isobar::contact::ContactProperties;
use isobar::geometry::{Shape, SurfaceMesh};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, JointTarget, Simulation, Snapshot, StepSettings};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed on unchanged to the system allocator, which upholds the contract of `GlobalAlloc`;
// the counter is atomic and touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract for `layout`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, that is, from the system allocator with this `layout`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for `dealloc`; the caller upholds the contract for `new_size`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// One test counts at a time.
static COUNTS: Mutex<()> = Mutex::new(());

#[global_allocator]
static COUNTING: Counting = Counting;

/// The grip of config/spatula_slip.yaml: closing, holding at 16 N and slipping at 1 N warm all buffers up; after that
/// neither steps nor snapshots allocate.
#[test]
fn a_steady_step_allocates_nothing() {
    let _alone = COUNTS.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let mut simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial, loaded.settings).expect("a simulation of the scene");
    let mut snapshot = Snapshot::default();
    let mut command = JointCommand { targets: vec![JointTarget::default(); loaded.scene.joint_names().len()] };
    let mut advance = |simulation: &mut Simulation, steps: usize| {
        let mut faces = 0;
        for _ in 0..steps {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            faces = simulation.step(&command).expect("a step").faces;
            simulation.snapshot_into(&mut snapshot);
        }
        faces
    };
    advance(&mut simulation, 1000);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let faces = advance(&mut simulation, 1000);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    println!("1000 steady steps with {faces} faces: {allocations} allocations");
    assert!(faces > 100, "the spatula is held");
    assert_eq!(allocations, 0);
}

/// A wedge with a notch, which is not convex: the profile in the x-z plane along y.
fn notched() -> SurfaceMesh {
    let profile = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (0.0, 0.0), (-0.1, 0.05)];
    let vertices = [-0.05, 0.05].iter().flat_map(|y| profile.iter().map(|(x, z)| Vector3::new(*x, *y, *z))).collect();
    let mut triangles = vec![[0, 1, 3], [1, 2, 3], [0, 3, 4], [5, 8, 6], [6, 8, 7], [5, 9, 8]];
    for i in 0..5 {
        let j = (i + 1) % 5;
        triangles.extend([[i, j + 5, j], [i, i + 5, j + 5]]);
    }
    SurfaceMesh { vertices, triangles }
}

/// Allocations of 500 steps after 500 others, with rigid `shapes` piled on a rigid half space at their heights.
fn allocations_of_pile(shapes: &[(Shape, f64)]) -> u64 {
    let rigid = ContactProperties { compliant: Some(false), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &rigid).expect("a ground");
    for (number, (shape, _)) in shapes.iter().enumerate() {
        let inertia = SpatialInertia::from_central(0.5, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
        let body = builder.add_body(&format!("body{number}"), inertia);
        builder.add_geometry(body, "shape", identity, shape.clone(), &rigid).expect("a geometry");
    }
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -9.81)).expect("a scene"));
    let mut state = scene.model().default_state();
    for (body, (_, z)) in scene.free_bodies().iter().zip(shapes) {
        scene.model().set_free_body_pose(&mut state, *body, &RigidTransform::translation(0.0, 0.0, *z));
    }
    let mut simulation = Simulation::new(scene, state, StepSettings::default()).expect("a simulation");
    let (mut snapshot, command) = (Snapshot::default(), JointCommand::default());
    let mut before = 0;
    for step in 0..1000 {
        if step == 500 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        let report = simulation.step(&command).expect("a step");
        simulation.snapshot_into(&mut snapshot);
        assert!(report.faces > 0);
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Rigid contact allocates nothing between boxes, meshes, balls and half spaces. An overlap that goes through the expanding
/// polytope (here a cylinder on a box) allocates in the library: that is counted and told.
#[test]
fn steady_rigid_contact_allocates_nothing() {
    let _alone = COUNTS.lock();
    let cube = Shape::Box { size: Vector3::repeat(0.1) };
    let stack = [(cube.clone(), 0.05), (cube.clone(), 0.15), (cube.clone(), 0.25)];
    assert_eq!(allocations_of_pile(&stack), 0);
    let mesh = Shape::Mesh(Arc::new(notched()));
    let pile = [(mesh.clone(), 0.05), (Shape::Sphere { radius: 0.03 }, 0.05 + 0.03 * 1.118_033_988_749_895)];
    assert_eq!(allocations_of_pile(&pile), 0);
    assert_eq!(allocations_of_pile(&[(cube.clone(), 0.05), (mesh, 0.15)]), 0);
    let cylinder = Shape::Cylinder { radius: 0.03, length: 0.08 };
    println!(
        "500 steps of a cylinder on a box: {} allocations",
        allocations_of_pile(&[(cube, 0.05), (cylinder, 0.14)])
    );
}
