//! Another world in place of the one that runs: made off the step thread, taken over at a step boundary.

use super::exchange::{Mailbox, Physics, SceneStepping};
use super::trajectory::{GoalEnd, Tracking};
use crate::io::scene_file::CommandSchedule;
use crate::math::JointIndex;
use crate::multibody::State;
use crate::scene::Scene;
use crate::stepping::{JointCommand, JointTarget, Simulation, SimulationError};

/// All that the simulation thread needs to go on with another world.
#[derive(Debug)]
pub(super) struct NewWorld {
    /// How many worlds there were before it.
    pub(super) number: u64,
    pub(super) simulation: Simulation,
    pub(super) stepping: SceneStepping,
    pub(super) commands: CommandSchedule,
    pub(super) force_torque: Vec<JointIndex>,
    /// How many controllers lockstep waits for.
    pub(super) controllers: usize,
    pub(super) physics: Physics,
    /// What goes on in it; `None` where it starts at time zero.
    pub(super) carried: Option<Carried>,
}

/// Where the joints of a world are in another one, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Carried {
    /// Place in the old state, place in the new one, length.
    q: Vec<(usize, usize, usize)>,
    v: Vec<(usize, usize, usize)>,
    /// For each joint of the old scene's list its place in the new one's.
    joints: Vec<Option<usize>>,
}

impl Carried {
    /// What of `old` is in `new`, too.
    pub(super) fn new(old: &Scene, new: &Scene) -> Self {
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
        Self { q, v, joints: old.joint_names().iter().map(|name| new.joint_position(name)).collect() }
    }

    fn copy(&self, old: &State, new: &mut State) {
        let copy = |places: &[(usize, usize, usize)], old: &[f64], new: &mut [f64]| {
            for (from, to, length) in places {
                new[*to..to + length].copy_from_slice(&old[*from..from + length]);
            }
        };
        copy(&self.q, &old.q, &mut new.q);
        copy(&self.v, &old.v, &mut new.v);
    }

    /// The command of the old world as one of the new world, which has `joints` joints.
    pub(super) fn command(&self, old: &JointCommand, joints: usize) -> JointCommand {
        let mut targets = vec![JointTarget::default(); joints];
        for (target, place) in old.targets.iter().zip(&self.joints) {
            if let Some(place) = place {
                targets[*place] = *target;
            }
        }
        JointCommand { targets }
    }

    /// Trajectories go on where all their joints do.
    pub(super) fn trajectories(&self, old: &mut Vec<(usize, Tracking)>, mailbox: &Mailbox) {
        old.retain_mut(|(_, tracking)| {
            let stays = tracking.move_joints(&self.joints);
            if let Some(goal) = tracking.goal().filter(|_| !stays) {
                mailbox.end_goal(goal, GoalEnd::Interrupted);
            }
            stays
        });
    }
}

impl NewWorld {
    /// Lets its simulation go on from where `old` is, if it is to.
    ///
    /// # Errors
    /// What the simulation refuses; a defect.
    pub(super) fn go_on(&mut self, old: &Simulation) -> Result<(), SimulationError> {
        let Some(carried) = &self.carried else { return Ok(()) };
        // A change of the steps that waits for a reset goes on waiting.
        if self.simulation.settings() != old.settings() {
            self.simulation.reset_with(*old.settings())?;
        }
        let mut state = self.simulation.state().clone();
        carried.copy(old.state(), &mut state);
        self.simulation.set_state(state)?;
        self.simulation.resume_at(old.step_count());
        Ok(())
    }
}
