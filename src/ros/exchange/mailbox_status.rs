//! The mailbox's reports about the simulation: why it stands or ended, and its health.

use std::sync::PoisonError;

use super::health::Health;
use super::mailbox::Mailbox;

impl<W> Mailbox<W> {
    /// Records the reason why no step can be taken, or that steps are possible again.
    pub(crate) fn set_halted(&self, reason: Option<String>) {
        *self.halted.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub(crate) fn halted(&self) -> Option<String> {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the reason why no requested step is taken in lockstep, or that steps are possible again.
    pub(crate) fn set_unanswered(&self, reason: Option<String>) {
        *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Takes the reason why no requested step is taken in lockstep.
    pub(crate) fn take_unanswered(&self) -> Option<String> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn set_health(&self, health: Health) {
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = Some(health);
    }

    pub(crate) fn health(&self) -> Option<Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the reason why the simulation ends by itself.
    pub(crate) fn fail(&self, reason: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
