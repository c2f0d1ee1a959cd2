//! Efforts of actuators that close a gap within one step.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, Rotation, Vector3};
use isobar::scene::SceneBuilder;
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::stepping::{QuasistaticStepping, Simulation, StepSettings, Stepping};

use super::bodies::{add_pusher, efforts, finish, rigid};
use super::spook::spook;
use crate::worlds::{at, compliant, settings};

/// Mass of the finger [kg], the side of its cube \[m\], and the modulus of its material [Pa].
const MASS: f64 = 0.2;
const SIDE: f64 = 0.02;
const MODULUS: f64 = 1e7;

/// The three modes with their defaults.
fn modes(step: f64) -> [(&'static str, StepSettings); 3] {
    let quasistatic = Stepping::Quasistatic(QuasistaticStepping::default());
    [
        ("dynamic", settings(step)),
        ("spook", spook(step, ComplementaritySolver::Direct, FrictionLaw::ExactCone)),
        ("quasistatic", StepSettings { stepping: quasistatic, ..settings(step) }),
    ]
}

/// A finger on a slide is driven by a constant effort \[N\] across a gap \[m\] to a fixed bar of the
/// thickness \[m\], through which it would fly within one step. It is pressed in by at most the depth at
/// which the spring of its contact has taken up the work of the effort, W = F (gap + depth) = k depth^2/2,
/// and comes to rest at F/k. The stiffness of a compliant face is between those of its whole area and of its
/// area without a rim of a tenth; that of the four rigid points is m (2 pi/(beta h))^2 with beta = 0.1, and
/// four times 1e8 N/m in a quasistatic step with Coulomb's law. A complementarity step damps the contact
/// over several steps: after an impact with u the next step moves by gamma h u, with gamma = 1/(1 + 4 tau/h)
/// and tau = 2 h, and all by gamma h u/(1 - gamma) at most.
#[test]
fn an_effort_that_closes_a_gap_within_a_step_does_not_pass_through() {
    let mut wrong = Vec::new();
    for (force, gap, thickness) in [(20.0, 1e-3, 0.05), (20.0, 5e-3, 0.05), (200.0, 1e-3, 0.005), (200.0, 0.03, 0.005)]
    {
        for (step, soft) in [1.0 / 60.0, 5e-3, 1e-3].into_iter().flat_map(|step| [(step, true), (step, false)]) {
            for (name, with) in modes(step) {
                let mut builder = SceneBuilder::new();
                let bar = Shape::Box { size: Vector3::new(thickness, 0.1, 0.1) };
                let place = at(0.5 * thickness, 0.0, 0.0);
                builder.add_geometry(BodyIndex::WORLD, "bar", place, bar, &rigid(0.3)).expect("a bar");
                let material = if soft { compliant(MODULUS, 10.0, 0.3) } else { rigid(0.3) };
                let start = at(-0.5 * SIDE - gap, 0.0, 0.0);
                add_pusher(&mut builder, ("finger", MASS), start, Vector3::x(), Vector3::repeat(SIDE), &material);
                let (scene, state) = finish(builder, Vector3::zeros(), &[]);
                let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
                let (mut deepest, mut named, mut failed) = (f64::NEG_INFINITY, false, 0);
                let steps = (0.3 / step) as u32;
                for _ in 0..steps {
                    match simulation.step(&efforts(&[force])) {
                        Ok(report) => failed += u32::from(!report.solver_converged),
                        Err(error) => {
                            wrong.push(format!("{name} {step} {force} N soft {soft}: {error}"));
                            break;
                        }
                    }
                    named |= simulation.missed_contact().is_some();
                    deepest = deepest.max(simulation.state().q[0] - gap);
                }
                let last = simulation.state().q[0] - gap;
                let stiffness = match (soft, name) {
                    (true, _) => 0.8 * 0.8 * SIDE * MODULUS * 2.0,
                    (false, "quasistatic") => 4.0 * 1e8,
                    (false, _) => MASS * (std::f64::consts::TAU / (0.1 * step)).powi(2),
                };
                let rest = force / stiffness;
                let impact = (gap / step).min((2.0 * force * gap / MASS).sqrt());
                let damped = if name == "spook" { step * impact / 8.0 } else { 0.0 };
                let bound = rest + (rest * rest + 2.0 * rest * gap).sqrt() + damped;
                let line = format!(
                    "{name} step {step:.4} s, {force} N over {gap} m, soft {soft}: {:.4} of {:.4} mm, at last {:.7} of \
                     {:.7} mm, named {named}, {failed} failed",
                    1e3 * deepest,
                    1e3 * bound,
                    1e3 * last,
                    1e3 * rest
                );
                println!("{line}");
                let right = deepest <= bound && (-1e-7..=1.1 * rest).contains(&last) && failed == 0 && !named;
                if !right {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A rigid finger does not pass into a compliant half space either. The face of the finger has the stiffness
/// E A/t on a layer of the thickness t; the bound is that of the law above.
#[test]
fn an_effort_does_not_press_into_a_compliant_half_space_more_than_its_work() {
    let (force, gap, layer) = (20.0, 1e-3, 0.05);
    let stiffness = MODULUS * SIDE * SIDE / layer;
    let rest = force / stiffness;
    for step in [1.0 / 60.0, 5e-3] {
        for (name, with) in modes(step) {
            let mut builder = SceneBuilder::new();
            let facing = Rotation::new(-std::f64::consts::FRAC_PI_2 * Vector3::y());
            let place = RigidTransform::from_parts(Vector3::zeros().into(), facing);
            let ground = ContactProperties { slab_thickness: Some(layer), ..compliant(MODULUS, 10.0, 0.3) };
            builder.add_geometry(BodyIndex::WORLD, "ground", place, Shape::HalfSpace, &ground).expect("a ground");
            let start = at(-0.5 * SIDE - gap, 0.0, 0.0);
            add_pusher(&mut builder, ("finger", MASS), start, Vector3::x(), Vector3::repeat(SIDE), &rigid(0.3));
            let (scene, state) = finish(builder, Vector3::zeros(), &[]);
            let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
            let mut deepest = f64::NEG_INFINITY;
            for _ in 0..(0.5 / step) as u32 {
                let report = simulation.step(&efforts(&[force])).expect("a step");
                assert!(report.solver_converged, "{name} {step}");
                deepest = deepest.max(simulation.state().q[0] - gap);
            }
            let impact = (gap / step).min((2.0 * force * gap / MASS).sqrt());
            let damped = if name == "spook" { step * impact / 8.0 } else { 0.0 };
            let bound = rest + (rest * rest + 2.0 * rest * gap).sqrt() + damped;
            assert!(deepest <= bound, "{name} step {step:.4} s: {:.4} of {:.4} mm", 1e3 * deepest, 1e3 * bound);
            let last = simulation.state().q[0] - gap;
            assert!((last / rest - 1.0).abs() < 0.01, "{name} step {step:.4} s: at last {:.4} mm", 1e3 * last);
        }
    }
}

/// An effort pushes a row of cubes with small gaps on: every cube moves, none passes into the next one, and a
/// touch at the end of a step is no missed contact.
#[test]
fn an_effort_pushes_a_row_with_gaps_without_a_warning() {
    let gap = 1e-4;
    for (name, with) in modes(1.0 / 60.0).into_iter().take(2) {
        let mut builder = SceneBuilder::new();
        let material = compliant(MODULUS, 10.0, 0.0);
        for number in 0..6 {
            let start = at(f64::from(number) * (SIDE + gap), 0.0, 0.0);
            let cube = format!("cube_{number}");
            add_pusher(&mut builder, (&cube, MASS), start, Vector3::x(), Vector3::repeat(SIDE), &material);
        }
        let (scene, state) = finish(builder, Vector3::zeros(), &[]);
        let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
        for _ in 0..20 {
            simulation.step(&efforts(&[20.0, 0.0, 0.0, 0.0, 0.0, 0.0])).expect("a step");
            assert!(simulation.missed_contact().is_none(), "{name}: {:?}", simulation.missed_contact());
            let q = &simulation.state().q;
            // A step of an impact with 1 m/s presses in by m v/(k h) = 0.06 mm, and 20 N by 0.1 mm
            let overlap = q.windows(2).map(|two| two[0] - two[1] - gap).fold(f64::NEG_INFINITY, f64::max);
            assert!(overlap < 3e-4, "{name}: {overlap} m");
        }
        assert!(simulation.state().q[5] > 0.1, "{name}: {:?}", simulation.state().q);
    }
}
