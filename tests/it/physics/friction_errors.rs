//! The errors of friction that every mode reports.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, Vector3};
use isobar::scene::SceneBuilder;
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::stepping::{
    ContinuousStepping, FrictionErrors, JointCommand, QuasistaticStepping, Simulation, Snapshot, StepSettings, Stepping,
};

use super::bodies::{add_pusher, finish, rigid};
use super::spook::spook;
use crate::worlds::{GRAVITY, at, compliant, settings};

/// A foot that can only move up and down stands on a belt that runs at 0.5 m/s in a direction between its
/// axes. Coulomb's friction is on the cone and along the belt; that of a box has both its components at their
/// bound, which is sqrt(2) - 1 outside the cone and along the diagonal. Dynamic steps compare friction with
/// the cone to 1 %, and quasistatic ones to the accuracy of their velocities.
#[test]
fn every_mode_reports_the_errors_of_its_friction() {
    let (step, mu, degrees) = (1.0 / 60.0, 0.4, 30.0_f64);
    let (sin, cos) = degrees.to_radians().sin_cos();
    let direct = |law| spook(step, ComplementaritySolver::Direct, law);
    let outside = 2.0_f64.sqrt() - 1.0;
    let turned = (45.0 - degrees).to_radians();
    let quasistatic =
        StepSettings { stepping: Stepping::Quasistatic(QuasistaticStepping::default()), ..settings(step) };
    let continuous = StepSettings { stepping: Stepping::Continuous(ContinuousStepping::default()), ..settings(0.01) };
    for (name, with, cone, alignment) in [
        ("dynamic", settings(step), 0.0, 0.0),
        ("quasistatic", quasistatic, 0.0, 0.0),
        ("continuous", continuous, 0.0, 0.0),
        ("spook, exact cone", direct(FrictionLaw::ExactCone), 0.0, 0.0),
        ("spook, box", direct(FrictionLaw::Box), outside, turned),
        ("spook, scaled box", direct(FrictionLaw::ScaledBox), outside, turned),
    ] {
        // Continuous steps have no contact of two rigid bodies
        let materials = [rigid(mu), compliant(1e7, 10.0, mu)];
        for material in &materials[usize::from(name == "continuous")..] {
            let mut builder = SceneBuilder::new();
            let belt =
                ContactProperties { surface_velocity: Some(Vector3::new(0.5 * cos, 0.5 * sin, 0.0)), ..rigid(mu) };
            let here = RigidTransform::identity();
            builder.add_geometry(BodyIndex::WORLD, "belt", here, Shape::HalfSpace, &belt).expect("a belt");
            let size = Vector3::new(0.06, 0.06, 0.02);
            add_pusher(&mut builder, ("foot", 0.5), at(0.0, 0.0, 0.5 * size.z), Vector3::z(), size, material);
            let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[]);
            let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
            for _ in 0..60 {
                assert!(simulation.step(&JointCommand::default()).expect("a step").solver_converged, "{name}");
            }
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            assert_eq!(snapshot.contact_patches().len(), 1, "{name}");
            let patch = &snapshot.contact_patches()[0];
            let each = &patch.faces.friction;
            assert_eq!(each.len(), patch.faces.force_B_W.len(), "{name}: an error for each face");
            let largest = each.iter().copied().fold(FrictionErrors::default(), FrictionErrors::max);
            assert_eq!(largest, patch.friction, "{name}");
            let (points, net) = snapshot.friction_errors();
            println!("{name}: {points:?} {net:?}");
            for errors in [points, net] {
                assert!((errors.cone - cone).abs() < 1e-2, "{name}: {errors:?}");
                assert!((errors.alignment - alignment).abs() < 1e-3, "{name}: {errors:?}");
            }
        }
    }
}
