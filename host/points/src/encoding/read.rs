//! From bytes to a value.

use serde::Deserializer;
use serde::de::value::{U32Deserializer, U64Deserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::EncodingError;

/// The value whose bytes these are.
///
/// # Errors
/// If they are not those of a value of the type.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, EncodingError> {
    let mut reader = Reader { left: bytes };
    let value = T::deserialize(&mut reader)?;
    if reader.left.is_empty() { Ok(value) } else { Err(EncodingError::Left) }
}

struct Reader<'b> {
    left: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], EncodingError> {
        let (bytes, left) = self.left.split_first_chunk().ok_or(EncodingError::Short)?;
        self.left = left;
        Ok(*bytes)
    }

    fn number(&mut self) -> Result<u32, EncodingError> {
        self.take().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, EncodingError> {
        usize::try_from(self.number()?).map_err(|_| EncodingError::Long)
    }

    fn bytes(&mut self) -> Result<&'b [u8], EncodingError> {
        let length = self.length()?;
        let (bytes, left) = self.left.split_at_checked(length).ok_or(EncodingError::Short)?;
        self.left = left;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'b str, EncodingError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| EncodingError::NoText)
    }

    fn yes_or_no(&mut self) -> Result<bool, EncodingError> {
        match self.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(EncodingError::NeitherYesNorNo),
        }
    }
}

/// So many values, one after the other: those of a sequence, a tuple or a map.
struct Values<'r, 'b> {
    reader: &'r mut Reader<'b>,
    count: usize,
}

impl<'de> SeqAccess<'de> for Values<'_, '_> {
    type Error = EncodingError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, EncodingError> {
        let Some(count) = self.count.checked_sub(1) else { return Ok(None) };
        self.count = count;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    // No hint of the size: the length may be a lie. Memory is asked for as values come.
}

impl<'de> MapAccess<'de> for Values<'_, '_> {
    type Error = EncodingError;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, EncodingError> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, EncodingError> {
        seed.deserialize(&mut *self.reader)
    }
}

/// The fields of a struct that are there, by their numbers.
struct Fields<'r, 'b> {
    reader: &'r mut Reader<'b>,
    next: u64,
    count: u64,
}

impl<'r, 'b> Fields<'r, 'b> {
    fn new(reader: &'r mut Reader<'b>, names: &'static [&'static str]) -> Self {
        Self { reader, next: 0, count: names.len() as u64 }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = EncodingError;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, EncodingError> {
        while self.next < self.count {
            let number: U64Deserializer<EncodingError> = self.next.into_deserializer();
            self.next += 1;
            if self.reader.yes_or_no()? {
                return seed.deserialize(number).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, EncodingError> {
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant, of which the number is read.
struct Variant<'r, 'b>(&'r mut Reader<'b>);

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = EncodingError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Self), EncodingError> {
        let index: U32Deserializer<EncodingError> = self.0.number()?.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = EncodingError;

    fn unit_variant(self) -> Result<(), EncodingError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, EncodingError> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_seq(Values { reader: self.0, count })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_map(Fields::new(self.0, fields))
    }
}

macro_rules! numbers {
    ($($name:ident: $visit:ident: $type:ty),*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
            visitor.$visit(<$type>::from_le_bytes(self.take()?))
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'_> {
    type Error = EncodingError;

    numbers! {
        deserialize_i8: visit_i8: i8, deserialize_i16: visit_i16: i16, deserialize_i32: visit_i32: i32,
        deserialize_i64: visit_i64: i64, deserialize_i128: visit_i128: i128, deserialize_u8: visit_u8: u8,
        deserialize_u16: visit_u16: u16, deserialize_u32: visit_u32: u32, deserialize_u64: visit_u64: u64,
        deserialize_u128: visit_u128: u128, deserialize_f32: visit_f32: f32, deserialize_f64: visit_f64: f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_bool(self.yes_or_no()?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_char(char::from_u32(self.number()?).ok_or(EncodingError::NoText)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_bytes(self.bytes()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        match self.yes_or_no()? {
            true => visitor.visit_some(self),
            false => visitor.visit_none(),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        let count = self.length()?;
        visitor.visit_seq(Values { reader: self, count })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, EncodingError> {
        let count = self.length()?;
        visitor.visit_map(Values { reader: self, count })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_seq(Values { reader: self, count })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_seq(Values { reader: self, count })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_map(Fields::new(self, fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, EncodingError> {
        visitor.visit_enum(Variant(self))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, EncodingError> {
        Err(EncodingError::NoType)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, EncodingError> {
        Err(EncodingError::NoType)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, EncodingError> {
        Err(EncodingError::NoType)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
