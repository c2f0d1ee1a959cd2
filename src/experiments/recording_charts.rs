//! Charts of a recording: its main quantities, or named columns.

use std::collections::{BTreeMap, BTreeSet};

use super::plot::{Chart, Series};
use crate::io::csv_file::table::{Column, Table};

/// The largest number of lines in a chart, which is the number of distinguishable colours.
const LINES_MAX: usize = 6;

/// The reason why a table has no chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// A requested column is missing or holds texts.
    #[error("there is no column of numbers named `{name}`")]
    Column {
        /// Its name.
        name: String,
    },
    /// No column can be drawn over the first one.
    #[error("there is nothing to draw: the first column and one more must hold finite numbers, separated by commas")]
    Nothing,
}

/// Charts of the main columns, one below the other:
/// - of a recording of contacts, force and penetration of the pairs with the largest forces;
/// - of a recording of a run, its named outputs by unit, the positions of joints, the heights of free bodies,
///   and the contact forces on bodies;
/// - of another table, all columns by unit.
///
/// Of many lines of one kind, those with the widest ranges are drawn.
///
/// # Errors
/// A table without numbers.
pub fn recording_charts(table: &Table) -> Result<Vec<Chart>, ChartError> {
    let x = first(table)?;
    let charts = if is_of_contacts(table) {
        contacts(table, &x)
    } else if table.column("spring_energy").is_some() {
        run(table, &x)
    } else {
        by_unit(&x, table.columns.iter().skip(1))
    };
    if charts.is_empty() { Err(ChartError::Nothing) } else { Ok(charts) }
}

/// Charts of the named columns, one for each unit.
///
/// # Errors
/// A column that is missing or holds texts; a table whose first column does not hold numbers.
pub fn column_charts(table: &Table, names: &[String]) -> Result<Vec<Chart>, ChartError> {
    let x = first(table)?;
    let find = |name: &String| {
        let column = table.column(name).filter(|column| column.numbers().is_some());
        column.ok_or_else(|| ChartError::Column { name: name.clone() })
    };
    let columns = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(by_unit(&x, columns.into_iter()))
}

/// The common axis of all charts.
struct Axis<'a> {
    label: String,
    values: &'a [f64],
}

/// A line that is not yet chosen.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

fn first(table: &Table) -> Result<Axis<'_>, ChartError> {
    let column = table.columns.first().ok_or(ChartError::Nothing)?;
    let values = column.numbers().ok_or(ChartError::Nothing)?;
    Ok(Axis { label: labelled(&column.name, column.unit.as_deref()), values })
}

fn labelled(name: &str, unit: Option<&str>) -> String {
    match unit {
        Some("1") | None => name.to_owned(),
        Some(unit) => format!("{name} [{unit}]"),
    }
}

fn is_of_contacts(table: &Table) -> bool {
    let texts = ["A", "B"].into_iter().all(|name| table.column(name).is_some_and(|column| column.texts().is_some()));
    texts && table.column("penetration").is_some()
}

/// Points at which both values are finite.
fn points(x: &[f64], y: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    x.iter().copied().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

fn line(x: &Axis<'_>, column: &Column) -> Option<Line> {
    let points = points(x.values, column.numbers()?.iter().copied());
    (!points.is_empty()).then(|| Line { name: column.name.clone(), points })
}

/// A chart of at most [`LINES_MAX`] lines: those with the widest ranges, in their order.
fn chart(x: &Axis<'_>, title: &str, y: &str, lines: Vec<Line>) -> Option<Chart> {
    let width = |line: &Line| {
        let values = || line.points.iter().map(|(_, y)| *y);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let count = lines.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| width(&lines[*b]).total_cmp(&width(&lines[*a])).then(a.cmp(b)));
    order.truncate(LINES_MAX);
    order.sort_unstable();
    let title = match count > LINES_MAX {
        true => format!("{title}: the {LINES_MAX} of {count} that change most"),
        false => title.to_owned(),
    };
    let mut lines: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    let chosen = order.into_iter().filter_map(|index| lines[index].take());
    let series: Vec<Series> = chosen.map(|line| Series { name: line.name, points: line.points }).collect();
    (!series.is_empty()).then(|| Chart::new(&title, [&x.label, y], series))
}

fn by_unit<'a>(x: &Axis<'_>, columns: impl Iterator<Item = &'a Column>) -> Vec<Chart> {
    let mut groups: Vec<(Option<&str>, Vec<&Column>)> = Vec::new();
    for column in columns.filter(|column| column.numbers().is_some()) {
        let unit = column.unit.as_deref();
        match groups.iter_mut().find(|(other, _)| *other == unit) {
            Some((_, group)) => group.push(column),
            None => groups.push((unit, vec![column])),
        }
    }
    let of_group = |(unit, group): (Option<&str>, Vec<&Column>)| {
        let y = match (group.as_slice(), unit) {
            ([only], unit) => labelled(&only.name, unit),
            (_, Some("1") | None) => String::new(),
            (_, Some(unit)) => format!("[{unit}]"),
        };
        chart(x, "", &y, group.into_iter().filter_map(|column| line(x, column)).collect())
    };
    groups.into_iter().filter_map(of_group).collect()
}

/// The columns whose names end with `ending`, and the names in front of it.
fn with_ending<'a>(table: &'a Table, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a Column)> {
    table.columns.iter().filter_map(move |column| Some((column.name.strip_suffix(ending)?, column)))
}

fn run(table: &Table, x: &Axis<'_>) -> Vec<Chart> {
    let outputs = table.columns.iter().skip_while(|column| column.name != "spring_energy").skip(1);
    let mut charts = by_unit(x, outputs);
    for unit in ["rad", "m"] {
        let of_unit = |(joint, column): (&str, &Column)| {
            let line = line(x, column).filter(|_| column.unit.as_deref() == Some(unit))?;
            Some(Line { name: joint.to_owned(), ..line })
        };
        let lines = with_ending(table, ".position").filter_map(of_unit).collect();
        charts.extend(chart(x, "joints", &format!("position [{unit}]"), lines));
    }
    // Joints may have a column of this ending, too; only free bodies have a quaternion.
    let heights = with_ending(table, ".z").filter(|(body, _)| table.column(&format!("{body}.qw")).is_some());
    let heights = heights.filter_map(|(body, column)| Some(Line { name: body.to_owned(), ..line(x, column)? }));
    charts.extend(chart(x, "bodies", "height z [m]", heights.collect()));
    let force = |(body, fz): (&str, &Column)| {
        let side = |axis: &str| table.column(&format!("{body}.{axis}"))?.numbers();
        let (fx, fy) = (side("fx")?, side("fy")?);
        let sizes = fz.numbers()?.iter().zip(fx).zip(fy).map(|((z, x), y)| x.hypot(*y).hypot(*z));
        Some(Line { name: body.to_owned(), points: points(x.values, sizes) })
    };
    charts.extend(chart(x, "contact forces", "force [N]", with_ending(table, ".fz").filter_map(force).collect()));
    charts
}

/// The points, with a NaN where the next is farther away than `gap`: the two did not touch in between.
fn interrupted(points: impl Iterator<Item = (f64, f64)>, gap: f64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        if all.last().is_some_and(|(before, _)| x - before > gap) {
            all.push((x, f64::NAN));
        }
        all.push((x, y));
    }
    all
}

fn contacts(table: &Table, x: &Axis<'_>) -> Vec<Chart> {
    let numbers = |name: &str| table.column(name).and_then(Column::numbers).unwrap_or_default();
    let texts = |name: &str| table.column(name).and_then(Column::texts).unwrap_or_default();
    let force: Vec<f64> =
        numbers("fx").iter().zip(numbers("fy")).zip(numbers("fz")).map(|((x, y), z)| x.hypot(*y).hypot(*z)).collect();
    // The bodies name the pair if only one pair of their geometries touches.
    let body = |geometry: &str| geometry.split_once('/').map_or(geometry, |(body, _)| body).to_owned();
    let all: BTreeSet<(&String, &String)> = texts("A").iter().zip(texts("B")).collect();
    let bodies = |A: &str, B: &str| (body(A), body(B));
    let name = |(A, B): (&String, &String)| {
        let same = all.iter().filter(|(a, b)| bodies(a, b) == bodies(A, B)).count();
        if same > 1 { format!("{A} - {B}") } else { format!("{} - {}", body(A), body(B)) }
    };
    let named: BTreeMap<(&String, &String), String> = all.iter().map(|pair| (*pair, name(*pair))).collect();
    let pairs: Vec<&str> = texts("A").iter().zip(texts("B")).map(|pair| named[&pair].as_str()).collect();
    let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
    for (pair, force) in pairs.iter().zip(&force).filter(|(_, force)| force.is_finite()) {
        let most = largest.entry(pair).or_default();
        *most = most.max(*force);
    }
    let count = largest.len();
    let mut strongest: Vec<(&str, f64)> = largest.into_iter().collect();
    strongest.sort_by(|(x, a), (y, b)| b.total_cmp(a).then(x.cmp(y)));
    strongest.truncate(LINES_MAX);
    let periods = x.values.windows(2).map(|pair| pair[1] - pair[0]).filter(|period| *period > 0.0);
    let period = periods.fold(f64::INFINITY, f64::min);
    let of = |values: &[f64]| -> Vec<Line> {
        let of_pair = |name: &str| {
            let rows = pairs.iter().zip(x.values).zip(values).filter(|((pair, _), _)| **pair == name);
            let points = rows.map(|((_, x), y)| (*x, *y)).filter(|(x, y)| x.is_finite() && y.is_finite());
            Line { name: name.to_owned(), points: interrupted(points, 1.5 * period) }
        };
        strongest.iter().map(|(name, _)| of_pair(name)).filter(|line| !line.points.is_empty()).collect()
    };
    let title = match count > LINES_MAX {
        true => format!("contacts: the {LINES_MAX} of {count} with the largest forces"),
        false => "contacts".to_owned(),
    };
    let panels = [
        ("force [N]", of(&force)),
        ("penetration [m]", of(numbers("penetration"))),
        ("cone error of friction [-]", of(numbers("cone_error"))),
        ("alignment error of friction [rad]", of(numbers("alignment_error"))),
    ];
    panels.into_iter().filter_map(|(y, lines)| chart(x, &title, y, lines)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::csv_file::table::parse_table;
    use std::path::Path;

    fn table(text: &str) -> Table {
        parse_table(text.as_bytes(), Path::new("a.csv")).unwrap()
    }

    /// A run: the outputs come first, then joints, bodies and the norms of contact forces.
    #[test]
    fn charts_of_a_run_begin_with_its_outputs() {
        let text = "# [rad] j.position\n# [m] b.z depth\n# [N] b.fx b.fy b.fz\n\
             time,j.position,b.z,b.qw,b.fx,b.fy,b.fz,spring_energy,depth\n0,1,0.5,1,2,3,6,0,0.01\n1,2,0.4,1,0,0,5,0,0.02\n";
        let charts = recording_charts(&table(text)).unwrap();
        let names: Vec<_> =
            charts.iter().map(|chart| (chart.axes[1].as_str(), chart.series[0].name.as_str())).collect();
        let expected = [("depth [m]", "depth"), ("position [rad]", "j"), ("height z [m]", "b"), ("force [N]", "b")];
        assert_eq!(names, expected);
        assert_eq!(charts[3].series[0].points, [(0.0, 7.0), (1.0, 5.0)]);
    }

    /// Of eight pairs the six with the largest forces are drawn, the largest first.
    #[test]
    fn charts_of_contacts_show_the_largest_forces() {
        let mut text = "time,A,B,penetration,fx,fy,fz\n".to_owned();
        for time in 0..2 {
            (0..8).for_each(|k| text.push_str(&format!("{time},a,b{k},1e-4,0,0,{}\n", (k + time) % 8)));
        }
        let charts = recording_charts(&table(&text)).unwrap();
        assert_eq!(charts.len(), 2);
        assert_eq!(charts[0].series.len(), LINES_MAX);
        assert!(charts[0].title.contains("6 of 8"));
    }

    /// A pair that touches, parts and touches again has two lines.
    #[test]
    fn charts_of_contacts_are_interrupted() {
        let rows = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (4, 0), (4, 1)];
        let text: String = rows.iter().map(|(time, pair)| format!("{time},a,b{pair},1e-4,0,0,5\n")).collect();
        let charts = recording_charts(&table(&format!("time,A,B,penetration,fx,fy,fz\n{text}"))).unwrap();
        let breaks = |series: &Series| series.points.iter().filter(|(_, y)| y.is_nan()).count();
        assert_eq!(charts[0].series.iter().map(breaks).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn other_tables_are_drawn_by_unit_and_unknown_columns_named() {
        let table = table("x,y,z\n0,1,inf\n1,2,3\n");
        let charts = recording_charts(&table).unwrap();
        assert_eq!(charts.len(), 1);
        assert_eq!(charts[0].series[1].points, [(1.0, 3.0)]);
        let missing = column_charts(&table, &["w".to_owned()]).unwrap_err();
        assert_eq!(missing, ChartError::Column { name: "w".to_owned() });
    }
}
