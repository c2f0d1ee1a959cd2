//! Errors of the client library, and of the arguments that it reads.

/// An error of the client library.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// An error of the node itself, or of a message.
    #[error(transparent)]
    Library(#[from] r2r::Error),
    /// An argument of the command line.
    #[error("argument '{argument}': {rule}")]
    Argument {
        /// The argument.
        argument: String,
        /// The rule that it does not follow.
        rule: String,
    },
    /// Arguments of the command line that the client library refuses.
    #[error("the arguments after --ros-args are refused: {0}")]
    Arguments(String),
    /// The client library does not start, for a reason that it does not give.
    #[error("the client library does not start: {0}")]
    Environment(String),
    /// A message that the client library does not take.
    #[error("the message is not sent: the client library does not take it ({0})")]
    Message(String),
    /// A topic or a service that is refused.
    #[error("{kind} '{name}': {reason}{}", if name.len() > NAME_USUAL { TOO_LONG } else { "" })]
    Endpoint {
        /// Its kind.
        kind: &'static str,
        /// Its name, before it is expanded.
        name: String,
        /// The reason that the client library gives.
        reason: r2r::Error,
    },
}

/// Calls `send`, which panics at texts with a NUL character, and perhaps for other reasons; the panic becomes
/// an error with its reason.
pub(super) fn guarded<T>(send: impl FnOnce() -> r2r::Result<T>) -> Result<T, ClientError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(send)) {
        Ok(sent) => Ok(sent?),
        Err(panic) => Err(ClientError::Message(reason_of(&*panic))),
    }
}

/// The text of a panic, in one line.
pub(super) fn reason_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let lines: Vec<&str> = text.unwrap_or("no reason is given").lines().map(str::trim).collect();
    lines.join(" ")
}

/// A name of up to this length is seldom refused for its length: ROS takes 247 characters, including the
/// namespace and the node's name.
const NAME_USUAL: usize = 150;
const TOO_LONG: &str = "; with the namespace and the node's name it may have 247 characters: shorten the names of models, \
                        bodies, joints and outputs in the scene";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_at_which_the_client_library_panics_is_an_error() {
        let sent = guarded(|| -> r2r::Result<()> { panic!("nul byte found in provided data at position: 1") });
        assert!(
            sent.is_err_and(|error| error.to_string().contains("(nul byte found in provided data at position: 1)"))
        );
        // Another reason is not reported as that one.
        let sent = guarded(|| -> r2r::Result<()> { panic!("index out of bounds") });
        let text = sent.map_err(|error| error.to_string()).unwrap_err();
        assert!(text.contains("(index out of bounds)") && !text.contains("NUL"), "{text}");
        assert!(guarded(|| Ok(1)).is_ok_and(|one| one == 1));
    }
}
