//! The state of the simulation, for /diagnostics.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The state of the recording.
#[derive(Debug, Default)]
pub(crate) struct RecordingStatus {
    state: Mutex<RecordingState>,
    /// Whether a client has switched it off.
    paused: AtomicBool,
}

/// The present destination of the recording.
#[derive(Clone, Debug, Default)]
pub(crate) enum RecordingState {
    /// Nothing is recorded, because no file was named.
    #[default]
    Off,
    /// Into this file.
    File(PathBuf),
    /// A client has switched it off, and this file is complete.
    Paused(PathBuf),
    /// It has ended before the node, for this reason.
    Stopped(String),
}

impl RecordingStatus {
    /// Records that `file` was begun.
    pub(crate) fn began(&self, file: &Path) {
        self.set(RecordingState::File(file.to_path_buf()));
    }

    /// Switches the recording on or off.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Whether a client has switched the recording off.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Records that the present file is complete; no other is begun until the recording is switched on.
    pub(crate) fn completed(&self) {
        if let RecordingState::File(file) = self.state() {
            tracing::info!("{} is complete; the recording is off", file.display());
            self.set(RecordingState::Paused(file));
        }
    }

    /// Records that the recording has ended before the node, and logs the reason.
    pub(crate) fn stop(&self, reason: String) {
        tracing::error!("{reason}. The recording ends here");
        self.set(RecordingState::Stopped(reason));
    }

    fn set(&self, state: RecordingState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    pub(crate) fn state(&self) -> RecordingState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The simulation thread's activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    #[default]
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
    /// The largest error of friction as a part of its limit [-].
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
