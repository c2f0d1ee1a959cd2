//! Steps of a paused simulation that were asked for, one request after the other.

use super::exchange::{Mailbox, StepRefusal};

/// Why a request for steps ended before all were taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StepFailure {
    /// None were taken.
    #[error(transparent)]
    Refused(#[from] StepRefusal),
    /// Their asker took the rest back.
    #[error("canceled after {taken} steps")]
    Withdrawn { taken: u64 },
    /// Somebody else paused or unpaused the simulation, or changed the world.
    #[error("interrupted after {taken} steps: the simulation was paused, unpaused or changed")]
    Interrupted { taken: u64 },
    /// A step failed.
    #[error("stopped after {taken} steps: {reason}")]
    Failed { taken: u64, reason: String },
}

/// Who hears how many steps were taken, or why not all.
type Ended = Box<dyn FnOnce(Result<u64, StepFailure>) + Send>;

struct Request {
    ticket: u64,
    /// What the count of taken steps is before the first and after the last of them.
    from: u64,
    to: u64,
    withdrawn: bool,
    ended: Ended,
}

impl Request {
    fn taken(&self, all: u64) -> u64 {
        all.clamp(self.from, self.to) - self.from
    }
}

/// Requests under way, in the order in which they came.
#[derive(Default)]
pub(super) struct Steps {
    requests: Vec<Request>,
    tickets: u64,
}

impl Steps {
    /// Asks for `count` steps; `ended` is called when they are over, at once when they are refused. Returns the ticket of
    /// the request.
    pub(super) fn ask(&mut self, mailbox: &Mailbox, count: u64, ended: Ended) -> Option<u64> {
        match mailbox.request_steps(count) {
            Ok((from, to)) => {
                self.tickets += 1;
                self.requests.push(Request { ticket: self.tickets, from, to, withdrawn: false, ended });
                Some(self.tickets)
            }
            Err(refusal) => {
                ended(Err(refusal.into()));
                None
            }
        }
    }

    /// How many steps of a request are taken; `None` when it is over.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) fn progress(&self, ticket: u64, mailbox: &Mailbox) -> Option<u64> {
        let request = self.requests.iter().find(|request| request.ticket == ticket)?;
        Some(request.taken(mailbox.steps_taken()))
    }

    /// Takes a request back: it ends with the step that is under way.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(super) fn withdraw(&mut self, ticket: u64, mailbox: &Mailbox) {
        let Some(place) = self.requests.iter().position(|request| request.ticket == ticket) else { return };
        let request = &mut self.requests[place];
        let reached = mailbox.withdraw_steps(request.from, request.to);
        let fewer = request.to - reached;
        (request.to, request.withdrawn) = (reached, true);
        for later in &mut self.requests[place + 1..] {
            later.from -= fewer;
            later.to -= fewer;
        }
    }

    /// Pauses the simulation or lets it go on. Steps asked for are forgotten, and who asked hears so.
    pub(super) fn set_paused(&mut self, paused: bool, mailbox: &Mailbox) {
        mailbox.set_paused(paused);
        let all = mailbox.steps_taken();
        for request in self.requests.drain(..) {
            let taken = request.taken(all);
            (request.ended)(Err(StepFailure::Interrupted { taken }));
        }
    }

    /// Ends the requests whose steps are taken, and all where none can be.
    pub(super) fn settle(&mut self, mailbox: &Mailbox) {
        if self.requests.is_empty() {
            return;
        }
        let (halted, all) = (mailbox.halted(), mailbox.steps_taken());
        let mut place = 0;
        while place < self.requests.len() {
            let over = self.requests[place].to <= all;
            if !over && halted.is_none() {
                place += 1;
                continue;
            }
            let request = self.requests.remove(place);
            let taken = request.taken(all);
            (request.ended)(match &halted {
                _ if request.withdrawn => Err(StepFailure::Withdrawn { taken }),
                Some(reason) if !over => Err(StepFailure::Failed { taken, reason: reason.clone() }),
                _ => Ok(taken),
            });
        }
        if halted.is_some() {
            // What was wanted of a simulation that cannot step is forgotten, too.
            mailbox.set_paused(mailbox.paused());
        }
    }
}
