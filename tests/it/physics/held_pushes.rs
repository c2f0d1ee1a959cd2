//! A prism between two round flat fingers that a wall pushes along [Andersson 2021, section 4.4].

use isobar::experiments::prehensile_push::{Fingers, HeldPush, HeldSample, take};
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::solvers::quasistatic::{FrictionModel, QuasistaticSettings};
use isobar::stepping::{QuasistaticStepping, StepSettings, Stepping, UnactuatedInertia};

use super::spook::spook;
use crate::worlds::settings;

const STEP: f64 = 1.0 / 60.0;

/// Mass \[kg\], wall friction, and the distance that the prism slides down \[mm\]: the closed form
/// 2 mu N (sin phi + mu_wall cos phi) = m g with mu = 0.15, N = 20 N, g = 9.81 m/s2, over 15 mm.
const CLOSED_FORM: [(f64, f64, f64); 6] = [
    (0.1, 0.0, 2.48595),
    (0.1, 0.1, 0.95749),
    (0.1, 0.2, 0.0),
    (0.2005, 0.0, 5.20488),
    (0.2005, 0.1, 3.55335),
    (0.2005, 0.2, 1.95902),
];

fn push((mass, mu_wall): (f64, f64), fingers: Fingers, with: StepSettings) -> Vec<HeldSample> {
    take(&HeldPush { mass, mu_wall, fingers }, with, &|| 0.0).expect("a push")
}

fn coulomb_quasistatic() -> StepSettings {
    let default = QuasistaticStepping::default();
    let solver = QuasistaticSettings { model: FrictionModel::Coulomb, ..default.solver };
    let stepping = QuasistaticStepping { solver, inertia: UnactuatedInertia::DRAG, ..default };
    StepSettings { stepping: Stepping::Quasistatic(stepping), ..settings(STEP) }
}

/// Closed form of the sliding, to 2 % or 0.02 mm, whichever is larger; every step converges.
#[test]
fn held_prisms_slide_as_the_closed_form_says() {
    let exact_cone = spook(STEP, ComplementaritySolver::Direct, FrictionLaw::ExactCone);
    let mut wrong = Vec::new();
    for (name, fingers, with) in [
        ("dynamic", Fingers::Points, settings(STEP)),
        ("dynamic, patches", Fingers::Patch, settings(STEP)),
        ("quasistatic", Fingers::Patch, coulomb_quasistatic()),
        ("spook", Fingers::Points, exact_cone),
        ("spook, patches", Fingers::Patch, exact_cone),
    ] {
        for (mass, mu_wall, exact) in CLOSED_FORM {
            let samples = push((mass, mu_wall), fingers, with);
            let failed = samples.iter().filter(|sample| !sample.converged).count();
            let [x, z] = samples.last().expect("samples").position.map(|metres| 1e3 * metres);
            let line = format!("{name} {mass} kg, wall {mu_wall}: {x:.4}, {z:.4} and not -{exact} mm; {failed} failed");
            println!("{line}");
            if (z + exact).abs() > (0.02 * exact).max(0.02) || failed > 0 {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Thesis: boxes along the axes of the world give the friction upwards its own bound, which carries the
/// prism; it does not slide down.
#[test]
fn box_friction_does_not_let_a_held_prism_slide_down() {
    for law in [FrictionLaw::Box, FrictionLaw::ScaledBox] {
        let samples = push((0.2005, 0.0), Fingers::Points, spook(STEP, ComplementaritySolver::Direct, law));
        let z = 1e3 * samples.last().expect("samples").position[1];
        println!("{law:?}: {z} mm");
        assert!(z.abs() < 0.05, "{law:?}: {z} mm");
    }
}
