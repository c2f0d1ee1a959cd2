//! The publishing rates of a node.

use super::error::SceneError;
use super::reader::{Range, Section};
use super::yaml::Node;
use crate::recording::Rates;

/// Publishing rates; 0 switches a topic off. They count simulated time, but for that of the contact markers,
/// which counts real time. A rate above that of the steps publishes every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishSettings {
    /// `/clock` \[Hz\].
    pub clock: f64,
    /// `joint_states` \[Hz\].
    pub joint_states: f64,
    /// `~/wrench/<body>`, `~/external_wrench` and `~/output/<name>` \[Hz\].
    pub wrenches: f64,
    /// `~/contact_markers` \[Hz\].
    pub contact_markers: f64,
    /// `~/contact_patches` \[Hz\].
    pub contact_patches: f64,
    /// `/tf` and `~/pose/<body>` of the free bodies \[Hz\].
    pub tf: f64,
}

impl Default for PublishSettings {
    /// Joint states and wrenches as fast as common controllers run, markers as fast as a screen shows them.
    fn default() -> Self {
        Self {
            clock: 1000.0,
            joint_states: 500.0,
            wrenches: 500.0,
            contact_markers: 30.0,
            contact_patches: 30.0,
            tf: 100.0,
        }
    }
}

impl From<&PublishSettings> for Rates {
    /// The rates in a scene file; outputs have the rate of the wrenches.
    fn from(publish: &PublishSettings) -> Self {
        Self {
            clock: publish.clock,
            joint_states: publish.joint_states,
            wrenches: publish.wrenches,
            poses: publish.tf,
            outputs: publish.wrenches,
            contact_patches: publish.contact_patches,
        }
    }
}

/// The range of publishing rates \[Hz\].
const RATE: Range = Range::Between(0.0, 1e6, "Hz");

/// Reads the section `publish`.
pub(super) fn read_publish(node: &Node) -> Result<PublishSettings, SceneError> {
    let keys = ["clock", "joint_states", "wrenches", "contact_markers", "contact_patches", "tf"];
    let publish = Section::new(node, "`publish`", &keys)?;
    let default = PublishSettings::default();
    let rate = |key, default: f64| Ok(publish.number(key, "[Hz]", RATE)?.unwrap_or(default));
    Ok(PublishSettings {
        clock: rate("clock", default.clock)?,
        joint_states: rate("joint_states", default.joint_states)?,
        wrenches: rate("wrenches", default.wrenches)?,
        contact_markers: rate("contact_markers", default.contact_markers)?,
        contact_patches: rate("contact_patches", default.contact_patches)?,
        tf: rate("tf", default.tf)?,
    })
}
