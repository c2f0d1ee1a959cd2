//! The state of the simulation, for /diagnostics.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::disk_watch::DiskWatch;

/// The state of the recording.
#[derive(Debug, Default)]
pub(crate) struct RecordingStatus {
    /// The number of the newest recorder, and the state.
    state: Mutex<(u64, RecordingState)>,
    /// Whether a client has switched it off.
    paused: AtomicBool,
    switch: Mutex<Switch>,
    /// Its writes.
    pub(crate) disk: DiskWatch,
}

/// The requests to switch the recording on or off.
#[derive(Debug, Default)]
struct Switch {
    /// The number of the newest request.
    asked: u64,
    /// The number of the last one that is done, and the outcome.
    done: (u64, Option<Result<String, String>>),
}

/// The present destination of the recording.
#[derive(Clone, Debug, Default)]
pub(crate) enum RecordingState {
    /// Nothing is recorded, because no file was named.
    #[default]
    Off,
    /// Into this file.
    File(PathBuf),
    /// A client has switched it off, and its file is complete.
    Paused,
    /// It has ended before the node, for this reason.
    Stopped(String),
}

impl RecordingStatus {
    /// Another recorder takes over: earlier ones no longer change the state, and only their failures are
    /// still logged. Returns its number.
    pub(crate) fn take_over(&self) -> u64 {
        let mut state = self.lock();
        state.0 += 1;
        // The recorder before can no longer report that its file is complete.
        if self.is_paused()
            && let RecordingState::File(_) = &state.1
        {
            state.1 = RecordingState::Paused;
        }
        state.0
    }

    /// A recorder began a file.
    pub(crate) fn began(&self, recorder: u64, file: &Path) {
        self.set(recorder, RecordingState::File(file.to_path_buf()));
    }

    /// Switches the recording on or off. Returns the number of the request, whose outcome comes later.
    pub(crate) fn switch(&self, on: bool) -> u64 {
        let mut switch = self.switch_lock();
        self.paused.store(!on, Ordering::Relaxed);
        switch.asked += 1;
        switch.asked
    }

    /// The number of the request to switch that a recorder has not answered yet.
    pub(crate) fn waiting_switch(&self, recorder: u64) -> Option<u64> {
        let newest = self.lock().0;
        let switch = self.switch_lock();
        (newest == recorder && switch.done.0 < switch.asked).then_some(switch.asked)
    }

    /// A recorder has switched the recording, or could not.
    pub(crate) fn switched(&self, number: u64, outcome: Result<String, String>) {
        self.switch_lock().done = (number, Some(outcome));
    }

    /// The outcome of a request to switch; `None` while it waits.
    pub(crate) fn switch_outcome(&self, number: u64) -> Option<Result<String, String>> {
        let switch = self.switch_lock();
        if let (done, Some(outcome)) = &switch.done
            && *done >= number
        {
            return Some(outcome.clone());
        }
        if let RecordingState::Stopped(reason) = self.state() {
            return Some(Err(format!("the recording has ended: {reason}")));
        }
        let seconds = self.disk.stalled()?.as_secs_f64();
        Some(Err(format!("the disk has not answered for {seconds:.0} s; this is done when it does")))
    }

    fn switch_lock(&self) -> MutexGuard<'_, Switch> {
        self.switch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a client has switched the recording off.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// A recorder's file is complete, and no other is begun until the recording is switched on.
    pub(crate) fn completed(&self, recorder: u64) {
        let mut state = self.lock();
        if state.0 == recorder
            && let RecordingState::File(file) = &state.1
        {
            tracing::info!("{} is complete; the recording is off", file.display());
            state.1 = RecordingState::Paused;
        }
    }

    /// A recorder writes nothing more; logs the reason.
    pub(crate) fn stop(&self, recorder: u64, reason: String) {
        tracing::error!("{reason}. The recording ends here");
        self.set(recorder, RecordingState::Stopped(reason));
    }

    fn set(&self, recorder: u64, new: RecordingState) {
        let mut state = self.lock();
        if state.0 == recorder {
            state.1 = new;
        }
    }

    pub(crate) fn state(&self) -> RecordingState {
        self.lock().1.clone()
    }

    fn lock(&self) -> MutexGuard<'_, (u64, RecordingState)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The simulation thread's activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It has not reported yet.
    #[default]
    Starting,
    Running,
    Paused,
    /// Lockstep: the present state waits for commands.
    Waiting,
    /// A step has failed.
    Halted,
}

/// Measurements over the last window of real time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Health {
    pub(crate) activity: Activity,
    /// Measured real-time factor: simulated seconds per second.
    pub(crate) real_time_factor: f64,
    /// Whether the simulation kept its pace all the time: it was not paused, and time did not jump.
    pub(crate) paced: bool,
    pub(crate) steps: u64,
    /// Median and 99th percentile of a step \[s\].
    pub(crate) step_p50: f64,
    pub(crate) step_p99: f64,
    /// Time of the simulation thread spent outside the step, per step: median and 99th percentile \[s\].
    pub(crate) node_p50: f64,
    pub(crate) node_p99: f64,
    pub(crate) iterations_mean: f64,
    pub(crate) iterations_max: u32,
    pub(crate) unconverged: u64,
    /// Steps whose friction is not that of Coulomb's law.
    pub(crate) wrong_friction: u64,
    /// The largest error of friction, relative to its limit [-].
    pub(crate) friction_error_max: f64,
    /// Quasistatic programs that Clarabel solved instead of the cone engine.
    pub(crate) fallbacks: u64,
    pub(crate) faces: u32,
    /// \[m\].
    pub(crate) penetration_max: f64,
    /// \[J\].
    pub(crate) kinetic: f64,
    pub(crate) potential: f64,
    /// Simulated time of a step \[s\].
    pub(crate) step: f64,
}

/// The state of the file of checkpoints.
#[derive(Debug, Default)]
pub(crate) struct CheckpointStatus {
    state: Mutex<CheckpointState>,
    /// Whether it was logged for the present world that the file is kept.
    kept: AtomicBool,
    /// Its writes.
    pub(crate) disk: DiskWatch,
}

/// The last checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CheckpointState {
    /// None was made.
    #[default]
    Never,
    /// The checkpoint of this time after the last reset \[ns\] is on the disk.
    Written(u64),
    /// It was not written, for this reason; the next one is tried.
    Failing(String),
    /// Its file is kept, because the world is not that of the parameter `scene`.
    Kept,
}

impl CheckpointStatus {
    /// Records an outcome. The first failure after a success is logged, and so is the next success.
    pub(crate) fn ended(&self, outcome: Result<u64, &str>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let was_failing = matches!(*state, CheckpointState::Failing(_));
        *state = match outcome {
            Ok(time_ns) => {
                if was_failing {
                    tracing::info!("checkpoints are written again");
                }
                CheckpointState::Written(time_ns)
            }
            Err(reason) => {
                if !was_failing {
                    tracing::error!(
                        "{reason}. The simulation continues; further failures are not logged until a checkpoint is written"
                    );
                }
                CheckpointState::Failing(reason.to_owned())
            }
        };
    }

    /// The world is not that of the parameter `scene`, so that a node that starts with the file would refuse
    /// it: no checkpoint is written without a request. Logged once for each world.
    pub(crate) fn keep(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = CheckpointState::Kept;
        if !self.kept.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "parameter 'checkpoint_period': the file is kept as it is while the world is not that of the parameter \
                 'scene', because this node could not start with it again; ~/save_checkpoint still writes it"
            );
        }
    }

    /// Another world runs.
    pub(crate) fn world_changed(&self) {
        self.kept.store(false, Ordering::Relaxed);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == CheckpointState::Kept {
            *state = CheckpointState::Never;
        }
    }

    pub(crate) fn state(&self) -> CheckpointState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorder of an earlier world ends after that of the next world has begun.
    #[test]
    fn only_the_newest_recorder_changes_the_state() {
        let status = RecordingStatus::default();
        let first = status.take_over();
        status.began(first, Path::new("run.mcap"));
        let second = status.take_over();
        status.began(second, Path::new("run_2.mcap"));
        let records = |status: &RecordingStatus| matches!(status.state(), RecordingState::File(file) if file == Path::new("run_2.mcap"));
        status.began(first, Path::new("run_3.mcap"));
        assert!(records(&status), "a file that an earlier recorder began late");
        status.completed(first);
        assert!(records(&status));
        status.stop(first, "no space".to_owned());
        assert!(records(&status), "the disk of an earlier recorder");
        status.completed(second);
        assert!(matches!(status.state(), RecordingState::Paused));
        status.stop(second, "no space".to_owned());
        assert!(matches!(status.state(), RecordingState::Stopped(_)));
    }
}
