//! Line charts as SVG. Only this file uses `plotters`.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

/// One line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// The text of the legend.
    pub name: String,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A line through points.
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.to_owned(), points: points.into_iter().collect() }
    }
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances for equal differences.
    Linear,
    /// Equal distances for equal ratios, on both axes.
    Logarithmic,
}

/// A chart: one panel of a file.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Title above the chart.
    pub title: String,
    /// Labels of the axes, with units.
    pub axes: [String; 2],
    /// Scale of both axes.
    pub scale: Scale,
    /// The lines.
    pub series: Vec<Series>,
    /// Named values of x: vertical lines behind the others.
    pub marks: Vec<(f64, String)>,
}

impl Chart {
    /// A chart with linear axes and without marks.
    pub fn new(title: &str, axes: [&str; 2], series: Vec<Series>) -> Self {
        let axes = axes.map(str::to_owned);
        Self { title: title.to_owned(), axes, scale: Scale::Linear, series, marks: Vec::new() }
    }
}

/// A file that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw {}: {detail}; check the folder and the permissions", file.display())]
pub struct PlotError {
    /// The file.
    pub file: PathBuf,
    /// The error of the library.
    pub detail: String,
}

/// Size of a panel \[px\].
const PANEL: (u32, u32) = (1080, 360);
/// Width at the right of a panel for the names of the lines; inside the chart they would cover the lines
/// \[px\].
const LEGEND: u32 = 200;
/// Colour of the marks.
const MARK: RGBColor = RGBColor(170, 170, 170);
/// Colours of the lines, distinguishable with colour blindness [Okabe & Ito].
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
];

/// Draws the charts one below the other to an SVG file.
///
/// # Errors
/// A file that cannot be written.
pub fn draw(file: &Path, charts: &[Chart]) -> Result<(), PlotError> {
    let fail = |detail: String| PlotError { file: file.to_path_buf(), detail };
    let root = SVGBackend::new(file, (PANEL.0, PANEL.1 * charts.len() as u32)).into_drawing_area();
    root.fill(&WHITE).map_err(|error| fail(error.to_string()))?;
    for (panel, chart) in root.split_evenly((charts.len(), 1)).iter().zip(charts) {
        panel_of(panel, chart).map_err(&fail)?;
    }
    root.present().map_err(|error| fail(error.to_string()))
}

/// The interval of the values with a margin; never empty.
fn span(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return 0.0..1.0;
    }
    let margin = (0.05 * (high - low)).max(1e-3 * high.abs()).max(1e-9);
    low - margin..high + margin
}

fn panel_of(panel: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, chart: &Chart) -> Result<(), String> {
    let logarithmic = chart.scale == Scale::Logarithmic;
    // Values are plotted by their logarithm and labelled by their value, so both scales use one kind of axis.
    let to = |x: f64| if logarithmic { x.max(f64::MIN_POSITIVE).log10() } else { x };
    let points = || chart.series.iter().flat_map(|series| series.points.iter());
    let x = span(points().map(|(x, _)| to(*x)));
    let y = span(points().map(|(_, y)| to(*y)));
    let (area, legend) = panel.split_horizontally(PANEL.0 - LEGEND);
    let mut context = ChartBuilder::on(&area)
        .caption(&chart.title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)
        .map_err(|error| error.to_string())?;
    let label = |value: &f64| {
        if logarithmic { format!("{:.1e}", 10.0_f64.powf(*value)) } else { short(*value) }
    };
    context
        .configure_mesh()
        .x_desc(&chart.axes[0])
        .y_desc(&chart.axes[1])
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| error.to_string())?;
    let (left, right) = (context.x_range().start, context.x_range().end);
    let (low, high) = (context.y_range().start, context.y_range().end);
    let inside = chart.marks.iter().map(|(x, name)| (to(*x), name)).filter(|(x, _)| (left..right).contains(x));
    for (number, (x, name)) in inside.enumerate() {
        let line = PathElement::new([(x, low), (x, high)], MARK);
        // The heights differ, because the names of marks close together would overlap.
        let height = high - (high - low) * (0.02 + 0.07 * (number % 3) as f64);
        let name = Text::new(name.clone(), (x + 0.004 * (right - left), height), ("sans-serif", 13).into_font());
        context.draw_series([line]).map_err(|error| error.to_string())?;
        context.draw_series([name]).map_err(|error| error.to_string())?;
    }
    for (number, series) in chart.series.iter().enumerate() {
        let style = COLORS[number % COLORS.len()].stroke_width(2);
        context
            .draw_series(LineSeries::new(series.points.iter().map(|(x, y)| (to(*x), to(*y))), style))
            .map_err(|error| error.to_string())?;
        let y = 48 + 20 * number as i32;
        legend.draw(&PathElement::new([(6, y), (26, y)], style)).map_err(|error| error.to_string())?;
        let name = Text::new(series.name.as_str(), (34, y - 6), ("sans-serif", 13));
        legend.draw(&name).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// At most four digits after the point, without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
