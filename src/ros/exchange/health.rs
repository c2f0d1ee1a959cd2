//! The state of the simulation, for /diagnostics.

/// The simulation thread's activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    #[default]
    Running,
    Paused,
    /// Lockstep: no command has arrived yet.
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
