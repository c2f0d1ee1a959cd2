//! The coin as a scene, and its path.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::contact::{ContactProperties, FaceFriction};
use crate::experiments::ExperimentError;
use crate::experiments::materials::rigid;
use crate::geometry::{Shape, SurfaceMesh};
use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use crate::multibody::State;
use crate::scene::{Scene, SceneBuilder};
use crate::stepping::{JointCommand, Simulation, StepSettings};

/// Radius of the coin \[m\].
pub const RADIUS: f64 = 0.01213;
/// Its thickness \[m\].
const THICKNESS: f64 = 0.00175;
/// Its mass \[kg\].
const MASS: f64 = 0.00567;
/// Friction coefficient [-].
pub(super) const MU: f64 = 0.2;
/// Acceleration of gravity [m/s2].
pub(super) const GRAVITY: f64 = 9.81;
/// Modulus of the plane \[Pa\].
const MODULUS: f64 = 1e9;
/// Thickness of its compliant layer \[m\].
const SLAB: f64 = 0.5 * THICKNESS;
/// Triangles of the cap in the paper.
const FAN: f64 = 152.0;
/// The longest run \[s\]; from 5 m/s, a coin comes to rest within 3.6 s.
const TIME_MAX: f64 = 5.0;

/// The triangles of the coin's caps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// A fan of 152 triangles around the centre: friction at their centroids is that of a ring of 2/3 of the
    /// radius.
    Fan,
    /// Concentric rings; ring i has 6 (2 i - 1) triangles.
    Rings(u32),
}

/// The end of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoinSample {
    /// Time \[s\].
    pub time: f64,
    /// Position of the centre \[m\] and turn \[rad\] since the start.
    pub place: [f64; 3],
    /// Speed of the centre, and speed of the rim by the spin, omega R [m/s].
    pub speeds: [f64; 2],
}

/// The path of a coin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoinPath {
    /// The start, and the end of each step.
    pub samples: Vec<CoinSample>,
    /// The largest distance of a point of the coin's base from its resting height \[m\].
    pub off_plane: f64,
    /// Steps that did not converge.
    pub failed: u32,
}

impl CoinPath {
    /// v/(omega R) where omega R falls to `rim` [m/s], between two steps; `None` if it does not.
    pub fn ratio_at(&self, rim: f64) -> Option<f64> {
        let pair = self.samples.windows(2).find(|pair| pair[0].speeds[1] > rim && pair[1].speeds[1] <= rim)?;
        let [before, after] = [pair[0].speeds, pair[1].speeds];
        let part = (before[1] - rim) / (before[1] - after[1]);
        Some((before[0] + part * (after[0] - before[0])) / rim)
    }

    /// Position of the centre \[m\] and turn \[rad\] at `time` \[s\], which is that of a step; those of the
    /// last step if it ended before.
    pub fn place_at(&self, time: f64) -> [f64; 3] {
        let before = |sample: &&CoinSample| sample.time <= time + 1e-9;
        self.samples.iter().rev().find(before).map_or([0.0; 3], |sample| sample.place)
    }
}

/// A closed cylinder whose caps consist of `rings` concentric rings; ring i has 6 i vertices.
fn rings_mesh(rings: u32) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    let half = 0.5 * THICKNESS;
    for height in [-half, half] {
        mesh.vertices.push(Vector3::new(0.0, 0.0, height));
        for ring in 1..=rings {
            let radius = RADIUS * f64::from(ring) / f64::from(rings);
            mesh.vertices.extend((0..6 * ring).map(|i| {
                let angle = TAU * f64::from(i) / f64::from(6 * ring);
                Vector3::new(radius * angle.cos(), radius * angle.sin(), height)
            }));
        }
    }
    // Ring i begins after the centre and the 6 j vertices of each ring j before it
    let cap = 1 + 3 * rings * (rings + 1);
    let vertex = |ring: u32, i: u32| if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) + i % (6 * ring) };
    for ring in 1..=rings {
        for sector in 0..6 {
            for i in 0..ring {
                let [a, b] = [0, 1].map(|more| vertex(ring, sector * ring + i + more));
                let inner = vertex(ring - 1, sector * (ring - 1) + i);
                mesh.triangles.push([inner, b, a]);
                mesh.triangles.push([cap + inner, cap + a, cap + b]);
                if i + 1 < ring {
                    let next = vertex(ring - 1, sector * (ring - 1) + i + 1);
                    mesh.triangles.push([inner, next, b]);
                    mesh.triangles.push([cap + inner, cap + b, cap + next]);
                }
            }
        }
    }
    for i in 0..6 * rings {
        let [a, b] = [i, i + 1].map(|i| vertex(rings, i));
        mesh.triangles.push([a, b, cap + b]);
        mesh.triangles.push([a, cap + b, cap + a]);
    }
    mesh
}

/// The coin on its plane at the depth of its weight, in motion.
pub(in crate::experiments) struct Coin {
    pub(in crate::experiments) scene: Arc<Scene>,
    pub(in crate::experiments) initial: State,
    pub(in crate::experiments) body: BodyIndex,
    /// Height of its centre \[m\].
    pub(in crate::experiments) height: f64,
}

impl Coin {
    /// A coin with the speeds of its centre and its rim [m/s], on a plane of the modulus \[Pa\] and the
    /// dissipation [s/m].
    pub(in crate::experiments) fn new(
        cap: Cap,
        (modulus, dissipation): (f64, f64),
        [speed, rim]: [f64; 2],
    ) -> Result<Self, ExperimentError> {
        let mut builder = SceneBuilder::new();
        let rigid = ContactProperties {
            hunt_crossley_dissipation: Some(dissipation),
            relaxation_time: Some(0.0),
            mesh_resolution_hint: Some(TAU * RADIUS / (FAN - 0.5)),
            ..rigid(MU)
        };
        let plane = ContactProperties {
            compliant: Some(true),
            hydroelastic_modulus: Some(modulus),
            slab_thickness: Some(SLAB),
            ..rigid.clone()
        };
        let here = RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "plane", here, Shape::HalfSpace, &plane)?;
        let square = RADIUS * RADIUS;
        let across = MASS * (0.25 * square + THICKNESS * THICKNESS / 12.0);
        let moments = Matrix3::from_diagonal(&Vector3::new(across, across, 0.5 * MASS * square));
        let body = builder.add_body("coin", SpatialInertia::from_central(MASS, &Vector3::zeros(), &moments));
        let shape = match cap {
            Cap::Fan => Shape::Cylinder { radius: RADIUS, length: THICKNESS },
            Cap::Rings(rings) => Shape::Mesh(Arc::new(rings_mesh(rings))),
        };
        builder.add_geometry(body, "coin", here, shape, &rigid)?;
        let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
        let mut initial = scene.model().default_state();
        // The depth at which the pressure E d/H carries the weight
        let depth = MASS * GRAVITY / (PI * square) * SLAB / modulus;
        let height = 0.5 * THICKNESS - depth;
        scene.model().set_free_body_pose(&mut initial, body, &RigidTransform::translation(0.0, 0.0, height));
        let V_WB = SpatialVelocity::new(Vector3::z() * (rim / RADIUS), Vector3::x() * speed);
        scene.model().set_free_body_velocity(&mut initial, body, &V_WB);
        Ok(Self { scene, initial, body, height })
    }
}

/// Lets the coin slide at `speed` and spin at the rim speed `rim` [m/s] from its resting depth, until its rim
/// is slower than `stop` [m/s] or `until` \[s\] has passed.
///
/// # Errors
/// A step that fails, or settings that are refused.
pub fn slide(
    cap: Cap,
    [speed, rim]: [f64; 2],
    (stop, until): (f64, f64),
    settings: StepSettings,
) -> Result<CoinPath, ExperimentError> {
    let Coin { scene, initial, body: coin, height } = Coin::new(cap, (MODULUS, 0.0), [speed, rim])?;
    let settings = StepSettings { face_friction: FaceFriction::Centroid, ..settings };
    let mut simulation = Simulation::new(scene, initial, settings)?;
    let step = settings.step();
    let mut path = CoinPath::default();
    path.samples.push(CoinSample { speeds: [speed, rim], ..CoinSample::default() });
    let mut turn = 0.0;
    let steps = (until.min(TIME_MAX) / step).round() as u32;
    for number in 1..=steps {
        let report = simulation.step(&JointCommand::default())?;
        path.failed += u32::from(!report.solver_converged);
        let (X_WB, V_WB) = (simulation.data().X_WB[coin], simulation.data().V_WB[coin]);
        turn += step * V_WB.w.z;
        let lean = X_WB.rotation * Vector3::z();
        let off = (X_WB.translation.z - height).abs() + RADIUS * lean.xy().norm();
        path.off_plane = path.off_plane.max(off);
        let (x, y) = (X_WB.translation.x, X_WB.translation.y);
        let speeds = [V_WB.v.xy().norm(), V_WB.w.z.abs() * RADIUS];
        path.samples.push(CoinSample { time: f64::from(number) * step, place: [x, y, turn], speeds });
        if speeds[1] <= stop {
            break;
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed and outward: each edge is met once in each direction, and the volume is that of the prism under
    /// a polygon of 6 n corners.
    #[test]
    fn ring_meshes_are_closed_prisms() {
        for rings in [1, 2, 5] {
            let mesh = rings_mesh(rings);
            let mut edges: Vec<[u32; 2]> =
                mesh.triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
            edges.sort_unstable();
            let count = edges.len();
            edges.dedup();
            assert_eq!(count, edges.len());
            assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()));
            let volume: f64 = mesh
                .triangles
                .iter()
                .map(|corners| {
                    let [a, b, c] = corners.map(|i| mesh.vertices[i as usize]);
                    a.dot(&b.cross(&c)) / 6.0
                })
                .sum();
            let corners = f64::from(6 * rings);
            let exact = 0.5 * corners * RADIUS * RADIUS * (TAU / corners).sin() * THICKNESS;
            assert!((volume / exact - 1.0).abs() < 1e-12, "{rings}: {volume} and not {exact}");
        }
    }
}
