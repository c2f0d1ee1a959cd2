//! Reads CSV files with a header, such as recordings: columns of numbers or texts, and their units, which
//! stand in comment lines before the header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::io::limits::{MESH_BYTES_MAX, read, way_out};

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The text after `#` in the first line, if that is a comment without a unit.
    pub title: Option<String>,
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// Its unit, from a comment line before the header, such as `# [m] x y z`.
    pub unit: Option<String>,
    /// Its cells.
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Texts: the first cell is not a number.
    Texts(Vec<String>),
}

impl Column {
    /// The numbers of the column, if it is one of numbers.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.cells {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Texts(_) => None,
        }
    }

    /// The texts of the column, if it is one of texts.
    pub fn texts(&self) -> Option<&[String]> {
        match &self.cells {
            Cells::Texts(texts) => Some(texts),
            Cells::Numbers(_) => None,
        }
    }
}

impl Table {
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// The reason why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error("cannot read {}: {}", file.display(), way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A line of the file is not a row of the table.
    #[error("{}:{line}: {problem}", file.display())]
    Row {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The problem and the way out.
        problem: String,
    },
    /// There are no rows.
    #[error(
        "{}: it has no rows; give a CSV file whose first line names the columns, as `isobar run --csv` writes",
        file.display()
    )]
    Empty {
        /// The file.
        file: PathBuf,
    },
}

/// Reads a table. Lines that start with `#` are comments.
///
/// # Errors
/// A file that cannot be read, two columns of one name, a row of another length than the header, a cell that
/// is no number in a column that starts with one, or no rows.
pub fn read_table(file: &Path) -> Result<Table, TableError> {
    let bytes = read(file, MESH_BYTES_MAX).map_err(|source| TableError::Read { file: file.to_path_buf(), source })?;
    parse_table(&bytes, file)
}

/// Does the same as [`read_table`] with the contents of a file; messages name `file`.
///
/// # Errors
/// The errors of [`read_table`] except those of the file.
pub fn parse_table(bytes: &[u8], file: &Path) -> Result<Table, TableError> {
    let row_error = |line, problem: String| TableError::Row { file: file.to_path_buf(), line, problem };
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes);
    let bad_row = |error: csv::Error, fallback: u64| {
        let line = error.position().map_or(fallback, csv::Position::line);
        let problem = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("the row has {len} cells and the header {expected_len}; remove or add cells")
            }
            csv::ErrorKind::Utf8 { .. } => "it is not text in UTF-8; save the file in that encoding".to_owned(),
            _ => "it is no row of a CSV file; check the line".to_owned(),
        };
        row_error(line, problem)
    };
    let names: Vec<String> = reader.headers().map_err(|error| bad_row(error, 1))?.iter().map(str::to_owned).collect();
    let header_line = reader.position().line().saturating_sub(1).max(1);
    for (number, name) in names.iter().enumerate() {
        if names[..number].contains(name) {
            return Err(row_error(header_line, format!("two columns are named `{name}`; rename one")));
        }
    }
    let mut cells: Vec<Cells> = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| bad_row(error, header_line + 1))?;
        let line = row.position().map_or(0, csv::Position::line);
        if cells.is_empty() {
            let empty = |cell: &str| match cell.parse::<f64>() {
                Ok(_) => Cells::Numbers(Vec::new()),
                Err(_) => Cells::Texts(Vec::new()),
            };
            cells = row.iter().map(empty).collect();
        }
        for ((cell, column), name) in row.iter().zip(&mut cells).zip(&names) {
            match column {
                Cells::Texts(texts) => texts.push(cell.to_owned()),
                Cells::Numbers(numbers) => numbers.push(cell.parse().map_err(|_| {
                    row_error(line, format!("`{cell}` in the column `{name}` is not a number; correct the cell"))
                })?),
            }
        }
    }
    if cells.is_empty() {
        return Err(TableError::Empty { file: file.to_path_buf() });
    }
    let (title, units) = comments(bytes);
    let column = |(name, cells): (String, Cells)| Column { unit: units.get(&name).cloned(), name, cells };
    Ok(Table { title, columns: names.into_iter().zip(cells).map(column).collect() })
}

/// The title and the units of columns from the comment lines.
fn comments(bytes: &[u8]) -> (Option<String>, BTreeMap<String, String>) {
    let (mut title, mut units) = (None, BTreeMap::new());
    for (number, line) in bytes.split(|byte| *byte == b'\n').take_while(|line| line.starts_with(b"#")).enumerate() {
        let text = String::from_utf8_lossy(&line[1..]).trim().to_owned();
        if let Some((unit, names)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            units.extend(names.split_whitespace().map(|name| (name.to_owned(), unit.to_owned())));
        } else if number == 0 {
            title = Some(text);
        }
    }
    (title, units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Table, TableError> {
        parse_table(text.as_bytes(), Path::new("a.csv"))
    }

    #[test]
    fn reads_numbers_texts_and_units() {
        let table = parse("# a run\n# Units:\n# [m] x\n# [s] time\ntime,x,who\n0,1.5,\"a,b\"\n1,inf,c\n").unwrap();
        assert_eq!(table.title.as_deref(), Some("a run"));
        assert_eq!(table.column("x").unwrap().unit.as_deref(), Some("m"));
        assert_eq!(table.column("x").unwrap().numbers(), Some(&[1.5, f64::INFINITY][..]));
        assert_eq!(table.column("who").unwrap().texts(), Some(&["a,b".to_owned(), "c".to_owned()][..]));
    }

    /// Each error names the line and the way out.
    #[test]
    fn broken_tables_are_named() {
        for (text, line, words) in [
            ("", "a.csv: ", "no rows"),
            ("time,x\n", "a.csv: ", "no rows"),
            ("time,x\n0,1\n0.1\n", "a.csv:3: ", "1 cells"),
            ("# c\ntime,x\n0,1\n1,two\n", "a.csv:4: ", "`two`"),
            ("time,x,x\n0,1,1\n", "a.csv:1: ", "rename one"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(line) && error.contains(words), "{text:?}: {error}");
        }
        assert!(parse_table(b"a,b\n1,\xff\n", Path::new("a.csv")).unwrap_err().to_string().contains("UTF-8"));
    }
}
