//! Constants of simulation_interfaces, and results made of them.

use r2r::simulation_interfaces::msg::Result as Outcome;

// Of Result.
pub(super) const UNSUPPORTED: u8 = 0;
pub(super) const OK: u8 = 1;
pub(super) const NOT_FOUND: u8 = 2;
pub(super) const FAILED: u8 = 4;

// Of SimulationState.
pub(super) const STOPPED: u8 = 0;
pub(super) const PLAYING: u8 = 1;
pub(super) const PAUSED: u8 = 2;
pub(super) const QUITTING: u8 = 3;

// Of SetSimulationState.
pub(super) const ALREADY_THERE: u8 = 101;
pub(super) const TRANSITION_ERROR: u8 = 102;
pub(super) const INCORRECT_TRANSITION: u8 = 103;

// Of SetEntityState.
pub(super) const INVALID_POSE: u8 = 101;

// Of ResetSimulation.
pub(super) const SCOPE_DEFAULT: u8 = 0;
pub(super) const SCOPE_TIME: u8 = 1;
pub(super) const SCOPE_STATE: u8 = 2;
pub(super) const SCOPE_SPAWNED: u8 = 4;
pub(super) const SCOPE_ALL: u8 = 255;

// Of EntityCategory.
pub(super) const OBJECT: u8 = 0;
pub(super) const ROBOT: u8 = 1;
pub(super) const STATIC_OBJECT: u8 = 5;

// Of Bounds.
pub(super) const BOUNDS_EMPTY: u8 = 0;
pub(super) const BOUNDS_BOX: u8 = 1;
pub(super) const BOUNDS_CONVEX_HULL: u8 = 2;
pub(super) const BOUNDS_SPHERE: u8 = 3;

// Of TagsFilter.
pub(super) const TAGS_ALL: u8 = 1;

/// What this node offers, by the numbers of SimulatorFeatures.
pub(super) const FEATURES: [u16; 18] = [
    4,  // ENTITY_TAGS
    5,  // ENTITY_BOUNDS
    6,  // ENTITY_BOUNDS_BOX
    8,  // ENTITY_CATEGORIES
    10, // ENTITY_STATE_GETTING
    11, // ENTITY_STATE_SETTING
    12, // ENTITY_INFO_GETTING
    13, // ENTITY_INFO_SETTING
    20, // SIMULATION_RESET
    21, // SIMULATION_RESET_TIME
    22, // SIMULATION_RESET_STATE
    23, // SIMULATION_RESET_SPAWNED
    24, // SIMULATION_STATE_GETTING
    25, // SIMULATION_STATE_SETTING
    26, // SIMULATION_STATE_PAUSE
    31, // STEP_SIMULATION_SINGLE
    32, // STEP_SIMULATION_MULTIPLE
    33, // STEP_SIMULATION_ACTION
];

/// It worked.
pub(super) fn ok() -> Outcome {
    Outcome { result: OK, error_message: String::new() }
}

/// It did not.
pub(super) fn refused(result: u8, error_message: impl Into<String>) -> Outcome {
    Outcome { result, error_message: error_message.into() }
}
