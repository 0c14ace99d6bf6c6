//! The fields of a protocol buffer, one after the other, without decoding what is in them.
//!
//! An empty record takes two bytes in the file but much more in memory, so a profile decoded as a
//! whole could take many times the memory of its bytes. Therefore only one record is decoded at a
//! time, and this module finds the records.

/// What a field contains, undecoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number of variable length.
    Number(u64),
    /// A text, a record or packed numbers.
    Bytes(&'a [u8]),
    /// A number of a fixed size, which profiles do not have.
    Fixed,
}

/// Why a field cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end in the middle of it.
    Ends,
    /// The bytes are not a field.
    Damaged,
}

/// A field: its number and its value.
pub(crate) type Field<'a> = (u64, Value<'a>);

/// The fields of a record.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields in these bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns the next field. After a fault, the position does not change.
    pub(crate) fn next(&mut self) -> Result<Option<Field<'a>>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (key, rest) = number(self.rest)?;
        let (value, rest) = match key & 7 {
            0 => {
                let (value, rest) = number(rest)?;
                (Value::Number(value), rest)
            }
            1 => (Value::Fixed, rest.get(8..).ok_or(Fault::Ends)?),
            2 => {
                let (length, rest) = number(rest)?;
                let length = usize::try_from(length).map_err(|_| Fault::Damaged)?;
                let (bytes, rest) = rest.split_at_checked(length).ok_or(Fault::Ends)?;
                (Value::Bytes(bytes), rest)
            }
            5 => (Value::Fixed, rest.get(4..).ok_or(Fault::Ends)?),
            _ => return Err(Fault::Damaged),
        };
        self.rest = rest;
        Ok(Some((key >> 3, value)))
    }
}

/// Decodes a varint: seven bits in each byte, the lowest first.
fn number(bytes: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let mut sum = 0;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        sum |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((sum, &bytes[index + 1..]));
        }
    }
    Err(if bytes.len() < 10 { Fault::Ends } else { Fault::Damaged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_faults_named() {
        let mut fields =
            Fields::new(b"\x08\x96\x01\x12\x02hi\x1d1234\x21\0\0\0\0\0\0\0\0\x12\x05cut");
        assert_eq!(fields.next(), Ok(Some((1, Value::Number(150)))));
        assert_eq!(fields.next(), Ok(Some((2, Value::Bytes(b"hi")))));
        assert_eq!(fields.next(), Ok(Some((3, Value::Fixed))));
        assert_eq!(fields.next(), Ok(Some((4, Value::Fixed))));
        assert_eq!(fields.next(), Err(Fault::Ends));
        assert_eq!(fields.left(), 5);
        assert_eq!(Fields::new(b"\x0b").next(), Err(Fault::Damaged));
        assert_eq!(Fields::new(&[0xff; 11]).next(), Err(Fault::Damaged));
        assert_eq!(Fields::new(b"\x08").next(), Err(Fault::Ends));
        assert_eq!(Fields::new(b"").next(), Ok(None));
    }
}
