//! The path of the tool in one keyframe.

use super::task::{Circle, Keyframe, Press, TimeScaling};
use crate::math::{RigidTransform, Rotation, Vector3, rotation_vector};

/// For a held force: speed over force error [m/s/N], largest speed [m/s], and largest distance of the tool
/// from its path \[m\].
const PRESS_GAIN: f64 = 0.003;
const PRESS_SPEED_MAX: f64 = 0.03;
const PRESS_TRAVEL_MAX: f64 = 0.06;

/// The pose X from a position \[m\] and fixed-axis angles \[rad\].
pub(super) fn pose(xyz: &[f64; 3], rpy: &[f64; 3]) -> RigidTransform {
    RigidTransform::from_parts(Vector3::from(*xyz).into(), rotation(rpy))
}

fn rotation(rpy: &[f64; 3]) -> Rotation {
    Rotation::from_euler_angles(rpy[0], rpy[1], rpy[2])
}

/// The end position in the world of the tool's point P \[m\], if P ends at `xyz` in F and the tool has the
/// orientation `rpy` there.
fn end_point(X_WF: &RigidTransform, xyz: &[f64; 3], rpy: Option<&[f64; 3]>, p_TP: &Vector3) -> Vector3 {
    let Some(rpy) = rpy else { return X_WF.translation.vector + X_WF.rotation * Vector3::from(*xyz) };
    let X_FT = pose(xyz, rpy);
    let p_FT = X_FT.translation.vector - X_FT.rotation * p_TP;
    let X_WT = X_WF * RigidTransform::from_parts(p_FT.into(), X_FT.rotation);
    X_WT.translation.vector + X_WT.rotation * p_TP
}

/// A direction of length 1.
fn unit(axis: &[f64; 3]) -> Vector3 {
    Vector3::from(*axis).normalize()
}

/// The path of the tool T in the world W, from the start of a keyframe.
#[derive(Clone, Debug)]
pub(super) struct Path {
    start: RigidTransform,
    /// The keyframe's frame F.
    X_WF: RigidTransform,
    /// The point P of the tool that follows the keyframe.
    p_TP: Vector3,
    /// The positions of P in the world at the start and at the end \[m\].
    from: Vector3,
    to: Vector3,
    /// The rotation of the tool, axis times angle \[rad\]; `None` for no rotation.
    turn: Option<Vector3>,
    circle: Option<Circle>,
    press: Option<Press>,
    scaling: TimeScaling,
    duration: f64,
    /// The distance by which the tool is pressed off its path \[m\].
    pressed: f64,
}

impl Path {
    /// The path from the tool pose `start`, pressed off by `pressed` \[m\]. `touch_z` is the reference of
    /// heights in a keyframe with `from_touch` \[m\].
    pub(super) fn new(
        keyframe: &Keyframe,
        scaling: TimeScaling,
        X_WF: RigidTransform,
        start: RigidTransform,
        pressed: f64,
        touch_z: f64,
    ) -> Self {
        let press = keyframe.press;
        // The press offset continues from keyframe to keyframe. A keyframe without `press` starts at the
        // current pose.
        let pressed = if press.is_some() { pressed } else { 0.0 };
        let mut start = start;
        if let Some(press) = press {
            start.translation.vector -= X_WF.rotation * unit(&press.along) * pressed;
        }
        let p_TP = Vector3::from(keyframe.point);
        let from = start.translation.vector + start.rotation * p_TP;
        let mut to = match (keyframe.xyz, keyframe.by) {
            (Some(xyz), _) => end_point(&X_WF, &xyz, keyframe.rpy.as_ref(), &p_TP),
            (None, Some(by)) => from + X_WF.rotation * Vector3::from(by),
            (None, None) => from,
        };
        if keyframe.from_touch {
            to.z += touch_z - X_WF.translation.vector.z;
        }
        let end = keyframe.rpy.map(|rpy| X_WF.rotation * rotation(&rpy));
        Self {
            turn: end.map(|R_WT| rotation_vector(&(R_WT * start.rotation.inverse()))),
            start,
            X_WF,
            p_TP,
            from,
            to,
            circle: keyframe.circle,
            press,
            scaling: keyframe.time_scaling.unwrap_or(scaling),
            duration: keyframe.duration,
            pressed,
        }
    }

    /// Part of the path at `time` since the start \[s\].
    pub(super) fn part(&self, time: f64) -> f64 {
        self.scaling.at((time / self.duration).clamp(0.0, 1.0))
    }

    /// A direction of the keyframe's frame, in world axes.
    pub(super) fn direction_W(&self, along: &[f64; 3]) -> Vector3 {
        self.X_WF.rotation * unit(along)
    }

    /// The distance by which the tool is pressed off its path \[m\].
    pub(super) fn pressed(&self) -> f64 {
        self.pressed
    }

    /// Moves the press offset for `dt` \[s\] if a force is held: `force_W` is the contact force on the tool
    /// \[N\].
    pub(super) fn press(&mut self, force_W: &Vector3, dt: f64) {
        if let Some(press) = &self.press {
            // The force on the tool is against the direction in which it presses.
            let missing = press.force + force_W.dot(&self.direction_W(&press.along));
            let speed = (PRESS_GAIN * missing).clamp(-PRESS_SPEED_MAX, PRESS_SPEED_MAX);
            self.pressed = (self.pressed + speed * dt).clamp(-PRESS_TRAVEL_MAX, PRESS_TRAVEL_MAX);
        }
    }

    /// X_WT at a part of the path.
    pub(super) fn at(&self, part: f64) -> RigidTransform {
        let rotation = match &self.turn {
            Some(turn) => Rotation::new(turn * part) * self.start.rotation,
            None => self.start.rotation,
        };
        let mut p_WP = match &self.circle {
            Some(circle) => {
                let centre = self.X_WF * nalgebra::Point3::from(circle.centre);
                let angle = std::f64::consts::TAU * circle.turns * part;
                let turn = Rotation::new(self.direction_W(&circle.axis) * angle);
                centre.coords + turn * (self.from - centre.coords)
            }
            None => self.from + (self.to - self.from) * part,
        };
        if let Some(press) = &self.press {
            p_WP += self.direction_W(&press.along) * self.pressed;
        }
        RigidTransform::from_parts((p_WP - rotation * self.p_TP).into(), rotation)
    }
}
