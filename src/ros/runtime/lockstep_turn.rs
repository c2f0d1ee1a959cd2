//! Turns of lockstep: the time for which the present state has waited for commands, and the consequence of a
//! late command.

use std::time::{Duration, Instant};

use crate::ros::exchange::counters::count;
use crate::ros::exchange::lockstep::{Lockstep, OnTimeout};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::throttle::{Throttle, suppressed_suffix};

/// The interval at which a state without answers is published again, for controllers that start late.
const REPEAT_PERIOD: Duration = Duration::from_millis(100);

/// A wait without a limit is logged after this time. Requests for steps in a paused simulation are answered
/// after it, if no command has come yet.
const ANNOUNCE_AFTER: Duration = Duration::from_secs(1);

/// Whether a step may be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Step,
    Wait,
    /// The state is to be published again.
    Repeat,
    /// The node is to end.
    End,
}

/// The present state's wait for commands.
#[derive(Debug)]
pub(super) struct LockstepTurn {
    lockstep: Lockstep,
    waiting_since: Option<Instant>,
    /// The time since which a requested step may have waited.
    step_since: Option<Instant>,
    repeated_at: Option<Instant>,
    /// Whether any command has arrived yet.
    engaged: bool,
    counted: bool,
    /// Whether the wait has been logged since the last command.
    announced: bool,
    late: Throttle,
}

impl LockstepTurn {
    pub(super) fn new(lockstep: Lockstep) -> Self {
        Self {
            lockstep,
            waiting_since: None,
            step_since: None,
            repeated_at: None,
            engaged: false,
            counted: false,
            announced: false,
            late: Throttle::default(),
        }
    }

    /// Sets the topics of the controllers that the simulation waits for.
    pub(super) fn set_controllers(&mut self, controllers: Vec<String>) {
        self.lockstep.controllers = controllers;
    }

    /// Opens the state at `time_ns` of the world with that number for commands.
    pub(super) fn open(&mut self, mailbox: &Mailbox, world: u64, time_ns: u64) {
        mailbox.await_commands(world, time_ns, self.lockstep.controllers.len());
        (self.waiting_since, self.counted) = (None, false);
        self.forget_wait(mailbox);
    }

    /// Whether a state waits for its commands.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    /// Stops waiting, because the simulation is paused or halted.
    pub(super) fn rest(&mut self, mailbox: &Mailbox) {
        self.waiting_since = None;
        self.forget_wait(mailbox);
    }

    /// The topics of the commands that are missing.
    fn missing(&self, mailbox: &Mailbox) -> String {
        let topic = |controller: usize| self.lockstep.controllers.get(controller).map(String::as_str);
        let topics: Vec<_> = mailbox.missing_answers().into_iter().filter_map(topic).collect();
        topics.join(" and ")
    }

    fn forget_wait(&mut self, mailbox: &Mailbox) {
        if self.step_since.take().is_some() {
            mailbox.set_unanswered(None);
        }
    }

    /// Ends the requests for steps of a paused simulation for which no command has come.
    fn refuse_steps(&mut self, mailbox: &Mailbox, time_ns: u64, now: Instant) {
        if !mailbox.paused() {
            return;
        }
        let limit = self.lockstep.timeout;
        let limit = if self.engaged || !limit.is_zero() { limit } else { ANNOUNCE_AFTER };
        let since = *self.step_since.get_or_insert(now);
        if limit.is_zero() || now.duration_since(since) < limit {
            return;
        }
        self.step_since = Some(now);
        mailbox.set_unanswered(Some(format!(
            "lockstep: no message on {} with the stamp of t = {:.6} s within {} s, so the rest is not taken; start the \
             controller, then ask again",
            self.missing(mailbox),
            time_ns as f64 * 1e-9,
            limit.as_secs_f64()
        )));
    }

    /// Waits at most `timeout` for the commands that answer the state at `time_ns`.
    pub(super) fn wait(&mut self, mailbox: &Mailbox, time_ns: u64, timeout: Duration) -> Turn {
        if mailbox.wait_for_commands(timeout) {
            // Without controllers there has been no answer yet.
            (self.engaged, self.announced) = (self.engaged || !self.lockstep.controllers.is_empty(), false);
            self.forget_wait(mailbox);
            return Turn::Step;
        }
        let now = Instant::now();
        let since = *self.waiting_since.get_or_insert(now);
        let limit = self.lockstep.timeout;
        if self.engaged && !limit.is_zero() && now.duration_since(since) >= limit {
            match self.time_out(mailbox, time_ns) {
                Turn::Wait => {}
                turn => return turn,
            }
        }
        self.refuse_steps(mailbox, time_ns, now);
        let unlimited = !self.engaged || limit.is_zero();
        if unlimited && now.duration_since(since) >= ANNOUNCE_AFTER && !std::mem::replace(&mut self.announced, true) {
            tracing::info!(
                "lockstep: the state at t = {:.6} s waits for a message on {} with its stamp; ros2_control's topic-based \
                 hardware sends one each cycle with trigger_joint_command_threshold -1",
                time_ns as f64 * 1e-9,
                self.missing(mailbox)
            );
        }
        if self.repeated_at.is_none_or(|at| now.duration_since(at) >= REPEAT_PERIOD) {
            self.repeated_at = Some(now);
            return Turn::Repeat;
        }
        Turn::Wait
    }

    fn time_out(&mut self, mailbox: &Mailbox, time_ns: u64) -> Turn {
        if !std::mem::replace(&mut self.counted, true) {
            count(&mailbox.counters.late);
        }
        let what = format!(
            "lockstep: no command with the stamp of t = {:.6} s within {} s on {}",
            time_ns as f64 * 1e-9,
            self.lockstep.timeout.as_secs_f64(),
            self.missing(mailbox)
        );
        if self.lockstep.on_timeout == OnTimeout::Abort {
            mailbox.fail(format!(
                "{what}; raise lockstep_timeout, or set lockstep_on_timeout to hold or continue, to let the node run on"
            ));
            return Turn::End;
        }
        let holds = self.lockstep.on_timeout == OnTimeout::Hold;
        if let Some(suppressed) = self.late.due(Instant::now()) {
            let then = if holds { "the simulation waits" } else { "the last command is used" };
            tracing::warn!("{what}; {then}{}", suppressed_suffix(suppressed));
        }
        if holds { Turn::Wait } else { Turn::Step }
    }
}
