//! Answers to requests, sent again where the client is not known yet: a client's first request can be here before the reader of its
//! answers is, and the middleware then refuses to send.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use r2r::{ServiceRequest, WrappedServiceTypeSupport};

/// A client that has not been found this long after its request is gone.
const PATIENCE: Duration = Duration::from_secs(3);

struct Unsent {
    send: Box<dyn Fn() -> r2r::Result<()>>,
    since: Instant,
}

thread_local! {
    /// The answers of this thread that the middleware refused.
    static UNSENT: RefCell<VecDeque<Unsent>> = const { RefCell::new(VecDeque::new()) };
}

/// Answers, now or by [`answer_again`] of the same thread.
pub(super) fn answer<S: WrappedServiceTypeSupport + 'static>(request: ServiceRequest<S>, response: S::Response) {
    let send = move || request.clone().respond(response.clone());
    if send().is_err() {
        UNSENT.with_borrow_mut(|unsent| unsent.push_back(Unsent { send: Box::new(send), since: Instant::now() }));
    }
}

/// Tries the oldest refused answer once more: one only, because the middleware waits a while for the client. Whether any is left.
pub(super) fn answer_again() -> bool {
    UNSENT.with_borrow_mut(|unsent| {
        if let Some(oldest) = unsent.pop_front()
            && let Err(error) = (oldest.send)()
        {
            if oldest.since.elapsed() < PATIENCE {
                unsent.push_back(oldest);
            } else {
                tracing::debug!("a request could not be answered: {error}");
            }
        }
        !unsent.is_empty()
    })
}
