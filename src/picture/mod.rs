//! Pictures: a small renderer without windows or graphics hardware. It draws scenes with their contact
//! patches, contact surfaces in their plane, and tetrahedral meshes cut open. The same input gives the same
//! bytes.

mod camera;
mod canvas;
mod clip;
mod color;
mod contact_picture;
mod contour;
mod error;
mod frame;
mod ground;
mod image;
mod labels;
mod legend;
mod light;
mod mesh_picture;
mod palette;
mod parts;
mod patches;
mod png_file;
mod scene_picture;
mod scene_view;
mod solid;
mod text;

pub use camera::{Camera, Projection, ScreenPoint};
pub use canvas::{Canvas, Coat, Paint};
pub use color::{Color, ColorScale, FAINT_INK, INK, PAPER, mix};
pub use contact_picture::{ContactPanel, contact_surface};
pub use contour::contour;
pub use error::PictureError;
pub use frame::{ball, fit};
pub use ground::Ground;
pub use image::{Align, Image};
pub use labels::Labels;
pub use light::Gloss;
pub use mesh_picture::mesh_preview;
pub use png_file::{encode_animation, encode_png, write_animation, write_png};
pub use scene_picture::{scene_picture, scene_pictures};
pub use scene_view::{ScenePicture, View};
pub use solid::{Solid, SolidColors};
