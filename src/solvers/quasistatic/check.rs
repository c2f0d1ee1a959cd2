//! The check of a problem and of its settings before a solve.

use super::{Engine, FrictionCone, FrictionModel, QuasistaticError, QuasistaticProblem, QuasistaticSettings};

/// Checks the sizes and numbers of a problem, and the settings against each other.
pub(super) fn check(
    problem: &QuasistaticProblem,
    v: &[f64],
    settings: &QuasistaticSettings,
) -> Result<(), QuasistaticError> {
    if v.len() != problem.size() {
        return Err(QuasistaticError::Size { given: v.len(), expected: problem.size() });
    }
    if let FrictionCone::Pyramid { rays } = settings.friction
        && rays < 2
    {
        return Err(QuasistaticError::Rays { rays });
    }
    if settings.model == FrictionModel::Coulomb
        && (settings.engine != Engine::Cone || settings.friction != FrictionCone::Exact)
    {
        return Err(QuasistaticError::NotForCoulomb);
    }
    let finite = |what: &'static str, numbers: &[f64]| match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(QuasistaticError::NotFinite { what, index }),
        None => Ok(()),
    };
    finite("initial velocity", v)?;
    if !all_finite(&problem.quadratic) {
        finite("entry of Q", &problem.quadratic)?;
    }
    finite("entry of b", &problem.linear)?;
    for (index, contact) in problem.contacts().iter().enumerate() {
        if !(contact.gap_rate.is_finite() && contact.friction.is_finite()) {
            return Err(QuasistaticError::NotFinite { what: "contact", index });
        }
    }
    if !problem.columns_are_finite() {
        let finite = |contact| problem.columns(contact).iter().all(|(_, column)| column.iter().all(|x| x.is_finite()));
        if let Some(index) = problem.contacts().iter().position(|contact| !finite(contact)) {
            return Err(QuasistaticError::NotFinite { what: "contact", index });
        }
    }
    Ok(())
}

/// Whether all numbers are finite, without a branch for each: 0 x is NaN if x is not finite.
fn all_finite(numbers: &[f64]) -> bool {
    let (chunks, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += 0.0 * x;
        }
    }
    sums.iter().chain(rest).fold(0.0, |sum, x| sum + 0.0 * x) == 0.0
}
