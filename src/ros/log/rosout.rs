//! Log lines on stderr and on /rosout.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The number of lines that wait for /rosout; further lines go to stderr only.
const LINES: usize = 256;

/// A line for /rosout.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// As in rcl_interfaces/Log.
    pub(crate) level: u8,
    pub(crate) text: String,
}

struct RosoutLayer {
    lines: SyncSender<Line>,
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            Level::WARN => 30,
            Level::INFO => 20,
            // Debug lines go to stderr only.
            Level::DEBUG | Level::TRACE => return,
        };
        let mut message = Message(String::new());
        event.record(&mut message);
        // If the queue is full the line goes to stderr only, so that logging never waits.
        let _ = self.lines.try_send(Line { level, text: message.0 });
    }
}

static LINES_OF_THE_PROCESS: Mutex<Option<Receiver<Line>>> = Mutex::new(None);

/// Sends log lines to stderr, at the level that `RUST_LOG` sets, and to /rosout. Call it once per process.
pub fn init_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let (sender, receiver) = sync_channel(LINES);
    let colors = std::io::stderr().is_terminal();
    let stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colors).with_target(false);
    let layers = tracing_subscriber::registry().with(filter).with(stderr).with(RosoutLayer { lines: sender });
    if layers.try_init().is_ok() {
        *LINES_OF_THE_PROCESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(receiver);
    }
}

/// The log lines of this process, for the publishing thread.
pub(crate) fn take_lines() -> Option<Receiver<Line>> {
    LINES_OF_THE_PROCESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}
