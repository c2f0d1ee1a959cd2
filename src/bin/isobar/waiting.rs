//! A line on the terminal while work takes long whose steps are not counted.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The line is renewed at this interval.
const TICK: Duration = Duration::from_millis(200);

/// Shows what is being done and for how long, until it is dropped; only on a terminal.
pub(crate) struct Waiting(ProgressBar);

impl Waiting {
    pub(crate) fn new(work: String) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(work);
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
