//! `isobar plot FILE.csv [--columns NAME,...] [--out FILE.svg]`

use std::error::Error;
use std::path::PathBuf;

use isobar::experiments::{self, ChartError, column_charts, recording_charts};
use isobar::io::csv_file::table::{Table, read_table};
use isobar::names::nearest;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// CSV file: a recording of `isobar run`, or another table of numbers whose first line names the columns.
    file: PathBuf,
    /// The columns to draw over the first one, separated by commas; those of one unit share a chart. Without
    /// this option, the main columns of a recording, or all columns of another table.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// The SVG file to write; by default that of the table with the ending `.svg`.
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum PlotCommandError {
    #[error("{}: {source}{hint}", file.display())]
    Chart { file: PathBuf, source: ChartError, hint: String },
    #[error("--out {}: charts are SVG files; give a name that ends with .svg", file.display())]
    Ending { file: PathBuf },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.file.with_extension("svg"));
    if !out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Err(PlotCommandError::Ending { file: out }.into());
    }
    let table = read_table(&arguments.file)?;
    let charts = match arguments.columns.as_slice() {
        [] => recording_charts(&table),
        names => column_charts(&table, names),
    };
    let fail = |source| {
        let hint = hint(&source, &table);
        PlotCommandError::Chart { file: arguments.file.clone(), source, hint }
    };
    experiments::draw(&out, &charts.map_err(fail)?)?;
    print_line!("{}", out.display());
    Ok(())
}

/// The way out for an unknown column.
fn hint(error: &ChartError, table: &Table) -> String {
    let ChartError::Column { name } = error else { return String::new() };
    let known = || table.columns.iter().filter(|column| column.numbers().is_some()).map(|column| column.name.as_str());
    match nearest(name, known()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there are {}", known().collect::<Vec<_>>().join(", ")),
    }
}
