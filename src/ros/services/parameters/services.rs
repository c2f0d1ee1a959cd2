//! The parameter services of a node, and /parameter_events. The services of the client library have neither
//! ranges nor events.

use super::table::{Declaration, Kind};
use super::values::Parameters;
use crate::ros::client::interfaces::rcl_interfaces::msg;
use crate::ros::client::interfaces::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters, SetParametersAtomically,
};
use crate::ros::client::messages::system_time;
use crate::ros::client::{ClientError, Node, ParameterValue, Publisher, Qos, Service};
use crate::ros::log::names::shown;

/// The services.
pub(crate) struct ParameterServices {
    list: Service<ListParameters::Service>,
    get: Service<GetParameters::Service>,
    types: Service<GetParameterTypes::Service>,
    describe: Service<DescribeParameters::Service>,
    set: Service<SetParameters::Service>,
    set_atomically: Service<SetParametersAtomically::Service>,
    events: Publisher<msg::ParameterEvent>,
    node: String,
}

impl ParameterServices {
    /// Offers the services.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        Ok(Self {
            list: node.service("~/list_parameters")?,
            get: node.service("~/get_parameters")?,
            types: node.service("~/get_parameter_types")?,
            describe: node.service("~/describe_parameters")?,
            set: node.service("~/set_parameters")?,
            set_atomically: node.service("~/set_parameters_atomically")?,
            events: node.publisher("/parameter_events", Qos::Reliable(1000))?,
            node: node.fully_qualified_name()?,
        })
    }

    /// Answers the requests that have arrived; `true` if a value was changed.
    pub(crate) fn answer_all(&mut self, parameters: &mut Parameters) -> bool {
        while let Some(request) = self.list.next() {
            let result = list(parameters, &request.message().prefixes, request.message().depth);
            request.respond(ListParameters::Response { result });
        }
        while let Some(request) = self.get.next() {
            let value = |name: &String| parameters.value(name).map(ParameterValue::to_message).unwrap_or_default();
            let values = request.message().names.iter().map(value).collect();
            request.respond(GetParameters::Response { values });
        }
        while let Some(request) = self.types.next() {
            let types = request
                .message()
                .names
                .iter()
                .map(|name| parameters.value(name).unwrap_or(&ParameterValue::NotSet).type_code())
                .collect();
            request.respond(GetParameterTypes::Response { types });
        }
        while let Some(request) = self.describe.next() {
            let describe = |name: &String| {
                let unknown = || msg::ParameterDescriptor { name: name.clone(), ..Default::default() };
                parameters.declaration(name).map_or_else(unknown, descriptor)
            };
            let descriptors = request.message().names.iter().map(describe).collect();
            request.respond(DescribeParameters::Response { descriptors });
        }
        let mut changed = Vec::new();
        while let Some(request) = self.set.next() {
            let set = |given: &msg::Parameter| {
                let set = parameters.set(&given.name, &(&given.value).into());
                note(parameters, given, set, &mut changed)
            };
            let results = request.message().parameters.iter().map(set).collect();
            request.respond(SetParameters::Response { results });
        }
        while let Some(request) = self.set_atomically.next() {
            let given = &request.message().parameters;
            let values: Vec<(&str, ParameterValue)> =
                given.iter().map(|given| (given.name.as_str(), (&given.value).into())).collect();
            let refused = values.iter().find_map(|(name, value)| {
                let problem = parameters.check(name, value).err()?;
                Some(format!("'{}': {problem}", shown(name)))
            });
            let together = || {
                let all: Vec<_> = values.iter().map(|(name, value)| (*name, value)).collect();
                parameters.check_steps(&all).err()
            };
            let result = match refused.or_else(together) {
                Some(reason) => msg::SetParametersResult { successful: false, reason },
                None => {
                    for (given, (name, value)) in given.iter().zip(&values) {
                        let set = parameters.set_checked(name, value);
                        note(parameters, given, set, &mut changed);
                    }
                    msg::SetParametersResult { successful: true, reason: String::new() }
                }
            };
            request.respond(SetParametersAtomically::Response { result });
        }
        let any = !changed.is_empty();
        if any {
            self.announce(changed);
        }
        any
    }

    fn announce(&self, changed: Vec<msg::Parameter>) {
        for parameter in &changed {
            tracing::info!("parameter '{}' changed", parameter.name);
        }
        let stamp = system_time();
        let event = msg::ParameterEvent {
            stamp,
            node: self.node.clone(),
            changed_parameters: changed,
            ..msg::ParameterEvent::default()
        };
        if let Err(error) = self.events.publish(&event) {
            tracing::debug!("/parameter_events: {error}");
        }
    }
}

/// The result of setting a value; a value that has `changed` is noted.
fn note(
    parameters: &Parameters,
    given: &msg::Parameter,
    set: Result<bool, String>,
    changed: &mut Vec<msg::Parameter>,
) -> msg::SetParametersResult {
    match set {
        Ok(other) => {
            if other && let Some(value) = parameters.value(&given.name) {
                changed.push(msg::Parameter { name: given.name.clone(), value: value.to_message() });
            }
            msg::SetParametersResult { successful: true, reason: String::new() }
        }
        Err(reason) => msg::SetParametersResult { successful: false, reason },
    }
}

/// Names below any of `prefixes` (all names if there are none), at most `depth` levels further down (0 is
/// unlimited).
fn list(parameters: &Parameters, prefixes: &[String], depth: u64) -> msg::ListParametersResult {
    let below = |name: &str, prefix: &str| {
        let rest = if prefix.is_empty() { Some(name) } else { name.strip_prefix(prefix)?.strip_prefix('.') };
        let rest = rest.or((name == prefix).then_some(""))?;
        Some(depth == 0 || (rest.matches('.').count() as u64) < depth)
    };
    let mut result = msg::ListParametersResult::default();
    for (declaration, _) in parameters.iter() {
        let name = &declaration.name;
        let wanted = if prefixes.is_empty() {
            below(name, "") == Some(true)
        } else {
            prefixes.iter().any(|prefix| below(name, prefix) == Some(true))
        };
        if wanted {
            result.names.push(name.clone());
            if let Some((prefix, _)) = name.rsplit_once('.')
                && result.prefixes.last().is_none_or(|last| last != prefix)
            {
                result.prefixes.push(prefix.to_owned());
            }
        }
    }
    result
}

fn descriptor(declaration: &Declaration) -> msg::ParameterDescriptor {
    let range = |from_value, to_value| vec![msg::FloatingPointRange { from_value, to_value, step: 0.0 }];
    let (floating_point_range, additional_constraints) = match declaration.kind {
        Kind::Number(low, high) => (range(low, high), String::new()),
        Kind::Choice(choices) => {
            let named = choices.iter().map(|choice| if choice.is_empty() { "''" } else { choice });
            (Vec::new(), format!("one of {}", named.collect::<Vec<_>>().join(", ")))
        }
        Kind::Vector(largest) => (Vec::new(), format!("three numbers from -{largest} to {largest}")),
        Kind::Bool | Kind::Text => (Vec::new(), String::new()),
    };
    msg::ParameterDescriptor {
        name: declaration.name.clone(),
        type_: declaration.default.type_code(),
        description: declaration.description.clone(),
        additional_constraints,
        read_only: !declaration.dynamic,
        floating_point_range,
        ..msg::ParameterDescriptor::default()
    }
}
