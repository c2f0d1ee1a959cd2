//! A study of many drops, with a CSV file and a table.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use super::drop::{Drop, SHAPES};
use super::run::DropRow;
use crate::experiments::ExperimentError;
use crate::experiments::error::{make_folder, write_text};
use crate::stepping::{DissipationModel, DynamicStepping};

/// The rows of a study. `Display` is a table in Markdown, followed by the drops with faults.
#[derive(Clone, Debug, Default)]
pub struct DropStudy {
    /// One row for each drop.
    pub rows: Vec<DropRow>,
}

impl DropStudy {
    /// The number of drops with a fault.
    pub fn faulty(&self) -> usize {
        self.rows.iter().filter(|row| !row.faults().is_empty()).count()
    }
}

/// The heads of the columns of `drops.csv`.
const COLUMNS: &str = "seed,shape,mass,thickness,modulus,law,dissipation,soft_ground,friction,height,step,gain,\
                       gain_bound,speed,contact_speed,rest_speed,comes_to_rest,depth,end_height,passed,warning,\
                       not_converged,faults\n";

/// Simulates the drops of `seeds`, of rigid bodies or of compliant ones, with steps `factor` times as long,
/// and writes `drops.csv` to the folder `out`.
///
/// # Errors
/// A scene that cannot be built, or a file that cannot be written.
pub fn study(
    seeds: Range<u64>,
    (rigid, factor): (bool, f64),
    out: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<DropStudy, ExperimentError> {
    make_folder(out)?;
    let (mut text, mut study) = (COLUMNS.to_owned(), DropStudy::default());
    let count = seeds.end - seeds.start;
    for (number, seed) in seeds.enumerate() {
        progress("drops", number as u64, count);
        let mut drop = Drop::random(seed, rigid);
        drop.step *= factor;
        let row = DropRow::run(drop, DynamicStepping::default())?;
        text.push_str(&line(&row));
        study.rows.push(row);
    }
    write_text(&out.join("drops.csv"), &text)?;
    Ok(study)
}

fn line(row: &DropRow) -> String {
    let Drop { seed, mass, modulus, law, dissipation, soft_ground, friction, height, step, .. } = &row.drop;
    let (shape, thickness, soft_ground) = (row.drop.shape_name(), row.drop.size.min(), u8::from(*soft_ground));
    let law = if *law == DissipationModel::Linear { "linear" } else { "hunt_crossley" };
    let [gain, bound, speed, contact_speed, rest] =
        [row.gain, row.gain_bound(), row.speed, row.contact_speed, row.rest_speed()];
    let [rests, passed, warning] = [row.comes_to_rest(), row.passed(), row.warning.is_some()].map(u8::from);
    let (depth, end, not_converged, faults) = (row.depth, row.height, row.not_converged, row.faults().join("; "));
    format!(
        "{seed},{shape},{mass:.4e},{thickness:.4e},{modulus:.4e},{law},{dissipation:.4},{soft_ground},{friction:.3},\
         {height:.4e},{step},{gain:.3e},{bound:.3e},{speed:.3e},{contact_speed:.3e},{rest:.3e},{rests},{depth:.3e},\
         {end:.4e},{passed},{warning},{not_converged},\"{faults}\"\n"
    )
}

impl fmt::Display for DropStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| shape | drops | largest gain over its bound | pass, all with a warning | come to rest | fastest of them over \
             the speed of rest | steps not converged | drops with a fault |\n|---|---|---|---|---|---|---|---|"
        )?;
        for shape in SHAPES {
            let rows = || self.rows.iter().filter(|row| row.drop.shape_name() == shape);
            let largest = |of: fn(&DropRow) -> f64| rows().map(of).fold(0.0, f64::max);
            let gain = largest(|row| row.gain / row.gain_bound());
            let speed = largest(|row| if row.comes_to_rest() { row.end_speed() / row.rest_speed() } else { 0.0 });
            let count = |of: fn(&DropRow) -> bool| rows().filter(|row| of(row)).count();
            let (passed, rest) = (count(DropRow::passed), count(DropRow::comes_to_rest));
            let faulty = count(|row| !row.faults().is_empty());
            let not_converged: u32 = rows().map(|row| row.not_converged).sum();
            let all = rows().count();
            writeln!(
                f,
                "| {shape} | {all} | {gain:.2} | {passed} | {rest} | {speed:.2} | {not_converged} | {faulty} |"
            )?;
        }
        for row in &self.rows {
            for fault in row.faults() {
                writeln!(f, "- {}: {fault}", row.drop)?;
            }
        }
        Ok(())
    }
}
