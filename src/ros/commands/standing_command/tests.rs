//! Laws of the standing command.

use super::*;
use crate::ros::commands::goal::GoalTolerances;
use crate::ros::commands::joint_command::{CommandMessage, CommandedJoint, check};
use crate::ros::commands::trajectory::PointMessage;
use crate::ros::commands::trial::Withdrawal;

mod sequences;

const STEP_NS: u64 = 10_000_000;
const JOINTS: usize = 3;
/// The joints do not move beyond this position.
const FAR: f64 = 5.0;
const NAMES: [&str; JOINTS] = ["slide", "turn", "lift"];
const FOLLOW: FollowSettings =
    FollowSettings { trajectory_tolerance: 0.0, command_timeout_ns: 0, feedback: false, passed: true };

fn joints() -> Vec<CommandedJoint> {
    NAMES.iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
}

/// The standing command, and joints that a test can move.
struct Bench {
    standing: StandingCommand,
    time_ns: u64,
    position: Vec<f64>,
    timeout_ns: u64,
    passed: bool,
}

impl Bench {
    fn new() -> Self {
        let standing = StandingCommand::new(JOINTS);
        Self { standing, time_ns: 0, position: vec![0.0; JOINTS], timeout_ns: 0, passed: true }
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
        trajectory.tolerances = Some(GoalTolerances { number, ..GoalTolerances::default() });
        self.standing.start(0, trajectory).unwrap();
    }

    /// Begins a step, and returns its targets.
    fn attempt(&mut self) -> Vec<JointTarget> {
        let states = JointStates { time_ns: self.time_ns, position: &self.position, velocity: &[0.0; JOINTS] };
        let settings = FollowSettings { command_timeout_ns: self.timeout_ns, passed: self.passed, ..FOLLOW };
        self.standing.advance(&states, &settings, &mut Vec::new());
        let mut command = JointCommand::for_joints(JOINTS);
        self.standing.fill(&mut command);
        command.targets.as_slice().to_vec()
    }

    /// Tries steps until one succeeds. A step fails if `named` returns joints for its targets, which are then
    /// withdrawn: those joints, if there are any, are named.
    fn step_unless(&mut self, named: impl Fn(&[JointTarget]) -> Option<Vec<usize>>) -> Vec<JointTarget> {
        for _ in 0..8 {
            let targets = self.attempt();
            let Some(named) = named(&targets) else {
                self.passed = true;
                for (position, target) in self.position.iter_mut().zip(&targets) {
                    *position = target.position.unwrap_or(*position).min(FAR);
                }
                self.time_ns += STEP_NS;
                return targets;
            };
            self.passed = false;
            let named: Vec<_> = named.into_iter().map(ScalarJointIndex::from_usize).collect();
            self.standing.withdraw(&named);
        }
        panic!("no step succeeds");
    }

    /// Returns the targets of the next step, then moves the joints to them and advances the time.
    fn step(&mut self) -> Vec<JointTarget> {
        self.step_unless(|_| None)
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
    assert_eq!(bench.standing.take_goal_updates().ended, [(7, GoalEnd::Interrupted)]);
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
    assert_eq!(bench.standing.take_goal_updates().ended, [(7, GoalEnd::Interrupted)]);
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
            bench.standing.advance(&states, &FOLLOW, &mut events);
        }
        assert_eq!(events, vec![CommandEvent::TrajectoryInterrupted; reported], "{names:?}");
    }
}

/// The targets that are withdrawn after a failed step.
fn withdrawn(bench: &mut Bench, named: &[usize]) -> Vec<(usize, JointTarget)> {
    bench.passed = false;
    let named: Vec<_> = named.iter().copied().map(ScalarJointIndex::from_usize).collect();
    match bench.standing.withdraw(&named) {
        Withdrawal::Targets { targets, .. } => {
            targets.into_iter().map(|(joint, target)| (joint.to_usize(), target)).collect()
        }
        Withdrawal::Newer | Withdrawal::Nothing => Vec::new(),
    }
}

/// Regression, observed on the built node: a wheel that was told to go to 9,000 rad made the step fail, and
/// all other joints lost their targets.
#[test]
fn a_failed_step_withdraws_the_newest_command_and_leaves_older_targets_alone() {
    for named in [&[][..], &[1]] {
        let mut bench = Bench::new();
        bench.command(0, &["slide"], &[0.5], &[]);
        bench.start(1, &["lift"], &[1.0], 10 * STEP_NS);
        bench.step();
        bench.position[1] = 0.2;
        bench.command(2, &["turn"], &[9.0], &[]);
        assert_eq!(bench.attempt()[..2], [at(0.5), at(9.0)]);
        assert_eq!(withdrawn(&mut bench, named), [(1, at(9.0))]);
        let targets = bench.step();
        assert_eq!(targets[..2], [at(0.5), at(0.2)]);
        assert!(targets[2].velocity.is_some(), "the trajectory goes on");
    }
}

/// A command that is withdrawn in vain was not the cause: it acts again. A command under which a joint gets
/// faster from step to step is found by its joint.
#[test]
fn a_command_that_is_not_the_cause_is_given_back() {
    let mut bench = Bench::new();
    bench.command(0, &["turn"], &[9.0], &[]);
    bench.step();
    bench.command(1, &["slide"], &[0.5], &[]);
    bench.start_goal(3, "lift");
    bench.attempt();
    assert_eq!(withdrawn(&mut bench, &[1]), [(0, at(0.5)), (2, JointTarget { velocity: Some(1.0), ..at(0.0) })]);
    assert_eq!(bench.attempt(), [at(0.0), at(9.0), at(0.0)], "without the new ones");
    assert_eq!(withdrawn(&mut bench, &[1]), [(1, at(9.0))]);
    let targets = bench.step();
    assert_eq!(targets[..2], [at(0.5), at(FAR)]);
    assert_eq!(targets[2].velocity, Some(1.0), "the goal goes on");
    assert_eq!(bench.standing.take_goal_updates().ended, []);
}

/// A cause that no joint and no age shows: trajectories end, then everything, then nothing is left.
#[test]
fn a_step_that_fails_without_new_commands_ends_trajectories_and_then_all_commands() {
    let mut bench = Bench::new();
    bench.command(0, &["slide"], &[0.5], &[]);
    bench.start_goal(3, "lift");
    (0..3).for_each(|_| drop(bench.step()));
    let lift = bench.position[2];
    bench.attempt();
    assert_eq!(withdrawn(&mut bench, &[]).len(), 1, "the trajectory");
    assert_eq!(bench.attempt(), [at(0.5), JointTarget::default(), at(lift)]);
    assert_eq!(withdrawn(&mut bench, &[]).len(), 2, "everything");
    assert_eq!(bench.attempt(), [at(0.5), JointTarget::default(), at(lift)], "`slide` is held at 0.5");
    bench.passed = false;
    assert_eq!(bench.standing.withdraw(&[]), Withdrawal::Nothing);
    bench.step();
    assert_eq!(bench.standing.take_goal_updates().ended, [(3, GoalEnd::Interrupted)]);
    assert_eq!(bench.step()[0], at(0.5));
    // Held joints are not withdrawn a second time.
    bench.attempt();
    bench.passed = false;
    assert_eq!(bench.standing.withdraw(&[ScalarJointIndex::from_usize(0)]), Withdrawal::Nothing);
}

/// Regression: a command that came while the step failed was dropped with the others.
#[test]
fn a_command_that_comes_during_the_failing_step_is_not_withdrawn() {
    let mut bench = Bench::new();
    bench.command(0, &["turn"], &[9.0], &[]);
    bench.attempt();
    bench.command(0, &["turn"], &[0.3], &[]);
    bench.passed = false;
    assert_eq!(bench.standing.withdraw(&[ScalarJointIndex::from_usize(1)]), Withdrawal::Newer);
    assert_eq!(bench.step()[1], at(0.3));
    // And what is withdrawn does not come back over a newer command, a cancellation or a reset.
    let velocity = JointTarget { velocity: Some(0.7), ..JointTarget::default() };
    for case in 0..3 {
        let mut bench = Bench::new();
        bench.command(0, &["turn"], &[], &[0.7]);
        bench.start_goal(3, "lift");
        bench.attempt();
        assert_eq!(withdrawn(&mut bench, &[]).len(), 2);
        match case {
            0 => bench.command(1, &["turn", "lift"], &[0.3, 0.4], &[]),
            1 => bench.standing.cancel(0, &[ScalarJointIndex::from_usize(1)]),
            _ => bench.standing.clear(),
        }
        assert_eq!(bench.standing.take_goal_updates().ended, [(3, GoalEnd::Interrupted)]);
        bench.attempt();
        withdrawn(&mut bench, &[]);
        let targets = bench.step();
        assert!(targets[1] != velocity && targets[2].velocity.is_none(), "{case}: {targets:?}");
    }
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
