//! Lockstep: the state that waits for commands, and the controllers that have answered it.

use std::time::Duration;

/// The reaction to a late command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTimeout {
    /// Keep waiting, with a warning.
    Hold,
    /// End the node with an error.
    Abort,
    /// Step with the last command.
    Continue,
}

/// Settings for stepping in turns with the controllers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lockstep {
    /// Real time allowed for a command; zero is unlimited.
    pub(crate) timeout: Duration,
    pub(crate) on_timeout: OnTimeout,
    /// The topics of the controllers that the simulation waits for.
    pub(crate) controllers: Vec<String>,
}

/// The reason why a stamped command does not answer the state that waits for commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StampMismatch {
    /// It answers an earlier state, or answers this one a second time.
    Stale,
    /// It answers a later state.
    Early,
}

/// The state that waits for commands.
#[derive(Debug, Default)]
pub(super) struct AwaitedState {
    /// Its time \[ns\].
    time_ns: Option<u64>,
    answered: Vec<bool>,
}

impl AwaitedState {
    /// Opens the state at `time_ns` for commands. A state that is published again keeps its answers.
    pub(super) fn set(&mut self, time_ns: u64, controllers: usize) {
        if self.time_ns == Some(time_ns) && self.answered.len() == controllers {
            return;
        }
        self.time_ns = Some(time_ns);
        self.answered.clear();
        self.answered.resize(controllers, false);
    }

    /// Discards the state and its answers: no command answers it any more.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Keeps the state open in another world, in which each controller had this index before. A controller
    /// that answers each stamp once does not answer it again.
    pub(super) fn renumber_controllers(&mut self, before: &[Option<usize>]) {
        let answered = |index: &Option<usize>| index.and_then(|index| self.answered.get(index).copied());
        self.answered = before.iter().map(|index| answered(index).unwrap_or(false)).collect();
    }

    /// Whether a command of a controller, stamped `stamp_ns`, answers the state.
    pub(super) fn check(&self, controller: usize, stamp_ns: u64) -> Result<(), StampMismatch> {
        match self.time_ns {
            Some(awaited) if stamp_ns == awaited && self.answered.get(controller) == Some(&false) => Ok(()),
            Some(awaited) if stamp_ns > awaited => Err(StampMismatch::Early),
            _ => Err(StampMismatch::Stale),
        }
    }

    /// Records the answer of a controller.
    pub(super) fn answer(&mut self, controller: usize) {
        if let Some(answered) = self.answered.get_mut(controller) {
            *answered = true;
        }
    }

    /// The controllers that have not answered the open state.
    pub(super) fn missing(&self) -> impl Iterator<Item = usize> {
        self.answered.iter().enumerate().filter(|(_, answered)| !**answered).map(|(controller, _)| controller)
    }

    /// Whether a state is open and all controllers have answered it.
    pub(super) fn is_answered(&self) -> bool {
        self.time_ns.is_some() && self.answered.iter().all(|answered| *answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression, observed on the built node: after a reset of time at the first state, which had been
    /// answered, a step was taken without a new answer.
    #[test]
    fn a_closed_state_has_no_answers_and_takes_none() {
        let mut awaited = AwaitedState::default();
        assert!(!awaited.is_answered(), "before the first state");
        awaited.set(0, 1);
        awaited.answer(0);
        awaited.set(0, 1);
        assert!(awaited.is_answered(), "a state that is published again keeps its answers");
        awaited.close();
        assert!(!awaited.is_answered());
        assert_eq!(awaited.check(0, 0), Err(StampMismatch::Stale));
        awaited.set(0, 1);
        assert!(!awaited.is_answered());
        assert_eq!(awaited.check(0, 0), Ok(()));
    }

    /// Regression, observed on the built node: a spawned entity discarded the answers to the present state,
    /// which a controller that answers each stamp once did not repeat.
    #[test]
    fn answers_stay_with_their_controllers_in_another_world() {
        let mut awaited = AwaitedState::default();
        awaited.set(5, 2);
        awaited.answer(1);
        // The first controller is gone, the second one is the first, and there is a new one.
        awaited.renumber_controllers(&[Some(1), None]);
        awaited.set(5, 2);
        assert_eq!((awaited.check(0, 5), awaited.check(1, 5)), (Err(StampMismatch::Stale), Ok(())));
        assert!(!awaited.is_answered());
        awaited.answer(1);
        assert!(awaited.is_answered());
        awaited.renumber_controllers(&[Some(0)]);
        assert!(awaited.is_answered());
    }
}
