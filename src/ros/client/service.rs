//! Services. A response is sent again if its client is not known yet: a client's first request can arrive
//! before the reader of its responses is discovered, and the middleware then refuses to send.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures::{FutureExt, Stream, StreamExt};

use super::endpoints::InUse;
use super::error::{ClientError, guarded};
use super::interfaces::ServiceType;

/// A response is dropped if its client has not been found this long after the first attempt to send it. A
/// lost discovery message is repeated after 3 s.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two attempts; the middleware waits a tenth of a second in each.
const RETRY_PERIOD: Duration = Duration::from_millis(400);

/// The requests of a service.
pub(crate) struct Service<S: ServiceType> {
    requests: Pin<Box<dyn Stream<Item = r2r::ServiceRequest<S>> + Send>>,
    _used: InUse,
}

impl<S: ServiceType + 'static> Service<S> {
    pub(super) fn new(requests: impl Stream<Item = r2r::ServiceRequest<S>> + Send + 'static, used: InUse) -> Self {
        Self { requests: Box::pin(requests), _used: used }
    }

    /// The next request, if one has arrived.
    pub(crate) fn next(&mut self) -> Option<Request<S>> {
        self.requests.next().now_or_never().flatten().map(Request)
    }
}

/// A request that waits for its response.
pub(crate) struct Request<S: ServiceType>(r2r::ServiceRequest<S>);

impl<S: ServiceType + 'static> Request<S> {
    /// The content of the request.
    pub(crate) fn message(&self) -> &S::Request {
        &self.0.message
    }

    /// Sends the response, now or through [`retry_responses`] on the same thread.
    pub(crate) fn respond(self, response: S::Response) {
        let request = self.0;
        let send = move || guarded(|| request.clone().respond(response.clone()));
        if let Err(error) = send() {
            // Another attempt would not succeed either.
            if matches!(error, ClientError::Message(_)) {
                return tracing::error!("a response was dropped: {error}");
            }
            let now = Instant::now();
            UNSENT.with_borrow_mut(|unsent| {
                unsent.push_back(UnsentResponse { send: Box::new(send), since: now, tried: now })
            });
        }
    }
}

struct UnsentResponse {
    send: Box<dyn Fn() -> Result<(), ClientError>>,
    since: Instant,
    tried: Instant,
}

thread_local! {
    /// The responses of this thread that the middleware has refused.
    static UNSENT: RefCell<VecDeque<UnsentResponse>> = const { RefCell::new(VecDeque::new()) };
}

/// Retries the oldest refused response when it is due. Returns whether any response is left.
pub(crate) fn retry_responses() -> bool {
    UNSENT.with_borrow_mut(|unsent| {
        if unsent.front().is_some_and(|oldest| oldest.tried.elapsed() >= RETRY_PERIOD)
            && let Some(mut oldest) = unsent.pop_front()
            && let Err(error) = (oldest.send)()
        {
            oldest.tried = Instant::now();
            if oldest.since.elapsed() < DISCOVERY_TIMEOUT {
                unsent.push_back(oldest);
            } else {
                tracing::warn!("a response was dropped, because its client was not found: {error}; call again");
            }
        }
        !unsent.is_empty()
    })
}
