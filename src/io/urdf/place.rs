//! Places in a robot file, for errors and warnings.

use std::path::Path;

use super::error::{UrdfError, UrdfProblem};
use crate::io::xml::Element;
use crate::names::nearest;
use crate::robot::LoadWarning;

/// An element of the file, by its line and a readable name.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) line: u32,
    pub(super) element: String,
}

impl<'a> Place<'a> {
    pub(super) fn new(file: &'a Path, line: u32, element: impl Into<String>) -> Self {
        Self { file, line, element: element.into() }
    }

    /// `element` as in `joint \`elbow\``.
    pub(super) fn named(file: &'a Path, element: &Element) -> Self {
        let name = element.attribute("name").map_or(String::new(), |name| format!(" `{name}`"));
        Self::new(file, element.line, format!("{}{name}", element.name))
    }

    /// A child of this place.
    pub(super) fn inside(&self, element: &Element) -> Self {
        let name = element.attribute("name").map_or(String::new(), |name| format!(" `{name}`"));
        Self::new(self.file, element.line, format!("{}, <{}>{name}", self.element, element.name))
    }

    pub(super) fn fail(&self, problem: UrdfProblem) -> UrdfError {
        UrdfError::Invalid {
            file: self.file.to_path_buf(),
            line: self.line,
            element: self.element.clone(),
            problem: Box::new(problem),
        }
    }

    pub(super) fn warning(&self, message: impl Into<String>) -> LoadWarning {
        LoadWarning {
            file: self.file.to_path_buf(),
            line: self.line,
            element: self.element.clone(),
            message: message.into(),
        }
    }

    /// A required attribute.
    pub(super) fn required<'e>(&self, element: &'e Element, attribute: &str) -> Result<&'e str, UrdfError> {
        let missing = || self.fail(UrdfProblem::MissingAttribute { attribute: attribute.to_owned() });
        element.attribute(attribute).ok_or_else(missing)
    }

    /// The numbers in an attribute, if it is given; finite unless `infinite` is allowed.
    pub(super) fn numbers<const N: usize>(
        &self,
        element: &Element,
        attribute: &str,
        infinite: bool,
    ) -> Result<Option<[f64; N]>, UrdfError> {
        let Some(value) = element.attribute(attribute) else { return Ok(None) };
        let words: Option<Vec<f64>> = value.split_whitespace().map(|word| word.parse().ok()).collect();
        let good = |x: &f64| x.is_finite() || (infinite && !x.is_nan());
        let numbers = words.filter(|words| words.iter().all(good)).and_then(|words| words.try_into().ok());
        let expected = match N {
            1 => "one finite number".to_owned(),
            _ => format!("{N} finite numbers with blanks between"),
        };
        let bad = || UrdfProblem::BadNumber { attribute: attribute.to_owned(), value: value.to_owned(), expected };
        numbers.map(Some).ok_or_else(|| self.fail(bad()))
    }

    /// One number in an attribute, if it is given.
    pub(super) fn number(&self, element: &Element, attribute: &str) -> Result<Option<f64>, UrdfError> {
        Ok(self.numbers::<1>(element, attribute, false)?.map(|[number]| number))
    }

    /// `value`, if it is not negative.
    pub(super) fn not_negative(&self, quantity: &str, value: f64) -> Result<f64, UrdfError> {
        let out_of_range =
            || UrdfProblem::OutOfRange { quantity: quantity.to_owned(), value, expected: "zero or greater" };
        if value >= 0.0 { Ok(value) } else { Err(self.fail(out_of_range())) }
    }

    /// `value`, if it is positive.
    pub(super) fn positive(&self, quantity: &str, value: f64) -> Result<f64, UrdfError> {
        let out_of_range =
            || UrdfProblem::OutOfRange { quantity: quantity.to_owned(), value, expected: "greater than zero" };
        if value > 0.0 { Ok(value) } else { Err(self.fail(out_of_range())) }
    }
}

/// `; did you mean ...?` with the nearest of `names`, or advice if none is near.
pub(super) fn suggestion<'n>(wanted: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    /// A name among so few is given without being near.
    const FEW: usize = 2;
    let names = names.filter(|name| !name.is_empty());
    match nearest(wanted, names.clone()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => match names.clone().count() {
            0 => String::new(),
            1..=FEW => {
                let named: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                format!("; add it or correct the name; there is {}", named.join(" and "))
            }
            _ => "; add it or correct the name".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["shoulder", "elbow", "wrist"];
        assert_eq!(suggestion("elbwo", names.into_iter()), "; did you mean `elbow`?");
        assert_eq!(suggestion("elbow", ["left_elbow", "right"].into_iter()), "; did you mean `left_elbow`?");
        assert_eq!(suggestion("torso", names.into_iter()), "; add it or correct the name");
    }
}
