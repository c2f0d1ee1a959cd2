//! Line charts as SVG. Only this file uses `plotters`.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

/// One line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// The text of the legend.
    pub name: String,
    /// Points (x, y); the line is interrupted at a NaN.
    pub points: Vec<(f64, f64)>,
}

/// The point between two lines of one series.
pub const GAP: (f64, f64) = (f64::NAN, f64::NAN);

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
    /// Equal distances for equal differences, the same on both axes: shapes keep their angles.
    Equal,
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
/// Height of the labels below a chart, and width of those at its left \[px\].
const LABELS: (u32, u32) = (42, 70);
/// Height of a title, with its margin \[px\].
const CAPTION: u32 = 28;
/// Margin around a chart \[px\].
const MARGIN: u32 = 10;
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

/// Larger values are drawn at this one: the length of an axis must be a finite number.
const LARGEST: f64 = 1e200;

/// The interval of the values with a margin; never empty.
fn span(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return 0.0..1.0;
    }
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    let margin = (0.05 * (high - low)).max(1e-3 * high.abs()).max(1e-9);
    low - margin..high + margin
}

/// The intervals, one of them widened about its middle, so that a unit has the same length on both axes.
fn alike(x: std::ops::Range<f64>, y: std::ops::Range<f64>) -> (std::ops::Range<f64>, std::ops::Range<f64>) {
    let width = f64::from(PANEL.0 - LEGEND - LABELS.1 - 2 * MARGIN);
    let height = f64::from(PANEL.1 - LABELS.0 - CAPTION - 2 * MARGIN);
    let unit = ((x.end - x.start) / width).max((y.end - y.start) / height);
    let widened = |range: std::ops::Range<f64>, pixels: f64| {
        let middle = 0.5 * (range.start + range.end);
        middle - 0.5 * unit * pixels..middle + 0.5 * unit * pixels
    };
    (widened(x, width), widened(y, height))
}

fn panel_of(panel: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, chart: &Chart) -> Result<(), String> {
    let logarithmic = chart.scale == Scale::Logarithmic;
    // Values are plotted by their logarithm and labelled by their value, so both scales use one kind of axis.
    let to = |x: f64| if logarithmic { x.max(f64::MIN_POSITIVE).log10() } else { x.clamp(-LARGEST, LARGEST) };
    let points = || chart.series.iter().flat_map(|series| series.points.iter());
    let x = span(points().map(|(x, _)| to(*x)));
    let y = span(points().map(|(_, y)| to(*y)));
    let (x, y) = if chart.scale == Scale::Equal { alike(x, y) } else { (x, y) };
    let (area, legend) = panel.split_horizontally(PANEL.0 - LEGEND);
    let mut context = ChartBuilder::on(&area)
        .caption(&chart.title, ("sans-serif", 18))
        .margin(MARGIN)
        .x_label_area_size(LABELS.0)
        .y_label_area_size(LABELS.1)
        .build_cartesian_2d(x, y)
        .map_err(|error| error.to_string())?;
    let label = |value: &f64, largest: f64| match logarithmic {
        true => format!("{:.1e}", 10.0_f64.powf(*value)),
        false => short(*value, largest),
    };
    let size = |range: std::ops::Range<f64>| range.start.abs().max(range.end.abs());
    let sizes = [size(context.x_range()), size(context.y_range())];
    context
        .configure_mesh()
        .x_desc(&chart.axes[0])
        .y_desc(&chart.axes[1])
        .x_label_formatter(&|value| label(value, sizes[0]))
        .y_label_formatter(&|value| label(value, sizes[1]))
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
    let mut y = 48;
    for (number, series) in chart.series.iter().enumerate() {
        // Earlier lines are wider, so that they stay visible below later ones.
        let wider = (chart.series.len() - 1 - number).min(3) as u32;
        let style = COLORS[number % COLORS.len()].stroke_width(2 + wider);
        for part in series.points.split(|(_, y)| y.is_nan()) {
            context
                .draw_series(LineSeries::new(part.iter().map(|(x, y)| (to(*x), to(*y))), style))
                .map_err(|error| error.to_string())?;
        }
        legend.draw(&PathElement::new([(6, y), (26, y)], style)).map_err(|error| error.to_string())?;
        for part in broken(&series.name) {
            let name = Text::new(part, (34, y - 6), ("sans-serif", 13));
            legend.draw(&name).map_err(|error| error.to_string())?;
            y += 16;
        }
        y += 4;
    }
    Ok(())
}

/// The characters of a name that fit beside a panel.
const NAME_MAX: usize = 24;

/// A name in lines that fit beside a panel, broken behind a space, a slash or an underscore if possible.
fn broken(name: &str) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in name.split_inclusive([' ', '/', '_']) {
        if !line.is_empty() && line.chars().count() + word.trim_end().chars().count() > NAME_MAX {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            if line.chars().count() == NAME_MAX {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    lines
}

/// Values on an axis whose largest value is below this have an exponent. [-]
const SMALL: f64 = 0.01;

/// At most four digits after the point, without trailing zeros; on an axis of small values, two digits and
/// the exponent. `largest` is the largest value on the axis.
fn short(value: f64, largest: f64) -> String {
    // Ticks at zero have rounding errors.
    if largest < SMALL && value.abs() > 1e-9 * largest {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are complete, and no line of one is too long.
    #[test]
    fn long_names_are_broken() {
        for name in ["a", "peg/peg_collision_0 - left_finger/left_tip", &"x".repeat(60), ""] {
            let lines = broken(name);
            assert_eq!(lines.concat(), name);
            assert!(lines.iter().all(|line| line.chars().count() <= NAME_MAX), "{lines:?}");
        }
        assert_eq!(broken("peg/peg_0 - left_finger/left_tip"), ["peg/peg_0 - left_finger/", "left_tip"]);
    }

    /// Regression: an axis of infinite length was divided without end.
    #[test]
    fn axes_of_huge_values_are_finite() {
        let axis = span([1e308, -1e308].into_iter());
        assert!((axis.end - axis.start).is_finite() && axis.start < axis.end, "{axis:?}");
    }

    /// Small values have an exponent, and the tick at zero has none.
    #[test]
    fn labels_have_the_digits_of_their_axis() {
        assert_eq!((short(4.5e-4, 5e-4).as_str(), short(1e-20, 5e-4).as_str()), ("4.5e-4", "0"));
        assert_eq!((short(0.25, 2.0).as_str(), short(-0.0, 2.0).as_str()), ("0.25", "0"));
    }
}
