//! Values of parameters: those the process was started with, and those in messages.

use super::interfaces::rcl_interfaces::msg;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParameterValue {
    NotSet,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    /// A value whose type no parameter of this node has; holds the name of the type.
    Other(&'static str),
}

// The constants of rcl_interfaces/ParameterType.
const NOT_SET: u8 = 0;
const BOOL: u8 = 1;
const INTEGER: u8 = 2;
const DOUBLE: u8 = 3;
const STRING: u8 = 4;
const INTEGER_ARRAY: u8 = 7;
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

impl ParameterValue {
    /// Its type, for an error message.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Other(name) => name,
            known => TYPE_NAMES[usize::from(known.type_code())],
        }
    }

    /// Its type, as a constant of rcl_interfaces/ParameterType.
    pub(crate) fn type_code(&self) -> u8 {
        match self {
            Self::NotSet | Self::Other(_) => NOT_SET,
            Self::Bool(_) => BOOL,
            Self::Integer(_) => INTEGER,
            Self::Number(_) => DOUBLE,
            Self::Text(_) => STRING,
            Self::Numbers(_) => DOUBLE_ARRAY,
        }
    }

    /// The value as a message.
    pub(crate) fn to_message(&self) -> msg::ParameterValue {
        let mut message = msg::ParameterValue { type_: self.type_code(), ..msg::ParameterValue::default() };
        match self {
            Self::Bool(value) => message.bool_value = *value,
            Self::Integer(value) => message.integer_value = *value,
            Self::Number(value) => message.double_value = *value,
            Self::Text(value) => message.string_value.clone_from(value),
            Self::Numbers(values) => message.double_array_value.clone_from(values),
            Self::NotSet | Self::Other(_) => {}
        }
        message
    }
}

impl From<&msg::ParameterValue> for ParameterValue {
    fn from(message: &msg::ParameterValue) -> Self {
        match message.type_ {
            NOT_SET => Self::NotSet,
            BOOL => Self::Bool(message.bool_value),
            INTEGER => Self::Integer(message.integer_value),
            DOUBLE => Self::Number(message.double_value),
            STRING => Self::Text(message.string_value.clone()),
            // `ros2 param set` takes [0, 0, -10] for integers.
            INTEGER_ARRAY => Self::Numbers(message.integer_array_value.iter().map(|value| *value as f64).collect()),
            DOUBLE_ARRAY => Self::Numbers(message.double_array_value.clone()),
            other => Self::Other(TYPE_NAMES.get(usize::from(other)).copied().unwrap_or("an unknown type")),
        }
    }
}
