//! Constants of simulation_interfaces, and results that contain them.

use crate::ros::client::interfaces::simulation_interfaces::msg::Result as Outcome;

// Constants of Result.
pub(crate) const UNSUPPORTED: u8 = 0;
pub(crate) const OK: u8 = 1;
pub(crate) const NOT_FOUND: u8 = 2;
pub(crate) const INCORRECT_STATE: u8 = 3;
pub(crate) const FAILED: u8 = 4;

// Constants of SimulationState.
pub(crate) const STOPPED: u8 = 0;
pub(crate) const PLAYING: u8 = 1;
pub(crate) const PAUSED: u8 = 2;
pub(crate) const QUITTING: u8 = 3;
pub(crate) const NO_WORLD: u8 = 4;
pub(crate) const LOADING_WORLD: u8 = 5;

// Constants of SetSimulationState.
pub(crate) const ALREADY_THERE: u8 = 101;
pub(crate) const TRANSITION_ERROR: u8 = 102;
pub(crate) const INCORRECT_TRANSITION: u8 = 103;

// Constants of SetEntityState.
pub(crate) const INVALID_POSE: u8 = 101;

// Constants of ResetSimulation.
pub(crate) const SCOPE_DEFAULT: u8 = 0;
pub(crate) const SCOPE_TIME: u8 = 1;
pub(crate) const SCOPE_STATE: u8 = 2;
pub(crate) const SCOPE_SPAWNED: u8 = 4;
pub(crate) const SCOPE_ALL: u8 = 255;

// Constants of EntityCategory.
pub(crate) const OBJECT: u8 = 0;
pub(crate) const ROBOT: u8 = 1;
pub(crate) const STATIC_OBJECT: u8 = 5;

// Constants of Bounds.
pub(crate) const BOUNDS_EMPTY: u8 = 0;
pub(crate) const BOUNDS_BOX: u8 = 1;
pub(crate) const BOUNDS_CONVEX_HULL: u8 = 2;
pub(crate) const BOUNDS_SPHERE: u8 = 3;

// Constants of TagsFilter.
pub(crate) const TAGS_ALL: u8 = 1;

// Constants of SpawnEntities.
#[cfg(isobar_spawn_entities)]
pub(crate) const ENTITIES_SPAWN_FAILED: u8 = 150;

/// The features of this node, as numbers of SimulatorFeatures.
pub(crate) const FEATURES: &[u16] = &[
    0,  // SPAWNING
    1,  // DELETING
    4,  // ENTITY_TAGS
    5,  // ENTITY_BOUNDS
    6,  // ENTITY_BOUNDS_BOX
    8,  // ENTITY_CATEGORIES
    9,  // SPAWNING_RESOURCE_STRING
    10, // ENTITY_STATE_GETTING
    11, // ENTITY_STATE_SETTING
    12, // ENTITY_INFO_GETTING
    13, // ENTITY_INFO_SETTING
    14, // SPAWNABLES
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
    40, // WORLD_LOADING
    41, // WORLD_RESOURCE_STRING
    43, // WORLD_UNLOADING
    44, // WORLD_INFO_GETTING
    45, // AVAILABLE_WORLDS
    #[cfg(isobar_spawn_entities)]
    50, // SPAWNING_ENTITIES
];

/// A successful result.
pub(crate) fn ok() -> Outcome {
    Outcome { result: OK, error_message: String::new() }
}

/// A failed result.
pub(crate) fn refused(result: u8, error_message: impl Into<String>) -> Outcome {
    Outcome { result, error_message: error_message.into() }
}

/// Constants of SpawnEntity.
pub(crate) mod spawn {
    pub(in crate::ros::services::simulation_interfaces) const NAME_NOT_UNIQUE: u8 = 101;
    pub(in crate::ros::services::simulation_interfaces) const NAME_INVALID: u8 = 102;
    pub(in crate::ros::services::simulation_interfaces) const UNSUPPORTED_FORMAT: u8 = 103;
    pub(in crate::ros::services::simulation_interfaces) const NO_RESOURCE: u8 = 104;
    pub(in crate::ros::services::simulation_interfaces) const NAMESPACE_INVALID: u8 = 105;
    pub(in crate::ros::services::simulation_interfaces) const RESOURCE_PARSE_ERROR: u8 = 106;
    pub(in crate::ros::services::simulation_interfaces) const MISSING_ASSETS: u8 = 107;
    pub(in crate::ros::services::simulation_interfaces) const UNSUPPORTED_ASSETS: u8 = 108;
    pub(in crate::ros::services::simulation_interfaces) const INVALID_POSE: u8 = 109;
}

/// Constants of LoadWorld, UnloadWorld and GetCurrentWorld.
pub(crate) mod load {
    pub(in crate::ros::services::simulation_interfaces) const NO_WORLD_LOADED: u8 = 101;
    pub(in crate::ros::services::simulation_interfaces) const UNSUPPORTED_FORMAT: u8 = 101;
    pub(in crate::ros::services::simulation_interfaces) const NO_RESOURCE: u8 = 102;
    pub(in crate::ros::services::simulation_interfaces) const RESOURCE_PARSE_ERROR: u8 = 103;
    pub(in crate::ros::services::simulation_interfaces) const MISSING_ASSETS: u8 = 104;
}
