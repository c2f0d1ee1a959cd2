//! The files of plans: a table of all motions, and a plot and pictures of each task.

use std::fmt::Write as _;
use std::path::Path;

use super::super::error::{ExperimentError, make_folder, write_text};
use super::super::plot::{Chart, Series, draw};
use super::task::Task;
use crate::picture::write_png;

/// Writes `plan.csv`, and a plot and the pictures of each task, into a folder.
///
/// # Errors
/// A file that cannot be written.
pub fn write(out: &Path, tasks: &[Task]) -> Result<(), ExperimentError> {
    make_folder(out)?;
    let mut text = String::from("task,motion,time,x,y,angle\n");
    for task in tasks {
        let motions = [
            ("wanted", &task.wanted),
            ("planned", &task.planned),
            ("quasistatic", &task.quasistatic),
            ("dynamic", &task.dynamic),
        ];
        for (name, path) in motions {
            for (time, [x, y, angle]) in task.times.iter().zip(path) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{},{name},{time:.3},{x:.9},{y:.9},{angle:.9}", task.name);
            }
        }
        let along = |k: usize, scale: f64| {
            let series = |(name, path): (&str, &Vec<[f64; 3]>)| {
                Series::new(name, task.times.iter().zip(path).map(|(time, pose)| (*time, pose[k] * scale)))
            };
            motions.map(series).to_vec()
        };
        let x = Chart::new("First coordinate", ["t [s]", "x [mm]"], along(0, 1e3));
        let y = Chart::new("Second coordinate", ["t [s]", "y [mm]"], along(1, 1e3));
        let angle = Chart::new("Angle", ["t [s]", "angle [degrees]"], along(2, 1.0_f64.to_degrees()));
        draw(&out.join(format!("plan_{}.svg", task.name)), &[x, y, angle])?;
        for (name, image) in &task.pictures {
            write_png(image, &out.join(format!("{name}.png")))?;
        }
    }
    write_text(&out.join("plan.csv"), &text)
}
