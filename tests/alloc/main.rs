//! A steady step allocates nothing: a counting allocator says so.
#![allow(unsafe_code, reason = "a global allocator can only be written with it")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::stepping::{JointCommand, JointTarget, Simulation, Snapshot};

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
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let faces = advance(&mut simulation, 1000);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    println!("1000 steady steps with {faces} faces: {allocations} allocations");
    assert!(faces > 100, "the spatula is held");
    assert_eq!(allocations, 0);
}
