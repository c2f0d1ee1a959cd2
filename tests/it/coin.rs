//! The coin that slides and spins [Masterjohn 2022, section V-A], with each scheme of contact.

use isobar::experiments::spinning_disk::{Cap, CoinScheme, grid_order, ratios, slide, time_order};
use isobar::stepping::StepSettings;

/// v/(omega R) of a fan of 152 triangles when it stops [-].
const LIMIT: f64 = 0.64415;

fn scheme(name: &str) -> CoinScheme {
    CoinScheme::all().into_iter().find(|scheme| scheme.name == name).expect("a scheme of this name")
}

/// The limit is reached from 5 m/s before the rim is slower than 1 mm/s, to 1e-4 (the equations of the coin
/// in `spinning_disk::motion`). Steps of 1 ms err by mu g dt = 2 mm/s in the last speeds; 0.5 % is the aim of
/// the paper's figure 5. The weight presses the coin in by 0.105 nm, and its base never leaves that layer.
#[test]
fn coins_end_with_the_ratio_of_their_fan() {
    for name in ["lagged", "lagged, solved bounds (default)", "coupled", "tamsi"] {
        for row in ratios(&scheme(name), Cap::Fan, 1e-3, &mut |_, _| {}).expect("steps") {
            let end = row.end.expect("a coin that stops");
            println!("{name}: from {:.3} to {end:.5}, off the plane {:.1e} m", row.start, row.off_plane);
            assert!((end / LIMIT - 1.0).abs() < 0.005, "{name}: from {} to {end}", row.start);
            assert!(row.off_plane < 1.05e-10, "{name}: {} m off the plane", row.off_plane);
            assert_eq!(row.failed, 0, "{name}");
        }
    }
}

/// The convex friction of `similar` and SAP lifts a body that slides at v by mu dt v, 1 mm at 5 m/s, where
/// its pressure ends at 0.1 nm: the coin is thrown up, tumbles, and does not tend to the ratio. Drake's coin
/// does the same with both: 0.5 to 180 mm off the plane, and ratios of 0.15 to 86 at a rim speed of 1 mm/s
/// (measured once with Drake 1.51; the project has no script for it).
#[test]
fn similar_and_sap_throw_the_coin_off_the_plane() {
    for name in ["similar", "sap"] {
        let rows = ratios(&scheme(name), Cap::Fan, 1e-3, &mut |_, _| {}).expect("steps");
        let right = rows.iter().filter(|row| row.end.is_some_and(|end| (end / LIMIT - 1.0).abs() < 0.005)).count();
        for row in &rows {
            println!("{name}: from {:.3} to {:?}, off the plane {:.1e} m", row.start, row.end, row.off_plane);
            assert!(row.off_plane > 1e-3, "{name}: {} m", row.off_plane);
        }
        assert!(right <= 1, "{name}: {right} of {} ratios are right", rows.len());
    }
}

/// First order in time, and second in the grid.
#[test]
fn errors_of_the_coin_fall_with_the_step_and_with_the_square_of_the_grid() {
    for name in ["lagged", "tamsi"] {
        let time = time_order(&scheme(name)).expect("steps").expect("errors").order;
        let grid = grid_order(&scheme(name)).expect("steps").expect("errors").order;
        println!("{name}: {time:.3} in time, {grid:.3} in the grid");
        assert!((0.95..=1.1).contains(&time), "{name}: order {time} in time");
        assert!(grid >= 1.9, "{name}: order {grid} in the grid");
    }
}

/// Coulomb: a coin that slides without spin loses mu g h in its first step, however long this is, and not
/// more. It falls by g h^2 on its free path, far below the plane, but its sides touch nothing. The bound of
/// friction is right to 1 % (`friction_bound: solved`).
#[test]
fn the_first_step_of_a_coin_takes_what_coulomb_says() {
    for step_ns in [8_000_000, 4_000_000, 1_000_000] {
        let settings = StepSettings { step_ns, ..StepSettings::default() };
        let lost = 0.2 * 9.81 * settings.step();
        let path = slide(Cap::Fan, [0.5, 0.0], (-1.0, settings.step()), settings).expect("a step");
        let end = path.samples.last().expect("a step").speeds[0];
        println!("{step_ns} ns: {end}");
        assert!((0.5 - end - lost).abs() < 1e-2 * lost, "{step_ns} ns: {} and not {lost} m/s", 0.5 - end);
    }
}
