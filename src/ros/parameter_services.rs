//! The parameter services of a node, and /parameter_events. What r2r brings along knows neither ranges nor events.

use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

use futures::{FutureExt, Stream, StreamExt};
use r2r::qos::QosProfile;
use r2r::rcl_interfaces::msg;
use r2r::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters, SetParametersAtomically,
};
use r2r::{Node, Publisher, ServiceRequest, WrappedServiceTypeSupport};

use super::answers::answer;
use super::names::shown;
use super::parameters::{Declaration, Kind, Parameters, Value};

/// Requests of a service.
pub(super) type Requests<S> = Pin<Box<dyn Stream<Item = ServiceRequest<S>> + Send>>;

/// Requests that a service keeps while it is busy.
const REQUESTS_KEPT: usize = 100;

/// Offers a service.
pub(super) fn serve<S: WrappedServiceTypeSupport + 'static>(node: &mut Node, name: &str) -> r2r::Result<Requests<S>> {
    let qos = QosProfile { depth: REQUESTS_KEPT, ..QosProfile::services_default() };
    Ok(Box::pin(node.create_service::<S>(name, qos)?))
}

/// The next request that has come, if there is one.
pub(super) fn next<S: WrappedServiceTypeSupport + 'static>(requests: &mut Requests<S>) -> Option<ServiceRequest<S>> {
    requests.next().now_or_never().flatten()
}

// The constants of rcl_interfaces/ParameterType.
const NOT_SET: u8 = 0;
const BOOL: u8 = 1;
const INTEGER: u8 = 2;
const DOUBLE: u8 = 3;
const STRING: u8 = 4;
const DOUBLE_ARRAY: u8 = 8;
const TYPE_NAMES: [&str; 10] = [
    "nothing",
    "boolean",
    "integer",
    "double",
    "string",
    "byte array",
    "boolean array",
    "integer array",
    "double array",
    "string array",
];

fn to_value(message: &msg::ParameterValue) -> Value {
    match message.type_ {
        NOT_SET => Value::NotSet,
        BOOL => Value::Bool(message.bool_value),
        INTEGER => Value::Integer(message.integer_value),
        DOUBLE => Value::Number(message.double_value),
        STRING => Value::Text(message.string_value.clone()),
        DOUBLE_ARRAY => Value::Numbers(message.double_array_value.clone()),
        other => Value::Other(TYPE_NAMES.get(usize::from(other)).copied().unwrap_or("an unknown type")),
    }
}

fn to_message(value: &Value) -> msg::ParameterValue {
    let mut message = msg::ParameterValue { type_: type_of(value), ..msg::ParameterValue::default() };
    match value {
        Value::Bool(value) => message.bool_value = *value,
        Value::Integer(value) => message.integer_value = *value,
        Value::Number(value) => message.double_value = *value,
        Value::Text(value) => message.string_value.clone_from(value),
        Value::Numbers(values) => message.double_array_value.clone_from(values),
        Value::NotSet | Value::Other(_) => {}
    }
    message
}

fn type_of(value: &Value) -> u8 {
    match value {
        Value::NotSet | Value::Other(_) => NOT_SET,
        Value::Bool(_) => BOOL,
        Value::Integer(_) => INTEGER,
        Value::Number(_) => DOUBLE,
        Value::Text(_) => STRING,
        Value::Numbers(_) => DOUBLE_ARRAY,
    }
}

/// A value as the node was started with it.
pub(super) fn initial_value(value: &r2r::ParameterValue) -> Value {
    match value {
        r2r::ParameterValue::NotSet => Value::NotSet,
        r2r::ParameterValue::Bool(value) => Value::Bool(*value),
        r2r::ParameterValue::Integer(value) => Value::Integer(*value),
        r2r::ParameterValue::Double(value) => Value::Number(*value),
        r2r::ParameterValue::String(value) => Value::Text(value.clone()),
        r2r::ParameterValue::DoubleArray(values) => Value::Numbers(values.clone()),
        r2r::ParameterValue::IntegerArray(values) => Value::Numbers(values.iter().map(|value| *value as f64).collect()),
        other => Value::Other(other.type_name()),
    }
}

/// The services.
pub(super) struct ParameterServices {
    list: Requests<ListParameters::Service>,
    get: Requests<GetParameters::Service>,
    types: Requests<GetParameterTypes::Service>,
    describe: Requests<DescribeParameters::Service>,
    set: Requests<SetParameters::Service>,
    set_atomically: Requests<SetParametersAtomically::Service>,
    events: Publisher<msg::ParameterEvent>,
    node: String,
}

impl ParameterServices {
    pub(super) fn new(node: &mut Node) -> r2r::Result<Self> {
        Ok(Self {
            list: serve(node, "~/list_parameters")?,
            get: serve(node, "~/get_parameters")?,
            types: serve(node, "~/get_parameter_types")?,
            describe: serve(node, "~/describe_parameters")?,
            set: serve(node, "~/set_parameters")?,
            set_atomically: serve(node, "~/set_parameters_atomically")?,
            events: node.create_publisher("/parameter_events", super::publish::reliable(1000))?,
            node: node.fully_qualified_name()?,
        })
    }

    /// Answers what has come; `true` when a value was changed.
    pub(super) fn answer_all(&mut self, parameters: &mut Parameters) -> bool {
        while let Some(request) = next(&mut self.list) {
            let result = list(parameters, &request.message.prefixes, request.message.depth);
            answer(request, ListParameters::Response { result });
        }
        while let Some(request) = next(&mut self.get) {
            let value = |name: &String| parameters.value(name).map(to_message).unwrap_or_default();
            let values = request.message.names.iter().map(value).collect();
            answer(request, GetParameters::Response { values });
        }
        while let Some(request) = next(&mut self.types) {
            let types =
                request.message.names.iter().map(|name| parameters.value(name).map_or(NOT_SET, type_of)).collect();
            answer(request, GetParameterTypes::Response { types });
        }
        while let Some(request) = next(&mut self.describe) {
            let describe = |name: &String| {
                let unknown = || msg::ParameterDescriptor { name: name.clone(), ..Default::default() };
                parameters.declaration(name).map_or_else(unknown, descriptor)
            };
            let descriptors = request.message.names.iter().map(describe).collect();
            answer(request, DescribeParameters::Response { descriptors });
        }
        let mut changed = Vec::new();
        while let Some(request) = next(&mut self.set) {
            let results = request.message.parameters.iter().map(|given| set(parameters, given, &mut changed)).collect();
            answer(request, SetParameters::Response { results });
        }
        while let Some(request) = next(&mut self.set_atomically) {
            let given = &request.message.parameters;
            let refused = given.iter().find_map(|given| {
                let problem = parameters.check(&given.name, &to_value(&given.value)).err()?;
                Some(format!("'{}': {problem}", shown(&given.name)))
            });
            let result = match refused {
                Some(reason) => msg::SetParametersResult { successful: false, reason },
                None => {
                    given.iter().for_each(|given| drop(set(parameters, given, &mut changed)));
                    msg::SetParametersResult { successful: true, reason: String::new() }
                }
            };
            answer(request, SetParametersAtomically::Response { result });
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

/// Now, by the system's clock.
pub(super) fn system_time() -> r2r::builtin_interfaces::msg::Time {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    r2r::builtin_interfaces::msg::Time { sec: now.as_secs() as i32, nanosec: now.subsec_nanos() }
}

fn set(
    parameters: &mut Parameters,
    given: &msg::Parameter,
    changed: &mut Vec<msg::Parameter>,
) -> msg::SetParametersResult {
    match parameters.set(&given.name, &to_value(&given.value)) {
        Ok(other) => {
            if other && let Some(value) = parameters.value(&given.name) {
                changed.push(msg::Parameter { name: given.name.clone(), value: to_message(value) });
            }
            msg::SetParametersResult { successful: true, reason: String::new() }
        }
        Err(reason) => msg::SetParametersResult { successful: false, reason },
    }
}

/// Names below any of `prefixes` (all where there are none), at most `depth` parts further down (0 is any).
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
        type_: type_of(&declaration.default),
        description: declaration.description.clone(),
        additional_constraints,
        read_only: !declaration.dynamic,
        floating_point_range,
        ..msg::ParameterDescriptor::default()
    }
}
