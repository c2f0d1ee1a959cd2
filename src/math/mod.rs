//! Typed indices, spatial vectors and small dense kernels. Depends on nothing else in the crate.

mod block_diagonal;
pub mod block_symmetric;
mod bytes;
pub mod dense;
pub mod dense_lu;
mod elimination_order;
pub mod gmres;
mod index;
pub mod lanes;
pub mod padded;
mod random;
mod spatial;

pub use block_diagonal::BlockDiagonal;
pub use bytes::{ByteReader, ByteWriter, BytesError};
pub use index::{BodyIndex, DofIndex, GeometryIndex, Index, IndexVec, JointIndex, ScalarJointIndex};
pub(crate) use random::Random;
pub use spatial::{
    Matrix3, Matrix6, RigidTransform, Rotation, SpatialForce, SpatialInertia, SpatialVelocity, Vector3, Vector6,
    rotation_vector, skew,
};
