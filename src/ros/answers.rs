//! Answers to requests, sent again where the client is not known yet: a client's first request can be here before the reader of its
//! answers is, and the middleware then refuses to send.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use r2r::{ServiceRequest, WrappedServiceTypeSupport};

/// A client that has not been found this long after its request is gone. A discovery message that was lost comes again after 3 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two attempts: the middleware waits a tenth of a second in each.
const PAUSE: Duration = Duration::from_millis(400);

struct Unsent {
    send: Box<dyn Fn() -> r2r::Result<()>>,
    since: Instant,
    tried: Instant,
}

thread_local! {
    /// The answers of this thread that the middleware refused.
    static UNSENT: RefCell<VecDeque<Unsent>> = const { RefCell::new(VecDeque::new()) };
}

/// Answers, now or by [`answer_again`] of the same thread.
pub(super) fn answer<S: WrappedServiceTypeSupport + 'static>(request: ServiceRequest<S>, response: S::Response) {
    let send = move || request.clone().respond(response.clone());
    if send().is_err() {
        let now = Instant::now();
        UNSENT.with_borrow_mut(|unsent| unsent.push_back(Unsent { send: Box::new(send), since: now, tried: now }));
    }
}

/// Tries the oldest refused answer once more, when it is time. Whether any is left.
pub(super) fn answer_again() -> bool {
    UNSENT.with_borrow_mut(|unsent| {
        if unsent.front().is_some_and(|oldest| oldest.tried.elapsed() >= PAUSE)
            && let Some(mut oldest) = unsent.pop_front()
            && let Err(error) = (oldest.send)()
        {
            oldest.tried = Instant::now();
            if oldest.since.elapsed() < PATIENCE {
                unsent.push_back(oldest);
            } else {
                tracing::warn!("a request could not be answered, its client was not found: {error}");
            }
        }
        !unsent.is_empty()
    })
}
