//! Conversion of numbers and names to bytes and back. Numbers are little-endian, floating-point numbers keep
//! their bits, and a list follows its length.

/// Appends values to a list of bytes.
#[derive(Clone, Debug, Default)]
pub struct ByteWriter {
    bytes: Vec<u8>,
}

impl ByteWriter {
    /// The bytes written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
    /// Appends bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
    /// Appends a flag.
    pub fn flag(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }
    /// Appends an integer.
    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }
    /// Appends an integer.
    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }
    /// Appends the length of a list that follows.
    pub fn len(&mut self, len: usize) {
        self.u64(len as u64);
    }
    /// Appends a number with all its bits.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }
    /// Appends a number that may be absent.
    pub fn optional(&mut self, value: Option<f64>) {
        self.flag(value.is_some());
        self.f64(value.unwrap_or(0.0));
    }
    /// Appends a list of numbers.
    pub fn numbers(&mut self, values: &[f64]) {
        self.len(values.len());
        values.iter().for_each(|value| self.f64(*value));
    }
    /// Appends a list of bytes.
    pub fn block(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.raw(bytes);
    }
    /// Appends a text.
    pub fn text(&mut self, text: &str) {
        self.block(text.as_bytes());
    }
}

/// The reason why bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BytesError {
    /// The bytes end before the value does.
    #[error("it ends early")]
    Short,
    /// A value that is never written, or bytes after the last value.
    #[error("it holds an invalid value")]
    Invalid,
}

/// Takes values from a list of bytes, in the order in which they were written.
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// Reads `bytes` from their start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
    /// Takes the next `len` bytes unchanged.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], BytesError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(BytesError::Short)?;
        self.rest = rest;
        Ok(taken)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], BytesError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(BytesError::Short)?;
        self.rest = rest;
        Ok(*taken)
    }
    /// Takes a flag.
    ///
    /// # Errors
    /// No byte is left, or it is neither 0 nor 1.
    pub fn flag(&mut self) -> Result<bool, BytesError> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(BytesError::Invalid),
        }
    }
    /// Takes an integer.
    ///
    /// # Errors
    /// Fewer than 4 bytes are left.
    pub fn u32(&mut self) -> Result<u32, BytesError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    /// Takes an integer.
    ///
    /// # Errors
    /// Fewer than 8 bytes are left.
    pub fn u64(&mut self) -> Result<u64, BytesError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    /// Takes the length of a list whose entries take `size` bytes at least.
    ///
    /// # Errors
    /// Fewer bytes are left than the entries take, so that no memory is reserved for a length that is wrong.
    pub fn len(&mut self, size: usize) -> Result<usize, BytesError> {
        let len = usize::try_from(self.u64()?).map_err(|_| BytesError::Short)?;
        let bytes = len.checked_mul(size.max(1)).ok_or(BytesError::Short)?;
        if bytes > self.rest.len() { Err(BytesError::Short) } else { Ok(len) }
    }
    /// Takes a number.
    ///
    /// # Errors
    /// Fewer than 8 bytes are left.
    pub fn f64(&mut self) -> Result<f64, BytesError> {
        Ok(f64::from_bits(self.u64()?))
    }
    /// Takes a number that is finite.
    ///
    /// # Errors
    /// Fewer than 8 bytes are left, or the number is not finite.
    pub fn finite(&mut self) -> Result<f64, BytesError> {
        let value = self.f64()?;
        if value.is_finite() { Ok(value) } else { Err(BytesError::Invalid) }
    }
    /// Takes a number that may be absent and is finite otherwise.
    ///
    /// # Errors
    /// Bytes are missing, the flag before the number is neither 0 nor 1, or the number is not finite.
    pub fn optional(&mut self) -> Result<Option<f64>, BytesError> {
        let given = self.flag()?;
        let value = self.finite()?;
        Ok(given.then_some(value))
    }
    /// Takes a list of numbers that are finite.
    ///
    /// # Errors
    /// Bytes are missing, or a number is not finite.
    pub fn numbers(&mut self) -> Result<Vec<f64>, BytesError> {
        let len = self.len(8)?;
        (0..len).map(|_| self.finite()).collect()
    }
    /// Takes a list of `len` numbers that are finite.
    ///
    /// # Errors
    /// Bytes are missing, the list has a different length, or a number is not finite.
    pub fn numbers_of(&mut self, len: usize) -> Result<Vec<f64>, BytesError> {
        let numbers = self.numbers()?;
        if numbers.len() == len { Ok(numbers) } else { Err(BytesError::Invalid) }
    }
    /// Takes a list of bytes.
    ///
    /// # Errors
    /// Bytes are missing.
    pub fn block(&mut self) -> Result<&'a [u8], BytesError> {
        let len = self.len(1)?;
        self.raw(len)
    }
    /// Takes a text.
    ///
    /// # Errors
    /// Bytes are missing, or they are not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, BytesError> {
        std::str::from_utf8(self.block()?).map_err(|_| BytesError::Invalid)
    }
    /// Ends the reading.
    ///
    /// # Errors
    /// Bytes are left.
    pub fn end(&self) -> Result<(), BytesError> {
        if self.rest.is_empty() { Ok(()) } else { Err(BytesError::Invalid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut writer = ByteWriter::default();
        writer.flag(true);
        writer.u32(7);
        writer.numbers(&[-0.0, 1e-308, 3.5]);
        writer.text("gripper");
        writer.optional(None);
        writer.into_bytes()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<u64>, String), BytesError> {
        let mut reader = ByteReader::new(bytes);
        assert!(reader.flag()?);
        assert_eq!(reader.u32()?, 7);
        let numbers = reader.numbers()?.iter().map(|x| x.to_bits()).collect();
        let text = reader.text()?.to_owned();
        assert_eq!(reader.optional()?, None);
        reader.end()?;
        Ok((numbers, text))
    }

    #[test]
    fn values_come_back_bit_by_bit() {
        let bits = [-0.0_f64, 1e-308, 3.5].map(f64::to_bits).to_vec();
        assert_eq!(read(&written()), Ok((bits, "gripper".to_owned())));
    }

    /// Each shorter list is refused, and a length of 2^60 numbers reserves no memory.
    #[test]
    fn bytes_that_end_early_are_refused() {
        let bytes = written();
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]), Err(BytesError::Short), "{len} bytes");
        }
        let mut huge = ByteWriter::default();
        huge.u64(1 << 60);
        assert_eq!(ByteReader::new(&huge.into_bytes()).numbers(), Err(BytesError::Short));
    }
}
