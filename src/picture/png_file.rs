//! Pictures as PNG files, moving ones as animated PNG. Only this file uses the crate `png`.

use std::path::Path;

use super::palette::Palette;
use super::{Image, PictureError};

/// The time of a frame is a fraction of a second with this denominator: its numerator is in milliseconds.
const MILLISECONDS: u16 = 1000;

/// The picture as the bytes of a PNG file (8 bits a channel, no alpha). The same picture gives the same
/// bytes.
///
/// # Errors
/// The errors of the encoder.
pub fn encode_png(image: &Image) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(image.width()), side(image.height()));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(image.bytes()).map_err(refused)?;
    writer.finish().map_err(refused)?;
    Ok(bytes)
}

/// Pictures of one size as the bytes of one animated PNG file, each shown for `frame_ms` \[ms\], in an
/// endless loop. Colours are reduced to 255; a frame after the first holds the rectangle that has changed.
/// The same pictures give the same bytes.
///
/// # Errors
/// No picture, pictures of different sizes, or an error of the encoder.
pub fn encode_animation(images: &[Image], frame_ms: u16) -> Result<Vec<u8>, PictureError> {
    let Some(first) = images.first() else {
        return Err(PictureError::Empty { what: "a moving picture needs at least one frame" });
    };
    let (width, height) = (first.width(), first.height());
    if images.iter().any(|image| (image.width(), image.height()) != (width, height)) {
        return Err(PictureError::Encode { detail: "the frames have different sizes; draw all with one".to_owned() });
    }
    let palette = Palette::of(images);
    // The index after the colours is transparent and leaves the previous pixel.
    let clear = palette.colors.len();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(width), side(height));
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_palette(palette.colors.iter().copied().chain([[0; 3]]).flatten().collect::<Vec<u8>>());
    encoder.set_trns((0..=clear).map(|index| if index == clear { 0 } else { 255 }).collect::<Vec<u8>>());
    encoder.set_animated(u32::try_from(images.len()).unwrap_or(u32::MAX), 0).map_err(refused)?;
    encoder.set_frame_delay(frame_ms, MILLISECONDS).map_err(refused)?;
    encoder.set_blend_op(png::BlendOp::Over).map_err(refused)?;
    let mut writer = encoder.write_header().map_err(refused)?;
    let mut shown = palette.indices(first);
    writer.write_image_data(&shown).map_err(refused)?;
    for image in &images[1..] {
        let next = palette.indices(image);
        let Changed { x, y, width: across, height: down } = Changed::between(&shown, &next, width);
        // The first frame is the whole picture, so that no later rectangle extends beyond it.
        writer.reset_frame_position().map_err(refused)?;
        writer.set_frame_dimension(side(across), side(down)).map_err(refused)?;
        writer.set_frame_position(side(x), side(y)).map_err(refused)?;
        let mut frame = Vec::with_capacity(across * down);
        for row in y..y + down {
            let range = row * width + x..row * width + x + across;
            let pixels = shown[range.clone()].iter().zip(&next[range]);
            frame.extend(pixels.map(|(old, new)| if old == new { clear as u8 } else { *new }));
        }
        writer.write_image_data(&frame).map_err(refused)?;
        shown = next;
    }
    writer.finish().map_err(refused)?;
    Ok(bytes)
}

/// The rectangle in which two frames differ \[px\]; one pixel if they are equal, since a frame cannot be
/// empty.
struct Changed {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Changed {
    fn between(old: &[u8], new: &[u8], width: usize) -> Self {
        let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
        for at in (0..old.len()).filter(|at| old[*at] != new[*at]) {
            let (x, y) = (at % width, at / width);
            (left, right, top, bottom) = (left.min(x), right.max(x), top.min(y), bottom.max(y));
        }
        if left > right {
            return Self { x: 0, y: 0, width: 1, height: 1 };
        }
        Self { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
    }
}

/// Writes the picture to a PNG file.
///
/// # Errors
/// An error of the encoder, or a file that cannot be written.
pub fn write_png(image: &Image, file: &Path) -> Result<(), PictureError> {
    write(&encode_png(image)?, file)
}

/// Writes pictures to an animated PNG file; see [`encode_animation`].
///
/// # Errors
/// The errors of [`encode_animation`], or a file that cannot be written.
pub fn write_animation(images: &[Image], frame_ms: u16, file: &Path) -> Result<(), PictureError> {
    write(&encode_animation(images, frame_ms)?, file)
}

fn write(bytes: &[u8], file: &Path) -> Result<(), PictureError> {
    std::fs::write(file, bytes).map_err(|source| PictureError::Write { file: file.to_path_buf(), source })
}

fn side(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn refused(error: png::EncodingError) -> PictureError {
    PictureError::Encode { detail: error.to_string() }
}
