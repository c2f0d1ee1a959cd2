//! Pictures as PNG files: the door of the crate `png`.

use std::path::Path;

use super::{Image, PictureError};

/// The picture as the bytes of a PNG file (8 bits a channel, no alpha). The same picture gives the same bytes.
///
/// # Errors
/// What the encoder refuses.
pub fn encode_png(image: &Image) -> Result<Vec<u8>, PictureError> {
    let fail = |error: png::EncodingError| PictureError::Encode { detail: error.to_string() };
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(image.width()), side(image.height()));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(image.bytes()).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(bytes)
}

/// Writes the picture to a PNG file.
///
/// # Errors
/// What the encoder refuses, or a file that cannot be written.
pub fn write_png(image: &Image, file: &Path) -> Result<(), PictureError> {
    let bytes = encode_png(image)?;
    std::fs::write(file, bytes).map_err(|source| PictureError::Write { file: file.to_path_buf(), source })
}
