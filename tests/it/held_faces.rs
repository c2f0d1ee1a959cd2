//! The faces of steps that may be longer than their contact, against closed forms of their fields.

use isobar::contact::{
    FaceFriction, Hold, PatchSize, Slip, patch_point, patch_size, push_faces_held, push_faces_with_rims,
};
use isobar::geometry::{ContactSurface, HydroelasticGeometry, HydroelasticWorkspace, Shape, contact_surface};
use isobar::math::{RigidTransform, SpatialVelocity, Vector3};
use isobar::solvers::{DissipationLaw, PatchBlock, PatchLaw};

use crate::geometry::build;
use crate::worlds::at;

const STEP: f64 = 1.0 / 60.0;
/// The side of a square body \[m\].
const SIDE: f64 = 0.05;

/// The surface of A at the origin and B at `X_WB`.
fn surface_of(A: &HydroelasticGeometry, B: &HydroelasticGeometry, X_WB: &RigidTransform) -> ContactSurface {
    let mut surface = ContactSurface::new();
    let mut workspace = HydroelasticWorkspace::default();
    contact_surface(A, &RigidTransform::identity(), B, X_WB, &mut workspace, &mut surface).expect("a surface");
    surface
}

/// A step that does not resolve the contact at all, with the surface found after B has moved by `moved`
/// \[m\], without a cap on the speed at which an overlap separates.
fn hold(moved: f64, energy_before: Option<f64>) -> Hold {
    Hold {
        step: STEP,
        inverse_mass: 10.0,
        share: 1.0,
        ahead: STEP,
        V_free: SpatialVelocity::new(Vector3::zeros(), Vector3::z() * (moved / STEP)),
        touches: energy_before.is_some_and(|energy| energy > 0.0),
        energy_before,
        impulse_before: Some(0.0),
        across_before: f64::INFINITY,
        fall: f64::INFINITY,
        depth_max: f64::INFINITY,
    }
}

/// A patch without faces.
fn empty_block() -> PatchBlock {
    let mut block = PatchBlock::new();
    block.reset(PatchLaw {
        step: STEP,
        dissipation: DissipationLaw::Linear { relaxation_time: 0.0 },
        friction: 0.0,
        stiction_tolerance: 1e-6,
        friction_compliance: 0.0,
    });
    block
}

/// The sum of the faces' forces at the start \[N\].
fn force(surface: &ContactSurface, hold: &Hold) -> f64 {
    let mut block = empty_block();
    let p_WC = patch_point(surface).expect("faces");
    push_faces_held(surface, &p_WC, hold, FaceFriction::Centroid, &mut block, &mut Vec::new());
    block.elastic_sums().0
}

/// Closed form: a soft box that is found at the depth d below a rigid plane, and is at the depth c at the
/// start, has there the pressure g min(c, s) at the distance s from its sides. The rim is a trapezoid of the
/// width d along each side. Its faces take the mean of their pressure, which adds g c^2 (d - c)/3 for each
/// side. Without a fall (c = d) all forces are those of the faces.
#[test]
fn rims_that_were_found_deeper_have_the_force_of_the_start() {
    let modulus = 1e7;
    let pad = build(&Shape::Box { size: Vector3::new(SIDE, SIDE, 0.02) }, Some(modulus), None);
    let gradient = modulus / 0.01;
    let ground = HydroelasticGeometry::RigidHalfSpace;
    for (found, start) in [(1e-3, 1e-3), (2e-3, 2e-3), (2e-3, 1e-3), (2e-3, 1e-5), (3e-3, 2.9e-3)] {
        let surface = surface_of(&ground, &pad, &at(0.0, 0.0, 0.01 - found));
        let own = (0..surface.len()).map(|i| surface.area[i] * surface.pressure[i]).sum::<f64>();
        for energy_before in [None, Some(1e6)] {
            let force = force(&surface, &hold(start - found, energy_before));
            // The integral of min(start, s) over the square
            let strip = SIDE * (found * start - 0.5 * start * start) - start * found * found + start.powi(3) / 3.0;
            let excess = 4.0 * start * start * (found - start) / 3.0;
            let exact = gradient * ((SIDE - 2.0 * found).powi(2) * start + 4.0 * strip + excess);
            println!("found {found} m, start {start} m: {force} and not {exact} N");
            assert!((force / exact - 1.0).abs() < 1e-9, "found {found} m, start {start} m: {force} and not {exact} N");
            assert!(found != start || (force / own - 1.0).abs() < 1e-9, "{force} and not {own} N");
        }
    }
}

/// Closed form: a rigid box that is pressed into soft ground by d has the pressure g d below it, and g s at
/// its sides, which its motion into the ground does not change. At the first touch the sides count. A body
/// that rests on the ground is pressed across its sides by a fall that the ground prevents: they do not
/// count.
#[test]
fn sides_of_a_body_that_rests_do_not_push_it() {
    let gradient = 1e8;
    let block = build(&Shape::Box { size: Vector3::new(SIDE, SIDE, 0.02) }, None, None);
    let ground = HydroelasticGeometry::CompliantHalfSpace { stiffness: gradient, margin: 0.0 };
    let depth = 2e-3;
    let surface = surface_of(&ground, &block, &at(0.0, 0.0, 0.01 - depth));
    let (below, sides) = (gradient * depth * SIDE * SIDE, gradient * 2.0 * SIDE * depth * depth);
    for (energy_before, exact) in [(None, below + sides), (Some(0.0), below + sides), (Some(1e6), below)] {
        let force = force(&surface, &hold(0.0, energy_before));
        assert!((force / exact - 1.0).abs() < 1e-9, "{energy_before:?}: {force} and not {exact} N");
    }
}

/// The sum of the faces' forces in a step that resolves the contact \[N\].
fn resolved_force(surface: &ContactSurface) -> f64 {
    let mut block = empty_block();
    let p_WC = patch_point(surface).expect("faces");
    let size = patch_size(surface);
    let slip = Slip::of_patch(&size, 0.0, 0.0, Some(0.0), 0.0);
    push_faces_with_rims(surface, (&p_WC, &size), &slip, FaceFriction::Centroid, &mut block, &mut Vec::new());
    block.elastic_sums().0
}

/// Closed form: a soft square box at the depth d in a rigid plane has the force g (a^2 d - 2 a d^2 + 4 d^3/3)
/// with its rim, whose gradients have the sign of the tilt. A tilt t turns one side of the rim, a quarter of
/// 2 a d^2 g, into one whose pressure falls, with the share 1 - 2 t of its force; and it adds the variance of
/// the depth under the rest, t^2 a^4/12, to sums of squares. Without the rim of the falling sides the force
/// would jump by a d^2 g/2, 2 % of it.
#[test]
fn the_force_of_a_rim_does_not_jump_with_a_tilt() {
    let modulus = 1e7;
    let pad = build(&Shape::Box { size: Vector3::new(SIDE, SIDE, 0.02) }, Some(modulus), None);
    let (depth, gradient) = (2e-3, modulus / 0.01);
    let exact = gradient * (SIDE * SIDE * depth - 2.0 * SIDE * depth * depth + 4.0 * depth.powi(3) / 3.0);
    for tilt in [0.0_f64, 1e-12, -1e-12, 1e-9, -1e-6, 1e-4, -1e-4] {
        let mut X_WB = at(0.0, 0.0, 0.01 - depth);
        X_WB.rotation = isobar::math::Rotation::from_euler_angles(0.5 * tilt, tilt, 0.0);
        let force = resolved_force(&surface_of(&HydroelasticGeometry::RigidHalfSpace, &pad, &X_WB));
        let change = 3.0 * tilt.abs() * 0.5 * SIDE * depth * depth * gradient
            + gradient * tilt * tilt * SIDE.powi(3)
            + 1e-9 * exact;
        assert!((force - exact).abs() < change, "tilt {tilt}: {force} and not {exact} N");
    }
}

/// A rigid block in soft ground is carried by the pressure below it, whether rounding makes the pressure of
/// its sides rise or fall along their normals.
#[test]
fn sides_do_not_push_in_steps_that_resolve_the_contact() {
    let gradient = 1e8;
    let block = build(&Shape::Box { size: Vector3::new(SIDE, SIDE, 0.02) }, None, None);
    let ground = HydroelasticGeometry::CompliantHalfSpace { stiffness: gradient, margin: 0.0 };
    let depth = 2e-3;
    for turn in [0.0, 0.1, 0.7, 1.3] {
        let mut X_WB = at(0.0, 0.0, 0.01 - depth);
        X_WB.rotation = isobar::math::Rotation::from_euler_angles(0.0, 0.0, turn);
        let force = resolved_force(&surface_of(&ground, &block, &X_WB));
        let below = gradient * depth * SIDE * SIDE;
        assert!((force / below - 1.0).abs() < 1e-9, "turn {turn}: {force} and not {below} N");
    }
}

/// Oracle: a depth that is limited keeps the largest pressure, depth times gradient; a smaller one stays.
#[test]
fn a_limited_depth_keeps_the_pressure() {
    let size = PatchSize { depth: 5.0, gradient: 2.0, along: Vector3::z() };
    assert_eq!(size.within(5.0), size);
    let limited = size.within(2.0);
    assert_eq!((limited.depth, limited.depth * limited.gradient), (2.0, 10.0));
    assert_eq!(limited.along, size.along);
}
