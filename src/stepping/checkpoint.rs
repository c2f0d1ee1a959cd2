//! Checkpoints: all data that a step takes from the previous one, as bytes with a version and a checksum.
//!
//! All numbers are little-endian, and floating-point numbers keep their bits. The parts in order are the
//! magic number `ISOBAR-C`, the version of the format (32 bits), the length of the contents (64 bits), the
//! contents, and a CRC-32 over all previous bytes. The contents are the version of Isobar, the scene's
//! signature, that of its commands and wrenches over time, the settings of the steps, the number of steps
//! taken and their length, the simulation, and an attachment of the caller.

use super::settings::StepSettings;
use crate::math::{BodyIndex, ByteReader, ByteWriter, BytesError, IndexVec, SpatialForce, SpatialVelocity, Vector6};
use crate::scene::SceneSignature;

const MARK: &[u8; 8] = b"ISOBAR-C";
/// The version of the format: it changes whenever the bytes do.
const VERSION: u32 = 9;
/// Length of the checksum.
const CHECKSUM: usize = 4;
const ISOBAR: &str = env!("CARGO_PKG_VERSION");

/// The reason why a checkpoint is refused. The simulation is then unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bytes are not a checkpoint.
    #[error(
        "it is not a checkpoint of Isobar: `isobar run --checkpoint FILE` and the node's `~/save_checkpoint` write one"
    )]
    Foreign,
    /// A format that this version does not support.
    #[error(
        "it has version {found} of the format, and this program supports version {VERSION}: use the version of Isobar that wrote it"
    )]
    Version {
        /// The version of the format.
        found: u32,
    },
    /// Bytes are missing or were added.
    #[error(
        "it has {found} bytes instead of {expected}: it is truncated, or bytes were added; use an earlier checkpoint"
    )]
    Length {
        /// Bytes given.
        found: u64,
        /// Bytes stated.
        expected: u64,
    },
    /// Bytes have changed.
    #[error("its checksum is wrong: it was damaged after it was written; use an earlier checkpoint")]
    Checksum,
    /// A value is not valid.
    #[error("{problem}; use an earlier checkpoint")]
    Malformed {
        /// The problem.
        problem: BytesError,
    },
    /// It belongs to another scene.
    #[error(
        "it belongs to another scene, and Isobar {written_by} wrote it: {difference}. Load the scene that it was made with"
    )]
    Scene {
        /// The first difference.
        difference: String,
        /// The version of Isobar that wrote it.
        written_by: String,
    },
    /// It was made with other settings of the steps.
    #[error(
        "it was made with `{there}`, and this simulation has `{here}`: continue with the same settings of the steps"
    )]
    Settings {
        /// The first setting that differs, in the checkpoint.
        there: String,
        /// The same setting in this simulation.
        here: String,
    },
}

impl From<BytesError> for CheckpointError {
    fn from(problem: BytesError) -> Self {
        Self::Malformed { problem }
    }
}

/// A simulation between two steps. It is made by [`Simulation::save`](super::Simulation::save).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    isobar: String,
    scene: SceneSignature,
    /// The signature of the scene's commands and wrenches over time, if the writer stated them.
    schedules: Option<SceneSignature>,
    settings: String,
    step_count: u64,
    step_ns: u64,
    simulation: Vec<u8>,
    attachment: Vec<u8>,
}

impl Checkpoint {
    pub(super) fn new(scene: SceneSignature, settings: &StepSettings, step_count: u64, simulation: Vec<u8>) -> Self {
        let step_ns = settings.step_ns;
        let settings = describe(settings);
        let (isobar, schedules, attachment) = (ISOBAR.to_owned(), None, Vec::new());
        Self { isobar, scene, schedules, settings, step_count, step_ns, simulation, attachment }
    }

    /// Simulated time \[ns\].
    pub fn time_ns(&self) -> u64 {
        self.step_count.saturating_mul(self.step_ns)
    }
    /// Steps taken since the start or the last reset.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }
    /// Data of the writer; a restored simulation ignores them.
    pub fn attachment(&self) -> &[u8] {
        &self.attachment
    }
    /// The same checkpoint with a different attachment.
    #[must_use]
    pub fn with_attachment(self, attachment: Vec<u8>) -> Self {
        Self { attachment, ..self }
    }

    /// The same checkpoint, of a run with these commands and wrenches over time
    /// ([`schedules`](super::schedules)).
    #[must_use]
    pub fn with_schedules(self, schedules: SceneSignature) -> Self {
        Self { schedules: Some(schedules), ..self }
    }
    /// Compares the scene of the run with the scene `here`.
    ///
    /// # Errors
    /// The first part that differs.
    pub(crate) fn check_scene(&self, here: &SceneSignature) -> Result<(), CheckpointError> {
        match self.scene.difference(here) {
            Some(difference) => Err(CheckpointError::Scene { difference, written_by: self.isobar.clone() }),
            None => Ok(()),
        }
    }

    /// Compares the commands and wrenches over time of the run, if the writer stated them, with those of the
    /// scene `here`.
    ///
    /// # Errors
    /// The first schedule that differs.
    pub fn check_schedules(&self, here: &SceneSignature) -> Result<(), CheckpointError> {
        match self.schedules.as_ref().and_then(|then| then.difference(here)) {
            Some(difference) => Err(CheckpointError::Scene { difference, written_by: self.isobar.clone() }),
            None => Ok(()),
        }
    }

    /// The checkpoint as bytes, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = ByteWriter::default();
        content.text(&self.isobar);
        self.scene.write(&mut content);
        content.flag(self.schedules.is_some());
        self.schedules.iter().for_each(|schedules| schedules.write(&mut content));
        content.text(&self.settings);
        content.u64(self.step_count);
        content.u64(self.step_ns);
        content.block(&self.simulation);
        content.block(&self.attachment);
        let mut writer = ByteWriter::default();
        writer.raw(MARK);
        writer.u32(VERSION);
        writer.block(&content.into_bytes());
        let mut bytes = writer.into_bytes();
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The checkpoint from the bytes of [`Checkpoint::to_bytes`].
    ///
    /// # Errors
    /// Bytes of another kind, an unsupported version of the format, a wrong length, a wrong checksum, or a
    /// value that is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let mut reader = ByteReader::new(bytes);
        if bytes.is_empty() || !bytes.iter().zip(MARK).all(|(a, b)| a == b) {
            return Err(CheckpointError::Foreign);
        }
        let head = MARK.len() + size_of::<u32>() + size_of::<u64>() + CHECKSUM;
        let found = bytes.len() as u64;
        if bytes.len() < head {
            return Err(CheckpointError::Length { found, expected: head as u64 });
        }
        reader.raw(MARK.len())?;
        let version = reader.u32()?;
        if version != VERSION {
            return Err(CheckpointError::Version { found: version });
        }
        let expected = reader.u64()?.saturating_add(head as u64);
        if expected != found {
            return Err(CheckpointError::Length { found, expected });
        }
        let (sealed, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum != crc32fast::hash(sealed).to_le_bytes() {
            return Err(CheckpointError::Checksum);
        }
        let content = reader.raw(bytes.len() - head)?;
        let mut reader = ByteReader::new(content);
        let checkpoint = Self {
            isobar: reader.text()?.to_owned(),
            scene: SceneSignature::read(&mut reader)?,
            schedules: if reader.flag()? { Some(SceneSignature::read(&mut reader)?) } else { None },
            settings: reader.text()?.to_owned(),
            step_count: reader.u64()?,
            step_ns: reader.u64()?,
            simulation: reader.block()?.to_vec(),
            attachment: reader.block()?.to_vec(),
        };
        reader.end()?;
        Ok(checkpoint)
    }

    /// The simulation's own bytes, if the checkpoint belongs to `scene` and to steps with these settings.
    pub(super) fn open(
        &self,
        scene: &SceneSignature,
        settings: &StepSettings,
    ) -> Result<ByteReader<'_>, CheckpointError> {
        self.check_scene(scene)?;
        let here = describe(settings);
        if self.settings != here {
            let fields =
                |text: &str| text.split([',', '{', '(', ')', '}']).map(|field| field.trim().to_owned()).collect();
            let (there, here): (Vec<String>, Vec<String>) = (fields(&self.settings), fields(&here));
            let differs = (0..there.len().max(here.len())).find(|index| there.get(*index) != here.get(*index));
            let field = |fields: &[String]| differs.and_then(|index| fields.get(index)).cloned().unwrap_or_default();
            return Err(CheckpointError::Settings { there: field(&there), here: field(&here) });
        }
        Ok(ByteReader::new(&self.simulation))
    }
}

/// All settings of the steps that change results, with all digits.
fn describe(settings: &StepSettings) -> String {
    let of_one_thread = StepSettings { threads: 1, ..*settings };
    format!("{of_one_thread:?}").replace("threads: 1, ", "").replace("sleep: None, ", "")
}

/// Writes the wrenches on the bodies.
pub(super) fn write_wrenches(wrenches: &IndexVec<BodyIndex, SpatialForce>, writer: &mut ByteWriter) {
    for F_BBo_W in wrenches.iter() {
        F_BBo_W.to_vector().iter().for_each(|number| writer.f64(*number));
    }
}

/// Reads the output of [`write_wrenches`] for the bodies of `wrenches`.
pub(super) fn read_wrenches(
    wrenches: &mut IndexVec<BodyIndex, SpatialForce>,
    reader: &mut ByteReader<'_>,
) -> Result<(), BytesError> {
    for F_BBo_W in wrenches.iter_mut() {
        *F_BBo_W = SpatialForce::from_vector(&read_six(reader)?);
    }
    Ok(())
}

/// Writes the velocities of the bodies.
pub(super) fn write_velocities(velocities: &IndexVec<BodyIndex, SpatialVelocity>, writer: &mut ByteWriter) {
    for V_WB in velocities.iter() {
        V_WB.to_vector().iter().for_each(|number| writer.f64(*number));
    }
}

/// Reads the output of [`write_velocities`] for this number of bodies.
pub(super) fn read_velocities(
    bodies: usize,
    reader: &mut ByteReader<'_>,
) -> Result<IndexVec<BodyIndex, SpatialVelocity>, BytesError> {
    (0..bodies).map(|_| Ok(SpatialVelocity::from_vector(&read_six(reader)?))).collect()
}

fn read_six(reader: &mut ByteReader<'_>) -> Result<Vector6, BytesError> {
    let mut stacked = Vector6::zeros();
    for number in stacked.iter_mut() {
        *number = reader.finite()?;
    }
    Ok(stacked)
}
