//! A sweep on all cores: a block on a slope of 30 degrees, for friction coefficients on both sides of
//! tan 30 = 0.577. Each simulation runs on one thread and gives the same bits on any number of cores.
//!
//!     cargo run --release --example friction_sweep

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use isobar::{
    BodyIndex, ContactProperties, JointCommand, Matrix3, RigidTransform, SceneBuilder, Shape, Simulation,
    SpatialInertia, StepSettings, Vector3,
};

const GRAVITY: f64 = 9.81;
/// Slope [rad].
const SLOPE: f64 = std::f64::consts::FRAC_PI_6;
/// Time for the block to settle on the slope first [s].
const SETTLING: f64 = 0.2;
/// Time over which its acceleration is measured [s].
const DURATION: f64 = 0.5;

/// One friction coefficient of the sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Friction coefficient [-].
    pub friction: f64,
    /// Acceleration down the slope [m/s2].
    pub acceleration: f64,
}

impl Sample {
    /// Coulomb's law: g (sin - mu cos) if that is positive, else rest [m/s2].
    pub fn expected(&self) -> f64 {
        (GRAVITY * (SLOPE.sin() - self.friction * SLOPE.cos())).max(0.0)
    }
}

/// The block's acceleration for one friction coefficient. The slope is level, and gravity is tilted.
fn slide(friction: f64) -> Result<Sample, Box<dyn Error + Send + Sync>> {
    let soft = ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(1e6),
        hunt_crossley_dissipation: Some(20.0),
        mu_dynamic: Some(friction),
        ..ContactProperties::default()
    };
    let rigid = ContactProperties { compliant: Some(false), ..soft.clone() };
    let mut builder = SceneBuilder::new();
    builder.add_geometry(BodyIndex::WORLD, "slope", RigidTransform::identity(), Shape::HalfSpace, &rigid)?;
    let size = Vector3::new(0.2, 0.2, 0.04);
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * 4e-3));
    let block = builder.add_body("block", inertia);
    builder.add_geometry(block, "box", RigidTransform::identity(), Shape::Box { size }, &soft)?;
    let down = Vector3::new(SLOPE.sin(), 0.0, -SLOPE.cos()) * GRAVITY;
    let scene = Arc::new(builder.build(down)?);
    let mut initial = scene.model().default_state();
    initial.q[6] = 0.5 * size.z;
    let mut simulation = Simulation::new(scene.clone(), initial, StepSettings::default())?;
    let nothing = JointCommand::new(&scene);
    let mut speed_after = |duration: f64| -> Result<f64, Box<dyn Error + Send + Sync>> {
        let end = simulation.time() + duration - 0.5 * simulation.settings().step();
        while simulation.time() < end {
            simulation.step(&nothing)?;
        }
        Ok(simulation.data().V_WB[block].v.x)
    };
    let before = speed_after(SETTLING)?;
    let after = speed_after(DURATION)?;
    Ok(Sample { friction, acceleration: (after - before) / DURATION })
}

/// The samples of the sweep, in the order of `frictions`, with `threads` threads.
///
/// # Errors
/// A scene that cannot be built, or a step that fails.
pub fn run(frictions: &[f64], threads: usize) -> Result<Vec<Sample>, Box<dyn Error + Send + Sync>> {
    let next = AtomicUsize::new(0);
    // Each thread takes the next coefficient until none is left.
    let work = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let taken = numbers.take_while(|number| *number < frictions.len());
        taken.map(|number| Ok((number, slide(frictions[number])?))).collect::<Result<Vec<_>, _>>()
    };
    let mut samples = thread::scope(|scope| -> Result<Vec<_>, Box<dyn Error + Send + Sync>> {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut samples = Vec::new();
        for handle in handles {
            let done: Result<Vec<_>, Box<dyn Error + Send + Sync>> =
                handle.join().map_err(|_| "a thread of the sweep panicked")?;
            samples.extend(done?);
        }
        Ok(samples)
    })?;
    samples.sort_by_key(|(number, _)| *number);
    Ok(samples.into_iter().map(|(_, sample)| sample).collect())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let frictions: Vec<f64> = (0..16).map(|number| 0.05 * f64::from(number)).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    println!("friction  acceleration  Coulomb's law [m/s2], on {threads} threads");
    for sample in run(&frictions, threads)? {
        println!("{:8.2}  {:12.4}  {:13.4}", sample.friction, sample.acceleration, sample.expected());
    }
    Ok(())
}
