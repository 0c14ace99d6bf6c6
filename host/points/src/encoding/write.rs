//! From a value to bytes.

use serde::{Serialize, Serializer, ser};

use super::EncodingError;

/// The bytes of a value.
///
/// # Errors
/// If the type cannot be read from what would be written, or says that the value cannot be written.
pub(crate) fn write(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, EncodingError> {
    let mut writer = Writer { bytes: Vec::new() };
    value.serialize(&mut writer)?;
    Ok(writer.bytes)
}

struct Writer {
    bytes: Vec<u8>,
}

type Written = Result<(), EncodingError>;

impl Writer {
    fn length(&mut self, length: usize) -> Written {
        self.put(&count(length)?)
    }

    fn put(&mut self, bytes: &[u8]) -> Written {
        self.bytes.extend(bytes);
        Ok(())
    }

    /// Begins a sequence or a map, whose length is filled in at its end.
    fn begin(&mut self) -> Result<Counted<'_>, EncodingError> {
        let at = self.bytes.len();
        self.put(&[0; 4])?;
        Ok(Counted { writer: self, at, count: 0 })
    }
}

fn count(length: usize) -> Result<[u8; 4], EncodingError> {
    let length = u32::try_from(length).map_err(|_| EncodingError::Long)?;
    Ok(length.to_le_bytes())
}

/// A sequence or a map that is being written.
struct Counted<'w> {
    writer: &'w mut Writer,
    /// Where its length stands.
    at: usize,
    count: usize,
}

impl Counted<'_> {
    fn one(&mut self, value: &(impl Serialize + ?Sized)) -> Written {
        self.count += 1;
        value.serialize(&mut *self.writer)
    }

    fn finish(self) -> Written {
        self.writer.bytes[self.at..self.at + 4].copy_from_slice(&count(self.count)?);
        Ok(())
    }
}

macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        fn $name(self, value: $type) -> Written {
            self.put(&value.to_le_bytes())
        }
    )*};
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = EncodingError;
    type SerializeSeq = Counted<'w>;
    type SerializeMap = Counted<'w>;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64
    }

    fn serialize_bool(self, value: bool) -> Written {
        self.put(&[value.into()])
    }

    fn serialize_char(self, value: char) -> Written {
        self.serialize_u32(value.into())
    }

    fn serialize_str(self, value: &str) -> Written {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Written {
        self.length(value.len())?;
        self.put(value)
    }

    fn serialize_none(self) -> Written {
        self.put(&[0])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        self.put(&[1])?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Written {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Written {
        self.serialize_u32(index)?;
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Counted<'w>, EncodingError> {
        self.begin()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Counted<'w>, EncodingError> {
        self.begin()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, EncodingError> {
        self.serialize_u32(index)?;
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, EncodingError> {
        self.serialize_u32(index)?;
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl ser::SerializeSeq for Counted<'_> {
    type Ok = ();
    type Error = EncodingError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.one(value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl ser::SerializeMap for Counted<'_> {
    type Ok = ();
    type Error = EncodingError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        self.one(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

macro_rules! without_length {
    ($($of:ident: $method:ident),*) => {$(
        impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = EncodingError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                value.serialize(&mut **self)
            }

            fn end(self) -> Written {
                Ok(())
            }
        }
    )*};
}

without_length! {
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
}

macro_rules! with_fields {
    ($($of:ident),*) => {$(
        impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = EncodingError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Written {
                self.put(&[1])?;
                value.serialize(&mut **self)
            }

            fn skip_field(&mut self, _: &'static str) -> Written {
                self.put(&[0])
            }

            fn end(self) -> Written {
                Ok(())
            }
        }
    )*};
}

with_fields! { SerializeStruct, SerializeStructVariant }
