//! Figures 5 and 6: the final ratio against the initial one, and the orders of convergence.

use std::fmt::Write as _;
use std::path::Path;

use super::coin::{Cap, slide};
use super::motion::{Footprint, exact_ratio};
use crate::experiments::error::{make_folder, write_text};
use crate::experiments::study::power_law;
use crate::experiments::{Chart, ExperimentError, Scale, Series, draw};
use crate::stepping::{
    ContactScheme, ContactSurfaces, DissipationModel, DynamicStepping, FrictionBound, Integrator, StepSettings,
    Stepping,
};

/// The larger of both speeds at the start of a sweep [m/s].
const START: f64 = 5.0;
/// The rim speed at which the ratio is read [m/s].
const READ: f64 = 1e-3;
/// Initial ratios per decade in figure 5.
const PER_DECADE: i32 = 5;
/// Speed of the centre and of the rim at the start of the runs of figure 6 [m/s].
const ORDER_START: [f64; 2] = [0.5, 0.5];
/// The time at which the runs of figure 6 are compared \[s\]; the coin comes to rest after 0.35 s.
const ORDER_TIME: f64 = 0.24;
/// The steps of figure 6 \[s\]. The last two give the limit that the others are compared with.
pub const ORDER_STEPS: [f64; 7] = [8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 1.25e-4, 6.25e-5];
/// The rings of figure 6; the last two give the limit.
const ORDER_RINGS: [u32; 6] = [2, 3, 4, 6, 12, 24];
/// The step of the runs with several grids \[s\].
const GRID_STEP: f64 = 1e-3;
/// Rings of the coin that stands for a uniform pressure.
const FINE: u32 = 8;

/// A scheme of steps.
#[derive(Clone, Copy, Debug)]
pub struct CoinScheme {
    /// Its name in tables.
    pub name: &'static str,
    /// Its steps.
    pub stepping: Stepping,
}

impl CoinScheme {
    /// Lagged friction as in the paper and by default, and the other schemes. SAP needs linear dissipation
    /// and a friction compliance, which have Drake's values. The paper's integrator is explicit in the
    /// gyroscopic moment. The convex friction of `similar` and `sap` throws the coin up, and the fast
    /// tumbling that follows would gain energy until its speed overflows; these two have the default
    /// integrator and surfaces.
    pub fn all() -> Vec<Self> {
        let published = DynamicStepping {
            integrator: Integrator::SemiImplicit,
            surfaces: ContactSurfaces::Start,
            friction_bound: FrictionBound::Lagged,
            ..DynamicStepping::default()
        };
        let of = |name, options| Self { name, stepping: Stepping::Dynamic(options) };
        let with = |scheme| DynamicStepping { scheme, ..published };
        let sap = DynamicStepping {
            dissipation: DissipationModel::Linear,
            friction_compliance: 1e-3,
            scheme: ContactScheme::Sap { near_rigid: 1.0 },
            ..DynamicStepping::default()
        };
        vec![
            of("lagged", published),
            of("lagged, solved bounds (default)", DynamicStepping::default()),
            of("coupled", with(ContactScheme::Coupled)),
            of("tamsi", with(ContactScheme::Tamsi)),
            of("similar", DynamicStepping { scheme: ContactScheme::Similar, ..DynamicStepping::default() }),
            of("sap", sap),
        ]
    }

    /// Whether friction lifts a sliding coin, so that its path does not converge.
    fn throws_up(&self) -> bool {
        let Stepping::Dynamic(DynamicStepping { scheme, .. }) = self.stepping else { return false };
        matches!(scheme, ContactScheme::Similar | ContactScheme::Sap { .. })
    }

    fn settings(&self, step: f64) -> StepSettings {
        StepSettings { step_ns: (step * 1e9).round() as u64, stepping: self.stepping, ..StepSettings::default() }
    }
}

/// One run of figure 5.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The scheme.
    pub scheme: &'static str,
    /// The coin's cap.
    pub cap: Cap,
    /// v/(omega R) at the start [-].
    pub start: f64,
    /// v/(omega R) at omega R = 1 mm/s [-]; `None` if the coin never spins so slowly.
    pub end: Option<f64>,
    /// The same by the equations of a flat coin [-].
    pub exact: Option<f64>,
    /// The largest distance of the base from its resting height \[m\].
    pub off_plane: f64,
    /// Steps that did not converge.
    pub failed: u32,
}

/// Runs the initial ratios 0.1 to 10 with `scheme`, in steps of `step` \[s\]; the larger speed is 5 m/s.
///
/// # Errors
/// A step that fails.
pub fn ratios(
    scheme: &CoinScheme,
    cap: Cap,
    step: f64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<SweepRow>, ExperimentError> {
    let settings = scheme.settings(step);
    let mut rows = Vec::new();
    for power in -PER_DECADE..=PER_DECADE {
        progress((power + PER_DECADE) as u64, (2 * PER_DECADE + 1) as u64);
        let start = 10.0_f64.powf(f64::from(power) / f64::from(PER_DECADE));
        let speeds = if start > 1.0 { [START, START / start] } else { [START * start, START] };
        let path = slide(cap, speeds, (READ, f64::INFINITY), settings)?;
        let footprint = if cap == Cap::Fan { Footprint::Fan } else { Footprint::Disc };
        rows.push(SweepRow {
            scheme: scheme.name,
            cap,
            start,
            end: path.ratio_at(READ),
            exact: exact_ratio(footprint, speeds, READ, settings.stiction_tolerance),
            off_plane: path.off_plane,
            failed: path.failed,
        });
    }
    Ok(rows)
}

/// Errors at several steps or grids, and their order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderRow {
    /// The scheme.
    pub scheme: &'static str,
    /// Step \[s\] or length R/rings \[m\], and error of the position and of R times the turn \[m\].
    pub errors: Vec<(f64, f64)>,
    /// The exponent of the power law [-].
    pub order: f64,
}

/// Error norms against the limit of the last two positions and turns, with the given order of convergence.
fn order(scheme: &'static str, sizes: &[f64], places: &[[f64; 3]], expected: f64) -> Option<OrderRow> {
    let count = sizes.len().checked_sub(2)?;
    let ([a, b], [coarse, fine]) = ([sizes[count], sizes[count + 1]], [places[count], places[count + 1]]);
    // Richardson: place(h) = limit + c h^expected
    let factor = (a / b).powf(expected);
    let limit: Vec<f64> = (0..3).map(|i| (factor * fine[i] - coarse[i]) / (factor - 1.0)).collect();
    let scales = [1.0, 1.0, super::RADIUS];
    let error = |place: &[f64; 3]| (0..3).map(|i| (scales[i] * (place[i] - limit[i])).powi(2)).sum::<f64>().sqrt();
    let errors: Vec<_> = sizes[..count].iter().zip(places).map(|(size, place)| (*size, error(place))).collect();
    let order = power_law(&errors)?.1;
    Some(OrderRow { scheme, errors, order })
}

/// The order of convergence in time; `None` if the runs agree exactly.
///
/// # Errors
/// A step that fails.
pub fn time_order(scheme: &CoinScheme) -> Result<Option<OrderRow>, ExperimentError> {
    let place = |step: &f64| {
        let path = slide(Cap::Fan, ORDER_START, (0.0, ORDER_TIME), scheme.settings(*step))?;
        Ok(path.place_at(ORDER_TIME))
    };
    let places = ORDER_STEPS.iter().map(place).collect::<Result<Vec<_>, ExperimentError>>()?;
    Ok(order(scheme.name, &ORDER_STEPS, &places, 1.0))
}

/// The order of convergence in the grid; `None` if the runs agree exactly.
///
/// # Errors
/// A step that fails.
pub fn grid_order(scheme: &CoinScheme) -> Result<Option<OrderRow>, ExperimentError> {
    let place = |rings: &u32| {
        let path = slide(Cap::Rings(*rings), ORDER_START, (0.0, ORDER_TIME), scheme.settings(GRID_STEP))?;
        Ok(path.place_at(ORDER_TIME))
    };
    let places = ORDER_RINGS.iter().map(place).collect::<Result<Vec<_>, ExperimentError>>()?;
    let sizes = ORDER_RINGS.map(|rings| super::RADIUS / f64::from(rings));
    Ok(order(scheme.name, &sizes, &places, 2.0))
}

/// All results of the experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoinStudy {
    /// Figure 5.
    pub sweeps: Vec<SweepRow>,
    /// Figure 6, in time.
    pub time: Vec<OrderRow>,
    /// Figure 6, in the grid.
    pub grid: Vec<OrderRow>,
    /// Schemes that failed, with their errors.
    pub failures: Vec<String>,
}

/// Runs figures 5 and 6 with all schemes in steps of `step` \[s\], and writes `figure_5.csv`, `figure_6.csv`
/// and their plots to the folder `out`. A scheme that fails is named in the result, and the others go on.
///
/// # Errors
/// A file that cannot be written.
pub fn study(step: f64, out: &Path, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<CoinStudy, ExperimentError> {
    make_folder(out)?;
    let mut study = CoinStudy::default();
    for scheme in CoinScheme::all() {
        for (cap, faces) in [(Cap::Fan, "fan"), (Cap::Rings(FINE), "rings")] {
            let name = format!("{}, {faces}", scheme.name);
            match ratios(&scheme, cap, step, &mut |done, all| progress(&name, done, all)) {
                Ok(rows) => study.sweeps.extend(rows),
                Err(error) => study.failures.push(format!("{name}: {error}")),
            }
        }
        if scheme.throws_up() {
            continue;
        }
        for (name, orders, result) in
            [("time", &mut study.time, time_order(&scheme)), ("grid", &mut study.grid, grid_order(&scheme))]
        {
            match result {
                Ok(row) => orders.extend(row),
                Err(error) => study.failures.push(format!("{}, order in {name}: {error}", scheme.name)),
            }
        }
    }
    study.write(out)?;
    Ok(study)
}

impl CoinStudy {
    fn write(&self, out: &Path) -> Result<(), ExperimentError> {
        let number = |value: Option<f64>| value.map_or("".to_owned(), |value| format!("{value:.6}"));
        let mut text = String::from("scheme,cap,start,end,exact,off_plane,failed\n");
        for SweepRow { scheme, cap, start, end, exact, off_plane, failed } in &self.sweeps {
            let (cap, end, exact) = (cap_name(*cap), number(*end), number(*exact));
            // Writing to a string cannot fail
            let _ = writeln!(text, "\"{scheme}\",{cap},{start:.6},{end},{exact},{off_plane:.3e},{failed}");
        }
        write_text(&out.join("figure_5.csv"), &text)?;
        let mut text = String::from("kind,scheme,size,error\n");
        for (kind, rows) in [("time", &self.time), ("grid", &self.grid)] {
            for (row, (size, error)) in rows.iter().flat_map(|row| row.errors.iter().map(move |pair| (row, pair))) {
                let _ = writeln!(text, "{kind},\"{}\",{size:.6e},{error:.6e}", row.scheme);
            }
        }
        write_text(&out.join("figure_6.csv"), &text)?;
        draw(&out.join("figure_5.svg"), &[self.ratio_chart("fan"), self.ratio_chart("rings")])?;
        let orders = [
            ("Errors against the step", "step [s]", &self.time),
            ("Errors against the grid", "radius over rings [m]", &self.grid),
        ];
        Ok(draw(&out.join("figure_6.svg"), &orders.map(|(title, axis, rows)| order_chart(title, axis, rows)))?)
    }

    fn ratio_chart(&self, cap: &str) -> Chart {
        let rows: Vec<&SweepRow> = self.sweeps.iter().filter(|row| cap_name(row.cap) == cap).collect();
        let line = |name: &str, rows: &mut dyn Iterator<Item = &&SweepRow>, of: &dyn Fn(&SweepRow) -> Option<f64>| {
            Series::new(name, rows.filter_map(|row| Some((row.start, of(row)?))).collect::<Vec<_>>())
        };
        let mut series: Vec<Series> = Vec::new();
        for row in &rows {
            if !series.iter().any(|other| other.name == row.scheme) {
                let mut own = rows.iter().filter(|other| other.scheme == row.scheme);
                series.push(line(row.scheme, &mut own, &|row| row.end));
            }
        }
        if let Some(first) = rows.first() {
            let mut own = rows.iter().filter(|other| other.scheme == first.scheme);
            series.push(line("exact", &mut own, &|row| row.exact));
        }
        let title = if cap == "fan" { "Fan of 152 triangles" } else { "Uniform pressure, 8 rings" };
        let axes = ["v/(omega R) at the start", "v/(omega R) at omega R = 1 mm/s"];
        Chart { scale: Scale::Logarithmic, ..Chart::new(title, axes, series) }
    }
}

fn order_chart(title: &str, axis: &str, rows: &[OrderRow]) -> Chart {
    let series = rows
        .iter()
        .map(|row| Series::new(&format!("{}: order {:.2}", row.scheme, row.order), row.errors.clone()))
        .collect();
    Chart { scale: Scale::Logarithmic, ..Chart::new(title, [axis, "error of the path [m]"], series) }
}

/// The name of a cap in tables.
pub(super) fn cap_name(cap: Cap) -> &'static str {
    match cap {
        Cap::Fan => "fan",
        Cap::Rings(_) => "rings",
    }
}

/// The tables of the results in Markdown.
impl std::fmt::Display for CoinStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "| scheme | cap | v/(omega R): start | end | exact | off the plane [m] | steps not converged |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.5}"));
        for SweepRow { scheme, cap, start, end, exact, off_plane, failed } in &self.sweeps {
            let (cap, end, exact) = (cap_name(*cap), number(*end), number(*exact));
            writeln!(f, "| {scheme} | {cap} | {start:.3} | {end} | {exact} | {off_plane:.1e} | {failed} |")?;
        }
        writeln!(f, "\n| scheme | order in time | order in the grid |\n|---|---|---|")?;
        // `similar` and `sap` have no path that converges
        for row in &self.time {
            let grid = self.grid.iter().find(|other| other.scheme == row.scheme);
            let grid = grid.map_or("-".to_owned(), |row| format!("{:.2}", row.order));
            writeln!(f, "| {} | {:.2} | {grid} |", row.scheme, row.order)?;
        }
        self.failures.iter().try_for_each(|failure| writeln!(f, "failed: {failure}"))
    }
}
