//! Derivatives at random states of scenes in contact: each exists, agrees with differences of the steps, and
//! is marked where it is that of one side.

use std::path::Path;
use std::sync::Arc;

use isobar::geometry::{Shape, SurfaceMesh};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Index, Matrix3, ScalarJointIndex, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, State, integrate};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, QuasistaticDerivatives, StepSettings, Stepping, UnactuatedInertia};

use super::derivatives::{Case, pushed_cube, sharp, tangent};
use super::{add_box, add_finger, add_ground, positions, rigid, spring};
use crate::random::Random;
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

/// Tolerance of a column against differences of steps, relative to 1 or its largest entry, where the step is
/// smooth [-].
const SMOOTH: f64 = 1e-5;
/// The same of one side: a side is seen beyond the distance by which points yield, and is curved there [-].
pub(super) const ONE_SIDED: f64 = 1e-3;
/// Increments of the differences [rad] or [m]: points yield by 1e-8, and steps are solved to 1e-13.
const INCREMENTS: [f64; 7] = [1e-5, 2e-6, 3e-7, 3e-8, 1e-8, 3e-9, 1e-9];

/// A scene, and the middle and the range of its random commands.
struct Walk {
    case: Case,
    middle: Vec<f64>,
    range: f64,
}

fn case(name: &'static str, builder: SceneBuilder, settings: StepSettings, at_start: &[(BodyIndex, Vector3)]) -> Case {
    let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
    let mut state = scene.model().default_state();
    for (body, p) in at_start {
        scene.model().set_free_body_pose(&mut state, *body, &at(p.x, p.y, p.z));
    }
    Case { name, scene, state, settings: sharp(settings), command: JointCommand::default(), wrenches: Vec::new() }
}

fn drag(step: f64) -> StepSettings {
    quasistatic(step, UnactuatedInertia::DRAG)
}

/// A finger that pushes the lowest of `count` equal boxes, stacked or side by side.
fn boxes(name: &'static str, count: usize, stacked: bool) -> Walk {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let tip = (Shape::Sphere { radius: 0.01 }, &rigid(0.2));
    let from = (Vector3::new(-0.0402, 0.004, 0.02), Vector3::x());
    add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(1000.0, f64::INFINITY), tip);
    let names = ["one", "two", "three", "four", "five"];
    let place = |i: usize| {
        let way = 0.06 * i as f64;
        if stacked { Vector3::new(0.0, 0.0, 0.03 + way) } else { Vector3::new(way, 0.0, 0.03) }
    };
    let bodies: Vec<_> = (0..count)
        .map(|i| (add_box(&mut builder, names[i], Vector3::repeat(0.06), 0.2, &rigid(0.4)), place(i)))
        .collect();
    Walk { case: case(name, builder, drag(0.05), &bodies), middle: vec![0.006], range: 0.006 }
}

/// Two parallel jaws that hold a box in the air.
fn jaws(name: &'static str, pad: Shape, soft: bool, limit: f64) -> Walk {
    let mut builder = SceneBuilder::new();
    let properties = if soft { compliant(1e6, 0.0, 0.6) } else { rigid(0.6) };
    for (name, x, axis) in [("left", -0.04, Vector3::x()), ("right", 0.04, -Vector3::x())] {
        let place = (Vector3::new(x, 0.0, 0.0), axis);
        add_finger(&mut builder, name, place, JointLimits::NONE, spring(1000.0, limit), (pad.clone(), &properties));
    }
    let body = add_box(&mut builder, "box", Vector3::repeat(0.06), 0.3, &rigid(0.6));
    let start = [(body, Vector3::zeros())];
    Walk { case: case(name, builder, drag(0.05), &start), middle: vec![0.01, 0.01], range: 0.003 }
}

/// Commands with which the right jaw is at its effort limit in most steps. With both at their limits only the
/// drag of the box holds them, 1e-4 N over the reach of a difference, of which rounding leaves 1e-5.
fn one_at_its_limit(walk: Walk) -> Walk {
    Walk { middle: vec![0.006, 0.0095], ..walk }
}

/// A link of mesh on two joints that touches a box: an octagonal prism.
fn mesh_link() -> Walk {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let mut parent = BodyIndex::WORLD;
    let inertia = || SpatialInertia::from_central(0.5, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
    let axes = [(Vector3::z(), at(-0.25, 0.0, 0.05)), (Vector3::y(), at(0.0, 0.0, 0.0))];
    for (name, (axis_F, X_PF)) in ["base", "link"].into_iter().zip(axes) {
        let body = builder.add_body(name, inertia());
        let spec = JointSpec {
            axis_F,
            X_PF,
            limits: JointLimits { lower: -0.5, upper: 0.02, ..JointLimits::NONE },
            ..JointSpec::new(&format!("{name}_joint"), parent, body, JointKind::Revolute)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        let actuator = isobar::scene::Actuator { gravity_compensation: true, ..spring(100.0, 4.0) };
        builder.set_actuator(joint, actuator);
        parent = body;
    }
    let corner = |i: usize, x: f64| {
        let (sin, cos) = (std::f64::consts::TAU * (i as f64 + 0.2) / 8.0).sin_cos();
        Vector3::new(x, 0.03 * cos, 0.03 * sin)
    };
    let vertices = (0..8).flat_map(|i| [corner(i, 0.0), corner(i, 0.3)]).collect();
    let hull = Shape::Convex(Arc::new(SurfaceMesh { vertices, triangles: Vec::new() }));
    builder.add_geometry(parent, "hull", at(0.0, 0.0, 0.0), hull, &rigid(0.3)).expect("a hull");
    builder.exclude_contact(BodyIndex::WORLD, parent);
    let body = add_box(&mut builder, "box", Vector3::repeat(0.08), 0.3, &rigid(0.4));
    let start = [(body, Vector3::new(0.0, 0.072, 0.04))];
    Walk { case: case("a link of mesh at a box", builder, drag(0.05), &start), middle: vec![0.06, 0.0], range: 0.06 }
}

/// A finger with a limit pushes a ball and a can that lies on its side.
fn round() -> Walk {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let tip = (Shape::Box { size: Vector3::repeat(0.03) }, &rigid(0.2));
    let from = (Vector3::new(-0.0452, 0.0, 0.025), Vector3::x());
    let limits = JointLimits { lower: -0.01, upper: 0.012, ..JointLimits::NONE };
    add_finger(&mut builder, "finger", from, limits, spring(1000.0, 8.0), tip);
    let inertia = SpatialInertia::from_central(0.2, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    let ball = builder.add_body("ball", inertia);
    builder.add_geometry(ball, "ball", at(0.0, 0.0, 0.0), Shape::Sphere { radius: 0.03 }, &rigid(0.4)).expect("a ball");
    let block = add_box(&mut builder, "block", Vector3::repeat(0.06), 0.2, &rigid(0.4));
    let start = [(ball, Vector3::new(0.0, 0.0, 0.03)), (block, Vector3::new(0.061, 0.0, 0.03))];
    Walk { case: case("a ball and a block", builder, drag(0.05), &start), middle: vec![0.006], range: 0.01 }
}

/// A shipped scene, with commands about its initial positions.
fn shipped(file: &'static str, step: f64, range: f64) -> Walk {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(file);
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let stepping = Stepping::Quasistatic(loaded.quasistatic);
    let settings = StepSettings { stepping, step_ns: (step * 1e9) as u64, ..loaded.settings };
    let model = loaded.scene.model();
    let middle = loaded.scene.joints().iter().map(|joint| model.joints()[*joint].position(&loaded.initial.q));
    Walk {
        middle: middle.map(|position| position.unwrap_or(0.0)).collect(),
        case: Case {
            name: file,
            scene: loaded.scene.clone(),
            state: loaded.initial.clone(),
            settings: sharp(settings),
            command: JointCommand::default(),
            wrenches: Vec::new(),
        },
        range,
    }
}

fn walks() -> Vec<Walk> {
    let box_pad = || Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) };
    let cube = pushed_cube(UnactuatedInertia::DRAG);
    vec![
        Walk { case: cube, middle: vec![0.006], range: 0.006 },
        boxes("a stack of equal boxes", 3, true),
        boxes("a row of equal boxes", 3, false),
        jaws("parallel jaws", box_pad(), false, f64::INFINITY),
        one_at_its_limit(jaws("round jaws with an effort limit", Shape::Sphere { radius: 0.01 }, false, 9.0)),
        jaws("soft jaws", box_pad(), true, f64::INFINITY),
        mesh_link(),
        round(),
        shipped("cube_stacking.yaml", 0.05, 0.03),
        shipped("jaco_demo.yaml", 0.02, 0.02),
    ]
}

/// Counts of the states and columns of a walk.
#[derive(Default, Debug)]
struct Counts {
    states: u32,
    columns: u32,
    one_sided: u32,
    by_steps: u32,
    /// Columns that are said to be smooth, where the steps on one side are another solution.
    other_side: u32,
    /// Columns whose differences agree on no side.
    wrong: u32,
    /// States without derivatives.
    without: u32,
    refused: u32,
    worst: f64,
}

/// The end of the step from a configuration and a command that are moved along a column.
fn end(case: &Case, state: &State, command: &JointCommand, column: usize, increment: f64) -> Option<Vec<f64>> {
    let model = case.scene.model();
    let (mut state, mut command) = (state.clone(), command.clone());
    if column < model.nv() {
        let mut v = vec![0.0; model.nv()];
        v[column] = 1.0;
        integrate(model, &mut state.q, &v, increment);
    } else {
        let position = &mut command[ScalarJointIndex::from_usize(column - model.nv())].position;
        *position = position.map(|position| position + increment);
    }
    let mut simulation = case.simulation(state);
    simulation.step(&command).ok()?;
    Some(simulation.state().q.clone())
}

/// The smallest error of a column against the differences that its kind allows.
pub(super) fn error_of(
    case: &Case,
    state: &State,
    command: &JointCommand,
    column: usize,
    values: &[f64],
    one_sided: bool,
) -> f64 {
    let model = case.scene.model();
    let scale = values.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    let mut least = f64::INFINITY;
    for increment in INCREMENTS {
        let ends = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|part| end(case, state, command, column, part * increment));
        let slope = |a: usize, b: usize| {
            let (before, after) = (ends[a].as_ref()?, ends[b].as_ref()?);
            let width = 0.5 * (b - a) as f64 * increment;
            Some(tangent(model, before, after).into_iter().map(|change| change / width).collect::<Vec<_>>())
        };
        let mut compare = |slope: Option<Vec<f64>>| {
            let Some(slope) = slope else { return };
            let error = slope.iter().zip(values).map(|(slope, value)| (slope - value).abs());
            least = least.min(error.fold(0.0, f64::max) / scale);
        };
        compare(slope(0, 4));
        compare(slope(1, 3));
        if !one_sided {
            // The same slope on both sides, beyond the distance by which points yield.
            if let (Some(before), Some(after)) = (slope(0, 1), slope(3, 4)) {
                compare(Some(before.iter().zip(after).map(|(before, after)| 0.5 * (before + after)).collect()));
            }
            continue;
        }
        // Where points take up their load, steps bend within 1e-9: both differences give the slope.
        if let (Some(near), Some(far)) = (slope(1, 3), slope(0, 4)) {
            compare(Some(near.iter().zip(far).map(|(near, far)| (4.0 * near - far) / 3.0).collect()));
        }
        // A side beyond the distance by which points yield, and the side of the step itself, from the slopes
        // of its two halves.
        for (near, far) in [((2, 3), (3, 4)), ((1, 2), (0, 1))] {
            let (near, far) = (slope(near.0, near.1), slope(far.0, far.1));
            if let (Some(near), Some(far)) = (&near, &far) {
                compare(Some(near.iter().zip(far).map(|(near, far)| 1.5 * near - 0.5 * far).collect()));
            }
            compare(near);
            compare(far);
        }
    }
    least
}

/// Walks at random through the states of a scene, and compares `columns` of the derivatives at each of them.
fn walk(number: usize, walk: &Walk, states: u32, columns: usize) -> Counts {
    let mut random = Random::new(77 + number as u64);
    let (case, mut counts) = (&walk.case, Counts::default());
    let n = case.scene.model().nv();
    let mut simulation = case.simulation(case.state.clone());
    while counts.states < states {
        let command = positions(&walk.middle.iter().map(|p| p + walk.range * random.next()).collect::<Vec<_>>());
        let state = simulation.state().clone();
        let fresh = case.simulation(state.clone());
        let mut derivatives = QuasistaticDerivatives::new(&fresh).expect("a quasistatic simulation");
        let found = derivatives.differentiate(&fresh, &command);
        if simulation.step(&command).is_err() {
            counts.refused += 1;
            simulation = case.simulation(case.state.clone());
            continue;
        }
        counts.states += 1;
        if counts.states % 25 == 0 {
            simulation = case.simulation(case.state.clone());
        }
        if let Err(error) = found {
            println!("{}: {error}", case.name);
            counts.without += 1;
            continue;
        }
        counts.by_steps += u32::from(derivatives.columns_by_steps() > 0);
        for _ in 0..columns {
            let column = random.below(n + derivatives.commands());
            let values: Vec<f64> = (0..n).map(|row| derivatives.A(row, column)).collect();
            let one_sided = derivatives.is_one_sided(column);
            let error = error_of(case, &state, &command, column, &values, one_sided);
            counts.columns += 1;
            counts.one_sided += u32::from(one_sided);
            if !one_sided && error > SMOOTH && error_of(case, &state, &command, column, &values, true) <= SMOOTH {
                counts.other_side += 1;
            } else if error > if one_sided { ONE_SIDED } else { SMOOTH } {
                counts.wrong += 1;
                println!("{}: state {}, column {column}, one-sided {one_sided}: {error:.1e}", case.name, counts.states);
            } else if !one_sided {
                counts.worst = counts.worst.max(error);
            }
        }
    }
    println!("{}: {counts:?}", case.name);
    counts
}

/// Each state has derivatives, each of which is that of the step, or of one side where it is marked.
#[test]
fn derivatives_exist_at_random_states() {
    let states = std::env::var("ISOBAR_STATES").ok().and_then(|states| states.parse().ok()).unwrap_or(4);
    let only = std::env::var("ISOBAR_SCENE").unwrap_or_default();
    for (number, scene) in walks().iter().enumerate().filter(|(_, scene)| scene.case.name.contains(&only)) {
        let counts = walk(number, scene, states, 2);
        assert_eq!((counts.wrong, counts.without), (0, 0), "{}: wrong columns, no derivatives", scene.case.name);
    }
}
