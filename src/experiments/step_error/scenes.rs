//! The scenes, with the faces of the continuous model: triangles with friction at their centroids.

use std::path::Path;
use std::sync::Arc;

use crate::contact::{ContactProperties, FaceFriction};
use crate::experiments::ExperimentError;
use crate::experiments::materials::{box_inertia, compliant};
use crate::experiments::spinning_disk::{Cap, Coin, RADIUS};
use crate::geometry::{FaceRepresentation, Shape};
use crate::io::package::PackageMap;
use crate::io::scene_file;
use crate::math::{BodyIndex, RigidTransform, SpatialVelocity, Vector3};
use crate::multibody::State;
use crate::scene::{Scene, SceneBuilder};
use crate::stepping::{CommandSchedule, JointCommand, Simulation, StepSettings, Stepping, Waveform};

/// Acceleration of gravity [m/s2].
const GRAVITY: f64 = 9.81;
/// The interval of the samples \[ns\].
const SAMPLE_NS: u64 = 10_000_000;
/// The free body of the spatula's scene.
const SPATULA: &str = "spatula";
/// The tolerances of the reference of the spatula. At 1e-8 its parts are ten times shorter than at 1e-7.
const OF_SPATULA: [f64; 2] = [1e-8, 1e-7];
/// Those of the others [m, rad].
const OF_OTHERS: [f64; 2] = [1e-9, 1e-8];
/// The spatula is held for the first half of this time, and turns in the other \[ns\].
const GRIP_NS: u64 = 800_000_000;

/// A scene and the body whose path is compared.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in tables and files.
    pub name: &'static str,
    pub(super) scene: Arc<Scene>,
    pub(super) initial: State,
    pub(super) body: BodyIndex,
    pub(super) commands: CommandSchedule,
    pub(super) settings: StepSettings,
    /// \[ns\]
    pub(super) end_ns: u64,
    /// A turn by one radian counts as this distance \[m\].
    pub(super) radius: f64,
    /// The tolerance of the reference [m, rad], and one whose difference from it bounds its error.
    pub(super) reference: [f64; 2],
}

/// The path of a body: its position \[m\] and its axes times the radius \[m\], at each sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BodyPath {
    pub(super) samples: Vec<[Vector3; 4]>,
    /// Accepted parts, and solves, of all steps.
    pub(super) parts: u64,
    pub(super) solves: u64,
    /// Steps whose solver did not converge.
    pub(super) unsolved: u64,
}

impl BodyPath {
    /// The largest distance of two samples \[m\].
    pub(super) fn distance(&self, other: &Self) -> f64 {
        let each = self.samples.iter().zip(&other.samples).map(|(a, b)| {
            let [position, x, y, z] = [0, 1, 2, 3].map(|i| (a[i] - b[i]).norm_squared());
            // Axes that turn by a small angle move by sqrt(2) times it, all three together
            (position + 0.5 * (x + y + z)).sqrt()
        });
        each.fold(0.0, |a, b| if a >= b { a } else { b })
    }

    /// The limit of paths whose error is in proportion to the step, from this one and one of half the step.
    pub(super) fn limit(&self, fine: &Self) -> Self {
        let each = self.samples.iter().zip(&fine.samples);
        let samples = each.map(|(a, b)| std::array::from_fn(|i| b[i] * 2.0 - a[i])).collect();
        Self { samples, ..Self::default() }
    }
}

impl Case {
    /// Runs the scene in steps of `step_ns`, which divides the interval of the samples.
    pub(super) fn run(
        &self,
        stepping: Stepping,
        step_ns: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BodyPath, ExperimentError> {
        let settings = StepSettings { stepping, step_ns, ..self.settings };
        let mut simulation = Simulation::new(self.scene.clone(), self.initial.clone(), settings)?;
        let mut command = JointCommand::new(&self.scene);
        let mut path = BodyPath::default();
        while simulation.time_ns() < self.end_ns {
            self.commands.fill(simulation.time_ns(), &mut command);
            let report = simulation.step(&command)?;
            path.parts += u64::from(report.parts);
            path.solves += u64::from(report.solves);
            path.unsolved += u64::from(!(report.solver_converged && report.friction_converged()));
            if simulation.time_ns().is_multiple_of(SAMPLE_NS) {
                progress(simulation.time_ns() / SAMPLE_NS, self.end_ns / SAMPLE_NS);
                let X = simulation.data().X_WB[self.body];
                let axis = |axis: Vector3| X.rotation * axis * self.radius;
                let axes = [Vector3::x(), Vector3::y(), Vector3::z()].map(axis);
                path.samples.push([X.translation.vector, axes[0], axes[1], axes[2]]);
            }
        }
        Ok(path)
    }
}

fn triangles(settings: StepSettings) -> StepSettings {
    StepSettings { faces: FaceRepresentation::TriangleFan, face_friction: FaceFriction::Centroid, ..settings }
}

/// A wide compliant box of 0.5 kg drops flat from 0.02 mm while it slides. It is wide because steps
/// with the surfaces of their start leave out the faces at the rim, whose pressure does not rise.
///
/// # Errors
/// A scene that cannot be built.
pub fn box_drop() -> Result<Case, ExperimentError> {
    let (mass, size) = (0.5, Vector3::new(0.4, 0.4, 0.04));
    let soft = ContactProperties {
        hunt_crossley_dissipation: Some(10.0),
        mesh_resolution_hint: Some(0.4),
        ..compliant(1e5, 0.4)
    };
    let ground = ContactProperties { compliant: Some(false), ..soft.clone() };
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &ground)?;
    let body = builder.add_body("box", box_inertia(mass, &size));
    builder.add_geometry(body, "box", here, Shape::Box { size }, &soft)?;
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
    let mut initial = scene.model().default_state();
    let start = RigidTransform::translation(0.0, 0.0, 0.5 * size.z + 2e-5);
    scene.model().set_free_body_pose(&mut initial, body, &start);
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.3, 0.0, -0.02));
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    Ok(case("box drop", (scene, initial, body), 100_000_000, 0.2))
}

/// The coin of [Masterjohn 2022, section V-A], a fan of 152 triangles, slides and spins on a compliant plane.
/// The plane has dissipation: without it, friction makes the continuous coin flutter.
///
/// # Errors
/// A scene that cannot be built.
pub fn coin() -> Result<Case, ExperimentError> {
    let Coin { scene, initial, body, .. } = Coin::new(Cap::Fan, (1e6, 50.0), [0.5, 0.5])?;
    Ok(case("coin", (scene, initial, body), 200_000_000, RADIUS))
}

fn case(name: &'static str, (scene, initial, body): (Arc<Scene>, State, BodyIndex), end_ns: u64, radius: f64) -> Case {
    let (commands, settings) = (CommandSchedule::default(), triangles(StepSettings::default()));
    Case { name, scene, initial, body, commands, settings, end_ns, radius, reference: OF_OTHERS }
}

/// The spatula of [Masterjohn 2022, section V-C]: gripped for 0.4 s with the first of the scene's forces, and
/// loose for as long with the second.
///
/// # Errors
/// A scene that cannot be loaded or is another one.
pub fn spatula(file: &Path) -> Result<Case, ExperimentError> {
    let loaded = scene_file::load(file, &PackageMap::from_environment())?;
    let body = loaded.scene.body(SPATULA).ok_or(super::super::spatula_slip::SlipError::Scene { name: SPATULA })?;
    let mut commands = loaded.commands;
    for schedule in &mut commands.joints {
        if let Some(Waveform::SquareWave { period_ns, first_ns, .. }) = &mut schedule.effort {
            (*period_ns, *first_ns) = (GRIP_NS, GRIP_NS / 2);
        }
    }
    Ok(Case {
        name: "spatula",
        scene: loaded.scene,
        initial: loaded.initial,
        body,
        commands,
        settings: triangles(loaded.settings),
        end_ns: GRIP_NS,
        radius: 0.1,
        reference: OF_SPATULA,
    })
}
