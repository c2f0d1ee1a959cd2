//! The state of the simulation on /diagnostics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::ros::client::interfaces::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::ros::client::interfaces::std_msgs::msg::Header;

use crate::ros::client::messages::system_time;
use crate::ros::exchange::health::{Activity, CheckpointState, Health, RecordingState};
use crate::ros::exchange::mailbox::Mailbox;
use crate::stepping::{FrictionErrors, Snapshot};

// The constants of diagnostic_msgs/DiagnosticStatus.
const OK: u8 = 0;
const WARN: u8 = 1;
const ERROR: u8 = 2;

/// The simulation is reported as slow below this fraction of the wanted real-time factor \[-\].
const PACE_TOLERATED: f64 = 0.95;

const OTHER_WORLD: &str = "the world is not that of the parameter 'scene'";

/// The part of a message that the `Health` of the simulation does not contain.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// Counters whose growth since the last message is a warning.
    before: Vec<u64>,
    /// The largest friction errors of a face and of a net force in the states since the last message.
    friction: (FrictionErrors, FrictionErrors),
}

impl Diagnostics {
    /// Keeps the friction errors of a state for the next message.
    pub(crate) fn note(&mut self, snapshot: &Snapshot) {
        let (faces, net) = snapshot.friction_errors();
        self.friction = (self.friction.0.max(faces), self.friction.1.max(net));
    }

    /// The message about `health` from the node called `name`.
    pub(crate) fn message(
        &mut self,
        name: &str,
        health: &Health,
        mailbox: &Mailbox,
        real_time_factor: f64,
    ) -> DiagnosticArray {
        let counters = &mailbox.counters;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counted = [
            ("commands rejected", load(&counters.rejected)),
            ("command values clamped", load(&counters.clamped)),
            ("commands stale", load(&counters.stale)),
            ("commands late", load(&counters.late)),
            ("command timeouts", load(&counters.timeouts)),
            ("snapshots not published", load(&counters.skipped)),
        ];
        let grown: Vec<&str> = counted
            .iter()
            .enumerate()
            .filter(|(number, (_, count))| *count > self.before.get(*number).copied().unwrap_or(0))
            .map(|(_, (what, _))| *what)
            .collect();
        self.before = counted.iter().map(|(_, count)| *count).collect();
        let slow = health.activity == Activity::Running
            && health.paced
            && real_time_factor > 0.0
            && health.real_time_factor < PACE_TOLERATED * real_time_factor;
        let (level, message) = match health.activity {
            Activity::Halted => (ERROR, "halted: a step has failed; call ~/reset".to_owned()),
            Activity::Running if slow => {
                (WARN, format!("slower than requested: {:.3} of {real_time_factor}", health.real_time_factor))
            }
            _ if health.unconverged > 0 => (WARN, format!("{} steps did not converge", health.unconverged)),
            _ if health.wrong_friction > 0 => {
                (WARN, format!("the friction of {} steps is wrong", health.wrong_friction))
            }
            _ if !grown.is_empty() => (WARN, grown.join(", ")),
            Activity::Starting => (OK, "starting".to_owned()),
            Activity::Running => (OK, "running".to_owned()),
            Activity::Paused => (OK, "paused".to_owned()),
            Activity::Waiting => (OK, "lockstep: waiting for a command with the stamp of the present state".to_owned()),
        };
        let (level, message) = match mailbox.step_watch.report(Instant::now()) {
            Some(since) if level != ERROR => {
                (WARN, format!("the present step has taken {:.0} s so far", since.as_secs_f64()))
            }
            _ => (level, message),
        };
        let recording = mailbox.recording.state();
        let stalled = |since: Duration| format!("the disk has not answered for {:.0} s", since.as_secs_f64());
        let lost = "messages beyond a short queue are not recorded until it does";
        let recording_stalled = mailbox.recording.disk.report("recording", lost).map(stalled);
        let (level, message) = match (&recording, &recording_stalled) {
            (RecordingState::Stopped(reason), _) if level != ERROR => {
                (WARN, format!("the recording has stopped: {reason}"))
            }
            (_, Some(stalled)) if level != ERROR => (WARN, format!("recording: {stalled}")),
            _ => (level, message),
        };
        let checkpoint = mailbox.checkpoint.state();
        let lost = "no checkpoint is written until it does";
        let checkpoint_stalled = mailbox.checkpoint.disk.report("checkpoint", lost).map(stalled);
        let (level, message) = match (&checkpoint, &checkpoint_stalled) {
            (_, Some(stalled)) if level != ERROR => (WARN, format!("checkpoint: {stalled}")),
            (CheckpointState::Failing(reason), _) if level == OK => {
                (WARN, format!("no checkpoint is written: {reason}"))
            }
            (CheckpointState::Kept, _) if level == OK => (WARN, format!("no checkpoint is written: {OTHER_WORLD}")),
            _ => (level, message),
        };
        let (face, net) = std::mem::take(&mut self.friction);
        let mut values = vec![
            value("real-time factor", format!("{:.4}", health.real_time_factor)),
            value("steps", health.steps.to_string()),
            value("step time p50 [us]", format!("{:.1}", health.step_p50 * 1e6)),
            value("step time p99 [us]", format!("{:.1}", health.step_p99 * 1e6)),
            value("node's own time a step p50 [us]", format!("{:.1}", health.node_p50 * 1e6)),
            value("node's own time a step p99 [us]", format!("{:.1}", health.node_p99 * 1e6)),
            value("simulated time of a step [us]", format!("{:.1}", health.step * 1e6)),
            value("solver iterations, mean", format!("{:.2}", health.iterations_mean)),
            value("solver iterations, largest", health.iterations_max.to_string()),
            value("steps not converged", health.unconverged.to_string()),
            value("steps with wrong friction", health.wrong_friction.to_string()),
            value("largest error of friction [%]", format!("{:.2}", health.friction_error_max * 1e2)),
            value("largest cone error of a face [-]", format!("{:.3e}", face.cone)),
            value("largest cone error of a contact [-]", format!("{:.3e}", net.cone)),
            value("largest alignment error of a face [rad]", format!("{:.4}", face.alignment)),
            value("largest alignment error of a contact [rad]", format!("{:.4}", net.alignment)),
            value("solver fallbacks", health.fallbacks.to_string()),
            value("contact faces", health.faces.to_string()),
            value("largest penetration [mm]", format!("{:.4}", health.penetration_max * 1e3)),
            value("kinetic energy [J]", format!("{:.6}", health.kinetic)),
            value("potential energy [J]", format!("{:.6}", health.potential)),
        ];
        values.push(value(
            "recording",
            match recording {
                RecordingState::File(file) if recording_stalled.is_some() => {
                    format!("{}: {}", file.display(), recording_stalled.unwrap_or_default())
                }
                RecordingState::Off | RecordingState::Paused => "off".to_owned(),
                RecordingState::File(file) => file.display().to_string(),
                RecordingState::Stopped(reason) => format!("stopped: {reason}"),
            },
        ));
        values.push(value(
            "checkpoint",
            match checkpoint {
                _ if checkpoint_stalled.is_some() => checkpoint_stalled.unwrap_or_default(),
                CheckpointState::Never => "none".to_owned(),
                CheckpointState::Written(time_ns) => format!("at {:.4} s after the reset", time_ns as f64 * 1e-9),
                CheckpointState::Failing(reason) => format!("not written: {reason}"),
                CheckpointState::Kept => format!("not written: {OTHER_WORLD}"),
            },
        ));
        values.extend(counted.iter().map(|(what, count)| value(what, count.to_string())));
        let status = DiagnosticStatus {
            level,
            name: format!("{name}: simulation"),
            message,
            hardware_id: "isobar".to_owned(),
            values,
        };
        DiagnosticArray { header: Header { stamp: system_time(), frame_id: String::new() }, status: vec![status] }
    }
}

fn value(key: &str, value: String) -> KeyValue {
    KeyValue { key: key.to_owned(), value }
}
