//! `isobar experiment planar-push | prehensile-push`: their options, and the tables that they print.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use isobar::experiments::planar_push::{self, Pusher, Support};
use isobar::experiments::prehensile_push::{self, Fingers};
use isobar::solvers::complementarity::{ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw};
use isobar::solvers::quasistatic::{FrictionModel, QuasistaticSettings};
use isobar::stepping::{
    ContactSurfaces, QuasistaticStepping, SpookStepping, StepSettings, Stepping, UnactuatedInertia,
};

/// The steps of a push.
#[derive(clap::Args)]
struct Steps {
    /// The stepping mode.
    #[arg(long, default_value = "spook", value_parser = ["dynamic", "quasistatic", "spook"])]
    stepping: String,
    /// Solver of complementarity steps: direct, gauss_seidel, split or direct_and_iterative.
    #[arg(long, default_value = "direct", value_parser = parse_solver)]
    solver: ComplementaritySolver,
    /// Friction of complementarity steps: exact_cone with the direct solver, projected_cone with the others,
    /// unless it is given.
    #[arg(long, value_parser = FrictionLaw::NAMES)]
    friction: Option<String>,
    /// Axes of the box of friction with `--friction oriented_box`.
    #[arg(long, default_value = "slip", value_parser = ["world", "body", "slip"])]
    frame: String,
    /// Directions of multi-directional friction, or edges of the polyhedral cone.
    #[arg(long, default_value_t = 32)]
    directions: u32,
    /// Seed of random directions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Contact surfaces of compliant bodies in complementarity steps.
    #[arg(long, default_value = "free_path", value_parser = ["start", "free_path"])]
    surfaces: String,
    /// Step, in seconds.
    #[arg(long, default_value_t = 1.0 / 60.0)]
    step: f64,
}

fn parse_solver(text: &str) -> Result<ComplementaritySolver, String> {
    let named = ComplementaritySolver::ALL.into_iter().find(|solver| solver.name() == text);
    named
        .ok_or_else(|| format!("expected one of {}", ComplementaritySolver::ALL.map(|solver| solver.name()).join(", ")))
}

impl Steps {
    fn settings(&self) -> StepSettings {
        let frame = match self.frame.as_str() {
            "world" => FrictionFrame::World,
            "body" => FrictionFrame::Body,
            _ => FrictionFrame::Slip,
        };
        let friction = match self.friction.as_deref() {
            None => self.solver.default_friction(),
            Some("box") => FrictionLaw::Box,
            Some("scaled_box") => FrictionLaw::ScaledBox,
            Some("oriented_box") => FrictionLaw::OrientedBox(frame),
            Some("randomized") => FrictionLaw::Randomized { seed: self.seed },
            Some("multi_directional") => FrictionLaw::MultiDirectional { directions: self.directions },
            Some("polyhedral_cone") => FrictionLaw::PolyhedralCone { edges: self.directions },
            Some("exact_cone") => FrictionLaw::ExactCone,
            Some(_) => FrictionLaw::ProjectedCone,
        };
        let stepping = match self.stepping.as_str() {
            "dynamic" => Stepping::default(),
            "quasistatic" => {
                let default = QuasistaticStepping::default();
                let solver = QuasistaticSettings { model: FrictionModel::Coulomb, ..default.solver };
                Stepping::Quasistatic(QuasistaticStepping { solver, inertia: UnactuatedInertia::DRAG, ..default })
            }
            _ => {
                let solver =
                    ComplementaritySettings { solver: self.solver, friction, ..ComplementaritySettings::default() };
                let surfaces = match self.surfaces.as_str() {
                    "start" => ContactSurfaces::Start,
                    _ => ContactSurfaces::FreePath,
                };
                Stepping::Spook(SpookStepping { solver, surfaces })
            }
        };
        StepSettings { step_ns: (self.step * 1e9).round() as u64, stepping, ..StepSettings::default() }
    }
}

#[derive(clap::Args)]
pub(crate) struct PlanarPush {
    /// Contact point on the pushed side, from 0 to 1; only the push with this point and --angle is run.
    #[arg(long, requires = "angle")]
    contact: Option<f64>,
    /// Angle of the push in degrees.
    #[arg(long, requires = "contact", allow_negative_numbers = true)]
    angle: Option<f64>,
    #[command(flatten)]
    steps: Steps,
    /// Contact with the ground.
    #[arg(long, default_value = "corners", value_parser = ["corners", "pad"])]
    support: String,
    /// Contact of the pusher.
    #[arg(long, default_value = "point", value_parser = ["point", "two-points", "patch"])]
    pusher: String,
    /// A file of measured pushes, all of which are simulated.
    #[arg(long, conflicts_with = "contact")]
    measured: Option<PathBuf>,
    /// Folder for the CSV files and the plots.
    #[arg(long, default_value = "out/planar_push")]
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
        let settings = self.steps.settings();
        if let Some(file) = &self.measured {
            let errors = planar_push::grid(file, (support, pusher), settings, clock, progress)?;
            return Ok(format!(
                "{} pushes: mean error {:.2} mm and {:.2} degrees; {:.1} % of the steps did not converge; {:.3} ms a step",
                errors.pushes,
                errors.position,
                errors.angle,
                100.0 * errors.failed,
                errors.took
            ));
        }
        let pushes = match (self.contact, self.angle) {
            (Some(contact), Some(angle)) => vec![(contact, angle)],
            _ => planar_push::THESIS_PUSHES.to_vec(),
        };
        let mut text = String::from(
            "push        x [mm]  y [mm]  turn [deg]  force [N]  C point  C net    A point  A net [deg]  unconverged  ms a step (longest)\n",
        );
        for row in planar_push::study(&pushes, (support, pusher), settings, &self.out, clock)? {
            let ((contact, angle), [x, y, turn]) = (row.push, row.end);
            let start = format!("{contact:.1} {angle:5.0}  {x:8.3} {y:7.3} {turn:11.3} {:10.4}", row.force);
            text.push_str(&line(&start, row.cone, row.alignment, row.failed, row.took)?);
        }
        write!(text, "figures and CSV files: {}", self.out.display())?;
        Ok(text)
    }
}

#[derive(clap::Args)]
pub(crate) struct PrehensilePush {
    /// Mass of the prism in kilograms; with --wall-friction, this push alone.
    #[arg(long, requires = "wall_friction")]
    mass: Option<f64>,
    /// Friction coefficient of the wall.
    #[arg(long, requires = "mass")]
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
        for row in prehensile_push::study(&pushes, fingers, self.steps.settings(), &self.out, clock)? {
            let ((mass, friction), [x, z, turn]) = (row.push, row.end);
            let (mass, exact) = (1e3 * mass, -row.closed_form);
            let start = format!("{mass:8.1} {friction:4.2} {x:8.3} {z:7.3} {exact:12.3} {turn:11.3} {:9.4}", row.wall);
            text.push_str(&line(&start, row.cone, row.alignment, row.failed, row.took)?);
        }
        write!(text, "figures and CSV files: {}", self.out.display())?;
        Ok(text)
    }
}

/// The end of a row that both tables have: errors of points and of the net force, and times.
fn line(
    start: &str,
    cone: [f64; 2],
    alignment: [f64; 2],
    failed: f64,
    took: [f64; 2],
) -> Result<String, std::fmt::Error> {
    let mut text = start.to_owned();
    let ([cone, net_cone], [alignment, net_alignment], [mean, longest]) = (cone, alignment, took);
    write!(text, " {cone:8.1e} {net_cone:8.1e} {alignment:8.3} {net_alignment:12.3}")?;
    writeln!(text, " {:11.1}% {mean:8.3} ({longest:.2})", 100.0 * failed)?;
    Ok(text)
}
