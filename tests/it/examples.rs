//! The programs in examples/, run unchanged, against the laws that they show.

#[path = "../../examples/closed_loop.rs"]
#[allow(dead_code, unreachable_pub, reason = "a program of its own")]
mod closed_loop;
#[path = "../../examples/contact_patches.rs"]
#[allow(dead_code, unreachable_pub, reason = "a program of its own")]
mod contact_patches;
#[path = "../../examples/friction_sweep.rs"]
#[allow(dead_code, unreachable_pub, reason = "a program of its own")]
mod friction_sweep;

/// The ground carries the weight; at rest only pressure carries it. After two seconds of a damped bounce the
/// force that the remaining motion needs is far below 1e-6 of the weight.
#[test]
fn the_ground_carries_the_ball() {
    let outcome = contact_patches::run().unwrap();
    for force in [outcome.force, outcome.pressed] {
        assert!((force - outcome.weight).abs() < 1e-6 * outcome.weight, "{force} N of {} N", outcome.weight);
    }
}

/// The force follows dF/dt = k K (F_wanted - F) with the integral gain K = 0.01 m/(N s) and k, the stiffness
/// of impedance and contact in series: at least 500 N/m near 5 N, as the contact is stiffer than the
/// impedance of 1000 N/m. After 2.5 s in contact exp(-12.5) of 5 N remains, 2e-5 N. The impedance pushes with
/// the same force, unless the controller reads another force than the one that acts.
#[test]
fn the_loop_reaches_the_wanted_force() {
    let pressed = closed_loop::run().unwrap();
    for force in [pressed.force, pressed.effort] {
        assert!((force - closed_loop::WANTED).abs() < 2e-5, "{} N and {} N", pressed.force, pressed.effort);
    }
}

/// Friction is regularized below 1e-6 m/s: a speed may be wrong by that much at the start and at the end
/// of the half second over which the acceleration is taken. Same input, same bits, on any number of
/// threads.
#[test]
fn blocks_slide_by_coulombs_law_on_any_number_of_threads() {
    let frictions = [0.2, 0.5, 0.6, 0.8];
    let samples = friction_sweep::run(&frictions, 2).unwrap();
    for sample in &samples {
        assert!((sample.acceleration - sample.expected()).abs() < 4e-6, "{sample:?}, expected {}", sample.expected());
    }
    assert_eq!(samples, friction_sweep::run(&frictions, 1).unwrap());
}
