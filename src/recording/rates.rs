//! Publishing and recording at rates of simulated time.

/// Rates in simulated time \[Hz\]; 0 means never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The clock.
    pub clock: f64,
    /// Joint states.
    pub joint_states: f64,
    /// Wrenches: net contact wrenches, external ones, and those of sensors.
    pub wrenches: f64,
    /// Poses of free bodies.
    pub poses: f64,
    /// Named outputs of the scene.
    pub outputs: f64,
    /// Contact patches, face by face.
    pub contact_patches: f64,
}

/// The parts of a snapshot that are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The clock.
    pub clock: bool,
    /// Joint states.
    pub joint_states: bool,
    /// Wrenches: net contact wrenches, external ones, and those of sensors.
    pub wrenches: bool,
    /// Poses of free bodies.
    pub poses: bool,
    /// Named outputs of the scene.
    pub outputs: bool,
    /// Contact patches, face by face.
    pub contact_patches: bool,
}

impl Due {
    /// Everything, for the first instant and after a reset.
    pub const ALL: Self =
        Self { clock: true, joint_states: true, wrenches: true, poses: true, outputs: true, contact_patches: true };

    /// The parts that are published at all under `rates`: a rate of 0 means never.
    pub fn under(self, rates: &Rates) -> Self {
        Self {
            clock: self.clock && rates.clock > 0.0,
            joint_states: self.joint_states && rates.joint_states > 0.0,
            wrenches: self.wrenches && rates.wrenches > 0.0,
            poses: self.poses && rates.poses > 0.0,
            outputs: self.outputs && rates.outputs > 0.0,
            contact_patches: self.contact_patches && rates.contact_patches > 0.0,
        }
    }

    /// Whether there is anything to do.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// The parts that are due after the step from `before_ns` to `now_ns`: those for which a multiple of the
    /// period has passed.
    pub fn between(before_ns: u64, now_ns: u64, rates: &Rates) -> Self {
        let due = |rate: f64| {
            if rate <= 0.0 {
                return false;
            }
            let period_ns = ((1e9 / rate).round() as u64).max(1);
            now_ns / period_ns != before_ns / period_ns
        };
        Self {
            clock: due(rates.clock),
            joint_states: due(rates.joint_states),
            wrenches: due(rates.wrenches),
            poses: due(rates.poses),
            outputs: due(rates.outputs),
            contact_patches: due(rates.contact_patches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_met_on_a_grid_of_its_period() {
        let rates = Rates {
            clock: 1000.0,
            joint_states: 250.0,
            wrenches: 0.0,
            poses: 30.0,
            outputs: 5000.0,
            contact_patches: 1.0,
        };
        let mut counts = [0; 6];
        for step in 1..=1000 {
            let due = Due::between((step - 1) * 1_000_000, step * 1_000_000, &rates);
            let flags = [due.clock, due.joint_states, due.wrenches, due.poses, due.outputs, due.contact_patches];
            flags.iter().zip(&mut counts).for_each(|(flag, count)| *count += usize::from(*flag));
        }
        assert_eq!(counts, [1000, 250, 0, 30, 1000, 1]);
        assert_eq!(Due::ALL.under(&rates), Due { wrenches: false, ..Due::ALL }, "a rate of 0 is never");
    }
}
