//! Steps that do not settle with the loads of joints at their end settle with those of their start, and say
//! so.
//! Arms with dry friction at their stops settle with those of the end.

use std::path::Path;
use std::sync::Arc;

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{Joint, JointKind, JointLimits, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{JointCommand, QuasistaticDerivatives, Simulation, Snapshot, UnactuatedInertia};

use super::end_loads::{command, missed};
use crate::worlds::{GRAVITY, at, quasistatic};

/// An iiwa 14 that is too soft for its weight and falls past its own links.
const SOFT_IIWA: &str = "
stepping: quasistatic
step: 0.01
models:
 - name: arm
   urdf: ../urdf/iiwa14.urdf
   weld: {xyz: [0, 0, 0]}
   joints: {iiwa_joint_1: 0.2591, iiwa_joint_2: 0.1526, iiwa_joint_3: 1.2656, iiwa_joint_4: -0.6628,
            iiwa_joint_5: -0.7921, iiwa_joint_6: -1.3920, iiwa_joint_7: -1.4783}
   actuators: {'*': {stiffness: 57.26, effort_limit: 1e6}}
";
/// Its commands \[rad\].
const GOALS: [f64; 7] = [0.3089, 0.1526, 1.2656, -0.9941, -0.7921, -1.3920, -1.6740];

fn soft_iiwa() -> Simulation {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/soft_iiwa.yaml");
    let loaded = scene_file::load_str(SOFT_IIWA, &file, &PackageMap::default()).expect("a scene");
    loaded.simulation().expect("a simulation")
}

/// A planar chain of equal links, with horizontal axes.
struct Chain {
    links: usize,
    mass: f64,
    /// Length, and distance of the centre of mass \[m\].
    length: f64,
    center: f64,
    stiffness: f64,
    limit: f64,
    /// Friction of the first joint [N m], and its upper stop \[rad\].
    friction: f64,
    stop: f64,
}

impl Chain {
    const HEAVY: Self = Self {
        links: 1,
        mass: 1.0,
        length: 0.4,
        center: 0.2,
        stiffness: 5.0,
        limit: 1000.0,
        friction: 0.3,
        stop: f64::INFINITY,
    };

    fn build(&self, step: f64) -> Simulation {
        let mut builder = SceneBuilder::new();
        let mut parent = BodyIndex::WORLD;
        for number in 0..self.links {
            let com = Vector3::new(self.center, 0.0, 0.0);
            let inertia = SpatialInertia::from_central(self.mass, &com, &Matrix3::from_diagonal_element(0.001));
            let link = builder.add_body(&format!("link{number}"), inertia);
            let first = number == 0;
            let limits = if first && self.stop.is_finite() {
                JointLimits { lower: -2.0, upper: self.stop, ..JointLimits::NONE }
            } else {
                JointLimits::NONE
            };
            let spec = JointSpec {
                axis_F: Vector3::y(),
                X_PF: at(if first { 0.0 } else { self.length }, 0.0, 0.0),
                limits,
                friction: if first { self.friction } else { 0.0 },
                ..JointSpec::new(&format!("joint{number}"), parent, link, JointKind::Revolute)
            };
            let joint = builder.add_joint(spec).expect("a joint");
            let actuator = Actuator { stiffness: self.stiffness, effort_limit: self.limit, ..Actuator::PASSIVE };
            builder.set_actuator(joint, actuator);
            parent = link;
        }
        let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        Simulation::new(scene.clone(), scene.model().default_state(), settings).expect("a simulation")
    }
}

/// Takes steps. Returns the number of those with the loads of their start, and the number of the last of
/// them.
/// Their report has the force that the step misses.
fn run(simulation: &mut Simulation, command: &JointCommand, steps: usize, what: &str) -> (usize, usize) {
    let (mut behind, mut last) = (0, 0);
    let mut snapshot = Snapshot::default();
    for number in 1..=steps {
        let report = simulation.step(command).unwrap_or_else(|error| panic!("{what}, step {number}: {error}"));
        simulation.snapshot_into(&mut snapshot);
        let missed = missed(simulation, &snapshot, 0.0);
        match simulation.loads_behind() {
            Some(joint) => {
                (behind, last) = (behind + 1, number);
                println!("{what}, step {number}: {joint}");
                assert_eq!(report.loads_behind, joint.miss());
                let text = joint.to_string();
                assert!(text.contains(&format!("`{}`", joint.name())) && text.contains("N m"), "{text}");
                let free = |joint: &Joint| {
                    let (q, limits) = (joint.position(&simulation.state().q).unwrap_or(0.0), &joint.limits);
                    joint.friction == 0.0 && q - limits.lower > 1e-6 && limits.upper - q > 1e-6
                };
                let joints = simulation.scene().model().joints();
                let all_free = joints.iter().filter(|joint| joint.nv == 1).all(free);
                if all_free && snapshot.contact_patches().is_empty() {
                    let error = (missed - joint.miss()).abs();
                    assert!(error < 1e-5 * missed + 1e-6, "{what}, step {number}: {missed} N m, {joint}");
                }
            }
            None => assert_eq!(report.loads_behind, 0.0),
        }
    }
    (behind, last)
}

/// An arm whose solutions meet its own links on the way to a balance that does not: the first step settles
/// with
/// the loads of its start only, and a later one ends in balance.
#[test]
fn an_arm_that_meets_its_own_links_falls_to_its_balance() {
    let mut simulation = soft_iiwa();
    let (behind, last) = run(&mut simulation, &command(&GOALS), 30, "iiwa");
    assert!((1..20).contains(&behind) && last < 20, "{behind} steps with the loads of the start, the last {last}");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let missed = missed(&simulation, &snapshot, 0.0);
    assert!(missed < 1e-5 && snapshot.contact_patches().is_empty(), "{missed:.1e} N m");
}

/// The derivatives of such a step are differences of steps, or there are none.
#[test]
fn derivatives_of_a_step_with_the_loads_of_its_start_are_those_of_steps() {
    let simulation = soft_iiwa();
    let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("memory");
    let taken = derivatives.differentiate(&simulation, &command(&GOALS));
    println!("{taken:?}, {} columns by steps", derivatives.columns_by_steps());
    if taken.is_err() {
        return;
    }
    let end = |column: usize, moved: f64| {
        let (mut simulation, mut goals) = (simulation.clone(), GOALS);
        goals[column] += moved;
        simulation.step(&command(&goals)).expect("a step");
        simulation.state().q.clone()
    };
    let here = end(0, 0.0);
    let n = GOALS.len();
    assert!(here.iter().zip(derivatives.q_next()).all(|(a, b)| (a - b).abs() < 1e-7), "the end of the step");
    for column in (0..n).filter(|column| !derivatives.is_one_sided(n + column)) {
        let (plus, minus) = (end(column, 1e-5), end(column, -1e-5));
        for i in 0..n {
            let (slope, found) = ((plus[i] - minus[i]) / 2e-5, derivatives.B(i, column));
            assert!((slope - found).abs() < 1e-3, "row {i}, column {column}: {slope} and {found}");
        }
    }
}

/// A chain of 60 joints that are much too soft for it.
#[test]
fn a_long_soft_chain_runs_and_says_so() {
    let chain = Chain {
        links: 60,
        mass: 0.1,
        length: 0.1,
        center: 0.05,
        stiffness: 0.5,
        limit: f64::INFINITY,
        friction: 0.0,
        stop: f64::INFINITY,
    };
    let mut simulation = chain.build(0.01);
    let (behind, _) = run(&mut simulation, &command(&[0.0; 60]), 3, "chain");
    assert!(behind > 0);
}

/// Dry friction in a joint that reaches its stop, or is pressed against it: no step is refused, nearly all
/// settle with the loads of the end, and the second joint satisfies its law in these.
#[test]
fn arms_with_dry_friction_end_steps_at_their_stops() {
    let (mut steps, mut all_behind) = (0, 0);
    for (links, friction) in [1, 2, 3].into_iter().flat_map(|links| [(links, 0.3), (links, 1.5)]) {
        for (stiffness, goal) in [(5.0, 0.0), (20.0, 0.0), (200.0, 0.3), (1000.0, 0.3), (1000.0, 0.22)] {
            for (stop, step) in [(0.02, 0.001), (0.02, 0.02), (0.1, 0.001), (0.1, 0.1)] {
                let what = format!("{links} links of {stiffness}, friction {friction}, stop {stop}, h = {step}");
                let chain = Chain { links, stiffness, friction, stop, ..Chain::HEAVY };
                let mut simulation = chain.build(step);
                let mut goals = vec![0.0; links];
                let (before, _) = run(&mut simulation, &command(&goals), 2, &what);
                goals[0] = goal;
                let (after, _) = run(&mut simulation, &command(&goals), 4, &what);
                (steps, all_behind) = (steps + 6, all_behind + before + after);
                let q = &simulation.state().q;
                if goal > 0.0 {
                    assert!((q[0] - stop).abs() < 1e-7, "{what}: {} rad", q[0]);
                }
                if let ([first, second], None) = (&**q, simulation.loads_behind()) {
                    let missed = stiffness * second - GRAVITY * 0.2 * (first + second).cos();
                    assert!(missed.abs() < 1e-5, "{what}: {missed:.1e} N m");
                }
            }
        }
    }
    println!("{all_behind} of {steps} steps with the loads of their start");
    assert!(20 * all_behind < steps, "{all_behind} of {steps} steps with the loads of their start");
}
