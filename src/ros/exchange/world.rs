//! The next world: built off the simulation thread, entered at a step boundary.

use crate::math::{JointIndex, ScalarJointIndex};
use crate::multibody::State;
use crate::ros::exchange::settings::{Mode, SceneStepping};
use crate::scene::Scene;
use crate::stepping::{CommandSchedule, Simulation, SimulationError, TimedWrenches};

/// The source of a world, for checkpoints.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorldSource {
    /// The address of its scene file, or words for a scene that came as a text.
    pub(crate) name: String,
    /// Whether a node that starts with the parameters of this one builds it, apart from the entities.
    pub(crate) is_of_start: bool,
    /// The entities that were spawned and deleted.
    pub(crate) entities: Vec<u8>,
}

/// Everything that the simulation thread needs to continue with another world.
#[derive(Debug)]
pub(crate) struct NewWorld {
    /// The number of worlds before it.
    pub(crate) number: u64,
    pub(crate) simulation: Simulation,
    pub(crate) stepping: SceneStepping,
    /// The mode and the length \[ns\] of the steps that it was built for.
    pub(crate) chosen: (Mode, u64),
    pub(crate) commands: CommandSchedule,
    pub(crate) wrenches: TimedWrenches,
    pub(crate) force_torque: Vec<JointIndex>,
    pub(crate) source: WorldSource,
    /// The topics of the controllers that lockstep waits for.
    pub(crate) controllers: Vec<String>,
    /// The parts of the old state that it takes over; `None` if it starts at time zero.
    pub(crate) carryover: Option<SharedJoints>,
}

/// The joints that two worlds share, matched by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SharedJoints {
    /// Index in the old state, index in the new state, length.
    q: Vec<(usize, usize, usize)>,
    v: Vec<(usize, usize, usize)>,
    joints: Vec<Option<ScalarJointIndex>>,
}

impl SharedJoints {
    /// The parts of `old` that are also in `new`.
    pub(crate) fn new(old: &Scene, new: &Scene) -> Self {
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for joint in new.model().joints().iter() {
            let same = old.model().joint(&joint.name).map(|index| &old.model().joints()[index]);
            if let Some(same) =
                same.filter(|same| same.kind == joint.kind && (same.nq, same.nv) == (joint.nq, joint.nv))
            {
                q.push((same.q_start, joint.q_start, joint.nq));
                v.push((same.v_start, joint.v_start, joint.nv));
            }
        }
        Self { q, v, joints: old.joint_names().iter().map(|name| new.joint(name)).collect() }
    }

    fn copy(&self, old: &State, new: &mut State) {
        let copy = |ranges: &[(usize, usize, usize)], old: &[f64], new: &mut [f64]| {
            for (from, to, length) in ranges {
                new[*to..to + length].copy_from_slice(&old[*from..from + length]);
            }
        };
        copy(&self.q, &old.q, &mut new.q);
        copy(&self.v, &old.v, &mut new.v);
    }

    /// Sets the state of `new` to the shared parts of `old`.
    ///
    /// # Errors
    /// The simulation refuses the state; it is unchanged then.
    pub(crate) fn apply(&self, old: &State, new: &mut Simulation) -> Result<(), SimulationError> {
        let mut state = new.state().clone();
        self.copy(old, &mut state);
        new.set_state(state)
    }

    /// For each joint of the old scene, its index in the new scene.
    pub(crate) fn joints(&self) -> &[Option<ScalarJointIndex>] {
        &self.joints
    }
}

impl NewWorld {
    /// Continues its simulation from the state of `old`, if state is carried over. Returns whether it takes
    /// the steps of `old`.
    ///
    /// # Errors
    /// The simulation refuses the state, which is a defect: a state like it was tried when the world was
    /// built. The new world is whole all the same, and begins at its initial state.
    pub(crate) fn carry_state_over(&mut self, old: &Simulation) -> Result<bool, SimulationError> {
        let Some(carryover) = &self.carryover else { return Ok(false) };
        let mut keeps = true;
        // A reset has changed the stepping mode while this world was built.
        if self.simulation.settings() != old.settings()
            && let Err(error) = self.simulation.reset_with(old.settings())
        {
            tracing::error!("{error}. The new world keeps the stepping settings that it was built with");
            keeps = false;
        }
        carryover.apply(old.state(), &mut self.simulation)?;
        for (joint, position) in carryover.joints.iter().zip(old.held_positions()) {
            if let Some(joint) = joint {
                self.simulation.hold_position(*joint, *position);
            }
        }
        self.simulation.resume_at(old.time_ns() / self.simulation.step_ns());
        Ok(keeps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::package::PackageMap;
    use crate::io::scene_file;

    /// The trial before a world is handed over finds a state that it does not take, and the world is whole.
    #[test]
    fn a_state_that_is_refused_changes_nothing() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ros/scenes/press.yaml");
        let loaded = scene_file::load(&file, &PackageMap::new()).unwrap();
        let mut next = loaded.simulation().unwrap();
        let carryover = SharedJoints::new(&loaded.scene, &loaded.scene);
        let mut old = loaded.initial.clone();
        (old.q[0], old.v[0]) = (0.05, 0.1);
        carryover.apply(&old, &mut next).unwrap();
        assert_eq!(next.state(), &old);
        let broken = State { v: vec![f64::NAN; old.v.len()], ..old.clone() };
        assert!(carryover.apply(&broken, &mut next).is_err());
        assert_eq!(next.state(), &old);
    }
}
