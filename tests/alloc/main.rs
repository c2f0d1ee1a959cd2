//! A steady step and a warm contact query allocate nothing, measured with a counting allocator.
#![allow(non_snake_case)]
#![allow(unsafe_code, reason = "a global allocator can only be written with it")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../it/golden.rs"]
#[allow(dead_code, reason = "the helpers of another test")]
mod golden;
#[path = "../it/quasistatic/problems.rs"]
#[allow(dead_code, reason = "the helpers of another test")]
mod problems;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape, SurfaceMesh,
    contact_surface,
};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Index, Matrix3, RigidTransform, SpatialForce, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::solvers::complementarity::{ComplementaritySettings, ComplementaritySolver, FrictionLaw};
use isobar::solvers::quasistatic::{FrictionCone, QuasistaticSettings, QuasistaticSolver};
use isobar::stepping::{
    ContinuousStepping, DynamicStepping, ErrorControl, JointCommand, Simulation, Sleep, Snapshot, SpookStepping,
    StepSettings, Stepping,
};

thread_local! {
    /// Allocations of this thread, and so of one test only.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn count_one() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system allocator, which upholds the contract of
// `GlobalAlloc`; the counter needs no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller upholds the contract for `layout`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, that is, from the system allocator with this `layout`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as for `dealloc`; the caller upholds the contract for `new_size`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The grip of config/spatula_slip.yaml, with commands at four times their pace: all buffers grow in the
/// first two periods, while the fingers close, hold at 16 N, and let the spatula slip at 1 N. In the third
/// period neither steps nor snapshots allocate.
#[test]
fn a_steady_step_allocates_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let mut simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial, loaded.settings).expect("a simulation of the scene");
    let mut snapshot = Snapshot::default();
    let mut command = JointCommand::new(&loaded.scene);
    let mut advance = |simulation: &mut Simulation, steps: usize| {
        let mut faces = 0;
        for _ in 0..steps {
            loaded.commands.fill(4 * simulation.time_ns(), &mut command);
            faces = simulation.step(&command).expect("a step").faces;
            simulation.snapshot_into(&mut snapshot);
        }
        faces
    };
    advance(&mut simulation, 3000);
    let before = allocations();
    let faces = advance(&mut simulation, 1500);
    let allocations = allocations() - before;
    println!("1500 steady steps with {faces} faces: {allocations} allocations");
    assert!(faces > 20, "the spatula is still held, at 1 N");
    assert_eq!(allocations, 0);
}

/// A box that slides on the ground, in dynamic steps with error control and in continuous ones: after the
/// first steps neither they nor snapshots allocate.
#[test]
fn a_steady_step_with_error_control_allocates_nothing() {
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    let material = |compliant| ContactProperties { compliant: Some(compliant), ..ContactProperties::default() };
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &material(false)).expect("a ground");
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * 2e-3));
    let body = builder.add_body("box", inertia);
    builder
        .add_geometry(body, "box", identity, Shape::Box { size: Vector3::repeat(0.1) }, &material(true))
        .expect("a box");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -9.81)).expect("a scene"));
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, body, &RigidTransform::translation(0.0, 0.0, 0.05));
    let options =
        DynamicStepping { error_control: Some(ErrorControl { tolerance: 1e-5 }), ..DynamicStepping::default() };
    for stepping in [Stepping::Dynamic(options), Stepping::Continuous(ContinuousStepping::default())] {
        let settings = StepSettings { step_ns: 10_000_000, stepping, ..StepSettings::default() };
        let mut simulation = Simulation::new(scene.clone(), state.clone(), settings).expect("a simulation");
        let mut snapshot = Snapshot::default();
        let (mut before, mut parts) = (0, 0);
        for step in 0..120_u32 {
            if step == 60 {
                before = allocations();
            }
            // A push to and fro keeps the length of the parts changing
            let push = Vector3::x() * if step % 10 < 5 { 8.0 } else { -8.0 };
            simulation.set_external_wrench(body, SpatialForce::new(Vector3::zeros(), push)).expect("a finite wrench");
            parts += simulation.step(&JointCommand::default()).expect("a step").parts;
            simulation.snapshot_into(&mut snapshot);
        }
        assert!(parts > 120, "{stepping:?}: {parts} parts");
        assert_eq!(allocations() - before, 0, "{stepping:?}");
    }
}

/// Quasistatic steps of the stacked cubes, while the arm's wrist turns and an external wrench pushes the
/// first free body.
#[test]
fn a_steady_quasistatic_step_allocates_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/cube_stacking.yaml");
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let stepping = Stepping::Quasistatic(loaded.quasistatic);
    let settings = StepSettings { step_ns: 100_000_000, stepping, ..loaded.settings };
    let wrist = loaded.scene.joint("iiwa_joint_7").expect("a joint");
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial, settings).expect("a simulation");
    let mut snapshot = Snapshot::default();
    let mut command = JointCommand::new(&loaded.scene);
    let pushed = loaded.scene.free_bodies()[0];
    let mut before = 0;
    for step in 0..800 {
        if step == 400 {
            before = allocations();
        }
        let push = SpatialForce::new(Vector3::zeros(), Vector3::x() * (0.01 * f64::from(step % 7)));
        simulation.set_external_wrench(pushed, push).expect("a finite wrench");
        command[wrist].position = Some(0.01 * (0.1 * f64::from(step)).sin());
        simulation.step(&command).expect("a step");
        simulation.snapshot_into(&mut snapshot);
    }
    assert_eq!(allocations() - before, 0);
}

/// The grip of config/spatula_slip.yaml in complementarity steps of 4 ms, with several solvers and friction
/// models: buffers grow while the fingers close and take the load; from 0.32 to 0.48 s they hold at 16 N.
#[test]
fn a_steady_complementarity_step_allocates_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    for (solver, friction) in [
        (ComplementaritySolver::Split, FrictionLaw::ProjectedCone),
        (ComplementaritySolver::Direct, FrictionLaw::ExactCone),
        (ComplementaritySolver::Direct, FrictionLaw::MultiDirectional { directions: 2 }),
        (ComplementaritySolver::GaussSeidel, FrictionLaw::ScaledBox),
    ] {
        let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
        let solver = ComplementaritySettings { solver, friction, ..ComplementaritySettings::default() };
        let stepping = Stepping::Spook(SpookStepping { solver, ..SpookStepping::default() });
        let settings = StepSettings { stepping, step_ns: 4_000_000, ..loaded.settings };
        let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial, settings).expect("a simulation");
        let mut snapshot = Snapshot::default();
        let mut command = JointCommand::new(&loaded.scene);
        let (mut before, mut faces) = (0, 0);
        for step in 0..120 {
            if step == 80 {
                before = allocations();
            }
            loaded.commands.fill(simulation.time_ns(), &mut command);
            faces = simulation.step(&command).expect("a step").faces;
            simulation.snapshot_into(&mut snapshot);
        }
        let allocations = allocations() - before;
        println!("{solver:?}: {faces} faces");
        assert!(faces > 20, "{solver:?}: the spatula is held");
        assert_eq!(allocations, 0, "{solver:?}");
    }
}

/// A bubble that slides on a cylinder, a rigid box and a floor: reused lists and new searches stay in the
/// memory of the first round.
#[test]
fn a_warm_query_allocates_nothing() {
    let build = |shape: &Shape, compliant, hint| {
        let parameters = HydroelasticParameters {
            compliant,
            resolution_hint: Some(hint),
            slab_thickness: None,
            margin: 0.0,
            ..Default::default()
        };
        HydroelasticGeometry::new(shape, &parameters).expect("a geometry")
    };
    let bubble = build(&Shape::Ellipsoid { semi_axes: Vector3::new(0.04, 0.04, 0.06) }, Some(1e5), 0.02);
    let handle = build(&Shape::Cylinder { radius: 0.015, length: 0.11 }, Some(1e8), 0.005);
    let block = build(&Shape::Box { size: Vector3::new(0.03, 0.1, 0.1) }, None, 1.0);
    for (other, x) in [(&handle, 0.05), (&block, 0.05), (&HydroelasticGeometry::RigidHalfSpace, 0.0)] {
        let mut workspace = HydroelasticWorkspace::default();
        let mut surface = ContactSurface::new();
        let mut round = || {
            let mut faces = 0;
            for i in 0..500 {
                let t = f64::from(i) * std::f64::consts::TAU / 500.0;
                let X_WB = RigidTransform::translation(x, 3e-3 * t.sin(), 3e-3 * t.cos());
                contact_surface(&bubble, &RigidTransform::identity(), other, &X_WB, &mut workspace, &mut surface)
                    .expect("a pair with a surface");
                faces += surface.len();
            }
            (faces, workspace.coherence_report())
        };
        round();
        let before = allocations();
        let (faces, report) = round();
        let allocations = allocations() - before;
        assert!(faces > 500 && report.reused > 800 && report.collected > 2, "{faces} faces, {report:?}");
        assert_eq!(allocations, 0, "{}", other.kind());
    }
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

/// Allocations of 500 steps after 500 others, with rigid `shapes` piled on a rigid half space at their
/// heights, which sleep under the conditions of `sleep`.
fn allocations_of_pile(shapes: &[(Shape, f64)], sleep: Option<Sleep>) -> u64 {
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
    let stepping = Stepping::Dynamic(DynamicStepping { sleep, ..DynamicStepping::default() });
    let settings = StepSettings { stepping, ..StepSettings::default() };
    let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
    let (mut snapshot, command) = (Snapshot::default(), JointCommand::default());
    let mut before = 0;
    for step in 0..1000 {
        if step == 500 {
            before = allocations();
        }
        let report = simulation.step(&command).expect("a step");
        simulation.snapshot_into(&mut snapshot);
        assert!(report.faces > 0);
    }
    let new = allocations() - before;
    assert_eq!(simulation.is_asleep(BodyIndex::from_usize(1)), sleep.is_some());
    new
}

/// Rigid contact allocates nothing between boxes, meshes, balls and half spaces, nor for an overlap that
/// needs the expanding polytope (a cylinder on a box).
#[test]
fn steady_rigid_contact_allocates_nothing() {
    let cube = Shape::Box { size: Vector3::repeat(0.1) };
    let stack = [(cube.clone(), 0.05), (cube.clone(), 0.15), (cube.clone(), 0.25)];
    assert_eq!(allocations_of_pile(&stack, None), 0);
    assert_eq!(allocations_of_pile(&stack, Some(Sleep { speed: 1e-3, time: 0.2 })), 0);
    // A matrix by blocks
    let tower: Vec<_> = (0..14).map(|number| (cube.clone(), 0.05 + 0.1 * f64::from(number))).collect();
    assert_eq!(allocations_of_pile(&tower, None), 0);
    let mesh = Shape::Mesh(Arc::new(notched()));
    let pile = [(mesh.clone(), 0.05), (Shape::Sphere { radius: 0.03 }, 0.05 + 0.03 * 1.118_033_988_749_895)];
    assert_eq!(allocations_of_pile(&pile, None), 0);
    assert_eq!(allocations_of_pile(&[(cube.clone(), 0.05), (mesh, 0.15)], None), 0);
    let cylinder = Shape::Cylinder { radius: 0.03, length: 0.08 };
    assert_eq!(allocations_of_pile(&[(cube, 0.05), (cylinder, 0.14)], None), 0);
}

/// Consecutive quasistatic steps of an arm that stacks ten cubes: the second round needs no more memory than
/// the first.
#[test]
fn a_steady_quasistatic_solve_allocates_nothing() {
    for file in golden::folder("quasistatic/qp_sequence") {
        let steps = file["steps"].as_array().expect("steps");
        let mut sequence: Vec<_> = steps.iter().map(problems::sequence_problem).collect();
        let mut solver = QuasistaticSolver::default();
        let mut v = vec![0.0; sequence[0].size()];
        for friction in [FrictionCone::Exact, FrictionCone::Pyramid { rays: 6 }] {
            let settings = QuasistaticSettings { friction, ..QuasistaticSettings::default() };
            let mut round = || {
                solver.forget();
                v.fill(0.0);
                for problem in &mut sequence {
                    let report = solver.solve(problem, &mut v, &settings).expect("a step");
                    assert!(!report.fallback);
                }
            };
            round();
            let before = allocations();
            round();
            assert_eq!(allocations() - before, 0, "{friction:?}");
        }
    }
}
