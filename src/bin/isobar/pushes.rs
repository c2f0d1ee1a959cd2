//! `isobar experiment planar-push | prehensile-push`: their options, and the tables that they print.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use isobar::experiments::PushSummary;
use isobar::experiments::planar_push::{self, Properties, PushRow, Pusher, Support};
use isobar::experiments::prehensile_push::{self, Fingers};
use isobar::solvers::complementarity::{ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw};
use isobar::stepping::{ContactSurfaces, QuasistaticStepping, SpookStepping, StepSettings, Stepping};

/// The steps of a push.
#[derive(clap::Args)]
struct Steps {
    /// The stepping mode.
    #[arg(long, default_value = "spook", value_parser = ["dynamic", "quasistatic", "spook"])]
    stepping: String,
    /// Solver of complementarity steps: direct (if none is given), gauss_seidel, split or
    /// direct_and_iterative.
    #[arg(long, value_parser = parse_solver)]
    solver: Option<ComplementaritySolver>,
    /// Friction of complementarity steps: exact_cone with the direct solver, projected_cone with the others,
    /// unless it is given.
    #[arg(long, value_parser = FrictionLaw::NAMES)]
    friction: Option<String>,
    /// Axes of the box of friction with `--friction oriented_box`; slip if none are given.
    #[arg(long, value_parser = ["world", "body", "slip"])]
    frame: Option<String>,
    /// Directions of multi-directional friction, or edges of the polyhedral cone; 32 if none are given.
    #[arg(long)]
    directions: Option<u32>,
    /// Seed of random directions; 0 if none is given.
    #[arg(long)]
    seed: Option<u64>,
    /// Contact surfaces of compliant bodies in complementarity steps; free_path if none are given.
    #[arg(long, value_parser = ["start", "free_path"])]
    surfaces: Option<String>,
    /// Step, in seconds; 1/60 if none is given.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_positive)]
    step: Option<f64>,
}

fn parse_solver(text: &str) -> Result<ComplementaritySolver, String> {
    let named = ComplementaritySolver::ALL.into_iter().find(|solver| solver.name() == text);
    named
        .ok_or_else(|| format!("expected one of {}", ComplementaritySolver::ALL.map(|solver| solver.name()).join(", ")))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

fn parse_friction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number from 0 on".to_owned())
}

/// At a right angle and beyond, the rod moves away from the object.
fn parse_angle(text: &str) -> Result<f64, String> {
    let angle = text.parse().ok().filter(|angle: &f64| angle.abs() < 90.0);
    angle.ok_or_else(|| "expected degrees between -90 and 90".to_owned())
}

/// The materials of the object and the wall combine to at most twice the coefficient of the object.
fn parse_wall_friction(text: &str) -> Result<f64, String> {
    let friction = text.parse().ok().filter(|friction| (0.0..prehensile_push::WALL_FRICTION_END).contains(friction));
    friction.ok_or_else(|| format!("expected at least 0, and less than {}", prehensile_push::WALL_FRICTION_END))
}

impl Steps {
    /// Refuses options that have no effect. `compliant` states whether a body has a pressure field.
    fn check(&self, compliant: bool) -> Result<(), String> {
        if self.surfaces.is_some() && self.stepping == "spook" && !compliant {
            return Err("--surfaces has no effect without a pad or a patch; leave it out".to_owned());
        }
        let (stepping, friction) = (self.stepping.as_str(), self.friction.as_deref().unwrap_or("none"));
        let (spook, of_stepping) = (stepping == "spook", format!("with --stepping {stepping}"));
        let of_friction = format!("with --friction {friction}");
        let directed = ["multi_directional", "polyhedral_cone"].contains(&friction);
        for (option, given, has_effect, with) in [
            ("solver", self.solver.is_some(), spook, &of_stepping),
            ("friction", self.friction.is_some(), spook, &of_stepping),
            ("surfaces", self.surfaces.is_some(), spook, &of_stepping),
            ("frame", self.frame.is_some(), friction == "oriented_box", &of_friction),
            ("directions", self.directions.is_some(), directed, &of_friction),
            ("seed", self.seed.is_some(), friction == "randomized", &of_friction),
        ] {
            if given && !has_effect {
                return Err(format!("--{option} has no effect {with}; leave it out"));
            }
        }
        Ok(())
    }

    fn settings(&self, compliant: bool) -> Result<StepSettings, String> {
        self.check(compliant)?;
        let solver = self.solver.unwrap_or(ComplementaritySolver::Direct);
        let directions = self.directions.unwrap_or(32);
        let frame = match self.frame.as_deref() {
            Some("world") => FrictionFrame::World,
            Some("body") => FrictionFrame::Body,
            _ => FrictionFrame::Slip,
        };
        let friction = match self.friction.as_deref() {
            None => solver.default_friction(),
            Some("box") => FrictionLaw::Box,
            Some("scaled_box") => FrictionLaw::ScaledBox,
            Some("oriented_box") => FrictionLaw::OrientedBox(frame),
            Some("randomized") => FrictionLaw::Randomized { seed: self.seed.unwrap_or(0) },
            Some("multi_directional") => FrictionLaw::MultiDirectional { directions },
            Some("polyhedral_cone") => FrictionLaw::PolyhedralCone { edges: directions },
            Some("exact_cone") => FrictionLaw::ExactCone,
            Some(_) => FrictionLaw::ProjectedCone,
        };
        let stepping = match self.stepping.as_str() {
            "dynamic" => Stepping::default(),
            "quasistatic" => Stepping::Quasistatic(QuasistaticStepping::default()),
            _ => {
                let solver = ComplementaritySettings { solver, friction, ..ComplementaritySettings::default() };
                let surfaces = match self.surfaces.as_deref() {
                    Some("start") => ContactSurfaces::Start,
                    _ => ContactSurfaces::FreePath,
                };
                Stepping::Spook(SpookStepping { solver, surfaces })
            }
        };
        Ok(StepSettings {
            step_ns: (self.step.unwrap_or(1.0 / 60.0) * 1e9).round() as u64,
            stepping,
            ..StepSettings::default()
        })
    }
}

#[derive(clap::Args)]
pub(crate) struct PlanarPush {
    /// Contact point on the pushed side, from 0 to 1; only the push with this point and --angle is run.
    #[arg(long, requires = "angle", allow_negative_numbers = true, value_parser = parse_share)]
    contact: Option<f64>,
    /// Angle of the push in degrees.
    #[arg(long, requires = "contact", allow_negative_numbers = true, value_parser = parse_angle)]
    angle: Option<f64>,
    #[command(flatten)]
    steps: Steps,
    /// Contact with the ground.
    #[arg(long, default_value = "corners", value_parser = ["corners", "pad"])]
    support: String,
    /// Contact of the pusher.
    #[arg(long, default_value = "point", value_parser = ["point", "two-points", "patch"])]
    pusher: String,
    /// Mass of the object in kilograms.
    #[arg(long, default_value_t = Properties::default().mass, allow_negative_numbers = true, value_parser = parse_positive)]
    mass: f64,
    /// Friction coefficient of the object on the ground.
    #[arg(long, value_name = "MU", default_value_t = Properties::default().mu_ground, allow_negative_numbers = true, value_parser = parse_friction)]
    ground_friction: f64,
    /// Friction coefficient of the object at the rod.
    #[arg(long, value_name = "MU", default_value_t = Properties::default().mu_pusher, allow_negative_numbers = true, value_parser = parse_friction)]
    rod_friction: f64,
    /// Speed of the rod in metres per second; a push is 50 mm long.
    #[arg(long, default_value_t = Properties::default().speed, allow_negative_numbers = true, value_parser = parse_positive)]
    speed: f64,
    /// Young's modulus of the rod's contact in pascals, with two points or a patch; 1e6 if none is given.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_positive)]
    modulus: Option<f64>,
    /// A file of measured pushes, all of which are simulated.
    #[arg(long, conflicts_with_all = [
        "contact", "poses", "mass", "ground_friction", "rod_friction", "speed", "modulus",
    ])]
    measured: Option<PathBuf>,
    /// A file of measured pushes, whose ends are drawn in the figures.
    #[arg(long)]
    poses: Option<PathBuf>,
    /// Runs the thesis's pushes with every mode, solver and friction model, in steps of 1/60 and 1/600 s
    /// or in those of --step, and prints a table of errors and times.
    #[arg(long, conflicts_with_all = [
        "contact", "measured", "poses", "stepping", "solver", "friction", "surfaces", "frame", "directions", "seed",
        "mass", "ground_friction", "rod_friction", "speed", "modulus",
    ])]
    compare: bool,
    /// Folder for the CSV files and the plots.
    #[arg(long, default_value = "out/planar_push", conflicts_with_all = ["measured", "compare"])]
    out: PathBuf,
}

impl PlanarPush {
    pub(crate) fn run(
        &self,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<String, Box<dyn Error>> {
        let support = if self.support == "pad" { Support::Pad } else { Support::Corners };
        let pusher = match self.pusher.as_str() {
            "two-points" => Pusher::TwoPoints,
            "patch" => Pusher::Patch,
            _ => Pusher::Point,
        };
        let thesis = Properties::default();
        if self.modulus.is_some() && pusher == Pusher::Point {
            return Err("--modulus has no effect with --pusher point; leave it out".into());
        }
        let properties = Properties {
            mass: self.mass,
            mu_ground: self.ground_friction,
            mu_pusher: self.rod_friction,
            speed: self.speed,
            modulus: self.modulus.unwrap_or(thesis.modulus),
        };
        if self.compare {
            let given = self.steps.step.map(|step| [step]);
            let steps = given.as_ref().map_or(&planar_push::THESIS_STEPS[..], |step| step);
            let rows = planar_push::compare((support, pusher), steps, clock, progress)?;
            return Ok(planar_push::compare_table(&rows));
        }
        let settings = self.steps.settings(support == Support::Pad || pusher == Pusher::Patch)?;
        if pusher == Pusher::TwoPoints && self.steps.stepping == "quasistatic" {
            let error = "--pusher two-points has no effect with --stepping quasistatic, whose points have no stiffness";
            return Err(format!("{error}; take `point`").into());
        }
        if let Some(file) = &self.measured {
            let errors = planar_push::grid(file, (support, pusher), settings, clock, progress)?;
            return Ok(format!(
                "Mean distance [mm] and difference of the turn [degrees] for each contact point and angle\n{}\n{} \
                 pushes: mean error {:.2} mm and {:.2} degrees; {:.1} % of the steps did not converge; {:.3} ms a step",
                planar_push::grid_table(&errors.pushes),
                errors.pushes.len(),
                errors.position,
                errors.angle,
                100.0 * errors.failed,
                errors.took
            ));
        }
        let poses = self.poses.as_deref();
        let pushes = match (self.contact, self.angle) {
            (Some(contact), Some(angle)) => vec![(contact, angle)],
            _ => planar_push::THESIS_PUSHES.to_vec(),
        };
        let mut text = String::from(
            "push        x [mm]  y [mm]  turn [deg]  force [N]  C point  C net    A point  A net [deg]  unconverged  ms a step (longest)\n",
        );
        let rows = planar_push::study(&pushes, (support, pusher, properties), settings, poses, &self.out, clock)?;
        for row in &rows {
            let ((contact, angle), [x, y, turn]) = (row.push, row.summary.end);
            let start = format!("{contact:.1} {angle:5.0}  {x:8.3} {y:7.3} {turn:11.3} {:10.4}", row.force);
            text.push_str(&line(&start, &row.summary)?);
        }
        text.push_str(&expected_table(&rows)?);
        write!(text, "figures and CSV files: {}", self.out.display())?;
        Ok(text)
    }
}

/// The table of the differences from the reference and from the measured pushes; empty if nothing is known.
fn expected_table(rows: &[PushRow]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for PushRow { push: (contact, angle), summary: PushSummary { end, .. }, force, expected } in rows {
        let Some((reference, reference_force)) = expected.reference else { continue };
        if text.is_empty() {
            text.push_str(
                "\nreference   off [mm]  off [deg]  force [N]  force off  measured x, y [mm] and turn [deg] (standard \
                 deviations)   end minus mean, in deviations\n",
            );
        }
        let off = (end[0] - reference[0]).hypot(end[1] - reference[1]);
        write!(text, "{contact:.1} {angle:5.0}   {off:9.3} {:10.3} {reference_force:10.4}", end[2] - reference[2])?;
        if reference_force > 0.0 {
            write!(text, " {:9.2}%", 100.0 * (force / reference_force - 1.0))?;
        }
        if let Some((mean, deviation)) = expected.measured {
            let of = |i: usize| format!("{:.2} ({:.2})", mean[i], deviation[i]);
            let scores = [0, 1, 2].map(|i| format!("{:.1}", (end[i] - mean[i]) / deviation[i])).join(", ");
            write!(text, "  {:>12}, {:>12}, {:>14}          {scores}", of(0), of(1), of(2))?;
        }
        text.push('\n');
    }
    Ok(text)
}

#[derive(clap::Args)]
pub(crate) struct PrehensilePush {
    /// Mass of the prism in kilograms; with --wall-friction, this push alone.
    #[arg(long, requires = "wall_friction", allow_negative_numbers = true, value_parser = parse_positive)]
    mass: Option<f64>,
    /// Friction coefficient of the wall, below 0.4.
    #[arg(long, requires = "mass", allow_negative_numbers = true, value_parser = parse_wall_friction)]
    wall_friction: Option<f64>,
    #[command(flatten)]
    steps: Steps,
    /// Contact of the fingers.
    #[arg(long, default_value = "patch", value_parser = ["patch", "points"])]
    fingers: String,
    /// Folder for the CSV files and the plots.
    #[arg(long, default_value = "out/prehensile_push")]
    out: PathBuf,
}

impl PrehensilePush {
    pub(crate) fn run(&self, clock: &dyn Fn() -> f64) -> Result<String, Box<dyn Error>> {
        let fingers = if self.fingers == "points" { Fingers::Points } else { Fingers::Patch };
        let pushes: Vec<(f64, f64)> = match (self.mass, self.wall_friction) {
            (Some(mass), Some(friction)) => vec![(mass, friction)],
            _ => prehensile_push::THESIS_MASSES
                .into_iter()
                .flat_map(|mass| [0.0, 0.1, 0.2].map(|friction| (mass, friction)))
                .collect(),
        };
        let mut text = String::from(
            "mass [g] wall   x [mm]  z [mm]  closed form  turn [deg]  wall [N]  C point  C net    A point  A net [deg]  unconverged  ms a step (longest)\n",
        );
        for row in
            prehensile_push::study(&pushes, fingers, self.steps.settings(fingers == Fingers::Patch)?, &self.out, clock)?
        {
            let ((mass, friction), [x, z, turn]) = (row.push, row.summary.end);
            let exact = row.closed_form.map_or("falls".to_owned(), |drop| format!("{:.3}", -drop));
            let mass = 1e3 * mass;
            let start = format!("{mass:8.1} {friction:4.2} {x:8.3} {z:7.3} {exact:>12} {turn:11.3} {:9.4}", row.wall);
            text.push_str(&line(&start, &row.summary)?);
        }
        write!(text, "figures and CSV files: {}", self.out.display())?;
        Ok(text)
    }
}

/// The end of a row that both tables have: errors of points and of the net force, and times.
fn line(start: &str, summary: &PushSummary) -> Result<String, std::fmt::Error> {
    let mut text = start.to_owned();
    let PushSummary { cone: [cone, net_cone], alignment: [alignment, net_alignment], failed, took, .. } = *summary;
    let [mean, longest] = took;
    write!(text, " {cone:8.1e} {net_cone:8.1e} {alignment:8.3} {net_alignment:12.3}")?;
    writeln!(text, " {:11.1}% {mean:8.3} ({longest:.2})", 100.0 * failed)?;
    Ok(text)
}
