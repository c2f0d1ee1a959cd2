//! Messages of controllers: each is refused with a reason, or every target that follows is finite and within
//! the limits of its joint.

use crate::math::{Index, ScalarJointIndex};
use crate::ros::commands::joint_command::{CommandMessage, CommandedJoint, ControlMode, check};
use crate::ros::commands::standing_command::{FollowSettings, StandingCommand};
use crate::ros::commands::tracking::JointStates;
use crate::ros::commands::trajectory::{PointMessage, Trajectory};
use crate::stepping::JointCommand;

const NAMES: [&str; 3] = ["slide", "turn", "lift"];
const STEP_NS: u64 = 1_000_000;
const STEPS: u64 = 40;
const POINTS_MAX: usize = 6;

/// Takes values from bytes; zero when they end.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
    fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| (word << 8) | u64::from(self.byte()))
    }
    /// Mostly a small number, sometimes NaN, infinity, a number with an extreme exponent or any bits.
    fn number(&mut self) -> f64 {
        match self.byte() % 8 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => 1e308,
            3 => -1e-308,
            4 => f64::from_bits(self.word()),
            _ => f64::from(self.byte() as i8) / 16.0,
        }
    }
    fn numbers(&mut self, usual: usize) -> Vec<f64> {
        let len = match self.byte() % 4 {
            0 => 0,
            1 => usize::from(self.byte() % 8),
            _ => usual,
        };
        (0..len).map(|_| self.number()).collect()
    }
    fn names(&mut self) -> Vec<String> {
        let count = usize::from(self.byte() % 5);
        (0..count)
            .map(|_| match self.byte() % 8 {
                0 => {
                    let len = usize::from(self.byte());
                    (0..len).map(|_| char::from(self.byte())).collect()
                }
                index => NAMES[usize::from(index) % NAMES.len()].to_owned(),
            })
            .collect()
    }
    fn joints(&mut self) -> Vec<CommandedJoint> {
        let limit = [0.5, 3.0, 1e6, f64::INFINITY];
        NAMES
            .iter()
            .enumerate()
            .map(|(target, name)| CommandedJoint {
                name: (*name).to_owned(),
                target: ScalarJointIndex::from_usize(target),
                mode: ControlMode::of(ControlMode::NAMES[usize::from(self.byte() % 4)]),
                mimic: self.byte().is_multiple_of(4),
                gains: (!self.byte().is_multiple_of(8), !self.byte().is_multiple_of(8)),
                unlimited: self.byte().is_multiple_of(4),
                turns: self.byte().is_multiple_of(4),
                present: (!self.byte().is_multiple_of(4)).then(|| f64::from(self.byte())),
                lower: -1e6,
                upper: limit[usize::from(self.byte() % 3)],
                velocity: limit[usize::from(self.byte() % 3)],
                effort: 10.0,
            })
            .collect()
    }
}

/// Follows the standing command for some steps, with joints that move to their targets.
fn follow(standing: &mut StandingCommand, joints: &[CommandedJoint], source: &mut Source<'_>) {
    let mut position = [0.0; NAMES.len()];
    let (start_ns, mut events) = (u64::from(source.byte()) * STEP_NS, Vec::new());
    let settings = FollowSettings {
        trajectory_tolerance: f64::from(source.byte()) / 64.0,
        command_timeout_ns: u64::from(source.byte()) * STEP_NS / 4,
        feedback: source.byte().is_multiple_of(2),
        passed: true,
    };
    for step in 0..STEPS {
        let states = JointStates { time_ns: start_ns + step * STEP_NS, position: &position, velocity: &[0.0; 3] };
        standing.advance(&states, &settings, &mut events);
        let mut command = JointCommand::for_joints(NAMES.len());
        standing.fill(&mut command);
        for ((target, joint), position) in command.targets.iter().zip(joints).zip(&mut position) {
            let within = |value: Option<f64>, low: f64, high: f64| value.is_none_or(|x| (low..=high).contains(&x));
            assert!(within(target.position, joint.lower, joint.upper), "{target:?} of {joint:?}");
            assert!(within(target.velocity, -joint.velocity, joint.velocity), "{target:?} of {joint:?}");
            assert!(within(target.effort, -joint.effort, joint.effort), "{target:?} of {joint:?}");
            *position = target.position.unwrap_or(*position);
        }
        events.clear();
    }
    let _ = standing.take_goal_updates();
}

/// A sensor_msgs/JointState.
pub fn joint_state(data: &[u8]) {
    let mut source = Source(data);
    let joints = source.joints();
    let mut standing = StandingCommand::new(NAMES.len());
    while !source.0.is_empty() {
        let name = source.names();
        let (position, velocity, effort) =
            (source.numbers(name.len()), source.numbers(name.len()), source.numbers(name.len()));
        let message = CommandMessage { name: &name, position: &position, velocity: &velocity, effort: &effort };
        match check(&joints, &message, &mut Vec::new()) {
            Ok(command) => standing.command(usize::from(source.byte() % 3), &command),
            Err(error) => assert!(error.to_string().len() < 2000, "an error of bounded length"),
        }
    }
    follow(&mut standing, &joints, &mut source);
}

/// A trajectory_msgs/JointTrajectory.
pub fn joint_trajectory(data: &[u8]) {
    let mut source = Source(data);
    let joints = source.joints();
    let mut standing = StandingCommand::new(NAMES.len());
    while !source.0.is_empty() {
        let names = source.names();
        let start_ns = match source.byte() % 3 {
            0 => None,
            1 => Some(u64::from(source.byte()) * STEP_NS / 8),
            _ => Some(source.word()),
        };
        let mut time_ns = 0_i64;
        let count = usize::from(source.byte()) % POINTS_MAX;
        let points: Vec<_> = (0..count)
            .map(|_| {
                time_ns = match source.byte() % 8 {
                    0 => source.word() as i64,
                    _ => time_ns.saturating_add(i64::from(source.byte()) * STEP_NS as i64 / 16),
                };
                (source.numbers(names.len()), source.numbers(names.len()), source.numbers(names.len()), time_ns)
            })
            .collect();
        let messages = points.iter().map(|(positions, velocities, accelerations, time_ns)| PointMessage {
            positions,
            velocities,
            accelerations,
            time_ns: *time_ns,
        });
        let taken = Trajectory::new(&joints, &names, start_ns, messages.collect::<Vec<_>>().into_iter())
            .and_then(|trajectory| standing.start(usize::from(source.byte() % 3), trajectory));
        if let Err(error) = taken {
            assert!(error.to_string().len() < 2000, "an error of bounded length");
        }
        if source.byte().is_multiple_of(4) {
            follow(&mut standing, &joints, &mut source);
        }
    }
    follow(&mut standing, &joints, &mut source);
}
