//! The simulation's own thread: newest command, step, hand over, keep pace or wait for the controllers.

use std::error::Error;
use std::time::{Duration, Instant};

use super::exchange::{
    Awaited, Collected, Errands, Lockstep, Mailbox, OnTimeout, Physics, ResetScope, RunSettings, SceneStepping, View,
    count,
};
use super::pacer::Pacer;
use super::parcels::ParcelSender;
use super::statistics::{Activity, Health, Statistics};
use super::throttle::{Throttle, and_more};
use super::trajectory::{GoalEnd, Progress, Tracking};
use super::world::NewWorld;
use crate::io::rates::{Due, Rates};
use crate::io::scene_file::CommandSchedule;
use crate::math::{BodyIndex, JointIndex, SpatialForce, SpatialVelocity};
use crate::multibody::energy;
use crate::stepping::{ForceTorqueSensor, JointCommand, JointTarget, Simulation, Stepping};

/// Longest sleep: how late a stop or a reset may be noticed at a slow pace.
const SLEEP_MAX: Duration = Duration::from_millis(20);
/// How often a state that no controller answers is published again, for those that come late.
const REPEAT: Duration = Duration::from_millis(100);
/// How often feedback of goals is given.
const GOAL_PERIOD: Duration = Duration::from_millis(50);
/// How often the health of the simulation is told.
const HEALTH_PERIOD: Duration = Duration::from_secs(1);

/// A simulation, and what it needs to run by itself.
pub(super) struct Runner {
    simulation: Simulation,
    /// How the scene itself steps.
    stepping: SceneStepping,
    lockstep: Option<Lockstep>,
    sensors: Vec<ForceTorqueSensor>,
    momenta: Vec<SpatialForce>,
    measured: Vec<SpatialForce>,
    /// What drives joints that no command has reached.
    scene_commands: CommandSchedule,
    /// Time of all runs before the last reset [ns]: stamps never go back.
    time_offset_ns: u64,
    standing: JointCommand,
    version: u64,
    effective: JointCommand,
    trajectories: Vec<(usize, Tracking)>,
    cancelled: Vec<usize>,
    /// When feedback of goals was given.
    goals_told: Option<Instant>,
    /// When the newest command was noticed [ns], and whether its joints are held since.
    commanded_ns: u64,
    held: bool,
    position: Vec<f64>,
    velocity: Vec<f64>,
    halted: bool,
    /// Which world runs.
    world: u64,
    /// Whether the last state of all was not published, because publishing was behind.
    owed: bool,
    /// Since when a command is waited for, and whether any has ever come.
    waiting_since: Option<Instant>,
    repeated: Option<Instant>,
    engaged: bool,
    late_told: bool,
    pacer: Pacer,
    statistics: Statistics,
    unconverged: Throttle,
    late: Throttle,
}

/// Whether a step may be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Step,
    Wait,
    /// The policy says so: end.
    End,
}

impl Runner {
    pub(super) fn new(
        simulation: Simulation,
        stepping: SceneStepping,
        scene_commands: CommandSchedule,
        force_torque: &[JointIndex],
        lockstep: Option<Lockstep>,
    ) -> Self {
        let sensors: Vec<_> =
            force_torque.iter().map(|joint| ForceTorqueSensor::new(simulation.scene(), *joint)).collect();
        let joints = simulation.scene().joint_names().len();
        Self {
            lockstep,
            momenta: vec![SpatialForce::ZERO; sensors.len()],
            measured: vec![SpatialForce::ZERO; sensors.len()],
            sensors,
            simulation,
            stepping,
            scene_commands,
            time_offset_ns: 0,
            standing: JointCommand { targets: vec![JointTarget::default(); joints] },
            version: 0,
            effective: JointCommand::default(),
            trajectories: Vec::new(),
            cancelled: Vec::new(),
            goals_told: None,
            commanded_ns: 0,
            held: false,
            position: Vec::new(),
            velocity: Vec::new(),
            halted: false,
            world: 0,
            owed: false,
            waiting_since: None,
            repeated: None,
            engaged: false,
            late_told: false,
            pacer: Pacer::default(),
            statistics: Statistics::default(),
            unconverged: Throttle::default(),
            late: Throttle::default(),
        }
    }

    fn time_ns(&self) -> u64 {
        self.time_offset_ns + self.simulation.time_ns()
    }

    /// Runs until the mailbox says stop, or a late command ends it.
    pub(super) fn run(&mut self, mailbox: &Mailbox, parcels: &ParcelSender) {
        self.present(Due::ALL, mailbox, parcels);
        let mut may_step = true;
        while !mailbox.stopped() {
            let turn = if may_step && !self.halted { self.turn(mailbox, parcels) } else { Turn::Wait };
            if turn == Turn::End {
                return;
            }
            let began = Instant::now();
            let world = self.world;
            let mut collected = self.collect(mailbox);
            if self.world != world {
                self.present(Due::ALL, mailbox, parcels);
            }
            let was_reset = collected.reset.is_some();
            if let Some(scope) = collected.reset {
                self.reset(scope, &collected.settings, mailbox);
                mailbox.set_halted(None);
                self.present(Due::ALL, mailbox, parcels);
            }
            may_step = !self.halted && (!collected.paused || collected.steps > 0);
            if let Some(errands) = collected.errands.take() {
                self.run_errands(errands, !may_step || self.lockstep.is_some(), mailbox, parcels);
            }
            self.tell_health(mailbox, may_step);
            if !may_step {
                self.idle(mailbox, parcels);
                continue;
            }
            if turn == Turn::Wait || (was_reset && self.lockstep.is_some()) {
                continue;
            }
            let before_ns = self.time_ns();
            self.step(mailbox, &collected.settings);
            if collected.paused && !self.halted {
                mailbox.step_taken();
            }
            if !self.halted {
                self.present(self.due(before_ns, &collected), mailbox, parcels);
            }
            self.statistics.add_turn(began.elapsed());
            if collected.paused {
                self.pacer.restart();
            } else {
                self.keep_pace(mailbox, collected.settings.real_time_factor);
            }
        }
    }

    /// What is published of the state after a step: in lockstep always the joints and the clock, and everything after
    /// the last step that a paused simulation was asked for.
    fn due(&self, before_ns: u64, collected: &Collected) -> Due {
        if collected.paused && collected.steps <= 1 {
            return Due::ALL;
        }
        let rates: &Rates = &collected.settings.rates;
        let due = Due::between(before_ns, self.time_ns(), rates);
        if self.lockstep.is_some() { Due { joint_states: true, clock: rates.clock > 0.0, ..due } } else { due }
    }

    /// Makes the present state known, and in lockstep opens it for commands.
    fn present(&mut self, due: Due, mailbox: &Mailbox, parcels: &ParcelSender) {
        if let Some(lockstep) = self.lockstep {
            mailbox.expect(self.time_ns(), lockstep.controllers);
            (self.waiting_since, self.late_told) = (None, false);
        }
        if due.any() {
            self.hand_over(due, false, mailbox, parcels);
        }
    }

    /// Waits in lockstep for the commands that answer the present state.
    fn turn(&mut self, mailbox: &Mailbox, parcels: &ParcelSender) -> Turn {
        let Some(lockstep) = self.lockstep else { return Turn::Step };
        match mailbox.wait(SLEEP_MAX) {
            Awaited::Commands => {
                self.engaged = true;
                return Turn::Step;
            }
            Awaited::Interrupted => return Turn::Wait,
            Awaited::Timeout => {}
        }
        let now = Instant::now();
        let since = *self.waiting_since.get_or_insert(now);
        if self.repeated.is_none_or(|at| now.duration_since(at) >= REPEAT) {
            self.repeated = Some(now);
            self.hand_over(Due::ALL, true, mailbox, parcels);
        }
        if !self.engaged || lockstep.timeout.is_zero() || now.duration_since(since) < lockstep.timeout {
            return Turn::Wait;
        }
        self.time_out(lockstep, mailbox)
    }

    fn time_out(&mut self, lockstep: Lockstep, mailbox: &Mailbox) -> Turn {
        if !std::mem::replace(&mut self.late_told, true) {
            count(&mailbox.counters.late);
        }
        let what = format!(
            "lockstep: no command with the stamp of t = {:.6} s within {} s",
            self.time_ns() as f64 * 1e-9,
            lockstep.timeout.as_secs_f64()
        );
        if lockstep.on_timeout == OnTimeout::Abort {
            mailbox.fail(what);
            return Turn::End;
        }
        let holds = lockstep.on_timeout == OnTimeout::Hold;
        if let Some(kept_back) = self.late.due(Instant::now()) {
            let then = if holds { "the simulation waits" } else { "the last command is used" };
            tracing::warn!("{what}; {then}{}", and_more(kept_back));
        }
        if holds { Turn::Wait } else { Turn::Step }
    }

    /// Takes over what has come: commands, trajectories, gravity, gains.
    fn collect(&mut self, mailbox: &Mailbox) -> Collected {
        let version = self.version;
        let mut collected = mailbox.collect(&mut self.standing, &mut self.version, &mut self.cancelled);
        // First: the rest is about its joints.
        if let Some(world) = collected.world.take() {
            self.enter(*world, mailbox);
        }
        if version != self.version || !collected.trajectories.is_empty() {
            (self.commanded_ns, self.held) = (self.time_ns(), false);
        }
        if let Some(physics) = collected.physics.take() {
            self.apply(&physics);
        }
        for number in std::mem::take(&mut self.cancelled) {
            self.drop_trajectories(mailbox, |other| other == number);
        }
        for (number, trajectory) in collected.trajectories.drain(..) {
            self.read_joints();
            self.drop_trajectories(mailbox, |other| other == number);
            let ends_ns = trajectory.start_ns.map(|start| start.saturating_add(trajectory.length_ns()));
            if let Some(terms) = trajectory.terms.as_ref().filter(|_| ends_ns.is_some_and(|end| end < self.time_ns())) {
                mailbox.end_goal(terms.number, GoalEnd::Old);
                continue;
            }
            let tracking = Tracking::new(trajectory, self.time_ns(), &self.position, &self.velocity);
            self.trajectories.push((number, tracking));
        }
        collected
    }

    /// Goes on in another world; time does not stand still, nor does it jump, unless the world starts at its own time zero.
    fn enter(&mut self, mut world: NewWorld, mailbox: &Mailbox) {
        if let Err(error) = world.go_on(&self.simulation) {
            tracing::error!("{error}. The new world begins at its start");
        }
        let NewWorld { number, simulation, stepping, commands, force_torque, controllers, physics, carried } = world;
        match carried {
            Some(carried) => carried.trajectories(&mut self.trajectories, mailbox),
            None => {
                self.drop_trajectories(mailbox, |_| true);
                (self.time_offset_ns, self.commanded_ns, self.held, self.halted) = (0, 0, false, false);
                mailbox.set_halted(None);
            }
        }
        self.sensors = force_torque.iter().map(|joint| ForceTorqueSensor::new(simulation.scene(), *joint)).collect();
        self.momenta = vec![SpatialForce::ZERO; self.sensors.len()];
        self.measured = vec![SpatialForce::ZERO; self.sensors.len()];
        (self.simulation, self.stepping, self.scene_commands) = (simulation, stepping, commands);
        self.lockstep = self.lockstep.map(|lockstep| Lockstep { controllers, ..lockstep });
        self.apply(&physics);
        self.pacer.restart();
        self.world = number;
        mailbox.world_taken(number);
    }

    fn apply(&mut self, physics: &Physics) {
        let (scene, gains) = (self.simulation.scene(), physics.gains.iter());
        let mut actuators = scene.actuators().iter();
        let same = gains.zip(&mut actuators).all(|(gains, actuator)| *gains == (actuator.stiffness, actuator.damping));
        // The scene is shared: what would not change it must not copy it.
        if same && physics.gravity_W == *scene.model().gravity_W() {
            return;
        }
        let scene = self.simulation.scene_mut();
        scene.set_gravity(physics.gravity_W);
        for (joint, (stiffness, damping)) in physics.gains.iter().enumerate() {
            scene.set_gains(joint, *stiffness, *damping);
        }
    }

    /// Gives trajectories up; their goals hear of it.
    fn drop_trajectories(&mut self, mailbox: &Mailbox, drops: impl Fn(usize) -> bool) {
        self.trajectories.retain(|(controller, tracking)| {
            let drops = drops(*controller);
            if let Some(goal) = tracking.goal().filter(|_| drops) {
                mailbox.end_goal(goal, GoalEnd::Interrupted);
            }
            !drops
        });
    }

    fn read_joints(&mut self) {
        let (scene, state) = (self.simulation.scene(), self.simulation.state());
        self.position.clear();
        self.velocity.clear();
        for joint in scene.joints() {
            let joint = &scene.model().joints()[*joint];
            self.position.push(joint.position(&state.q).unwrap_or(0.0));
            self.velocity.push(joint.velocity(&state.v).unwrap_or(0.0));
        }
    }

    /// Back to the start, with the steps that are asked for now. Unless time is reset, too, it goes on by a step, so that
    /// each state has a stamp of its own.
    fn reset(&mut self, scope: ResetScope, settings: &RunSettings, mailbox: &Mailbox) {
        let time_ns = self.time_ns();
        if scope.state {
            self.reset_state(settings);
        } else {
            self.simulation.resume_at(0);
        }
        self.time_offset_ns = if scope.time { 0 } else { time_ns + self.simulation.step_ns() };
        self.pacer.restart();
        self.drop_trajectories(mailbox, |_| true);
        (self.commanded_ns, self.held) = (self.time_ns(), false);
        if self.halted {
            tracing::info!("reset: the simulation runs again");
        }
        self.halted = false;
    }

    fn reset_state(&mut self, settings: &RunSettings) {
        let (before, wanted) = (*self.simulation.settings(), self.stepping.under(settings));
        match self.simulation.reset_with(wanted) {
            Ok(()) if wanted != before => {
                let mode = if wanted.stepping == Stepping::Dynamic { "dynamic" } else { "quasistatic" };
                tracing::info!("reset: {mode} steps of {} s from now on", wanted.step());
            }
            Ok(()) => {}
            Err(error) => {
                tracing::error!("{error}. The reset keeps the steps as they were");
                self.simulation.reset();
            }
        }
        self.measured.fill(SpatialForce::ZERO);
    }

    /// Puts bodies where they are asked to be, and tells how the bodies are. Where no step follows, what has changed is
    /// published at once, with the stamp of the present time.
    fn run_errands(&mut self, errands: Errands, stands: bool, mailbox: &Mailbox, parcels: &ParcelSender) {
        let Errands { number, placements } = errands;
        if !placements.is_empty() {
            let (scene, mut state) = (self.simulation.scene().clone(), self.simulation.state().clone());
            for placement in &placements {
                if let Some(X_WB) = &placement.X_WB {
                    scene.model().set_free_body_pose(&mut state, placement.body, X_WB);
                }
                if let Some(V_WB) = &placement.V_WB {
                    scene.model().set_free_body_velocity(&mut state, placement.body, V_WB);
                }
            }
            if let Err(error) = self.simulation.set_state(state) {
                tracing::error!("{error}. The bodies stay where they are");
            } else if stands {
                self.hand_over(Due::ALL, false, mailbox, parcels);
            }
        }
        let data = self.simulation.data();
        let A_WB = data.X_WB.iter_enumerated().map(|(body, _)| self.acceleration(body)).collect();
        let (X_WB, V_WB) = (data.X_WB.clone(), data.V_WB.clone());
        mailbox.finish_errands(number, View { time_ns: self.time_ns(), X_WB, V_WB, A_WB });
    }

    fn acceleration(&self, body: BodyIndex) -> SpatialVelocity {
        let acceleration = if self.halted { None } else { self.simulation.free_body_acceleration(body) };
        acceleration.unwrap_or(SpatialVelocity::ZERO)
    }

    /// Nothing to do: paused or halted.
    fn idle(&mut self, mailbox: &Mailbox, parcels: &ParcelSender) {
        self.pacer.restart();
        self.waiting_since = None;
        if self.owed {
            self.hand_over(Due::ALL, false, mailbox, parcels);
        }
        mailbox.doze(SLEEP_MAX);
    }

    /// One step under the standing command, the scene's own commands where there is none. A step that fails leaves
    /// the last good state, and halts.
    fn step(&mut self, mailbox: &Mailbox, settings: &RunSettings) {
        self.follow_trajectories(mailbox, settings);
        self.hold_when_abandoned(mailbox, settings);
        self.effective.targets.clear();
        self.effective.targets.resize(self.simulation.scene().joint_names().len(), JointTarget::default());
        self.scene_commands.fill(self.simulation.time_ns(), &mut self.effective);
        for (effective, standing) in self.effective.targets.iter_mut().zip(&self.standing.targets) {
            if *standing != JointTarget::default() {
                *effective = *standing;
            }
        }
        for (momentum, sensor) in self.momenta.iter_mut().zip(&self.sensors) {
            *momentum = sensor.momentum(&self.simulation);
        }
        let started = Instant::now();
        match self.simulation.step(&self.effective) {
            Ok(report) => {
                self.statistics.add(started.elapsed(), &report);
                if !report.solver_converged
                    && let Some(kept_back) = self.unconverged.due(Instant::now())
                {
                    tracing::warn!(
                        "t = {:.4} s: the solver stopped after {} iterations at residual {:.1e}{}",
                        self.simulation.time(),
                        report.solver_iterations,
                        report.solver_residual,
                        and_more(kept_back)
                    );
                }
                for (number, sensor) in self.sensors.iter().enumerate() {
                    self.measured[number] = sensor.measure(&self.simulation, &self.momenta[number]);
                }
            }
            Err(error) => {
                self.halted = true;
                let error = with_causes(&error);
                mailbox.set_halted(Some(error.clone()));
                tracing::error!("{error}. The simulation is halted at its last good state; call ~/reset to start over");
            }
        }
    }

    /// Targets of the trajectories under way; one that ends leaves its last targets standing.
    fn follow_trajectories(&mut self, mailbox: &Mailbox, settings: &RunSettings) {
        if self.trajectories.is_empty() {
            return;
        }
        self.read_joints();
        let now_ns = self.time_ns();
        let tells = self.goals_told.is_none_or(|at| at.elapsed() >= GOAL_PERIOD);
        if tells {
            self.goals_told = Some(Instant::now());
        }
        let (position, velocity, standing) = (&self.position, &self.velocity, &mut self.standing);
        let (scene, tolerance) = (self.simulation.scene(), settings.trajectory_tolerance);
        let mut ended = false;
        self.trajectories.retain(|(_, tracking)| {
            let progress = tracking.advance(now_ns, position, velocity, tolerance, standing);
            if tells && let Some(feedback) = tracking.feedback(now_ns, position, velocity) {
                mailbox.tell_goal(feedback);
            }
            let named = |joint: usize| scene.joint_names().get(joint).cloned().unwrap_or_default();
            let (end, what) = match progress {
                Progress::Following => return true,
                Progress::Done => (GoalEnd::Reached, tracking.ended().to_owned()),
                Progress::Aborted { joint, error } => {
                    let joint = named(joint);
                    let what = format!(
                        "aborted: joint '{joint}' is {error:.4} from it, more than the tolerance; its joints are held"
                    );
                    (GoalEnd::Path { joint, error }, what)
                }
                Progress::Missed { joint, error } => {
                    let joint = named(joint);
                    let what = format!("aborted: joint '{joint}' is {error:.4} from its end, longer than it may be");
                    (GoalEnd::End { joint, error }, what)
                }
            };
            let time = now_ns as f64 * 1e-9;
            if end == GoalEnd::Reached {
                tracing::info!("t = {time:.4} s: trajectory {what}");
            } else {
                tracing::error!("t = {time:.4} s: trajectory {what}");
            }
            if let Some(goal) = tracking.goal() {
                mailbox.end_goal(goal, end);
            }
            ended = true;
            false
        });
        self.commanded_ns = now_ns;
        if ended {
            self.keep_standing(mailbox);
        }
    }

    /// Holds commanded joints where they are when no command has come for too long.
    fn hold_when_abandoned(&mut self, mailbox: &Mailbox, settings: &RunSettings) {
        let since = self.time_ns().saturating_sub(self.commanded_ns);
        let commanded = self.standing.targets.iter().any(|target| *target != JointTarget::default());
        if settings.command_timeout_ns == 0 || since <= settings.command_timeout_ns || self.held || !commanded {
            return;
        }
        self.read_joints();
        for (joint, target) in self.standing.targets.iter_mut().enumerate() {
            if *target != JointTarget::default() {
                *target = JointTarget { position: Some(self.position[joint]), ..JointTarget::default() };
            }
        }
        count(&mailbox.counters.timeouts);
        let (now, limit) = (self.time_ns() as f64 * 1e-9, settings.command_timeout_ns as f64 * 1e-9);
        tracing::warn!("t = {now:.4} s: no command for {limit} s; the commanded joints are held where they are");
        self.keep_standing(mailbox);
        self.held = true;
    }

    /// Makes the standing command of this thread the one that later commands are merged into.
    fn keep_standing(&mut self, mailbox: &Mailbox) {
        let version = mailbox.replace_command(&self.standing);
        self.version = version;
    }

    fn hand_over(&mut self, due: Due, repeat: bool, mailbox: &Mailbox, parcels: &ParcelSender) {
        let time_ns = self.time_ns();
        let sent = parcels.send(|parcel| {
            (parcel.due, parcel.repeat) = (due, repeat);
            self.simulation.snapshot_into(&mut parcel.snapshot);
            parcel.snapshot.time_ns = time_ns;
            parcel.world = self.world;
            parcel.sensors.clone_from(&self.measured);
        });
        if !sent {
            count(&mailbox.counters.skipped);
        }
        self.owed = !sent && due == Due::ALL;
    }

    fn tell_health(&mut self, mailbox: &Mailbox, may_step: bool) {
        let (now, time_ns) = (Instant::now(), self.time_ns());
        if !self.statistics.is_over(now, time_ns, HEALTH_PERIOD) {
            return;
        }
        let simulation = &self.simulation;
        let energy = energy(simulation.scene().model(), simulation.data(), &simulation.state().v);
        mailbox.set_health(Health {
            activity: match (self.halted, may_step, self.waiting_since) {
                (true, ..) => Activity::Halted,
                (false, false, _) => Activity::Paused,
                (false, true, Some(_)) => Activity::Waiting,
                (false, true, None) => Activity::Running,
            },
            faces: simulation.report().faces,
            penetration_max: simulation.penetration_max(),
            kinetic: energy.kinetic,
            potential: energy.potential,
            step: simulation.settings().step(),
            ..self.statistics.finish(now, time_ns)
        });
    }

    fn keep_pace(&mut self, mailbox: &Mailbox, real_time_factor: f64) {
        let mut delay = self.pacer.delay(Instant::now(), self.time_ns(), real_time_factor);
        while !delay.is_zero() && !mailbox.stopped() {
            let nap = delay.min(SLEEP_MAX);
            std::thread::sleep(nap);
            delay -= nap;
        }
    }
}

/// The error and what caused it, in one line.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
