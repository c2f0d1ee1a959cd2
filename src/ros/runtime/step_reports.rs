//! Log lines about steps: the events of commands, failures, and solutions that are not good enough.

use std::time::Instant;

use super::running_world::RunningWorld;
use crate::math::{Index, ScalarJointIndex};
use crate::ros::commands::standing_command::CommandEvent;
use crate::ros::commands::tracking::Progress;
use crate::ros::exchange::counters::count;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::settings::RunSettings;
use crate::ros::log::names::Number;
use crate::ros::log::throttle::{Throttle, suppressed_suffix};
use crate::stepping::{JointTarget, StepReport};

/// The largest number of withdrawn targets that the log lists.
const LISTED_MAX: usize = 4;

/// Reports, each at a limited rate.
#[derive(Default)]
pub(super) struct StepReports {
    unconverged: Throttle,
    wrong_friction: Throttle,
    missed: Throttle,
    behind: Throttle,
    withdrawn: Throttle,
    /// Reports of wrenches with which a step failed.
    pushed: Throttle,
    interrupted: Throttle,
    /// The failure whose commands are withdrawn, until a step has succeeded without them.
    failure: Option<Failure>,
}

/// A failed step.
struct Failure {
    report: String,
    /// Whether all commands are withdrawn.
    all: bool,
}

fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 * 1e-9
}

/// The quantities of a target with their values.
fn values(target: &JointTarget) -> String {
    let all = [("position", target.position), ("velocity", target.velocity), ("effort", target.effort)];
    let given = all.iter().filter_map(|(quantity, value)| Some(format!("{quantity} {}", Number((*value)?))));
    given.collect::<Vec<_>>().join(", ")
}

impl StepReports {
    /// Logs the events of commands of a step at `time_ns`.
    pub(super) fn events(
        &mut self,
        events: impl Iterator<Item = CommandEvent>,
        world: &RunningWorld,
        mailbox: &Mailbox,
        time_ns: u64,
        settings: &RunSettings,
    ) {
        let time = seconds(time_ns);
        for event in events {
            match event {
                CommandEvent::TrajectoryEnded(Progress::Following | Progress::Done) => {
                    tracing::info!("t = {time:.4} s: trajectory done");
                }
                CommandEvent::TrajectoryEnded(Progress::Aborted { joint, error }) => {
                    let joint = world.joint_name(joint.to_usize());
                    tracing::error!(
                        "t = {time:.4} s: trajectory aborted: joint '{joint}' is {error:.4} from it, more than the \
                         tolerance; its joints are held"
                    );
                }
                CommandEvent::TrajectoryEnded(Progress::Missed { joint, error }) => {
                    let joint = world.joint_name(joint.to_usize());
                    tracing::error!(
                        "t = {time:.4} s: trajectory aborted: joint '{joint}' is {error:.4} from its end after the time allowed"
                    );
                }
                CommandEvent::TrajectoryEnded(Progress::Overflow { joint }) => {
                    let joint = world.joint_name(joint.to_usize());
                    tracing::error!(
                        "t = {time:.4} s: trajectory aborted: the velocities or accelerations of joint '{joint}' are too large \
                         to interpolate; its joints are held"
                    );
                }
                CommandEvent::TrajectoryClamped => {
                    count(&mailbox.counters.clamped);
                    tracing::warn!("t = {time:.4} s: trajectory beyond the limits of a joint; the limits are used");
                }
                CommandEvent::TrajectoryInterrupted => {
                    if let Some(suppressed) = self.interrupted.due(Instant::now()) {
                        tracing::info!(
                            "t = {time:.4} s: a trajectory was ended by a command that does not set all its joints; the \
                             others are held{}",
                            suppressed_suffix(suppressed)
                        );
                    }
                }
                CommandEvent::TimedOut => {
                    count(&mailbox.counters.timeouts);
                    let limit = settings.command_timeout_ns as f64 / 1e9;
                    tracing::warn!(
                        "t = {time:.4} s: no command for {} s to one or more joints, which are held where they are",
                        Number(limit)
                    );
                }
            }
        }
    }

    /// Logs that wrenches of other nodes are dropped after a step failed with `error`.
    pub(super) fn wrenches_dropped(&mut self, error: &str) {
        if let Some(suppressed) = self.pushed.due(Instant::now()) {
            tracing::error!("{error}. The wrenches of ~/apply_wrench are dropped{}", suppressed_suffix(suppressed));
        }
    }

    /// Keeps the report that `targets`, which may be `all`, are withdrawn after a step failed with `error`: a
    /// later step shows whether they were the cause. Returns whether it is the first one of this failure.
    pub(super) fn withdrawn(
        &mut self,
        error: String,
        targets: &[(ScalarJointIndex, JointTarget)],
        all: bool,
        world: &RunningWorld,
    ) -> bool {
        // Newer commands fail before any step succeeds.
        if self.failure.as_ref().is_some_and(|failure| failure.all) {
            self.step_succeeded();
        }
        let listed = targets.iter().take(LISTED_MAX);
        let listed = listed
            .map(|(joint, target)| format!("{} of joint '{}'", values(target), world.joint_name(joint.to_usize())));
        let listed = listed.collect::<Vec<_>>().join("; ");
        let more = match targets.len().saturating_sub(LISTED_MAX) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let others = if all { "no commands are left" } else { "all other commands stay" };
        let report = format!("{error}. Withdrawn: {listed}{more}. These joints are held where they are, and {others}");
        self.failure.replace(Failure { report, all }).is_none()
    }

    /// Logs what was withdrawn for the step that has now succeeded.
    pub(super) fn step_succeeded(&mut self) {
        if let Some(failure) = self.failure.take()
            && let Some(suppressed) = self.withdrawn.due(Instant::now())
        {
            tracing::error!("{}{}", failure.report, suppressed_suffix(suppressed));
        }
    }

    /// The simulation is halted, whatever was withdrawn.
    pub(super) fn halted(&mut self) {
        self.failure = None;
    }

    /// Logs a solution of the step before `time_ns` that did not converge, with wrong friction, that may have
    /// missed a contact, or that settled only with the loads of its start.
    pub(super) fn convergence(&mut self, report: &StepReport, world: &RunningWorld, time_ns: u64) {
        if let Some(missed) = world.missed_contact()
            && let Some(suppressed) = self.missed.due(Instant::now())
        {
            tracing::warn!("t = {:.4} s: {missed}{}", seconds(time_ns), suppressed_suffix(suppressed));
        }
        if let Some(wrong) = world.wrong_friction()
            && let Some(suppressed) = self.wrong_friction.due(Instant::now())
        {
            tracing::warn!("t = {:.4} s: {wrong}{}", seconds(time_ns), suppressed_suffix(suppressed));
        }
        if let Some(behind) = world.loads_behind()
            && let Some(suppressed) = self.behind.due(Instant::now())
        {
            tracing::warn!("t = {:.4} s: {behind}{}", seconds(time_ns), suppressed_suffix(suppressed));
        }
        if report.solver_converged {
            return;
        }
        if let Some(suppressed) = self.unconverged.due(Instant::now()) {
            tracing::warn!(
                "t = {:.4} s: the solver stopped after {} iterations at {:.1e} times its tolerance{}",
                seconds(time_ns),
                report.solver_iterations,
                report.solver_residual,
                suppressed_suffix(suppressed)
            );
        }
    }
}
