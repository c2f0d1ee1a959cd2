//! Numbers, truth values, names and poses in the texts of elements.

use super::SdformatProblem;
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::place::Place;
use crate::io::urdf::standard::pose_of;
use crate::io::xml::Element;
use crate::math::{RigidTransform, Rotation, Vector3};

/// A quaternion shorter than this has no direction [-].
const QUATERNION_LENGTH_MIN: f64 = 1e-6;

pub(super) fn fail(place: &Place, problem: SdformatProblem) -> UrdfError {
    place.fail(UrdfProblem::Sdformat(problem))
}

fn not(place: &Place, text: &str, expected: impl Into<String>) -> UrdfError {
    fail(place, SdformatProblem::Text { text: text.to_owned(), expected: expected.into() })
}

/// The numbers in the text of `element`, which is at `place`; finite unless `infinite` is allowed.
pub(super) fn numbers<const N: usize>(element: &Element, place: &Place, infinite: bool) -> Result<[f64; N], UrdfError> {
    let words: Option<Vec<f64>> = element.text.split_whitespace().map(|word| word.parse().ok()).collect();
    let good = |x: &f64| x.is_finite() || (infinite && !x.is_nan());
    let found = words.filter(|words| words.iter().all(good)).and_then(|words| words.try_into().ok());
    let expected = match N {
        1 => "one finite number".to_owned(),
        _ => format!("{N} finite numbers with blanks between"),
    };
    found.ok_or_else(|| not(place, &element.text, expected))
}

/// The numbers in the child `name` of `parent`, if there is one.
pub(super) fn child_numbers<const N: usize>(
    parent: &Element,
    place: &Place,
    name: &str,
) -> Result<Option<[f64; N]>, UrdfError> {
    parent.child(name).map(|child| numbers(child, &place.inside(child), false)).transpose()
}

/// The number in the child `name` of `parent`, if there is one.
pub(super) fn child_number(parent: &Element, place: &Place, name: &str) -> Result<Option<f64>, UrdfError> {
    Ok(child_numbers::<1>(parent, place, name)?.map(|[number]| number))
}

/// The truth value in the child `name` of `parent`, if there is one.
pub(super) fn child_truth(parent: &Element, place: &Place, name: &str) -> Result<Option<bool>, UrdfError> {
    let Some(child) = parent.child(name) else { return Ok(None) };
    match child.text.as_str() {
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        other => Err(not(&place.inside(child), other, "a truth value: true or false")),
    }
}

/// The text of the child `name` of `parent`, which must exist and not be empty.
pub(super) fn required_child<'e>(parent: &'e Element, place: &Place, name: &str) -> Result<&'e str, UrdfError> {
    let missing = || place.fail(UrdfProblem::MissingChild { child: name.to_owned() });
    let child = parent.child(name).ok_or_else(missing)?;
    if child.text.is_empty() {
        return Err(not(&place.inside(child), "", "a name or an address"));
    }
    Ok(&child.text)
}

/// The frame in which the `<pose>` of `parent` is given, if it names one. Before version 1.7 the attribute
/// was called `frame`.
pub(super) fn relative_to(parent: &Element) -> Option<&str> {
    let pose = parent.child("pose")?;
    pose.attribute("relative_to").or_else(|| pose.attribute("frame")).filter(|name| !name.is_empty())
}

/// The `<pose>` of `parent`: identity if there is none, or if it is empty.
pub(super) fn pose(parent: &Element, place: &Place) -> Result<RigidTransform, UrdfError> {
    let Some(element) = parent.child("pose") else { return Ok(RigidTransform::identity()) };
    if element.text.is_empty() {
        return Ok(RigidTransform::identity());
    }
    let place = place.inside(element);
    let in_degrees = match element.attribute("degrees") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => return Err(not(&place, other, "a truth value for `degrees`: true or false")),
    };
    match element.attribute("rotation_format") {
        None | Some("euler_rpy") => {
            let [x, y, z, rpy @ ..] = numbers::<6>(element, &place, false)?;
            Ok(pose_of([x, y, z], if in_degrees { rpy.map(f64::to_radians) } else { rpy }))
        }
        Some("quat_xyzw") if in_degrees => {
            Err(fail(&place, SdformatProblem::Pose("a quaternion has no degrees; remove `degrees`")))
        }
        Some("quat_xyzw") => {
            let [x, y, z, qx, qy, qz, qw] = numbers::<7>(element, &place, false)?;
            let quaternion = nalgebra::Quaternion::new(qw, qx, qy, qz);
            if quaternion.norm() < QUATERNION_LENGTH_MIN {
                return Err(fail(&place, SdformatProblem::Pose("the quaternion is zero; no rotation is 0 0 0 1")));
            }
            let rotation: Rotation = nalgebra::UnitQuaternion::new_normalize(quaternion).to_rotation_matrix();
            Ok(RigidTransform::from_parts(Vector3::new(x, y, z).into(), rotation))
        }
        Some(other) => Err(not(&place, other, "a `rotation_format`: euler_rpy or quat_xyzw")),
    }
}
