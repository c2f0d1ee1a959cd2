//! The part of a checkpoint that belongs to the node: the time of earlier runs, the mode and length of the
//! steps, force-torque sensors, held wrenches, entities that were spawned and deleted, the standing command,
//! and the name of the world.

use crate::io::scene_file::SourceChanges;
use crate::math::{BodyIndex, ByteReader, ByteWriter, BytesError, Index, SpatialForce, Vector6};
use crate::ros::exchange::settings::Mode;
use crate::stepping::{Checkpoint, HeldWrench};

/// The magic number at the start, with the version of the format.
const MARK: &[u8; 8] = b"ISONODE3";
/// That of the version before, without the name of the world.
const MARK_2: &[u8; 8] = b"ISONODE2";
const MODES: [Mode; 5] = {
    let [(_, a), (_, b), (_, c), (_, d), (_, e)] = Mode::ALL;
    [a, b, c, d, e]
};

/// The node's part of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeState {
    /// Time of all runs before the last reset \[ns\].
    pub(crate) time_offset_ns: u64,
    /// The stepping mode.
    pub(crate) mode: Mode,
    /// Length of a step \[ns\]; 0 selects the scene's.
    pub(crate) step_ns: u64,
    /// The wrenches that the force-torque sensors measured in the last step.
    pub(crate) measured: Vec<SpatialForce>,
    /// The wrenches that are held until a given time.
    pub(crate) held: Vec<HeldWrench>,
    /// The spawned and deleted entities: the output of `SourceChanges::to_bytes`.
    pub(crate) entities: Vec<u8>,
    /// The standing command: the output of `StandingCommand::write`; empty without one.
    pub(crate) commands: Vec<u8>,
    /// The name of the world; empty if it is unknown.
    pub(crate) world: String,
}

impl NodeState {
    /// Encodes the state.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut writer = ByteWriter::default();
        writer.raw(MARK);
        writer.u64(self.time_offset_ns);
        writer.len(MODES.iter().position(|mode| *mode == self.mode).unwrap_or(0));
        writer.u64(self.step_ns);
        writer.len(self.measured.len());
        for wrench in &self.measured {
            wrench.to_vector().iter().for_each(|number| writer.f64(*number));
        }
        writer.len(self.held.len());
        for HeldWrench { body, F_BBo_B, until_ns } in &self.held {
            writer.len(body.to_usize());
            writer.u64(*until_ns);
            F_BBo_B.to_vector().iter().for_each(|number| writer.f64(*number));
        }
        writer.block(&self.entities);
        writer.block(&self.commands);
        writer.text(&self.world);
        writer.into_bytes()
    }

    /// The spawned and deleted entities of a checkpoint; none if a program other than the node made it.
    pub(crate) fn entities_of(checkpoint: &Checkpoint) -> Result<SourceChanges, BytesError> {
        match Self::read(checkpoint.attachment())? {
            Some(state) => SourceChanges::from_bytes(&state.entities),
            None => Ok(SourceChanges::default()),
        }
    }

    /// Decodes the bytes of [`NodeState::write`]; `None` if another program made the checkpoint.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, BytesError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut reader = ByteReader::new(bytes);
        let mark = reader.raw(MARK.len())?;
        if mark != MARK && mark != MARK_2 {
            return Err(BytesError::Invalid);
        }
        let time_offset_ns = reader.u64()?;
        let mode = usize::try_from(reader.u64()?).ok().and_then(|mode| MODES.get(mode));
        let mode = *mode.ok_or(BytesError::Invalid)?;
        let step_ns = reader.u64()?;
        let wrench = |reader: &mut ByteReader<'_>| {
            let mut stacked = Vector6::zeros();
            stacked.iter_mut().try_for_each(|number| reader.finite().map(|value| *number = value))?;
            Ok(SpatialForce::from_vector(&stacked))
        };
        let measured = (0..reader.len(48)?).map(|_| wrench(&mut reader)).collect::<Result<_, BytesError>>()?;
        let len = reader.len(64)?;
        let held = |_| {
            let body = u32::try_from(reader.u64()?).map_err(|_| BytesError::Invalid)?;
            let until_ns = reader.u64()?;
            Ok(HeldWrench { body: BodyIndex::from_usize(body as usize), until_ns, F_BBo_B: wrench(&mut reader)? })
        };
        let held = (0..len).map(held).collect::<Result<_, BytesError>>()?;
        let (entities, commands) = (reader.block()?.to_vec(), reader.block()?.to_vec());
        let world = if mark == MARK { reader.text()?.to_owned() } else { String::new() };
        reader.end()?;
        Ok(Some(Self { time_offset_ns, mode, step_ns, measured, held, entities, commands, world }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_comes_back_and_a_cut_one_is_refused() {
        let state = NodeState {
            time_offset_ns: 7,
            mode: Mode::Quasistatic,
            step_ns: 10_000_000,
            measured: vec![SpatialForce::from_vector(&Vector6::repeat(0.1))],
            held: vec![HeldWrench {
                body: BodyIndex::from_usize(3),
                F_BBo_B: SpatialForce::from_vector(&Vector6::repeat(2.0)),
                until_ns: 9,
            }],
            entities: vec![4, 5],
            commands: vec![1, 2, 3],
            world: "é.yaml".to_owned(),
        };
        for mode in MODES {
            let state = NodeState { mode, ..state.clone() };
            assert_eq!(NodeState::read(&state.write()), Ok(Some(state)));
        }
        // A new mode does not compile until it is in this match; add it to MODES too.
        let known = |mode| match mode {
            Mode::Scene | Mode::Dynamic | Mode::Quasistatic | Mode::Spook | Mode::Continuous => MODES.contains(&mode),
        };
        assert!(MODES.into_iter().all(known));
        let bytes = state.write();
        assert_eq!(NodeState::read(&[]), Ok(None));
        assert!((1..bytes.len()).all(|len| NodeState::read(&bytes[..len]).is_err()));
        // The version before ended with the commands: the name has a length of 8 bytes and 7 bytes of text.
        let earlier = [MARK_2, &bytes[MARK.len()..bytes.len() - 15]].concat();
        assert_eq!(NodeState::read(&earlier), Ok(Some(NodeState { world: String::new(), ..state })));
    }
}
