//! The keys `scheme` and `near_rigid` of `contact`, and the other keys of `contact` that they exclude.

use super::error::SceneError;
use super::reader::{Range, Section, unknown_name};
use super::stepping::SteppingMode;
use super::used_keys::check_used;
use crate::stepping::ContactScheme;

/// The friction compliance of the scheme SAP, if the file states none [-].
pub(super) const SAP_COMPLIANCE: f64 = 1e-3;

/// The keys of `contact` that only some schemes have, and the names of these schemes.
const KEYS: [(&str, &str); 2] = [("friction_bound", "`lagged`"), ("near_rigid", "`sap`")];
/// The values of keys that only some schemes have, and the names of these schemes.
const VALUES: [(&str, &str, &str); 2] = [
    ("face_friction", "spread", "`lagged` and `coupled`"),
    ("dissipation", "hunt_crossley", "`lagged`, `coupled`, `similar` and `tamsi`"),
];

/// Reads the scheme of `contact`, and refuses keys that have no meaning in it.
pub(super) fn read_scheme(contact: &Section<'_>, mode: SteppingMode) -> Result<ContactScheme, SceneError> {
    let near_rigid = contact.number("near_rigid", "[-]", Range::Between(0.0, 1.0, "(no unit)"))?.unwrap_or(0.0);
    let named = contact.text("scheme")?;
    let scheme = match &named {
        None => ContactScheme::default(),
        Some(named) => match ContactScheme::ALL.into_iter().find(|scheme| scheme.name() == named.name) {
            Some(ContactScheme::Sap { .. }) => ContactScheme::Sap { near_rigid },
            Some(scheme) => scheme,
            None => return Err(unknown_name(named, "contact scheme", ContactScheme::ALL.map(ContactScheme::name))),
        },
    };
    let name = scheme.name();
    let conflict = |key: &str, problem: String| match contact.get(key) {
        Some(node) => Err(SceneError::Conflict { place: node.place.clone(), problem }),
        None => Ok(()),
    };
    check_used(contact, mode.name())?;
    for (key, schemes) in KEYS {
        if !schemes.contains(&format!("`{name}`")) {
            let problem =
                format!("`{key}` has no meaning with the contact scheme `{name}`; only {schemes} has it: remove it");
            conflict(key, problem)?;
        }
    }
    for (key, value, schemes) in VALUES {
        let stated = contact.text(key)?.is_some_and(|stated| stated.name == value);
        if stated && !schemes.contains(&format!("`{name}`")) {
            let problem =
                format!("the contact scheme `{name}` has no `{key}: {value}`; only {schemes} have it: remove it");
            conflict(key, problem)?;
        }
    }
    let compliance = contact.number("friction_compliance", "[-]", Range::Between(0.0, 1.0, "(no unit)"))?;
    match (scheme, compliance) {
        (ContactScheme::Sap { .. }, Some(0.0)) => {
            let problem =
                "the contact scheme `sap` needs a positive friction compliance: 0.001 is usual, and the default";
            conflict("friction_compliance", problem.to_owned())?;
        }
        (ContactScheme::Tamsi, Some(sigma)) if sigma > 0.0 => {
            let problem = "`friction_compliance` has no meaning with the contact scheme `tamsi`; `lagged`, `coupled`, \
                           `similar` and `sap` have it: use `stiction_tolerance`";
            conflict("friction_compliance", problem.to_owned())?;
        }
        _ => {}
    }
    Ok(scheme)
}
