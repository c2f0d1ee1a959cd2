//! The wire format of ROS 2 messages: CDR (XCDR1), little-endian.

/// Bytes before the first field: the representation and its options.
const ENCAPSULATION: [u8; 4] = [0x00, 0x01, 0x00, 0x00];

/// Writes the fields of one message, in the order of its definition.
#[derive(Debug)]
pub(super) struct Cdr<'a> {
    buffer: &'a mut Vec<u8>,
    /// The offset of the first field, from which alignment counts.
    origin: usize,
}

impl<'a> Cdr<'a> {
    /// Appends a message to `buffer`.
    pub(super) fn new(buffer: &'a mut Vec<u8>) -> Self {
        buffer.extend_from_slice(&ENCAPSULATION);
        let origin = buffer.len();
        Self { buffer, origin }
    }

    /// A primitive of N bytes lies at a multiple of N.
    fn primitive<const N: usize>(&mut self, bytes: [u8; N]) {
        let used = self.buffer.len() - self.origin;
        self.buffer.resize(self.origin + used.next_multiple_of(N), 0);
        self.buffer.extend_from_slice(&bytes);
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.primitive([u8::from(value)]);
    }
    pub(super) fn u8(&mut self, value: u8) {
        self.primitive([value]);
    }
    pub(super) fn u32(&mut self, value: u32) {
        self.primitive(value.to_le_bytes());
    }
    pub(super) fn i32(&mut self, value: i32) {
        self.primitive(value.to_le_bytes());
    }
    pub(super) fn f64(&mut self, value: f64) {
        self.primitive(value.to_le_bytes());
    }
    pub(super) fn f64s(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.f64(*value));
    }

    /// A string: its length with the closing zero, then its bytes.
    pub(super) fn string(&mut self, text: &str) {
        self.length(text.len() + 1);
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(0);
    }

    /// The length of a sequence, whose elements follow. No message here has nearly 2^32 elements.
    pub(super) fn length(&mut self, elements: usize) {
        self.u32(u32::try_from(elements).unwrap_or(u32::MAX));
    }

    pub(super) fn sequence(&mut self, values: &[f64]) {
        self.length(values.len());
        self.f64s(values);
    }

    /// The elements of a sequence of bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alignment counts from the end of the encapsulation, and strings include their zero. The bytes were
    /// written by hand from the standard.
    #[test]
    fn fields_are_aligned_to_their_size() {
        let mut buffer = vec![9];
        let mut cdr = Cdr::new(&mut buffer);
        cdr.u8(7);
        cdr.u32(1);
        cdr.string("ab");
        cdr.f64(1.0);
        let expected: Vec<u8> = [
            vec![9],
            vec![0, 1, 0, 0],
            vec![7, 0, 0, 0, 1, 0, 0, 0],
            vec![3, 0, 0, 0, b'a', b'b', 0],
            vec![0],
            1.0f64.to_le_bytes().to_vec(),
        ]
        .concat();
        assert_eq!(buffer, expected);
    }
}
