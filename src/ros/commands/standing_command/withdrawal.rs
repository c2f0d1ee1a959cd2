//! Failed steps: which commands are withdrawn.
//!
//! A step that fails is tried again without the commands that most likely cause it: those that came since the
//! last step that succeeded, then those of the joints that the failure names, then trajectories, then all.
//! Joints of withdrawn commands are held where they are. If the step fails without them, too, they were not
//! the cause: they are given back, and the next ones are withdrawn. All other joints keep their targets.

use super::{StandingCommand, StandingTarget};
use crate::math::ScalarJointIndex;
use crate::ros::commands::goal::GoalEnd;
use crate::ros::commands::tracking::Tracking;
use crate::ros::commands::trial::{Stage, Trial, Withdrawal};
use crate::stepping::JointTarget;

impl StandingTarget {
    /// Whether the failed step used a command to the joint.
    fn is_tried(&self) -> bool {
        self.is_commanded() && self.trial != Trial::New
    }
}

impl StandingCommand {
    /// Withdraws the commands that most likely made the last step fail, of which `named` joints are the sign
    /// if there are any. Commands that came since that step began are not touched.
    pub(crate) fn withdraw(&mut self, named: &[ScalarJointIndex]) -> Withdrawal {
        if self.stage == Stage::All {
            self.drop_withdrawn();
        } else {
            self.give_back();
        }
        loop {
            self.stage = self.stage.next();
            let all = self.stage == Stage::All;
            let chosen: Vec<_> = self.joints.indices().filter(|joint| self.is_suspect(*joint, named)).collect();
            if !chosen.is_empty() {
                return Withdrawal::Targets { targets: self.suspend(&chosen), all };
            }
            if all {
                let newer = self.joints.iter().any(|standing| standing.trial == Trial::New)
                    || self.trajectories.iter().any(|tracking| tracking.is_about_to_begin(self.now_ns));
                return if newer { Withdrawal::Newer } else { Withdrawal::Nothing };
            }
        }
    }

    /// Whether the command to a joint is withdrawn in the present stage.
    fn is_suspect(&self, joint: ScalarJointIndex, named: &[ScalarJointIndex]) -> bool {
        let standing = &self.joints[joint];
        let is_new = standing.trial == Trial::Attempted;
        let by_stage = match self.stage {
            Stage::None => false,
            Stage::NewNamed => is_new && named.contains(&joint),
            Stage::New => is_new,
            Stage::Named => named.contains(&joint),
            Stage::Trajectories => self.trajectories.iter().any(|of| of.has_begun() && of.joints().contains(&joint)),
            Stage::All => true,
        };
        by_stage && standing.is_tried()
    }

    /// Withdraws the commands to `chosen` joints and the trajectories that move any of them; returns the
    /// targets.
    fn suspend(&mut self, chosen: &[ScalarJointIndex]) -> Vec<(ScalarJointIndex, JointTarget)> {
        let moves = |of: &mut Tracking| of.has_begun() && of.joints().iter().any(|joint| chosen.contains(joint));
        let first = self.suspended.len();
        self.suspended.extend(self.trajectories.extract_if(.., moves));
        let moved = |joint: &ScalarJointIndex| self.suspended[first..].iter().any(|of| of.joints().contains(joint));
        let mut targets = Vec::new();
        for (joint, standing) in self.joints.indices().zip(self.joints.iter_mut()) {
            if moved(&joint) || chosen.contains(&joint) {
                targets.push((joint, standing.target));
                let withdrawn = standing.target;
                standing.hold();
                standing.withdrawn = Some(withdrawn);
            }
        }
        targets
    }

    /// Restores withdrawn commands, except where a newer command came.
    fn give_back(&mut self) {
        for standing in self.joints.iter_mut() {
            if let Some(target) = standing.withdrawn.take() {
                *standing = StandingTarget { target, hold: false, held: false, ..*standing };
            }
        }
        self.trajectories.append(&mut self.suspended);
    }

    /// Withdrawn commands and trajectories have ended.
    fn drop_withdrawn(&mut self) {
        self.joints.iter_mut().for_each(|standing| standing.withdrawn = None);
        let ended = self.suspended.drain(..).filter_map(|tracking| tracking.goal());
        self.goals.ended.extend(ended.map(|goal| (goal, GoalEnd::Interrupted)));
    }

    /// A step has succeeded without the withdrawn commands.
    pub(super) fn step_succeeded_without(&mut self) {
        if self.stage != Stage::None {
            self.drop_withdrawn();
            self.stage = Stage::None;
        }
    }
}
