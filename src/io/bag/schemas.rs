//! The message types of a bag: their names and definitions, as ROS 2 specifies them (`ros2msg`).

/// A message type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageType {
    /// rosgraph_msgs/Clock.
    Clock,
    /// sensor_msgs/JointState.
    JointState,
    /// geometry_msgs/WrenchStamped.
    WrenchStamped,
    /// geometry_msgs/PoseStamped.
    PoseStamped,
    /// tf2_msgs/TFMessage.
    TfMessage,
    /// std_msgs/Float64.
    Float64,
    /// std_msgs/String.
    String,
    /// sensor_msgs/PointCloud2.
    PointCloud2,
}

const TIME: (&str, &str) = ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n");
const HEADER: (&str, &str) = ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n");
const VECTOR3: (&str, &str) = ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n");
const POINT: (&str, &str) = ("geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n");
const QUATERNION: (&str, &str) = ("geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n");
const POSE: (&str, &str) =
    ("geometry_msgs/Pose", "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n");
const TRANSFORM: (&str, &str) =
    ("geometry_msgs/Transform", "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n");
const WRENCH: (&str, &str) = ("geometry_msgs/Wrench", "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n");
const TRANSFORM_STAMPED: (&str, &str) = (
    "geometry_msgs/TransformStamped",
    "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
);
const POINT_FIELD: (&str, &str) = (
    "sensor_msgs/PointField",
    "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\nuint8 FLOAT32=7\n\
     uint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n",
);

/// The separator between the definitions of a message and of the types inside it.
const SEPARATOR: &str = "================================================================================\n";

impl MessageType {
    /// `package/msg/Name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "rosgraph_msgs/msg/Clock",
            Self::JointState => "sensor_msgs/msg/JointState",
            Self::WrenchStamped => "geometry_msgs/msg/WrenchStamped",
            Self::PoseStamped => "geometry_msgs/msg/PoseStamped",
            Self::TfMessage => "tf2_msgs/msg/TFMessage",
            Self::Float64 => "std_msgs/msg/Float64",
            Self::String => "std_msgs/msg/String",
            Self::PointCloud2 => "sensor_msgs/msg/PointCloud2",
        }
    }

    /// The definition, and those of the types inside it.
    pub(super) fn definition(self) -> String {
        let (own, parts): (&str, &[(&str, &str)]) = match self {
            Self::Clock => ("builtin_interfaces/Time clock\n", &[TIME]),
            Self::JointState => (
                "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
                &[HEADER, TIME],
            ),
            Self::WrenchStamped => {
                ("std_msgs/Header header\ngeometry_msgs/Wrench wrench\n", &[HEADER, TIME, WRENCH, VECTOR3])
            }
            Self::PoseStamped => {
                ("std_msgs/Header header\ngeometry_msgs/Pose pose\n", &[HEADER, TIME, POSE, POINT, QUATERNION])
            }
            Self::TfMessage => (
                "geometry_msgs/TransformStamped[] transforms\n",
                &[TRANSFORM_STAMPED, HEADER, TIME, TRANSFORM, VECTOR3, QUATERNION],
            ),
            Self::Float64 => ("float64 data\n", &[]),
            Self::String => ("string data\n", &[]),
            Self::PointCloud2 => (
                "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\n\
                 bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n",
                &[HEADER, TIME, POINT_FIELD],
            ),
        };
        let mut text = own.to_owned();
        for (name, definition) in parts {
            text.push_str(SEPARATOR);
            text.push_str(&format!("MSG: {name}\n{definition}"));
        }
        text
    }
}
