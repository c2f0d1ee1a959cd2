//! The laws of `isobar experiment laws`, one test for each. The cases, closed forms and derivations of the
//! tolerances are in `src/experiments/laws`.

use isobar::experiments::laws::LAWS;

fn holds(name: &str) {
    let law = LAWS.iter().find(|law| law.name == name).unwrap_or_else(|| panic!("no law `{name}`"));
    let rows = (law.rows)().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!rows.is_empty(), "{name} has no case");
    for row in &rows {
        println!("{row:?}");
    }
    let wrong: Vec<_> = rows.iter().filter(|row| !row.holds()).collect();
    assert!(wrong.is_empty(), "{name}, tolerance {}: {wrong:#?}", law.tolerance);
}

/// Each law has a test of its own here.
#[test]
fn every_law_is_tested() {
    let tests = include_str!("laws.rs");
    let missing: Vec<_> = LAWS.iter().filter(|law| !tests.contains(&format!("holds(\"{}\")", law.name))).collect();
    assert!(missing.is_empty(), "{:?}", missing.iter().map(|law| law.name).collect::<Vec<_>>());
}

/// A name without a law is an error that lists the names.
#[test]
fn a_law_that_does_not_exist_is_refused() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["experiment", "laws", "--only", "conis"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the program");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("`conis`") && text.contains("`coin`"), "{text}");
}

#[test]
fn coins_tend_to_one_ratio() {
    holds("coin");
}

#[test]
fn friction_torque_is_that_of_the_pressure() {
    holds("torsion");
}

#[test]
fn friction_of_a_disc_is_on_its_limit_surface() {
    holds("limit surface");
}

#[test]
fn balls_sink_by_their_closed_form() {
    holds("depth of a ball");
}

#[test]
fn boxes_sink_by_their_closed_form() {
    holds("depth of boxes");
}

#[test]
fn impacts_return_the_speed_of_hunt_and_crossley() {
    holds("restitution");
}

#[test]
fn boxes_on_inclines_creep_by_the_regularization_alone() {
    holds("creep on an incline");
}

#[test]
fn boxes_slide_down_as_coulomb_says() {
    holds("sliding down");
}

#[test]
fn boxes_tip_at_their_aspect_ratio() {
    holds("tipping");
}

#[test]
fn sliding_balls_end_rolling() {
    holds("sliding to rolling");
}

#[test]
fn balls_roll_down_with_five_sevenths() {
    holds("rolling down");
}

#[test]
fn pinched_cubes_creep_by_the_regularization_alone() {
    holds("creep of a pinch");
}

#[test]
fn fine_pinches_take_little_more_work() {
    holds("effort of a fine pinch");
}

#[test]
fn ten_cubes_stand_for_a_minute() {
    holds("stack of ten cubes");
}

#[test]
fn a_light_cube_carries_a_thousand_times_its_mass() {
    holds("mass ratio 1000");
}

#[test]
fn rods_with_painleves_paradox_gain_no_energy() {
    holds("rod of Painlevé");
}

#[test]
fn free_tops_keep_momentum_and_energy() {
    holds("free top");
}

#[test]
fn planar_grippers_end_with_their_forces() {
    holds("planar gripper");
}

#[test]
fn friction_is_the_same_in_every_direction() {
    holds("isotropy");
}
