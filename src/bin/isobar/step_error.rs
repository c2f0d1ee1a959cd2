//! `isobar experiment step-error`: its options, and the tables that it prints.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use isobar::experiments::step_error::{Case, ControlRow, Method, StepErrors, box_drop, coin, spatula, study};

/// A scene of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// A box drops while it slides.
    Box,
    /// A coin slides and spins.
    Coin,
    /// The spatula slips in its grip.
    Spatula,
}

#[derive(clap::Args)]
pub(crate) struct StepError {
    /// The scenes.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["box", "coin", "spatula"])]
    cases: Vec<Name>,
    /// The scene of the spatula.
    #[arg(long, default_value = "config/spatula_slip.yaml", value_parser = super::parse_file)]
    scene: PathBuf,
    /// Folder for the CSV file and the plots.
    #[arg(long, default_value = "out/step_error")]
    out: PathBuf,
}

impl StepError {
    /// Runs the experiment and returns its tables in Markdown.
    pub(crate) fn run(&self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<String, Box<dyn Error>> {
        let case = |name: &Name| -> Result<Case, Box<dyn Error>> {
            Ok(match name {
                Name::Box => box_drop()?,
                Name::Coin => coin()?,
                Name::Spatula => spatula(&self.scene)?,
            })
        };
        let cases = self.cases.iter().map(case).collect::<Result<Vec<Case>, _>>()?;
        let mut text = String::new();
        for result in study(&cases, &self.out, progress)? {
            table(&result, &mut text)?;
        }
        writeln!(text, "{}", self.out.display())?;
        Ok(text)
    }
}

fn table(result: &StepErrors, text: &mut String) -> std::fmt::Result {
    let StepErrors { name, reference_parts, reference_error, .. } = result;
    writeln!(text, "## {name}\n\nReference: {reference_parts} parts, known to {reference_error:.1e} m\n")?;
    let methods = Method::all();
    let steps: Vec<f64> = result.fixed.iter().filter(|row| row.method == methods[0].name).map(|row| row.step).collect();
    let heads: Vec<String> = steps.iter().map(|step| format!("{} ms", step * 1e3)).collect();
    writeln!(text, "| scheme | {} | order | limit: distance [m] | order |", heads.join(" | "))?;
    writeln!(text, "|---|{}---|---|---|", "---|".repeat(steps.len()))?;
    let order = |order: Option<f64>| order.map_or_else(|| "-".to_owned(), |order| format!("{order:.2}"));
    for method in &methods {
        let rows = result.fixed.iter().filter(|row| row.method == method.name);
        let errors: Vec<String> = rows
            .map(|row| {
                row.error.map_or_else(|| "fails".to_owned(), |error| format!("{error:.2e}{}", mark(row.unsolved)))
            })
            .collect();
        let limit = result.limits.iter().find(|row| row.method == method.name);
        let distance = limit.map_or_else(|| "-".to_owned(), |row| format!("{:.2e}", row.distance));
        let (to_model, to_limit) = (result.order(method.name).map(|(_, order)| order), limit.and_then(|row| row.order));
        let (to_model, to_limit) = (order(to_model), order(to_limit));
        writeln!(text, "| {} | {} | {to_model} | {distance} | {to_limit} |", method.name, errors.join(" | "))?;
    }
    writeln!(text, "\n| tolerance | error [m] | solves | fixed steps of equal error |\n|---|---|---|---|")?;
    for ControlRow { tolerance, error, solves, unsolved, equal_steps } in &result.controlled {
        let equal = equal_steps.map_or_else(|| "-".to_owned(), |steps| format!("{steps:.0}"));
        writeln!(text, "| {tolerance:.0e} | {error:.2e}{} | {solves} | {equal} |", mark(*unsolved))?;
    }
    writeln!(text)
}

/// Says how many steps did not converge.
fn mark(unsolved: u64) -> String {
    if unsolved == 0 { String::new() } else { format!(" ({unsolved} steps not converged)") }
}
