//! The list of the laws, their table and plots.

use std::path::Path;

use super::law::{Law, LawRow};
use super::{free, friction, grips, pressure, slopes};
use crate::experiments::error::{make_folder, write_text};
use crate::experiments::{Chart, ExperimentError, GAP, Scale, Series, draw};

/// The smallest part of a tolerance that is drawn [-].
const SMALLEST: f64 = 1e-6;

/// The laws.
pub const LAWS: [Law; 19] = [
    friction::COIN,
    friction::TORSION,
    friction::LIMIT_SURFACE,
    pressure::BALL_DEPTH,
    pressure::BOX_DEPTH,
    pressure::RESTITUTION,
    slopes::CREEP,
    slopes::SLIDE,
    slopes::TIP,
    slopes::ROLLING_START,
    slopes::ROLLING_DOWN,
    grips::PINCH,
    grips::PINCH_EFFORT,
    grips::STACK,
    grips::MASS_RATIO,
    free::PAINLEVE,
    free::TOP,
    free::GRIPPER,
    friction::ISOTROPY,
];

/// Simulates the laws whose names contain `only`, or all of them, and writes `laws.csv` and `laws.svg` to the
/// folder `out`.
///
/// # Errors
/// A text that is in the name of no law, a step that fails, or a file that cannot be written.
pub fn study(
    only: Option<&str>,
    out: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<(Law, Vec<LawRow>)>, ExperimentError> {
    let chosen = choose(only)?;
    make_folder(out)?;
    let mut results = Vec::new();
    for (number, law) in chosen.iter().enumerate() {
        progress(law.name, number as u64, chosen.len() as u64);
        results.push((*law, (law.rows)()?));
    }
    let mut text = String::from("law,case,mode,found,exact,tolerance,unit,holds\n");
    for (law, rows) in &results {
        for row in rows {
            let LawRow { case, mode, found, exact, tolerance, unit } = row;
            let holds = u8::from(row.holds());
            text.push_str(&format!(
                "{},\"{case}\",{mode},{found:.9e},{exact:.9e},{tolerance:.3e},{unit},{holds}\n",
                law.name
            ));
        }
    }
    write_text(&out.join("laws.csv"), &text)?;
    draw(&out.join("laws.svg"), &charts(&results))?;
    Ok(results)
}

/// The laws whose names contain `only`.
fn choose(only: Option<&str>) -> Result<Vec<Law>, ExperimentError> {
    let Some(text) = only else { return Ok(LAWS.to_vec()) };
    let chosen: Vec<Law> = LAWS.into_iter().filter(|law| law.name.contains(text)).collect();
    if chosen.is_empty() {
        let names = LAWS.map(|law| format!("`{}`", law.name)).join(", ");
        return Err(ExperimentError::NoLaw { text: text.to_owned(), names });
    }
    Ok(chosen)
}

/// The differences of all rows over their tolerances, and the creep of a pinch against its load.
fn charts(results: &[(Law, Vec<LawRow>)]) -> Vec<Chart> {
    let all: Vec<&LawRow> = results.iter().flat_map(|(_, rows)| rows).collect();
    // A spike for each row, up to the logarithm of its part of the tolerance
    let part = |row: &LawRow| (row.found - row.exact).abs() / row.tolerance.max(f64::MIN_POSITIVE);
    let line = |mode: &str| {
        let of_mode = all.iter().enumerate().filter(|(_, row)| row.mode == mode);
        let spike = |(number, row): (usize, &&LawRow)| {
            let x = (number + 1) as f64;
            [(x, SMALLEST.log10()), (x, part(row).max(SMALLEST).log10()), GAP]
        };
        Series::new(mode, of_mode.flat_map(spike))
    };
    let axes = ["number of the row in laws.csv", "log10 of the difference over its tolerance"];
    let mut lines: Vec<Series> = ["dynamic", "quasistatic", "spook"].map(line).into();
    lines.push(Series::new("tolerance", [(1.0, 0.0), (all.len() as f64, 0.0)]));
    let mut charts = vec![Chart::new("Differences from the closed forms: below 0, a law holds", axes, lines)];
    let creep = grips::creep_series(results);
    if !creep.is_empty() {
        let axes = ["load over its limit", "creep [m/s]"];
        let title = "Creep of a pinch, v_s x/sqrt(1 - x^2)";
        charts.push(Chart { scale: Scale::Logarithmic, ..Chart::new(title, axes, creep) });
    }
    charts
}
