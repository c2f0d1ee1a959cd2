//! A scene's signature: its parts by name, each with a hash of all its properties.

use std::fmt::{Debug, Write};

use super::Scene;
use super::parts::CollisionGeometry;
use crate::geometry::HydroelasticGeometry;
use crate::math::{ByteReader, ByteWriter, BytesError, Vector3};
use crate::multibody::State;

/// The parts of a scene. A checkpoint belongs to a scene with the same parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneSignature {
    parts: Vec<Part>,
}

/// The gravity and the gains of a scene when its simulation was made. A run can change both.
#[derive(Clone, Debug, PartialEq)]
pub struct StartPhysics {
    /// [m/s2, world].
    gravity_W: Vector3,
    /// Stiffness and damping of each joint's actuator.
    gains: Vec<(f64, f64)>,
}

impl StartPhysics {
    /// The current gravity and gains of `scene`.
    pub fn of(scene: &Scene) -> Self {
        let gains = scene.actuators.iter().map(|actuator| (actuator.stiffness, actuator.damping)).collect();
        Self { gravity_W: *scene.model.gravity_W(), gains }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// Kind and name, as in `body 'cup'`.
    name: String,
    hash: u64,
}

/// The FNV-1a hash of a text: 64 bits, the same in every run and on every machine.
struct Hasher(u64);

impl Hasher {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
}

impl Write for Hasher {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        }
        Ok(())
    }
}

/// The hash of the `Debug` output, which has all digits of numbers.
fn hash(properties: &dyn Debug) -> u64 {
    let mut hasher = Hasher(Hasher::BASIS);
    // Writing to a hasher cannot fail.
    let _ = write!(hasher, "{properties:?}");
    hasher.0
}

impl SceneSignature {
    /// The signature of `scene` with the gravity and the gains of its start, and with its initial state.
    pub fn new(scene: &Scene, start: &StartPhysics, initial: &State) -> Self {
        let mut parts = Vec::new();
        let mut push = |name: String, hash: u64| parts.push(Part { name, hash });
        for body in scene.model.bodies().iter() {
            push(format!("body '{}'", body.name), hash(body));
        }
        for joint in scene.model.joints().iter() {
            push(format!("joint '{}'", joint.name), hash(joint));
            let (q, v) = (joint.q_start..joint.q_start + joint.nq, joint.v_start..joint.v_start + joint.nv);
            if joint.nq > 0 {
                push(format!("initial state of joint '{}'", joint.name), hash(&(initial.q.get(q), initial.v.get(v))));
            }
        }
        for ((name, actuator), gains) in scene.joint_names.iter().zip(&scene.actuators).zip(&start.gains) {
            let properties = (gains, actuator.effort_limit, actuator.gravity_compensation);
            push(format!("actuator of joint '{name}'"), hash(&properties));
        }
        for geometry in scene.geometries.iter() {
            // The other data of the two representations follow from these; some are computed at their first
            // use. Stated compliance has already acted on the pairs.
            let CollisionGeometry { name, body, X_BG, shape, hydroelastic, rigid, material, .. } = geometry;
            let field = match hydroelastic {
                HydroelasticGeometry::CompliantVolume(field) => hash(&(field.mesh(), field.pressure())),
                HydroelasticGeometry::CompliantHalfSpace { stiffness, margin } => hash(&(stiffness, margin)),
                HydroelasticGeometry::RigidSurface(surface) => hash(surface.mesh()),
                HydroelasticGeometry::RigidHalfSpace => 0,
            };
            let properties = (body, X_BG, shape, field, rigid.is_some(), material);
            push(format!("collision geometry '{name}'"), hash(&properties));
        }
        for closure in &scene.closures {
            push(format!("closure '{}'", closure.name), hash(closure));
        }
        push("list of pairs that may touch".to_owned(), hash(&scene.pairs));
        push("gravity".to_owned(), hash(&start.gravity_W));
        Self { parts }
    }

    /// The signature of other parts, each with its name and all its properties.
    pub fn of_parts<'a>(parts: impl Iterator<Item = (String, &'a dyn Debug)>) -> Self {
        Self { parts: parts.map(|(name, properties)| Part { name, hash: hash(properties) }).collect() }
    }

    /// The first difference of this signature, which is that of a checkpoint, from that of the scene `here`.
    pub fn difference(&self, here: &Self) -> Option<String> {
        let find = |parts: &[Part], name: &str| parts.iter().find(|part| part.name == name).map(|part| part.hash);
        for part in &self.parts {
            match find(&here.parts, &part.name) {
                None => return Some(format!("it has the {}, which this scene lacks", part.name)),
                Some(hash) if hash != part.hash => {
                    return Some(format!("its {} differs from that of this scene", part.name));
                }
                Some(_) => {}
            }
        }
        let added = here.parts.iter().find(|part| find(&self.parts, &part.name).is_none());
        if let Some(part) = added {
            return Some(format!("it lacks the {} of this scene", part.name));
        }
        (self != here).then(|| "its parts have a different order".to_owned())
    }

    /// Writes the signature.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.len(self.parts.len());
        for part in &self.parts {
            writer.text(&part.name);
            writer.u64(part.hash);
        }
    }

    /// Reads the output of [`SceneSignature::write`].
    ///
    /// # Errors
    /// Bytes that are not a signature.
    pub fn read(reader: &mut ByteReader<'_>) -> Result<Self, BytesError> {
        let len = reader.len(16)?;
        let part = |_| Ok(Part { name: reader.text()?.to_owned(), hash: reader.u64()? });
        Ok(Self { parts: (0..len).map(part).collect::<Result<_, _>>()? })
    }
}
