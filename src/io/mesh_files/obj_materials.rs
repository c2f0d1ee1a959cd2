//! The materials of an OBJ file: its faces name them, and material files (.mtl) state their colours.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::addresses::is_below;
use super::welder::Color;
use crate::io::limits;

/// The largest number of material files; all together are no longer than [`limits::TEXT_BYTES_MAX`].
const LIBRARIES_MAX: usize = 100;

/// The material files and materials that an OBJ file names.
#[derive(Default)]
pub(super) struct Uses {
    libraries: BTreeSet<String>,
    /// The first face of each run of faces, and the name of its material.
    runs: Vec<(usize, String)>,
}

/// Colours by the names of materials. A material with a texture has none.
type Colors = BTreeMap<String, Option<Color>>;

impl Uses {
    /// Adds the material files of a line: several, or one whose name contains blanks.
    pub(super) fn library(&mut self, names: &str) {
        let is_file = |name: &str| name.to_ascii_lowercase().ends_with(".mtl");
        let several = names.split_whitespace().all(is_file);
        let names = if several { names.split_whitespace().collect() } else { vec![names] };
        for name in names {
            if self.libraries.len() <= LIBRARIES_MAX {
                self.libraries.insert(name.to_owned());
            }
        }
    }

    /// The faces from the one with the number `face` on have this material.
    pub(super) fn material(&mut self, face: usize, name: String) {
        // A run without faces is replaced, so that their number is that of the faces at most.
        match self.runs.last_mut().filter(|(first, _)| *first == face) {
            Some((_, last)) => *last = name,
            None => self.runs.push((face, name)),
        }
    }

    /// The first face of each run with its colour, and notes about material files in `folder` that are not
    /// read.
    pub(super) fn colors(self, folder: &Path) -> (Vec<(usize, Option<Color>)>, Vec<String>) {
        let (mut colors, mut notes) = (Colors::new(), Vec::new());
        let mut left = limits::TEXT_BYTES_MAX;
        for name in self.libraries.iter().take(LIBRARIES_MAX) {
            let unread =
                |why: &str| format!("the material file `{name}` is not read, so its colours are missing: {why}");
            // Some programs write the separator of Windows.
            let relative = name.replace('\\', "/");
            if !is_below(Path::new(&relative)) {
                notes.push(unread("it is neither in the folder of the mesh nor below; copy it there"));
                continue;
            }
            let path = folder.join(relative);
            // A pipe would be waited for.
            if path.exists() && !path.is_file() {
                notes.push(unread("it is not a file; name one"));
                continue;
            }
            match limits::read(&path, left) {
                Ok(bytes) => {
                    left -= bytes.len() as u64;
                    read(&String::from_utf8_lossy(&bytes), &mut colors);
                }
                Err(error) => notes.push(unread(limits::way_out(&error))),
            }
        }
        if self.libraries.len() > LIBRARIES_MAX {
            notes.push(format!("only {LIBRARIES_MAX} material files are read; merge them"));
        }
        // A comment may follow the name.
        let named = |name: &str| colors.get(name).or_else(|| colors.get(name.split_once(" #")?.0.trim_end()));
        let color = |(face, name): (usize, String)| (face, named(&name).copied().flatten());
        (self.runs.into_iter().map(color).collect(), notes)
    }
}

/// Adds the materials of a file: their diffuse reflectance `Kd`.
fn read(text: &str, colors: &mut Colors) {
    let (mut material, mut textured) = (None, false);
    for line in text.split(['\n', '\r']).map(str::trim) {
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (keyword, material) {
            ("newmtl", _) => {
                (material, textured) = (Some(rest.trim()), false);
                colors.insert(rest.trim().to_owned(), None);
            }
            ("Kd", Some(name)) if !textured => _ = colors.insert(name.to_owned(), rgb(rest)),
            ("map_Kd", Some(name)) => {
                textured = true;
                colors.insert(name.to_owned(), None);
            }
            _ => {}
        }
    }
}

/// Three numbers, or one for all channels; `None` for spectra and other systems of colours.
fn rgb(words: &str) -> Option<Color> {
    let channel = |word: &str| word.parse().ok().filter(|number: &f32| number.is_finite()).map(|x| x.clamp(0.0, 1.0));
    let mut words = words.split_whitespace().take_while(|word| !word.starts_with('#'));
    let red = channel(words.next()?)?;
    match (words.next(), words.next()) {
        (None, _) => Some([red; 3]),
        (Some(green), Some(blue)) => Some([red, channel(green)?, channel(blue)?]),
        (Some(_), None) => None,
    }
}
