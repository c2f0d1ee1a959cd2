//! A model checker for threads runs every interleaving of commands, trajectories, timeouts, resets and
//! changes of world with a step, and many of those with several steps. Laws: no command is lost, a reset
//! remains in force, and no target reaches a joint of another world.

use shuttle::scheduler::DfsScheduler;
use shuttle::sync::{Arc, Mutex};
use shuttle::{Config, Runner, thread};

use std::time::Duration;

use super::lockstep::StampMismatch;
use super::mailbox::{Mailbox, Stamp};
use super::requests::{BoundaryChange, NewBodyState, REQUESTS_MAX, ResetScope, StepRefusal, resets};
use super::settings::{Mode, Physics, RunSettings};
use super::step_requests::{StepFailure, StepRequests};
use crate::math::{BodyIndex, Index, ScalarJointIndex, SpatialForce, Vector3};
use crate::recording::Rates;
use crate::ros::commands::joint_command::{CheckedCommand, CommandMessage, CommandedJoint, check};
use crate::ros::commands::standing_command::{CommandEvent, FollowSettings, StandingCommand};
use crate::ros::commands::tracking::JointStates;
use crate::ros::commands::trajectory::{PointMessage, Trajectory};
use crate::stepping::{JointCommand, JointTarget};

/// More than the schedules of any law with one step.
const SCHEDULES_MAX: usize = 300_000;
/// The number of schedules of several steps that are tried.
const SCHEDULES: usize = 10_000;
const STEPS: u64 = 3;
const STEP_NS: u64 = 1_000_000;
const NAMES: [&str; 2] = ["slide", "turn"];
const FOLLOW: FollowSettings =
    FollowSettings { trajectory_tolerance: 0.0, command_timeout_ns: 0, feedback: false, passed: true };

/// Runs `law` under every schedule of its threads.
fn under_every_schedule(law: impl Fn() + Send + Sync + 'static) {
    let schedules = Runner::new(DfsScheduler::new(Some(SCHEDULES_MAX), false), Config::default()).run(law);
    assert!(schedules < SCHEDULES_MAX, "{schedules} schedules, and there are more");
}

/// Runs `law` with one step under every schedule, and with [`STEPS`] steps under a random sample.
fn with_steps(law: impl Fn(u64) + Copy + Send + Sync + 'static) {
    under_every_schedule(move || law(1));
    shuttle::check_random(move || law(STEPS), SCHEDULES);
}

fn settings() -> RunSettings {
    RunSettings {
        real_time_factor: 0.0,
        rates: Rates { clock: 0.0, joint_states: 0.0, wrenches: 0.0, poses: 0.0, outputs: 0.0, contact_patches: 0.0 },
        marker_rate: 0.0,
        marker_pressure_max: 0.0,
        command_timeout_ns: 0,
        trajectory_tolerance: 0.0,
        mode: Mode::Scene,
        step_ns: 0,
        threads: 0,
        checkpoint_period_ns: 0,
        wrench_duration_ns: 0,
    }
}

fn joints() -> Vec<CommandedJoint> {
    NAMES.iter().enumerate().map(|(target, name)| CommandedJoint::test(name, target)).collect()
}

fn positions(names: &[&str], position: &[f64]) -> CheckedCommand {
    let name: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let message = CommandMessage { name: &name, position, velocity: &[], effort: &[] };
    check(&joints(), &message, &mut Vec::new()).unwrap()
}

/// A trajectory to 5 within a step.
fn trajectory(name: &str) -> Trajectory {
    let point = PointMessage { positions: &[5.0], velocities: &[], accelerations: &[], time_ns: STEP_NS as i64 };
    Trajectory::new(&joints(), &[name.to_owned()], None, [point].into_iter()).unwrap()
}

fn physics() -> Physics {
    Physics { gravity_W: Vector3::zeros(), gains: Vec::new() }
}

/// The step thread of the node, reduced to its handling of commands. Each world is identified by its number
/// of joints.
struct Steps {
    world: u64,
    joints: usize,
    time_ns: u64,
    timeout_ns: u64,
    events: Vec<CommandEvent>,
}

impl Steps {
    fn new(timeout_ns: u64) -> Self {
        Self { world: 0, joints: NAMES.len(), time_ns: 0, timeout_ns, events: Vec::new() }
    }

    /// The targets of the next step, after all waiting changes have been taken over.
    fn step(&mut self, mailbox: &Mailbox<(u64, usize)>) -> Vec<JointTarget> {
        loop {
            let collected = mailbox.collect();
            if let Some(world) = collected.world {
                (self.world, self.joints) = *world;
                mailbox.world_entered(self.world);
            }
            // The position of a joint is its index plus a half.
            let position: Vec<f64> = (0..self.joints).map(|joint| joint as f64 + 0.5).collect();
            let velocity = vec![0.0; self.joints];
            let states = JointStates { time_ns: self.time_ns, position: &position, velocity: &velocity };
            let follow = FollowSettings { command_timeout_ns: self.timeout_ns, ..FOLLOW };
            let mut command = JointCommand::for_joints(self.joints);
            if mailbox.advance(self.world, &states, &follow, &mut command, &mut self.events) {
                self.time_ns += STEP_NS;
                return command.targets.as_slice().to_vec();
            }
        }
    }
}

fn at(position: f64) -> JointTarget {
    JointTarget { position: Some(position), ..JointTarget::default() }
}

/// Runs `other` while this number of steps is taken, then takes a few more; returns the targets of all steps.
fn run(
    during: u64,
    timeout_ns: u64,
    other: impl FnOnce(&Mailbox<(u64, usize)>) + Send + 'static,
) -> Vec<Vec<JointTarget>> {
    let mailbox = Arc::new(Mailbox::new(NAMES.len(), settings(), false));
    let shared = mailbox.clone();
    let spinning = thread::spawn(move || other(&shared));
    let mut steps = Steps::new(timeout_ns);
    let mut targets: Vec<_> = (0..during).map(|_| steps.step(&mailbox)).collect();
    spinning.join().unwrap();
    targets.extend((0..STEPS).map(|_| steps.step(&mailbox)));
    targets
}

/// A reset of time and state discards the wrenches before it, and in lockstep the answers to the state before
/// it: the first state of the new time waits for an answer of its own.
#[test]
fn a_reset_discards_the_answers_and_wrenches_before_it() {
    under_every_schedule(|| {
        let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), true);
        let stamp = Some(Stamp { controller: 0, time_ns: 0 });
        let command = positions(&["slide"], &[1.0]);
        mailbox.await_commands(0, 0, 1);
        assert_eq!(mailbox.command(0, &command, stamp), Ok(()));
        assert!(mailbox.wait_for_commands(Duration::ZERO));
        mailbox.apply_wrench(BodyIndex::from_usize(1), SpatialForce::ZERO);
        // Also those between two resets, so that many of both take no room.
        for _ in 0..3 {
            mailbox.request_reset(ResetScope { state: true, time: false });
            mailbox.apply_wrench(BodyIndex::from_usize(1), SpatialForce::ZERO);
        }
        mailbox.request_reset(ResetScope { state: true, time: true });
        assert_eq!(mailbox.command(0, &command, stamp), Err(StampMismatch::Stale), "of the state before");
        let order = mailbox.collect().boundary;
        assert!(matches!(order[..], [BoundaryChange::Wrench(..), BoundaryChange::Reset(_)]), "{order:?}");
        mailbox.await_commands(0, 0, 1);
        assert_eq!(mailbox.command(0, &command, stamp), Ok(()), "no answer was kept");
        assert!(mailbox.wait_for_commands(Duration::ZERO));
    });
}

/// A step may take minutes. Requests for steps beyond a limit are refused; those that wait are served.
#[test]
fn requests_for_steps_that_wait_are_limited() {
    under_every_schedule(|| {
        let (mailbox, mut requests) = (Mailbox::new(NAMES.len(), settings(), true), StepRequests::default());
        let (sender, ended) = std::sync::mpsc::channel();
        let request = |requests: &mut StepRequests| {
            let sender = sender.clone();
            requests.request(&mailbox, 1, Box::new(move |end| sender.send(end).unwrap())).is_some()
        };
        assert!((0..REQUESTS_MAX).all(|_| request(&mut requests)));
        assert!(!request(&mut requests));
        assert_eq!(ended.try_recv(), Ok(Err(StepFailure::Refused(StepRefusal::Waiting))));
        (0..REQUESTS_MAX).for_each(|_| {
            mailbox.step_taken();
        });
        requests.answer_ended(&mailbox);
        assert!(ended.try_iter().all(|end| end == Ok(1)) && request(&mut requests));
    });
}

/// Wrenches, placements, checkpoints and resets of one boundary are made in the order in which they arrived:
/// a checkpoint has the wrench before it, and not the reset after it.
#[test]
fn changes_of_one_boundary_keep_their_order() {
    under_every_schedule(|| {
        let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), true);
        let push = |force: f64| {
            let wrench = SpatialForce::new(Vector3::zeros(), Vector3::x() * force);
            mailbox.apply_wrench(BodyIndex::from_usize(1), wrench);
        };
        push(1.0);
        push(2.0);
        mailbox.request_checkpoint(None);
        push(3.0);
        mailbox.request_reset(ResetScope { state: false, time: true });
        mailbox.request_reset(ResetScope { state: true, time: false });
        push(4.0);
        let number =
            mailbox.request_state(Some(NewBodyState { body: BodyIndex::from_usize(1), X_WB: None, V_WB: None }));
        mailbox.request_checkpoint(None);
        let collected = mailbox.collect();
        assert_eq!(collected.state_requests, Some(number));
        let order = collected.boundary;
        let both = ResetScope { state: true, time: true };
        let [
            BoundaryChange::Wrench(_, first),
            BoundaryChange::Checkpoint(_),
            BoundaryChange::Wrench(_, second),
            BoundaryChange::Reset(reset),
            BoundaryChange::Wrench(_, third),
            BoundaryChange::BodyState(_),
            BoundaryChange::Checkpoint(_),
        ] = &order[..]
        else {
            panic!("{order:?}")
        };
        assert_eq!((first.f.x, second.f.x, third.f.x, *reset), (2.0, 3.0, 4.0, both));
        assert!(mailbox.collect().boundary.is_empty());
    });
}

/// Positions that another world takes over stay with their joints.
#[test]
fn positions_are_those_of_the_joints_of_the_newest_world() {
    under_every_schedule(|| {
        let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), true);
        mailbox.set_positions(0, &[1.0, 2.0]);
        let kept = [Some(ScalarJointIndex::from_usize(2)), None];
        mailbox.set_world(1, 3, Some(&kept), &[], physics(), ());
        mailbox.set_positions(0, &[3.0, 4.0]);
        let carried = mailbox.with_positions(<[f64]>::to_vec);
        assert!(carried[0].is_nan() && carried[1].is_nan() && carried[2] == 1.0, "{carried:?}");
        mailbox.set_positions(1, &[5.0, 6.0, 7.0]);
        assert_eq!(mailbox.with_positions(<[f64]>::to_vec), [5.0, 6.0, 7.0]);
    });
}

/// A reset that was requested after a restored checkpoint is not undone by it: the commands of the checkpoint
/// are discarded, and those after the reset stay.
#[test]
fn a_reset_after_a_restored_checkpoint_stands() {
    under_every_schedule(|| {
        let slide = |mailbox: &Mailbox<()>| {
            let states = JointStates { time_ns: 0, position: &[0.5, 1.5], velocity: &[0.0; 2] };
            let mut command = JointCommand::for_joints(2);
            assert!(mailbox.advance(0, &states, &FOLLOW, &mut command, &mut Vec::new()));
            command.targets.as_slice()[0]
        };
        let saved = || {
            let mut saved = StandingCommand::new(NAMES.len());
            saved.command(1, &positions(&["slide"], &[1.0]));
            saved
        };
        let state = ResetScope { state: true, time: false };
        // Collected together with the checkpoint, or later.
        for later in [true, false] {
            let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), true);
            mailbox.request_reset(state);
            mailbox.command(1, &positions(&["slide"], &[0.25]), None).unwrap();
            let reset = later.then(|| resets(&mailbox.collect().boundary)).flatten();
            assert!(mailbox.restore_commands(0, saved(), reset));
            mailbox.collect();
            assert_eq!(slide(&mailbox), at(0.25), "{later}");
        }
        let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), true);
        mailbox.command(1, &positions(&["slide"], &[0.25]), None).unwrap();
        assert!(mailbox.restore_commands(0, saved(), None));
        assert_eq!(slide(&mailbox), at(1.0), "the command of the checkpoint");
        let time = ResetScope { state: false, time: true };
        assert!(mailbox.restore_commands(0, saved(), Some(time)));
        assert_eq!(slide(&mailbox), at(1.0), "a reset of time keeps commands");
    });
}

/// The last command remains the target, whether it came before, between or after the steps of an ending
/// trajectory.
#[test]
fn no_command_is_lost_to_the_end_of_a_trajectory() {
    with_steps(|during| {
        let targets = run(during, 0, |mailbox| {
            mailbox.start_trajectory(1, trajectory("turn")).unwrap();
            mailbox.command(2, &positions(&["slide"], &[0.25]), None).unwrap();
        });
        assert_eq!(targets.last().unwrap(), &[at(0.25), at(5.0)]);
    });
}

/// A command and the end of the trajectory that it replaces take effect together: once `slide` has its
/// command, the trajectory never moves it again.
#[test]
fn a_command_and_the_end_of_its_trajectory_are_one() {
    with_steps(|during| {
        let targets = run(during, 0, |mailbox| {
            mailbox.start_trajectory(1, trajectory("slide")).unwrap();
            mailbox.command(1, &positions(&["slide"], &[0.25]), None).unwrap();
        });
        let commanded = targets.iter().skip_while(|step| step[0].position != Some(0.25));
        assert!(commanded.clone().count() > 0, "{targets:?}");
        assert!(commanded.clone().all(|step| step[0] == at(0.25)), "{targets:?}");
    });
}

#[test]
fn a_timeout_takes_no_newer_command_away() {
    with_steps(|during| {
        let targets = run(during, STEP_NS * (2 * STEPS), |mailbox| {
            mailbox.command(1, &positions(&["slide", "turn"], &[0.1, 0.2]), None).unwrap();
            mailbox.command(1, &positions(&["slide"], &[0.3]), None).unwrap();
        });
        assert_eq!(targets.last().unwrap(), &[at(0.3), at(0.2)]);
    });
    with_steps(|during| {
        let held = run(during, 1, |mailbox| {
            mailbox.command(1, &positions(&["slide"], &[0.3]), None).unwrap();
        });
        assert!(held.iter().any(|step| step[0] == at(0.3)), "it was followed once: {held:?}");
        assert_eq!(held.last().unwrap()[0], at(0.5), "then held where it is");
    });
}

/// Commands before a reset are discarded; commands after it remain in force.
#[test]
fn a_reset_stands_and_so_do_the_commands_after_it() {
    with_steps(|during| {
        let targets = run(during, 0, |mailbox| {
            mailbox.command(1, &positions(&["slide"], &[0.1]), None).unwrap();
            mailbox.start_trajectory(2, trajectory("turn")).unwrap();
            mailbox.request_reset(ResetScope { state: true, time: false });
            mailbox.command(1, &positions(&["turn"], &[0.4]), None).unwrap();
        });
        assert_eq!(targets.last().unwrap(), &[JointTarget::default(), at(0.4)]);
    });
}

/// A trajectory that arrives after a reset begins where the reset brings its joint: no step comes between.
#[test]
fn a_step_does_not_begin_the_trajectory_after_a_reset_that_waits() {
    under_every_schedule(|| {
        let mailbox = Mailbox::<()>::new(NAMES.len(), settings(), false);
        mailbox.request_reset(ResetScope { state: true, time: false });
        mailbox.start_trajectory(2, trajectory("turn")).unwrap();
        let mut command = JointCommand::for_joints(NAMES.len());
        let mut advance = |position: &[f64]| {
            let states = JointStates { time_ns: 0, position, velocity: &[0.0; 2] };
            mailbox.advance(0, &states, &FOLLOW, &mut command, &mut Vec::new())
        };
        assert!(!advance(&[0.5, 1.5]), "the reset comes first");
        assert_eq!(resets(&mailbox.collect().boundary), Some(ResetScope { state: true, time: false }));
        assert!(advance(&[0.0, 0.1]));
        assert_eq!(command.targets.as_slice()[1].position, Some(0.1));
    });
}

/// A command to `turn` makes each step fail, and one to `slide` arrives at any instant of that: only the
/// first is withdrawn.
#[test]
fn a_failing_step_takes_no_other_command_away() {
    under_every_schedule(|| {
        let mailbox = Arc::new(Mailbox::<()>::new(NAMES.len(), settings(), false));
        mailbox.command(1, &positions(&["turn"], &[9.0]), None).unwrap();
        let shared = mailbox.clone();
        let spinning = thread::spawn(move || shared.command(2, &positions(&["slide"], &[0.25]), None).unwrap());
        let (mut passed, mut targets) = (true, Vec::new());
        let mut step = || {
            let states = JointStates { time_ns: 0, position: &[0.5, 1.5], velocity: &[0.0; 2] };
            let mut command = JointCommand::for_joints(NAMES.len());
            let follow = FollowSettings { passed, ..FOLLOW };
            assert!(mailbox.advance(0, &states, &follow, &mut command, &mut Vec::new()));
            targets = command.targets.as_slice().to_vec();
            passed = targets[1] != at(9.0);
            if !passed {
                mailbox.withdraw(0, &[ScalarJointIndex::from_usize(1)]);
            }
        };
        (0..2).for_each(|_| step());
        spinning.join().unwrap();
        (0..2).for_each(|_| step());
        assert_eq!(targets, [at(0.25), at(1.5)]);
    });
}

/// In lockstep, the step that an answer releases has the command of that answer.
#[test]
fn an_answer_and_its_command_are_one() {
    under_every_schedule(|| {
        let mailbox = Arc::new(Mailbox::new(NAMES.len(), settings(), false));
        mailbox.await_commands(0, 0, 1);
        let shared = mailbox.clone();
        let controller = thread::spawn(move || {
            let stamp = Some(Stamp { controller: 0, time_ns: 0 });
            shared.command(1, &positions(&["slide"], &[0.25]), stamp).unwrap();
        });
        while !mailbox.wait_for_commands(Duration::ZERO) {}
        assert_eq!(Steps::new(0).step(&mailbox)[0], at(0.25));
        controller.join().unwrap();
    });
}

/// In lockstep, a robot is deleted while a step is under way, and the controller of the other one, which
/// answers each state once, is then the first. Its answer to the state after the step counts, whenever the
/// world is handed over.
#[test]
fn an_answer_during_a_change_of_world_counts_for_the_controller_that_gave_it() {
    under_every_schedule(|| {
        let mailbox = Arc::new(Mailbox::new(NAMES.len(), settings(), false));
        let shared = mailbox.clone();
        let spinning = thread::spawn(move || {
            let indices = [None, Some(ScalarJointIndex::from_usize(0))];
            let (mut answer, mut before) = (1, Err(StampMismatch::Early));
            for turn in 0..3 {
                if turn == 1 {
                    shared.set_world(1, 1, Some(&indices), &[Some(1)], physics(), (1, 1));
                    answer = 0;
                }
                // Whenever the state has been published, it is answered once.
                if before.is_err() && shared.check_stamp(Stamp { controller: answer, time_ns: STEP_NS }).is_ok() {
                    let stamp = Some(Stamp { controller: answer, time_ns: STEP_NS });
                    before = shared.command(2, &CheckedCommand::default(), stamp);
                }
            }
            before.is_ok()
        });
        // The end of the step in the old world, then the new one.
        mailbox.await_commands(0, STEP_NS, 2);
        let entered = mailbox.collect().world.is_some();
        if entered {
            mailbox.await_commands(1, STEP_NS, 1);
        }
        let answered = spinning.join().unwrap();
        if !entered {
            assert!(mailbox.collect().world.is_some());
            mailbox.await_commands(1, STEP_NS, 1);
        }
        assert_eq!(mailbox.missing_answers().is_empty(), answered, "answered: {answered}");
    });
}

/// The state of a world that another one replaces without its state is not answered: its commands would move
/// the joints of the new world.
#[test]
fn the_state_of_a_world_that_ends_takes_no_answer() {
    under_every_schedule(|| {
        let mailbox = Mailbox::new(NAMES.len(), settings(), false);
        mailbox.set_world(1, 2, None, &[None], physics(), ());
        mailbox.await_commands(0, STEP_NS, 1);
        assert_eq!(mailbox.check_stamp(Stamp { controller: 0, time_ns: STEP_NS }), Err(StampMismatch::Stale));
        mailbox.await_commands(1, 0, 1);
        assert_eq!(mailbox.check_stamp(Stamp { controller: 0, time_ns: 0 }), Ok(()));
    });
}

/// `slide` is gone and `turn` is joint 0 of the new world, which has three joints. No step of either world
/// uses a target that was meant for a joint of the other.
#[test]
fn targets_reach_only_the_joints_of_their_world() {
    with_steps(|during| {
        let targets = run(during, 0, |mailbox| {
            mailbox.command(1, &positions(&["slide"], &[1.0]), None).unwrap();
            mailbox.start_trajectory(2, trajectory("turn")).unwrap();
            let indices = [None, Some(ScalarJointIndex::from_usize(0))];
            mailbox.set_world(1, 3, Some(&indices), &[], physics(), (1, 3));
            mailbox.command(1, &positions(&["turn"], &[-2.0]), None).unwrap();
        });
        let last = targets.last().unwrap();
        assert_eq!(last[1..], [at(-2.0), JointTarget::default()], "`turn` of the message is joint 1 of its world");
        assert_eq!(last[0], at(5.0), "the trajectory went on");
        for step in &targets {
            let of_old = [JointTarget::default(), at(1.0)];
            assert!(step.len() == 3 || of_old.contains(&step[0]), "{targets:?}");
            assert!(step.len() == 2 || step[0] != at(1.0), "{targets:?}");
        }
    });
}

/// The protocol that this mailbox replaced: the step thread owned a second standing command, and wrote it
/// back when a trajectory ended or a timeout held the joints.
struct TwoOwners {
    shared: Mutex<(JointCommand, u64)>,
    canceled: Mutex<bool>,
}

impl TwoOwners {
    fn new() -> Arc<Self> {
        Arc::new(Self { shared: Mutex::new((JointCommand::for_joints(2), 0)), canceled: Mutex::new(false) })
    }

    fn command(&self, joint: usize, position: f64) {
        let mut shared = self.shared.lock().unwrap();
        shared.0.targets[ScalarJointIndex::from_usize(joint)].position = Some(position);
        shared.1 += 1;
        drop(shared);
        *self.canceled.lock().unwrap() = true;
    }

    fn clear(&self) {
        let mut shared = self.shared.lock().unwrap();
        *shared = (JointCommand::for_joints(2), shared.1 + 1);
    }

    /// Another world: of its two joints the first is the `turn` of the old one, and `slide` is gone.
    fn enter_world(&self) {
        let mut shared = self.shared.lock().unwrap();
        let turn = shared.0.targets[ScalarJointIndex::from_usize(1)];
        *shared = (JointCommand::from_iter([turn, JointTarget::default()]), shared.1 + 1);
    }

    /// A step that ends a trajectory of `turn`.
    fn step_with_an_end(&self, own: &mut JointCommand, version: &mut u64) {
        let shared = self.shared.lock().unwrap();
        if *version != shared.1 {
            (*own, *version) = shared.clone();
        }
        drop(shared);
        own.targets[ScalarJointIndex::from_usize(1)].position = Some(5.0);
        let mut shared = self.shared.lock().unwrap();
        shared.0 = own.clone();
        shared.1 += 1;
        *version = shared.1;
    }
}

/// Whether the model checker finds a schedule in which `law` fails with a message that contains `fault`.
/// Another panic, such as that of too many schedules, is not the fault.
fn is_broken(fault: &str, law: impl Fn() + Send + Sync + 'static) -> bool {
    let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| under_every_schedule(law))) else {
        return false;
    };
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.is_some_and(|text| text.contains(fault))
}

#[test]
fn only_the_fault_that_is_looked_for_is_found() {
    assert!(is_broken("lost", || panic!("lost")));
    assert!(!is_broken("lost", || panic!("another reason")));
    assert!(!is_broken("lost", || ()));
}

/// The model checker finds the faults of the protocol with two owners: an overwritten command, an undone
/// reset, a target that moves a joint of another world, and a command that appears before its trajectory
/// ends.
#[test]
fn the_faults_of_two_owners_are_found() {
    let lost = || {
        let owners = TwoOwners::new();
        let shared = owners.clone();
        let spinning = thread::spawn(move || shared.command(0, 0.25));
        let (mut own, mut version) = (JointCommand::for_joints(2), 0);
        owners.step_with_an_end(&mut own, &mut version);
        spinning.join().unwrap();
        assert_eq!(owners.shared.lock().unwrap().0.targets.as_slice()[0], at(0.25), "lost");
    };
    let undone = || {
        let owners = TwoOwners::new();
        owners.command(0, 0.25);
        let shared = owners.clone();
        let spinning = thread::spawn(move || shared.clear());
        let (mut own, mut version) = (JointCommand::for_joints(2), 0);
        owners.step_with_an_end(&mut own, &mut version);
        spinning.join().unwrap();
        assert_eq!(owners.shared.lock().unwrap().0.targets.as_slice()[0], JointTarget::default(), "undone");
    };
    let strayed = || {
        let owners = TwoOwners::new();
        owners.command(0, 0.25);
        let shared = owners.clone();
        let spinning = thread::spawn(move || shared.enter_world());
        let (mut own, mut version) = (JointCommand::for_joints(2), 0);
        owners.step_with_an_end(&mut own, &mut version);
        spinning.join().unwrap();
        assert_ne!(owners.shared.lock().unwrap().0.targets.as_slice()[0], at(0.25), "the target of `slide`");
    };
    let torn = || {
        let owners = TwoOwners::new();
        let shared = owners.clone();
        let spinning = thread::spawn(move || shared.command(0, 0.25));
        let seen = owners.shared.lock().unwrap().0.targets.as_slice()[0] == at(0.25);
        let canceled = *owners.canceled.lock().unwrap();
        assert!(!seen || canceled, "torn");
        spinning.join().unwrap();
    };
    assert!(is_broken("lost", lost) && is_broken("undone", undone));
    assert!(is_broken("the target of `slide`", strayed) && is_broken("torn", torn));
}
