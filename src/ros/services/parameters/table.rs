//! The table of parameters: names, types, ranges, defaults, descriptions.

use crate::math::{JointIndex, Vector3};
use crate::ros::client::ParameterValue;
use crate::ros::commands::joint_command::ControlMode;
use crate::ros::exchange::settings::Mode;
use crate::scene::{Actuator, Scene};
use crate::stepping::QUASISTATIC_STEP_MAX;

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Bool,
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// Lowest and highest value.
    Number(f64, f64),
    /// Three numbers; holds the largest magnitude of each.
    Vector(f64),
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: ParameterValue,
    /// Whether it can be changed while the node runs.
    pub(crate) dynamic: bool,
    pub(crate) description: String,
}

/// The highest rate of a topic or of the clock \[Hz\].
const RATE_MAX: f64 = 1e6;
/// A rate below zero selects the scene's own.
pub(super) const FROM_SCENE: f64 = -1.0;
/// The largest gain [N m/rad, N m s/rad, ...].
const GAIN_MAX: f64 = 1e12;
/// The largest number of threads of a step.
const THREADS_MAX: f64 = 256.0;
/// The strongest gravity [m/s2]; the Sun's is 274.
const GRAVITY_MAX: f64 = 1e3;
/// Largest real-time factor \[-\].
pub(super) const REAL_TIME_FACTOR_MAX: f64 = 1e3;
/// Smallest real-time factor, except that 0 runs as fast as possible \[-\]: a step of 1 ms takes 17 minutes.
pub(super) const REAL_TIME_FACTOR_MIN: f64 = 1e-6;
const ON_TIMEOUT: [&str; 3] = ["hold", "abort", "continue"];

/// The parameters that do not depend on the scene.
pub(super) fn fixed() -> Vec<Declaration> {
    let declare = |name: &str, kind, default, dynamic, description: &str| Declaration {
        name: name.to_owned(),
        kind,
        default,
        dynamic,
        description: description.to_owned(),
    };
    let rate = |name: &str, topic: &str| {
        let description = format!("{topic} [Hz of simulated time]; 0 disables it, -1 selects the scene's rate.");
        declare(name, Kind::Number(FROM_SCENE, RATE_MAX), ParameterValue::Number(FROM_SCENE), true, &description)
    };
    let text = |name: &str, default: &str, description: &str| {
        declare(name, Kind::Text, ParameterValue::Text(default.to_owned()), false, description)
    };
    let flag = |name: &str, default, description: &str| {
        declare(name, Kind::Bool, ParameterValue::Bool(default), false, description)
    };
    let number = |name: &str, default, (low, high), dynamic, description: &str| {
        declare(name, Kind::Number(low, high), ParameterValue::Number(default), dynamic, description)
    };
    vec![
        text("scene", "", "Scene file (YAML)."),
        declare(
            "stepping",
            Kind::Choice(&Mode::NAMES),
            ParameterValue::Text(Mode::Scene.name().to_owned()),
            true,
            "dynamic, quasistatic, spook, continuous, or empty for the scene's own; a change while running applies from the next ~/reset on.",
        ),
        number(
            "step",
            0.0,
            (0.0, QUASISTATIC_STEP_MAX),
            true,
            "Step [s], from 1e-6 to 0.1, quasistatic up to 1; 0 selects the scene's. A change while running applies from the next ~/reset on.",
        ),
        number(
            "real_time_factor",
            1.0,
            (0.0, REAL_TIME_FACTOR_MAX),
            true,
            "Simulated seconds per second of real time, at least 1e-6; 0 is as fast as possible.",
        ),
        rate("clock_rate", "/clock"),
        rate("joint_state_rate", "joint_states and ~/external_joint_torques"),
        rate("wrench_rate", "~/wrench/<body> and ~/force_torque/<joint>"),
        rate("pose_rate", "~/pose/<body> and /tf of free bodies"),
        declare(
            "output_rate",
            Kind::Number(FROM_SCENE, RATE_MAX),
            ParameterValue::Number(FROM_SCENE),
            true,
            "~/output/<name> [Hz of simulated time]; 0 disables it, -1 selects the rate of the wrenches.",
        ),
        rate("contact_patch_rate", "~/contact_patches"),
        declare(
            "marker_rate",
            Kind::Number(FROM_SCENE, RATE_MAX),
            ParameterValue::Number(FROM_SCENE),
            true,
            "~/contact_markers [Hz of real time, at most 30]; 0 disables it, -1 selects the scene's rate.",
        ),
        number(
            "marker_pressure_max",
            0.0,
            (0.0, 1e12),
            true,
            "Pressure at the end of the markers' colour scale [Pa]; 0 selects the largest present pressure.",
        ),
        number(
            "command_timeout",
            0.0,
            (0.0, 1e6),
            true,
            "Simulated time without a command to a joint after which it is held in place [s]; 0 disables this.",
        ),
        number(
            "apply_wrench_duration",
            0.1,
            (0.0, 1e6),
            true,
            "Simulated time for which a wrench of ~/apply_wrench acts, from its arrival [s]; a single step at least.",
        ),
        number(
            "trajectory_tolerance",
            0.0,
            (0.0, 1e6),
            true,
            "Largest distance of a joint from its trajectory before the trajectory is aborted [rad or m]; 0 disables this.",
        ),
        flag("lockstep", false, "Whether each step waits for a command with the stamp of the state."),
        number(
            "lockstep_timeout",
            1.0,
            (0.0, 1e6),
            false,
            "Largest real time to wait for a command in lockstep, after the first one [s]; 0 is unlimited.",
        ),
        declare(
            "lockstep_on_timeout",
            Kind::Choice(&ON_TIMEOUT),
            ParameterValue::Text(ON_TIMEOUT[0].to_owned()),
            false,
            "Reaction to a late command in lockstep: hold keeps waiting, abort ends the node with an error, continue steps \
             with the last command.",
        ),
        flag("start_paused", false, "Whether the simulation starts paused, until ~/pause or ~/step."),
        flag(
            "robot_namespaces",
            false,
            "Whether each model with joints has its own topics in a namespace of its name, with the joint names of its URDF.",
        ),
        text("record", "", "MCAP file to record to; if empty, nothing is recorded."),
        text(
            "checkpoint",
            "",
            "File of checkpoints. If it exists at the start, the node continues from it; ~/save_checkpoint writes it and \
             ~/restore_checkpoint returns to it. If empty, there are no checkpoints.",
        ),
        number(
            "checkpoint_period",
            0.0,
            (0.0, 1e9),
            true,
            "Simulated time between checkpoints, which are then written at the end, too [s]; 0 writes them on request only.",
        ),
        text(
            "file_access",
            "",
            "Folders that services read files from, separated by :, in addition to the folders of the scene and of its files, and packages; / allows every file.",
        ),
        number(
            "threads",
            0.0,
            (0.0, THREADS_MAX),
            false,
            "Threads that find contacts and solve islands in dynamic steps; they change no result. 0 selects the scene's number.",
        ),
        number(
            "realtime_priority",
            0.0,
            (0.0, 99.0),
            false,
            "Priority of the threads that step, publish and receive, with the policy SCHED_FIFO; 0 keeps the process's own scheduling.",
        ),
        text("cpus", "", "Processors of these threads, such as 2 or 2,3 or 2-5; if empty, those of the process."),
        flag("lock_memory", false, "Whether the memory of the node is kept out of the swap."),
        flag("publish_clock", true, "Whether this node publishes /clock."),
        flag(
            "publish_tf",
            true,
            "Whether the poses of free bodies are published on /tf; needs tf2_msgs when the node is built.",
        ),
        flag(
            "publish_robot_description",
            false,
            "Whether the URDF text is published, latched; robot_state_publisher usually does it.",
        ),
        text("world_frame", "world", "Frame id of markers, poses, contact patches and /tf."),
        declare(
            "use_sim_time",
            Kind::Bool,
            ParameterValue::Bool(false),
            true,
            "For other nodes; this node publishes the clock and ignores it.",
        ),
    ]
}

// The prefixes of names that depend on the scene.
pub(super) const GRAVITY: &str = "gravity";
pub(super) const GAINS: &str = "gains.";
pub(super) const MODES: &str = "control_modes.";

/// The values of a scene file that parameters can change.
#[derive(Clone, Debug)]
pub(crate) struct SceneDefaults {
    pub(crate) gravity_W: Vector3,
    pub(crate) joints: Vec<String>,
    /// The actuator of each; none for a mimic joint, which moves with its leader.
    pub(crate) actuators: Vec<Option<Actuator>>,
}

impl SceneDefaults {
    /// The parameter values of a scene without changes.
    pub(crate) fn of(scene: &Scene) -> Self {
        let moves = |joint: &JointIndex| scene.model().joints()[*joint].mimic.is_none();
        let own = scene.joints().iter().zip(scene.actuators());
        Self {
            gravity_W: *scene.model().gravity_W(),
            joints: scene.joint_names().to_vec(),
            actuators: own.map(|(joint, actuator)| moves(joint).then_some(*actuator)).collect(),
        }
    }
}

/// The parameters of a scene: gravity, gains and control modes of the joints.
pub(super) fn of_scene(scene: &SceneDefaults) -> Vec<Declaration> {
    let declare =
        |name: String, kind, default, description| Declaration { name, kind, default, dynamic: true, description };
    let g = scene.gravity_W;
    let mut declarations = vec![declare(
        GRAVITY.to_owned(),
        Kind::Vector(GRAVITY_MAX),
        ParameterValue::Numbers(vec![g.x, g.y, g.z]),
        "Gravity [m/s2, world]; applies from the next step on.".to_owned(),
    )];
    for (joint, actuator) in scene.joints.iter().zip(&scene.actuators) {
        let gains = actuator.map(|actuator| {
            [("stiffness", "N m/rad or N/m", actuator.stiffness), ("damping", "N m s/rad or N s/m", actuator.damping)]
        });
        for (gain, unit, value) in gains.into_iter().flatten() {
            declarations.push(declare(
                format!("{GAINS}{joint}.{gain}"),
                Kind::Number(0.0, GAIN_MAX),
                ParameterValue::Number(value),
                format!("{gain} of joint {joint}'s actuator [{unit}]; applies from the next step on."),
            ));
        }
        declarations.push(declare(
            format!("{MODES}{joint}"),
            Kind::Choice(&ControlMode::NAMES),
            ParameterValue::Text("auto".to_owned()),
            format!("The quantities of a command that joint {joint} takes; auto takes the filled ones."),
        ));
    }
    declarations
}
