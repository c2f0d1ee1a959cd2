//! Tessellations of shapes.
use super::{GeometryError, HydroelasticGeometry, HydroelasticParameters, Shape};

pub(crate) fn hydroelastic(
    _shape: &Shape,
    parameters: &HydroelasticParameters,
) -> Result<HydroelasticGeometry, GeometryError> {
    match parameters.compliant {
        Some(_) => Err(GeometryError::NoSlabThickness),
        None => Ok(HydroelasticGeometry::RigidHalfSpace),
    }
}
