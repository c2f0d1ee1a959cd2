//! The simulation's own thread: newest command, step, hand over, keep pace.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::exchange::{Due, Mailbox, ParcelSender};
use super::pacer::Pacer;
use super::throttle::{Throttle, and_more};
use crate::io::scene_file::CommandSchedule;
use crate::stepping::{JointCommand, JointTarget, Simulation};

/// Longest sleep: how late a stop or a reset may be noticed at a slow pace.
const SLEEP_MAX: Duration = Duration::from_millis(20);

/// A simulation, and what it needs to run by itself.
pub(super) struct Runner {
    simulation: Simulation,
    /// What drives joints that no command has reached.
    scene_commands: CommandSchedule,
    /// Time of all runs before the last reset [ns]: stamps never go back.
    time_offset_ns: u64,
    standing: JointCommand,
    version: u64,
    effective: JointCommand,
    resets: u64,
    halted: bool,
    pacer: Pacer,
    unconverged: Throttle,
}

impl Runner {
    pub(super) fn new(simulation: Simulation, scene_commands: CommandSchedule) -> Self {
        Self {
            simulation,
            scene_commands,
            time_offset_ns: 0,
            standing: JointCommand::default(),
            version: 0,
            effective: JointCommand::default(),
            resets: 0,
            halted: false,
            pacer: Pacer::default(),
            unconverged: Throttle::default(),
        }
    }

    fn time_ns(&self) -> u64 {
        self.time_offset_ns + self.simulation.time_ns()
    }

    /// Runs until the mailbox says stop.
    pub(super) fn run(&mut self, mailbox: &Mailbox, parcels: &ParcelSender) {
        self.hand_over(Due::ALL, mailbox, parcels);
        while !mailbox.stopped() {
            let (settings, resets) = mailbox.collect(&mut self.standing, &mut self.version);
            if resets != self.resets {
                self.resets = resets;
                self.reset();
                self.hand_over(Due::ALL, mailbox, parcels);
            }
            if self.halted {
                std::thread::sleep(SLEEP_MAX);
                continue;
            }
            let before_ns = self.time_ns();
            self.step();
            let due = Due::between(before_ns, self.time_ns(), &settings.rates);
            if due.any() && !self.halted {
                self.hand_over(due, mailbox, parcels);
            }
            self.keep_pace(mailbox, settings.real_time_factor);
        }
    }

    fn reset(&mut self) {
        self.time_offset_ns = self.time_ns();
        self.simulation.reset();
        self.pacer.restart();
        if self.halted {
            tracing::info!("reset: the simulation runs again");
        }
        self.halted = false;
    }

    /// One step under the standing command, the scene's own commands where there is none. A step that fails leaves
    /// the last good state, and halts.
    fn step(&mut self) {
        self.effective.targets.clear();
        self.effective.targets.resize(self.simulation.scene().joint_names().len(), JointTarget::default());
        self.scene_commands.fill(self.simulation.time_ns(), &mut self.effective);
        for (effective, standing) in self.effective.targets.iter_mut().zip(&self.standing.targets) {
            if *standing != JointTarget::default() {
                *effective = *standing;
            }
        }
        match self.simulation.step(&self.effective) {
            Ok(report) if report.solver_converged => {}
            Ok(report) => {
                if let Some(kept_back) = self.unconverged.due(Instant::now()) {
                    tracing::warn!(
                        "t = {:.4} s: the solver stopped after {} iterations at residual {:.1e}{}",
                        self.simulation.time(),
                        report.solver_iterations,
                        report.solver_residual,
                        and_more(kept_back)
                    );
                }
            }
            Err(error) => {
                self.halted = true;
                tracing::error!("{error}. The simulation is halted at its last good state; call ~/reset to start over");
            }
        }
    }

    fn hand_over(&mut self, due: Due, mailbox: &Mailbox, parcels: &ParcelSender) {
        let time_ns = self.time_ns();
        let sent = parcels.send(|parcel| {
            parcel.due = due;
            self.simulation.snapshot_into(&mut parcel.snapshot);
            parcel.snapshot.time_ns = time_ns;
        });
        if !sent {
            mailbox.skipped.fetch_add(1, Ordering::Relaxed);
        }
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
