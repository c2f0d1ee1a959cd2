//! A steady step and a warm contact query allocate nothing: a counting allocator says so.
#![allow(non_snake_case)]
#![allow(unsafe_code, reason = "a global allocator can only be written with it")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape, contact_surface,
};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{RigidTransform, Vector3};
use isobar::stepping::{JointCommand, JointTarget, Simulation, Snapshot};

thread_local! {
    /// Allocations of this thread: of one test, whatever others do.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn count_one() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system allocator, which upholds the contract of `GlobalAlloc`;
// the counter needs no memory of its own.
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

/// The grip of config/spatula_slip.yaml: closing, holding at 16 N and slipping at 1 N warm all buffers up; after that
/// neither steps nor snapshots allocate.
#[test]
fn a_steady_step_allocates_nothing() {
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
    let before = allocations();
    let faces = advance(&mut simulation, 1000);
    let allocations = allocations() - before;
    println!("1000 steady steps with {faces} faces: {allocations} allocations");
    assert!(faces > 100, "the spatula is held");
    assert_eq!(allocations, 0);
}

/// A bubble that slides on a cylinder, a rigid box and a floor: reused lists and new searches alike stay in the memory
/// that the first round took.
#[test]
fn a_warm_query_allocates_nothing() {
    let build = |shape: &Shape, compliant, hint| {
        let parameters =
            HydroelasticParameters { compliant, resolution_hint: Some(hint), slab_thickness: None, margin: 0.0 };
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
