//! Laws of the standing command.

use super::*;
use crate::ros::commands::goal::GoalTerms;
use crate::ros::commands::joint_command::{CommandMessage, CommandedJoint, check};
use crate::ros::commands::trajectory::PointMessage;

const STEP_NS: u64 = 10_000_000;
const JOINTS: usize = 3;
const NAMES: [&str; JOINTS] = ["slide", "turn", "lift"];

fn joints() -> Vec<CommandedJoint> {
    NAMES.iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
}

/// The standing command, and joints that a test can move.
struct Bench {
    standing: StandingCommand,
    time_ns: u64,
    position: Vec<f64>,
    timeout_ns: u64,
}

impl Bench {
    fn new() -> Self {
        Self { standing: StandingCommand::new(JOINTS), time_ns: 0, position: vec![0.0; JOINTS], timeout_ns: 0 }
    }

    fn command(&mut self, controller: usize, names: &[&str], position: &[f64], velocity: &[f64]) {
        let name: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let message = CommandMessage { name: &name, position, velocity, effort: &[] };
        self.standing.command(controller, &check(&joints(), &message, &mut Vec::new()).unwrap());
    }

    /// A trajectory to `goal` in `duration_ns`, from the next step on.
    fn start(&mut self, controller: usize, names: &[&str], goal: &[f64], duration_ns: u64) {
        self.start_at(controller, names, goal, duration_ns, None);
    }

    /// The same from `start_ns` on.
    fn start_at(&mut self, controller: usize, names: &[&str], goal: &[f64], duration_ns: u64, start_ns: Option<u64>) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let time_ns = i64::try_from(duration_ns).unwrap();
        let point = PointMessage { positions: goal, velocities: &[], accelerations: &[], time_ns };
        let trajectory = Trajectory::new(&joints(), &names, start_ns, [point].into_iter()).unwrap();
        self.standing.start(controller, trajectory).unwrap();
    }

    /// Starts a goal of controller 0 that moves a joint by 1 within a second.
    fn start_goal(&mut self, number: u64, joint: &str) {
        let point = PointMessage { positions: &[1.0], velocities: &[], accelerations: &[], time_ns: 1_000_000_000 };
        let mut trajectory = Trajectory::new(&joints(), &[joint.to_owned()], None, [point].into_iter()).unwrap();
        trajectory.terms = Some(GoalTerms { number, ..GoalTerms::default() });
        self.standing.start(0, trajectory).unwrap();
    }

    /// Returns the targets of the next step, then moves the joints to them and advances the time.
    fn step(&mut self) -> Vec<JointTarget> {
        let states = JointStates { time_ns: self.time_ns, position: &self.position, velocity: &[0.0; JOINTS] };
        let settings =
            FollowSettings { trajectory_tolerance: 0.0, command_timeout_ns: self.timeout_ns, feedback: false };
        self.standing.advance(&states, &settings, &mut Vec::new());
        let mut command = JointCommand::for_joints(JOINTS);
        self.standing.fill(&mut command);
        let targets = command.targets.as_slice().to_vec();
        for (position, target) in self.position.iter_mut().zip(&targets) {
            *position = target.position.unwrap_or(*position);
        }
        self.time_ns += STEP_NS;
        targets
    }
}

fn at(position: f64) -> JointTarget {
    JointTarget { position: Some(position), ..JointTarget::default() }
}

/// Regression, observed on the built node: `turn` jumped back from 0.998 rad to the target that it had before
/// the trajectory.
#[test]
fn a_command_for_one_joint_leaves_the_others_where_the_trajectory_has_brought_them() {
    let mut bench = Bench::new();
    bench.command(0, &["slide", "turn"], &[0.0, -0.5], &[]);
    bench.step();
    bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
    (0..6).for_each(|_| drop(bench.step()));
    let turn = bench.position[1];
    assert!(turn > 0.0, "on its way: {turn}");
    bench.command(0, &["slide"], &[0.2], &[]);
    (0..3).for_each(|_| assert_eq!(bench.step()[..2], [at(0.2), at(turn)]));
}

/// Commands and trajectories that were written and read at any step give the same targets from there on.
#[test]
fn a_standing_command_that_was_read_goes_on_as_the_one_that_was_written() {
    for saved_at in 0..16 {
        let mut bench = Bench::new();
        bench.timeout_ns = 4 * STEP_NS;
        let mut copy: Option<Bench> = None;
        for step in 0..24 {
            for bench in [Some(&mut bench), copy.as_mut()].into_iter().flatten() {
                match step {
                    1 => bench.command(0, &["slide", "turn"], &[0.1, 0.2], &[0.0, 0.5]),
                    3 => bench.start(1, &["turn"], &[1.0], 6 * STEP_NS),
                    5 => bench.start(2, &["lift"], &[-1.0], 4 * STEP_NS),
                    7 => bench.standing.cancel(2, &[ScalarJointIndex::from_usize(2)]),
                    _ => {}
                }
            }
            if step == saved_at {
                let mut writer = ByteWriter::default();
                bench.standing.write(&mut writer);
                let bytes = writer.into_bytes();
                assert!((0..bytes.len()).all(|len| StandingCommand::read(&bytes[..len], JOINTS).is_err()));
                assert!(StandingCommand::read(&bytes, JOINTS + 1).is_err());
                let standing = StandingCommand::read(&bytes, JOINTS).unwrap();
                copy = Some(Bench { standing, position: bench.position.clone(), ..bench });
            }
            let targets = bench.step();
            assert!(copy.as_mut().is_none_or(|copy| copy.step() == targets), "saved at {saved_at}, step {step}");
        }
    }
}

/// Regression: the joints that only the older trajectory moved jumped back as above, or kept a velocity
/// target.
#[test]
fn a_newer_trajectory_on_fewer_joints_holds_the_others_without_velocity() {
    let mut bench = Bench::new();
    bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
    (0..6).for_each(|_| drop(bench.step()));
    let turn = bench.position[1];
    bench.start(0, &["slide"], &[0.0], 10 * STEP_NS);
    (0..20).for_each(|_| assert_eq!(bench.step()[1], at(turn)));
}

/// Regression, observed on the built node: after the end of a trajectory, a cancellation or the timeout, the
/// held position resisted every velocity that was commanded later.
#[test]
fn a_velocity_acts_alone_on_a_joint_that_was_held() {
    let velocity = JointTarget { velocity: Some(0.5), ..JointTarget::default() };
    for (whole, held_by) in [(true, 0), (false, 0), (true, 1), (false, 1), (true, 2), (false, 2)] {
        let mut bench = Bench::new();
        match held_by {
            // By the command itself, which ends the trajectory.
            0 => bench.start(0, &["turn"], &[1.0], 10 * STEP_NS),
            1 => bench.command(0, &["turn"], &[], &[0.2]),
            _ => {
                bench.command(0, &["turn"], &[], &[0.2]);
                bench.timeout_ns = 3 * STEP_NS;
            }
        }
        (0..6).for_each(|_| drop(bench.step()));
        if held_by == 1 {
            bench.standing.cancel(0, &[ScalarJointIndex::from_usize(1)]);
            assert_eq!(bench.step()[1], at(bench.position[1]));
        }
        bench.timeout_ns = 0;
        let joints = vec![(ScalarJointIndex::from_usize(1), velocity)];
        bench.standing.command(0, &CheckedCommand { joints, whole, idle: None });
        assert_eq!(bench.step()[1], velocity, "{whole} {held_by}");
    }
}

/// Regression, observed on the built node: a velocity or an effort of an earlier message stayed in force
/// beside a newer position. Commands from the topics of single quantities are combined.
#[test]
fn the_newest_message_decides_all_quantities_of_a_joint() {
    let mut bench = Bench::new();
    bench.command(0, &["turn"], &[0.5], &[0.7]);
    bench.command(0, &["turn"], &[0.5], &[]);
    assert_eq!(bench.step()[1], at(0.5));
    let effort = JointTarget { effort: Some(2.0), ..JointTarget::default() };
    let joints = vec![(ScalarJointIndex::from_usize(1), effort)];
    bench.standing.command(0, &CheckedCommand { joints, whole: false, idle: None });
    assert_eq!(bench.step()[1], JointTarget { effort: Some(2.0), ..at(0.5) });
}

/// Regression, observed on the built node: a goal on `slide` was cancelled, and `turn`, under a command of
/// its own, stood still.
#[test]
fn a_cancelled_goal_leaves_joints_of_other_commands_alone() {
    let velocity = JointTarget { velocity: Some(0.5), ..JointTarget::default() };
    let mut bench = Bench::new();
    bench.command(0, &["turn"], &[], &[0.5]);
    bench.command(0, &["lift"], &[0.3], &[]);
    bench.start_goal(7, "slide");
    (0..6).for_each(|_| drop(bench.step()));
    bench.standing.cancel_goals(&[6, 7]);
    let slide = bench.position[0];
    assert!(slide > 0.0);
    assert_eq!(bench.step(), [at(slide), velocity, at(0.3)]);
    assert_eq!(bench.standing.take_goal_news().ended, [(7, GoalEnd::Interrupted)]);
}

/// Regression, observed on the built node: a goal that was sent just after the cancellation of the one
/// before it was ended by that cancellation.
#[test]
fn a_cancellation_leaves_a_newer_goal_alone() {
    let mut bench = Bench::new();
    bench.start_goal(7, "slide");
    (0..6).for_each(|_| drop(bench.step()));
    bench.start_goal(8, "slide");
    bench.standing.cancel_goals(&[7]);
    assert_eq!(bench.standing.take_goal_news().ended, [(7, GoalEnd::Interrupted)]);
    assert!(bench.step()[0].velocity.is_some(), "the newer goal moves the joint");
}

/// Regression, observed on the built node: each cancellation moved the target of a joint at rest to where
/// its load had pulled it, and a trajectory that never began stopped its joints.
#[test]
fn cancellations_and_trajectories_that_never_began_leave_targets_alone() {
    let mut bench = Bench::new();
    bench.command(0, &["slide"], &[0.5], &[]);
    bench.step();
    for _ in 0..3 {
        bench.position[0] = 0.4;
        bench.standing.cancel(0, &[ScalarJointIndex::from_usize(0)]);
        assert_eq!(bench.step()[0], at(0.5));
    }
    let velocity = JointTarget { velocity: Some(0.5), ..JointTarget::default() };
    bench.command(0, &["turn"], &[], &[0.5]);
    let names = ["turn".to_owned()];
    let point = PointMessage { positions: &[1.0], velocities: &[], accelerations: &[], time_ns: 1 };
    let later = Trajectory::new(&joints(), &names, Some(100_000_000_000), [point].into_iter()).unwrap();
    bench.standing.start(0, later).unwrap();
    assert_eq!(bench.step()[1], velocity);
    bench.command(0, &["slide"], &[0.2], &[]);
    assert_eq!(bench.step()[..2], [at(0.2), velocity]);
}

/// Regression, observed on the built node: the timeout of a dead controller waited for the trajectories
/// and commands of other joints.
#[test]
fn the_timeout_counts_for_each_joint() {
    let mut bench = Bench::new();
    bench.timeout_ns = 3 * STEP_NS;
    bench.command(0, &["turn"], &[], &[0.5]);
    bench.start(1, &["lift"], &[1.0], 100 * STEP_NS);
    let mut moving = 0;
    for step in 0..10 {
        bench.command(2, &["slide"], &[0.01 * f64::from(step)], &[]);
        moving += usize::from(bench.step()[1].velocity.is_some());
    }
    assert_eq!(moving, 4, "steps until more than three have passed");
    assert_eq!(bench.step()[1], at(0.0));
}

/// Regression, observed on the built node: after a reset of time, trajectories with stamps of the new time
/// were refused as past until the next step.
#[test]
fn stamps_count_from_zero_after_a_reset_of_time() {
    let mut bench = Bench::new();
    bench.time_ns = 40_000_000_000;
    bench.step();
    bench.standing.hold_trajectories();
    bench.standing.reset_time();
    let names = ["turn".to_owned()];
    let point = PointMessage { positions: &[1.0], velocities: &[], accelerations: &[], time_ns: 1_000_000_000 };
    let trajectory = Trajectory::new(&joints(), &names, Some(500_000_000), [point].into_iter()).unwrap();
    assert_eq!(bench.standing.start(0, trajectory), Ok(()));
}

/// Joints whose actuators get gains are held unless a command, a trajectory or an earlier hold has them.
#[test]
fn only_idle_joints_are_held_when_they_get_gains() {
    let all: Vec<_> = (0..JOINTS).map(ScalarJointIndex::from_usize).collect();
    let mut bench = Bench::new();
    bench.command(0, &["turn"], &[], &[0.5]);
    bench.start(1, &["lift"], &[1.0], 10 * STEP_NS);
    bench.position[0] = 0.7;
    bench.standing.hold_idle(&all);
    let targets = bench.step();
    assert_eq!((targets[0], targets[1].velocity), (at(0.7), Some(0.5)));
    assert!(targets[2].velocity.is_some(), "the trajectory");
    assert!(bench.standing.hold_all());
    assert!(!bench.standing.hold_all(), "a joint that is held is not commanded");
}

/// A command ends a trajectory of its controller: that is reported if joints stop that it does not set.
#[test]
fn a_trajectory_that_a_command_ends_is_reported_once() {
    for (names, reported) in [(&["slide", "turn"][..], 0), (&["slide"], 1)] {
        let mut bench = Bench::new();
        bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
        bench.step();
        bench.command(0, names, &vec![0.1; names.len()], &[]);
        let mut events = Vec::new();
        for _ in 0..3 {
            let states = JointStates { time_ns: bench.time_ns, position: &[0.0; JOINTS], velocity: &[0.0; JOINTS] };
            let settings = FollowSettings { trajectory_tolerance: 0.0, command_timeout_ns: 0, feedback: false };
            bench.standing.advance(&states, &settings, &mut events);
        }
        assert_eq!(events, vec![CommandEvent::TrajectoryInterrupted; reported], "{names:?}");
    }
}

/// After a step that fails, all commanded joints are held where they are. A second call finds nothing to
/// drop.
#[test]
fn commands_that_no_step_can_follow_are_dropped_once() {
    let mut bench = Bench::new();
    assert!(!bench.standing.hold_all(), "nothing was commanded");
    bench.command(0, &["turn"], &[], &[0.5]);
    bench.start(1, &["lift"], &[1.0], 10 * STEP_NS);
    bench.step();
    bench.position = vec![0.1, 0.2, 0.3];
    assert!(bench.standing.hold_all());
    assert!(!bench.standing.hold_all(), "they are held");
    assert_eq!(bench.step(), [JointTarget::default(), at(0.2), at(0.3)]);
    let mut bench = Bench::new();
    bench.start(1, &["lift"], &[1.0], 10 * STEP_NS);
    bench.step();
    assert!(bench.standing.hold_all(), "a trajectory alone");
}

#[test]
fn a_deleted_joint_ends_its_trajectory_and_holds_the_others() {
    let mut bench = Bench::new();
    bench.command(0, &["lift"], &[0.3], &[]);
    bench.start(0, &["slide", "turn"], &[1.0, 1.0], 10 * STEP_NS);
    (0..6).for_each(|_| drop(bench.step()));
    let turn = bench.position[1];
    // `slide` is gone; `lift` and `turn` swap their indices.
    let index = |index| Some(ScalarJointIndex::from_usize(index));
    bench.standing.enter_world(2, Some(&[None, index(1), index(0)]));
    bench.position = vec![0.3, turn, 0.0];
    assert_eq!(bench.step()[..2], [at(0.3), at(turn)]);
}

/// Controller, joints and remaining steps of a trajectory. Until it begins, also the earlier states of its
/// joints.
type Moving = (usize, Vec<usize>, u64, Option<Vec<Model>>);

/// The expected state of each joint, as a simple model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Uncommanded,
    Target(JointTarget),
    /// To be held where it is at the next step.
    Held,
    /// Held at this position.
    Still(f64),
    /// Moved by the trajectory with this number.
    Moved(usize),
}

/// 100,000 random sequences of commands, trajectories, cancellations, timeouts and resets. Some commands come
/// on the topics of one quantity, and some trajectories have stamps in the past. A commanded joint keeps its
/// target, whatever arrives for other joints. A trajectory begins where its joints are. If it ends early, its
/// joints are held where they are, or keep their earlier targets if it has not begun.
#[test]
fn a_joint_keeps_its_target_for_any_commands_to_others() {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    // Xorshift: the same sequences in every run.
    let mut below = |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    for sequence in 0..100_000 {
        let mut bench = Bench::new();
        bench.timeout_ns = below(3) * 5 * STEP_NS;
        let mut model = [Model::Uncommanded; JOINTS];
        let mut moving: Vec<Moving> = Vec::new();
        let mut quiet = [0; JOINTS];
        for _ in 0..12 {
            let controller = below(2) as usize;
            let named: Vec<usize> = (0..JOINTS).filter(|_| below(2) == 0).collect();
            let names: Vec<&str> = named.iter().map(|joint| NAMES[*joint]).collect();
            let values: Vec<f64> = named.iter().map(|_| below(100) as f64 * 0.01).collect();
            let mut end = |model: &mut [Model; JOINTS], ends: &dyn Fn(&Moving) -> bool| {
                for (number, trajectory) in moving.iter_mut().enumerate() {
                    if trajectory.2 > 0 && ends(trajectory) {
                        trajectory.2 = 0;
                        for (at, joint) in trajectory.1.iter().enumerate() {
                            if model[*joint] == Model::Moved(number) {
                                model[*joint] = trajectory.3.as_ref().map_or(Model::Held, |before| before[at]);
                            }
                        }
                    }
                }
            };
            let ended = |of: &Moving| of.0 == controller || of.1.iter().any(|joint| named.contains(joint));
            let operation = if named.is_empty() { 5 } else { below(10) };
            match operation {
                0 | 1 => {
                    end(&mut model, &ended);
                    let none = &[][..];
                    let (position, velocity) = if operation == 0 { (&*values, none) } else { (none, &*values) };
                    bench.command(controller, &names, position, velocity);
                    for (joint, value) in named.iter().zip(&values) {
                        let moves = JointTarget { velocity: Some(*value), ..JointTarget::default() };
                        model[*joint] = Model::Target(if operation == 0 { at(*value) } else { moves });
                        quiet[*joint] = 0;
                    }
                }
                // The topics of one quantity: the other quantities of a joint stay, unless it is held.
                6 | 7 => {
                    end(&mut model, &ended);
                    let mut joints = Vec::new();
                    for (joint, value) in named.iter().zip(&values) {
                        let moves = JointTarget { velocity: Some(*value), ..JointTarget::default() };
                        let given = if operation == 6 { at(*value) } else { moves };
                        joints.push((ScalarJointIndex::from_usize(*joint), given));
                        let before = if let Model::Target(before) = model[*joint] { before } else { given };
                        model[*joint] = Model::Target(JointTarget {
                            position: given.position.or(before.position),
                            velocity: given.velocity.or(before.velocity),
                            effort: None,
                        });
                        quiet[*joint] = 0;
                    }
                    bench.standing.command(controller, &CheckedCommand { joints, whole: false, idle: None });
                }
                // Trajectories that begin now, or began up to their whole length ago.
                2 | 8 => {
                    end(&mut model, &ended);
                    let mut steps = 1 + below(5);
                    let late = if operation == 8 { below(steps + 1).min(bench.time_ns / STEP_NS) } else { 0 };
                    let start_ns = (operation == 8).then_some(bench.time_ns - late * STEP_NS);
                    bench.start_at(controller, &names, &values, steps * STEP_NS, start_ns);
                    steps -= late;
                    let before = named.iter().map(|joint| model[*joint]).collect();
                    named.iter().for_each(|joint| model[*joint] = Model::Moved(moving.len()));
                    moving.push((controller, named, steps + 1, Some(before)));
                }
                3 => {
                    end(&mut model, &ended);
                    let cancelled: Vec<_> = named.iter().map(|joint| ScalarJointIndex::from_usize(*joint)).collect();
                    bench.standing.cancel(controller, &cancelled);
                    for joint in &named {
                        if matches!(model[*joint], Model::Target(JointTarget { velocity: Some(_), .. })) {
                            model[*joint] = Model::Held;
                        }
                    }
                }
                4 => {
                    moving.iter_mut().for_each(|trajectory| trajectory.2 = 0);
                    bench.standing.clear();
                    model = [Model::Uncommanded; JOINTS];
                }
                _ => {
                    let before = bench.position.clone();
                    let targets = bench.step();
                    for (joint, expected) in model.iter_mut().enumerate() {
                        let abandoned = bench.timeout_ns > 0 && quiet[joint] * STEP_NS > bench.timeout_ns;
                        match expected {
                            Model::Held => *expected = Model::Still(before[joint]),
                            Model::Target(_) if abandoned => *expected = Model::Still(before[joint]),
                            Model::Moved(_) => quiet[joint] = 0,
                            _ => {}
                        }
                        quiet[joint] += 1;
                    }
                    for (number, trajectory) in moving.iter_mut().enumerate().filter(|(_, of)| of.2 > 0) {
                        trajectory.2 -= 1;
                        if trajectory.3.is_some() && trajectory.2 > 0 {
                            let begins = |joint: &usize| targets[*joint].position == Some(before[*joint]);
                            assert!(trajectory.1.iter().all(begins), "sequence {sequence}: it begins with a jump");
                        }
                        trajectory.3 = None;
                        for joint in trajectory.1.iter().filter(|_| trajectory.2 == 0) {
                            assert_eq!(model[*joint], Model::Moved(number));
                            model[*joint] = Model::Target(at(bench.position[*joint]));
                        }
                    }
                    for (joint, expected) in model.iter().enumerate() {
                        let target = targets[joint];
                        let holds = match expected {
                            Model::Uncommanded => target == JointTarget::default(),
                            Model::Target(wanted) => target == *wanted,
                            Model::Still(position) => target == at(*position),
                            Model::Moved(_) => target.velocity.is_some(),
                            Model::Held => false,
                        };
                        assert!(holds, "sequence {sequence}: {}: {target:?}, not {expected:?}", NAMES[joint]);
                    }
                }
            }
        }
    }
}
