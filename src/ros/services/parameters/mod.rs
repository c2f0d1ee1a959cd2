//! Parameters: declared in one table, checked, described and served.

mod services;
mod table;
mod values;

pub(crate) use services::ParameterServices;
pub(crate) use table::SceneDefaults;
pub(crate) use values::Parameters;
