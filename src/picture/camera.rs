//! The viewpoint of a picture, and the projection of points to pixels.

use crate::math::Vector3;

/// Distance of the near plane over the camera's distance to its target. Objects nearer than it are not drawn.
/// \[-\]
const NEAR_SHARE: f64 = 1e-3;
/// Two unit directions whose cross product is shorter than this span no usable plane. \[-\]
const PARALLEL: f64 = 1e-9;

/// The effect of depth on size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Size decreases with depth.
    Perspective {
        /// Angle between the picture's lower and upper edge \[rad\].
        field_of_view: f64,
    },
    /// Size does not depend on depth.
    Orthographic {
        /// Height of the picture in the world \[m\].
        height: f64,
    },
}

/// A camera. View coordinates are x to the right, y up, z into the picture, from the eye \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye p_WE \[m\].
    pub eye: Vector3,
    right: Vector3,
    up: Vector3,
    forward: Vector3,
    near: f64,
    projection: Projection,
    /// Half the height of the visible region over the view depth in perspective; otherwise half that height
    /// \[m\].
    half_height: f64,
}

/// A point on the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenPoint {
    /// Pixels from the left edge.
    pub x: f64,
    /// Pixels from the upper edge.
    pub y: f64,
    /// Grows with the view depth, and is linear across the picture of every plane.
    pub depth: f64,
    /// The weight for interpolating values: 1/z in perspective, otherwise 1.
    pub weight: f64,
}

impl Camera {
    /// A camera at `eye` that looks at `target` (both \[m\], in W) with `up` upwards. If `eye` and `target`
    /// coincide, the camera looks along y. If it looks along `up`, another direction is taken as upwards.
    pub fn look_at(eye: &Vector3, target: &Vector3, up: &Vector3, projection: Projection) -> Self {
        let offset = target - eye;
        let distance = if offset.norm() > 0.0 { offset.norm() } else { 1.0 };
        let forward = if offset.norm() > 0.0 { offset / distance } else { Vector3::y() };
        let side = forward.cross(up);
        let right = if side.norm() > PARALLEL * up.norm() && up.norm() > 0.0 {
            side.normalize()
        } else {
            let other = if forward.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
            (other - forward * forward.dot(&other)).normalize()
        };
        let up = right.cross(&forward);
        let half_height = match projection {
            Projection::Perspective { field_of_view } => (0.5 * field_of_view).tan(),
            Projection::Orthographic { height } => 0.5 * height,
        };
        Self { eye: *eye, right, up, forward, near: NEAR_SHARE * distance, projection, half_height }
    }

    /// A camera at `distance` \[m\] from `target`, `azimuth` \[rad\] about z from the x axis and `elevation`
    /// \[rad\] above the horizontal, z upwards.
    pub fn orbit(target: &Vector3, azimuth: f64, elevation: f64, distance: f64, projection: Projection) -> Self {
        let out = Vector3::new(elevation.cos() * azimuth.cos(), elevation.cos() * azimuth.sin(), elevation.sin());
        Self::look_at(&(target + out * distance), target, &Vector3::z(), projection)
    }

    /// `p_W` in view coordinates \[m\].
    pub fn view(&self, p_W: &Vector3) -> Vector3 {
        self.view_direction(&(p_W - self.eye))
    }

    /// The components of a direction of W to the right, up and into the picture.
    pub fn view_direction(&self, v_W: &Vector3) -> Vector3 {
        Vector3::new(v_W.dot(&self.right), v_W.dot(&self.up), v_W.dot(&self.forward))
    }

    /// The direction in W of the given components to the right, up and into the picture.
    pub fn world_direction(&self, v: &Vector3) -> Vector3 {
        self.right * v.x + self.up * v.y + self.forward * v.z
    }

    /// The depth of the near plane \[m\].
    pub fn near(&self) -> f64 {
        self.near
    }

    /// Projects the point `p`, in view coordinates, onto a picture of `width` x `height` pixels. Its depth
    /// must be at least [`Camera::near`].
    pub fn project(&self, p: &Vector3, width: f64, height: f64) -> ScreenPoint {
        let (x0, y0) = (0.5 * width, 0.5 * height);
        match self.projection {
            Projection::Perspective { .. } => {
                let scale = y0 / self.half_height / p.z;
                ScreenPoint { x: x0 + scale * p.x, y: y0 - scale * p.y, depth: -1.0 / p.z, weight: 1.0 / p.z }
            }
            Projection::Orthographic { height: extent } => {
                let scale = height / extent;
                ScreenPoint { x: x0 + scale * p.x, y: y0 - scale * p.y, depth: p.z, weight: 1.0 }
            }
        }
    }

    /// `p` moved a little towards the eye, by `share` of its depth or of the picture's height, without moving
    /// in the picture. Lines on a surface are then drawn in front of it.
    pub fn nearer(&self, p: &Vector3, share: f64) -> Vector3 {
        match self.projection {
            Projection::Perspective { .. } => p * (1.0 - share),
            Projection::Orthographic { height } => Vector3::new(p.x, p.y, p.z - share * height),
        }
    }

    /// Start and unit direction, in W, of the line of sight through the pixel position (x, y).
    pub fn ray(&self, x: f64, y: f64, width: f64, height: f64) -> (Vector3, Vector3) {
        let (u, v) = ((x - 0.5 * width) / (0.5 * height), (0.5 * height - y) / (0.5 * height));
        match self.projection {
            Projection::Perspective { .. } => {
                let t = self.half_height;
                (self.eye, self.world_direction(&Vector3::new(u * t, v * t, 1.0)).normalize())
            }
            Projection::Orthographic { .. } => {
                let half = self.half_height;
                (self.eye + self.right * (u * half) + self.up * (v * half), self.forward)
            }
        }
    }

    /// Half the height of the visible region at the view depth `z` \[m\].
    pub fn half_height(&self, z: f64) -> f64 {
        match self.projection {
            Projection::Perspective { .. } => z * self.half_height,
            Projection::Orthographic { .. } => self.half_height,
        }
    }

    /// The width of a pixel \[m\] at the view depth `z` \[m\] in a picture `height` pixels high.
    pub fn pixel_size(&self, z: f64, height: f64) -> f64 {
        match self.projection {
            Projection::Perspective { .. } => 2.0 * z * self.half_height / height,
            Projection::Orthographic { height: extent } => extent / height,
        }
    }
}
