//! Requests for steps of a paused simulation, served one after the other.

use super::mailbox::Mailbox;
use super::requests::{REQUESTS_MAX, StepRefusal};

/// The reason why a request ended before all its steps were taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StepFailure {
    /// None were taken.
    #[error(transparent)]
    Refused(#[from] StepRefusal),
    /// The remaining steps were withdrawn.
    #[error("canceled after {taken} steps")]
    Withdrawn { taken: u64 },
    /// The simulation was paused or unpaused meanwhile, or its world changed.
    #[error("interrupted after {taken} steps: the simulation was paused, unpaused or changed")]
    Interrupted { taken: u64 },
    /// A step failed.
    #[error("stopped after {taken} steps: {reason}")]
    Failed { taken: u64, reason: String },
}

/// Called with the number of steps taken, or with the reason why some were not taken.
type Ended = Box<dyn FnOnce(Result<u64, StepFailure>) + Send>;

struct Request {
    id: u64,
    /// The count of taken steps before the first and after the last step of the request.
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

/// Requests in progress, in order of arrival.
#[derive(Default)]
pub(crate) struct StepRequests {
    requests: Vec<Request>,
    ids: u64,
}

impl StepRequests {
    /// Requests `count` steps. `ended` is called when they are over, or at once if they are refused. Returns
    /// the id of the request.
    pub(crate) fn request(&mut self, mailbox: &Mailbox, count: u64, ended: Ended) -> Option<u64> {
        let room = self.requests.len() < REQUESTS_MAX;
        match room.then_some(()).ok_or(StepRefusal::Waiting).and_then(|()| mailbox.request_steps(count)) {
            Ok((from, to)) => {
                self.ids += 1;
                self.requests.push(Request { id: self.ids, from, to, withdrawn: false, ended });
                Some(self.ids)
            }
            Err(refusal) => {
                ended(Err(refusal.into()));
                None
            }
        }
    }

    /// The number of steps of a request that have been taken; `None` if it is over.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) fn progress(&self, id: u64, mailbox: &Mailbox) -> Option<u64> {
        let request = self.requests.iter().find(|request| request.id == id)?;
        Some(request.taken(mailbox.steps_taken()))
    }

    /// Withdraws a request: it ends after the step in progress.
    #[cfg_attr(not(isobar_simulation), allow(dead_code))]
    pub(crate) fn withdraw(&mut self, id: u64, mailbox: &Mailbox) {
        let Some(index) = self.requests.iter().position(|request| request.id == id) else { return };
        let request = &mut self.requests[index];
        let reached = mailbox.withdraw_steps(request.from, request.to);
        let fewer = request.to - reached;
        (request.to, request.withdrawn) = (reached, true);
        for later in &mut self.requests[index + 1..] {
            later.from -= fewer;
            later.to -= fewer;
        }
    }

    /// Pauses or resumes the simulation. Requested steps are discarded, and their requests end with an error.
    pub(crate) fn set_paused(&mut self, paused: bool, mailbox: &Mailbox) {
        mailbox.set_paused(paused);
        let all = mailbox.steps_taken();
        for request in self.requests.drain(..) {
            let taken = request.taken(all);
            (request.ended)(Err(StepFailure::Interrupted { taken }));
        }
    }

    /// Ends the requests whose steps are taken; ends all of them if no step can be taken, or if no command
    /// comes for one in lockstep.
    pub(crate) fn answer_ended(&mut self, mailbox: &Mailbox) {
        if self.requests.is_empty() {
            return;
        }
        let (halted, all) = (mailbox.halted().or_else(|| mailbox.take_unanswered()), mailbox.steps_taken());
        let mut index = 0;
        while index < self.requests.len() {
            let over = self.requests[index].to <= all;
            if !over && halted.is_none() {
                index += 1;
                continue;
            }
            let request = self.requests.remove(index);
            let taken = request.taken(all);
            (request.ended)(match &halted {
                _ if request.withdrawn => Err(StepFailure::Withdrawn { taken }),
                Some(reason) if !over => Err(StepFailure::Failed { taken, reason: reason.clone() }),
                _ => Ok(taken),
            });
        }
        if halted.is_some() {
            // The other requests cannot take steps either.
            mailbox.set_paused(mailbox.paused());
        }
    }
}
