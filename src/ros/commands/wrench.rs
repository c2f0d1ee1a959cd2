//! Checks of messages with a wrench on a named body.

use crate::math::{BodyIndex, SpatialForce, Vector3};
use crate::ros::log::names::{Number, did_you_mean, shown};

/// Largest force \[N\] and torque [N m].
const WRENCH_MAX: f64 = 1e9;

/// The reason why a wrench is dropped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum WrenchError {
    #[error("no body: name one in header.frame_id")]
    MissingBody,
    #[error("unknown body '{name}' in header.frame_id{suggestion}")]
    UnknownBody { name: String, suggestion: String },
    #[error("{what} is {}; it must be finite and at most {WRENCH_MAX:e}", Number(*value))]
    Value { what: &'static str, value: f64 },
}

/// Checks a wrench that names its body; `bodies` are those that can move. The result is about the body's
/// origin, in its axes.
pub(crate) fn check_wrench(
    bodies: &[(BodyIndex, &str)],
    name: &str,
    force: Vector3,
    torque: Vector3,
) -> Result<(BodyIndex, SpatialForce), WrenchError> {
    if name.is_empty() {
        return Err(WrenchError::MissingBody);
    }
    for (what, vector) in [("force", &force), ("torque", &torque)] {
        if let Some(value) = vector.iter().find(|value| value.is_nan() || value.abs() > WRENCH_MAX) {
            return Err(WrenchError::Value { what, value: *value });
        }
    }
    let Some((body, _)) = bodies.iter().find(|(_, body)| *body == name) else {
        let suggestion = did_you_mean(name, bodies.iter().map(|(_, body)| *body));
        return Err(WrenchError::UnknownBody { name: shown(name), suggestion });
    };
    Ok((*body, SpatialForce::new(torque, force)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Index;

    #[test]
    fn wrenches_are_refused_with_the_reason() {
        let bodies = [(BodyIndex::from_usize(0), "pad"), (BodyIndex::from_usize(1), "arm")];
        let check = |name: &str, force: f64| check_wrench(&bodies, name, Vector3::x() * force, Vector3::zeros());
        assert_eq!(
            check("arm", 2.0),
            Ok((BodyIndex::from_usize(1), SpatialForce::new(Vector3::zeros(), Vector3::x() * 2.0)))
        );
        assert_eq!(check("", 2.0), Err(WrenchError::MissingBody));
        let unknown = check("pda", 2.0).unwrap_err().to_string();
        assert!(unknown.contains("did you mean 'pad'?"), "{unknown}");
        for value in [f64::NAN, f64::INFINITY, -1.1e9, 1e308] {
            assert!(matches!(check("pad", value), Err(WrenchError::Value { what: "force", .. })));
        }
    }
}
