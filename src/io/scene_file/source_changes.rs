//! The models that were taken out of a scene file, and those that were added, as bytes for checkpoints.

use std::path::PathBuf;

use crate::math::{ByteReader, ByteWriter, BytesError, RigidTransform};

/// A robot or an object that is not part of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its name among the models.
    pub name: String,
    /// The text of its URDF.
    pub urdf: String,
    /// The name of the URDF in messages, instead of a file.
    pub label: PathBuf,
    /// The folder of the URDF's relative paths.
    pub folder: PathBuf,
    /// The pose of its root link at the start, in the world.
    pub X_WB: RigidTransform,
}

/// The differences between a scene and its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceChanges {
    /// The models of the file that were taken out.
    pub removed: Vec<String>,
    /// The models that were added, in their order, and whether the names of their links and joints are
    /// prefixed with the model's name.
    pub added: Vec<(Entity, bool)>,
}

impl SourceChanges {
    /// The names of the added models.
    pub fn added_names(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(|(entity, _)| entity.name.as_str())
    }

    /// Both kinds of changes, in words.
    pub fn summary(&self) -> String {
        let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let removed = self.removed.iter().map(String::as_str).collect();
        format!("entities spawned: {}; entities deleted: {}", list(self.added_names().collect()), list(removed))
    }

    /// Whether the same models were taken out and added, by their names.
    pub fn has_models_of(&self, other: &Self) -> bool {
        let sorted = |changes: &Self| {
            let mut removed = changes.removed.clone();
            removed.sort_unstable();
            removed
        };
        sorted(self) == sorted(other) && self.added_names().eq(other.added_names())
    }

    /// Encodes the changes as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::default();
        writer.len(self.removed.len());
        self.removed.iter().for_each(|name| writer.text(name));
        writer.len(self.added.len());
        for (Entity { name, urdf, label, folder, X_WB }, prefixed) in &self.added {
            for text in [name, urdf, &label.to_string_lossy().into_owned(), &folder.to_string_lossy().into_owned()] {
                writer.text(text);
            }
            X_WB.translation.vector.iter().for_each(|number| writer.f64(*number));
            X_WB.rotation.matrix().iter().for_each(|number| writer.f64(*number));
            writer.flag(*prefixed);
        }
        writer.into_bytes()
    }

    /// Decodes the bytes of [`SourceChanges::to_bytes`].
    ///
    /// # Errors
    /// The bytes do not encode changes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = ByteReader::new(bytes);
        let len = reader.len(8)?;
        let removed = (0..len).map(|_| reader.text().map(str::to_owned)).collect::<Result<_, _>>()?;
        let len = reader.len(129)?;
        let added = (0..len).map(|_| read_entity(&mut reader)).collect::<Result<_, _>>()?;
        reader.end()?;
        Ok(Self { removed, added })
    }
}

fn read_entity(reader: &mut ByteReader<'_>) -> Result<(Entity, bool), BytesError> {
    let (name, urdf) = (reader.text()?.to_owned(), reader.text()?.to_owned());
    let (label, folder) = (reader.text()?.into(), reader.text()?.into());
    let mut X_WB = RigidTransform::identity();
    for axis in 0..3 {
        X_WB.translation.vector[axis] = reader.finite()?;
    }
    let mut matrix = *X_WB.rotation.matrix();
    for entry in &mut matrix {
        *entry = reader.finite()?;
    }
    X_WB.rotation = nalgebra::Rotation3::from_matrix_unchecked(matrix);
    Ok((Entity { name, urdf, label, folder, X_WB }, reader.flag()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_and_cut_ones_are_refused() {
        let X_WB = RigidTransform::new(nalgebra::vector![1.0, 2.0, 3.0], nalgebra::vector![0.1, 0.2, 0.3]);
        let entity = Entity {
            name: "brick".to_owned(),
            urdf: "<robot/>".to_owned(),
            label: "brick.urdf".into(),
            folder: "/robots".into(),
            X_WB,
        };
        let changes = SourceChanges { removed: vec!["cup".to_owned()], added: vec![(entity, true)] };
        let bytes = changes.to_bytes();
        assert_eq!(SourceChanges::from_bytes(&bytes), Ok(changes.clone()));
        assert!((0..bytes.len()).all(|len| SourceChanges::from_bytes(&bytes[..len]).is_err()));
        assert_eq!(changes.summary(), "entities spawned: brick; entities deleted: cup");
        assert!(!changes.has_models_of(&SourceChanges::default()));
    }
}
