//! Figures 5 and 6 of [Pang & Tedrake 2021], and their numbers.

use std::fmt::Write as _;
use std::path::Path;

use super::super::error::{ExperimentError, make_folder, write_text};
use super::super::plot::{Chart, Series, draw};
use super::trajectories::Sample;

const TIME: &str = "t [s]";

/// Writes `planar_gripper.csv`, `figure_5.svg` and `figure_6.svg` into a folder, from the runs by the
/// complementarity problem and by the convex program.
///
/// # Errors
/// A file that cannot be written.
pub fn write(out: &Path, lcp: &[Sample], qp: &[Sample]) -> Result<(), ExperimentError> {
    make_folder(out)?;
    write_text(&out.join("planar_gripper.csv"), &table(&[("LCP", lcp), ("QP", qp)]))?;
    let of = |name: &str, samples: &[Sample], value: fn(&Sample) -> f64| {
        Series::new(name, samples.iter().map(|s| (s.time, value(s))))
    };
    let commanded = [of("commanded", lcp, |s| s.command[0]), of("commanded", lcp, |s| s.command[2])];
    let [x_command, y_command] = commanded;
    let x = vec![x_command, of("LCP (6)", lcp, |s| s.q[2]), of("QP (10)", qp, |s| s.q[2])];
    let y = vec![y_command, of("LCP (6)", lcp, |s| s.q[4]), of("QP (10)", qp, |s| s.q[4])];
    let positions =
        [Chart::new("Left finger, x", [TIME, "x [m]"], x), Chart::new("Left finger, y", [TIME, "y [m]"], y)];
    draw(&out.join("figure_5.svg"), &positions)?;
    let forces = |title, samples| {
        let series = vec![
            of("c_n1", samples, |s: &Sample| s.normal[0]),
            of("c_f, mean of both fingers", samples, |s| s.friction),
            of("c_n3", samples, |s| s.normal[2]),
        ];
        Chart::new(title, [TIME, "force [N]"], series)
    };
    let gaps = vec![of("LCP (6)", lcp, |s| s.phi * 1e3), of("QP (10)", qp, |s| s.phi * 1e3)];
    let gap = Chart::new("Signed distance of the left finger", [TIME, "phi_1 [mm]"], gaps);
    draw(&out.join("figure_6.svg"), &[forces("Forces, LCP (6)", lcp), forces("Forces, QP (10)", qp), gap])?;
    Ok(())
}

fn table(programs: &[(&str, &[Sample])]) -> String {
    let mut text = String::from("program,time,x_l_command,y_command,x_c,y_c,x_l,x_r,y,c_n1,c_n2,c_n3,c_f12,phi_1\n");
    for (name, samples) in programs {
        for s in *samples {
            let numbers = [s.time, s.command[0], s.command[2]].into_iter().chain(s.q).chain(s.normal);
            let numbers: Vec<String> = numbers.chain([s.friction, s.phi]).map(|x| format!("{x:.12e}")).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name},{}", numbers.join(","));
        }
    }
    text
}
