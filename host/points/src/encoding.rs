//! Points as bytes: MessagePack, with the names of fields.
//!
//! JSON would not do: it has no infinite numbers and none that are not a number. Formats without names would not do
//! either, as some points skip fields that say nothing (`skip_serializing_if`).

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why a value cannot be written, or bytes are none.
#[derive(Debug, Error)]
pub(crate) enum EncodingError {
    /// What the type or the format says of writing.
    #[error("it cannot be written: {0}")]
    Write(#[from] rmp_serde::encode::Error),
    /// What the type or the format says of reading.
    #[error("it cannot be read: {0}")]
    Read(#[from] rmp_serde::decode::Error),
    /// What is read of it is not what was written: a field is written in one way and read in another.
    #[error("it is not read as it is written")]
    Unfaithful,
}

/// The bytes of a value, which [`read`] makes the same value of, bit for bit.
///
/// # Errors
/// If that is not so, or the type says that the value cannot be written.
pub(crate) fn write<T: Serialize + DeserializeOwned>(value: &T) -> Result<Vec<u8>, EncodingError> {
    let bytes = rmp_serde::to_vec_named(value)?;
    let back: T = read(&bytes)?;
    match rmp_serde::to_vec_named(&back)? == bytes {
        true => Ok(bytes),
        false => Err(EncodingError::Unfaithful),
    }
}

/// The value of these bytes. No more memory is taken than a small multiple of them.
///
/// # Errors
/// If they are none of this type, or more than one.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, EncodingError> {
    let mut rest = bytes;
    let value = rmp_serde::from_read(&mut rest)?;
    match rest.is_empty() {
        true => Ok(value),
        false => Err(EncodingError::Unfaithful),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::{EncodingError, read, write};

    #[derive(Debug, Serialize, Deserialize)]
    struct Figures {
        rate: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        peak: Option<f64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shares: Vec<f64>,
        kinds: BTreeMap<String, Kind>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize)]
    enum Kind {
        Plain,
        Counted(u64),
        Named { depth: i64 },
    }

    fn kind() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::Plain),
            any::<u64>().prop_map(Kind::Counted),
            any::<i64>().prop_map(|depth| Kind::Named { depth })
        ]
    }

    fn figures() -> impl Strategy<Value = Figures> {
        let bits = || any::<u64>().prop_map(f64::from_bits);
        (
            bits(),
            prop::option::of(bits()),
            prop::collection::vec(bits(), 0..4),
            prop::collection::btree_map(".{0,5}", kind(), 0..4),
        )
            .prop_map(|(rate, peak, shares, kinds)| Figures { rate, peak, shares, kinds })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_bit_for_bit(figures in figures()) {
            let bytes = write(&figures).expect("it is read as it is written");
            let back: Figures = read(&bytes).expect("it was just written");
            prop_assert_eq!(back.rate.to_bits(), figures.rate.to_bits());
            prop_assert_eq!(back.peak.map(f64::to_bits), figures.peak.map(f64::to_bits));
            prop_assert_eq!(format!("{back:?}"), format!("{figures:?}"));
        }

        #[test]
        fn what_is_cut_short_or_longer_is_refused(figures in figures(), at: prop::sample::Index) {
            let mut bytes = write(&figures).expect("it is read as it is written");
            prop_assert!(read::<Figures>(&bytes[..at.index(bytes.len())]).is_err());
            bytes.push(0);
            prop_assert!(read::<Figures>(&bytes).is_err());
        }

        #[test]
        fn no_bytes_are_too_bad_to_be_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read::<Figures>(&bytes);
            let _ = read::<Vec<Vec<String>>>(&bytes);
        }
    }

    #[test]
    fn what_is_not_read_as_it_is_written_is_not_written() {
        #[derive(Serialize, Deserialize)]
        struct Forgets {
            #[serde(skip_serializing_if = "always", default)]
            number: u32,
            #[serde(default = "nine")]
            twice: u32,
        }
        #[derive(Debug, Serialize, Deserialize)]
        struct Flips(#[serde(deserialize_with = "negated")] i32);
        fn always(number: &u32) -> bool {
            *number == 0
        }
        fn nine() -> u32 {
            9
        }
        fn negated<'de, D: serde::Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
            i32::deserialize(from).map(|number| -number)
        }
        let forgets =
            write(&Forgets { number: 0, twice: 8 }).and_then(|bytes| read::<Forgets>(&bytes));
        assert!(forgets.is_ok_and(|back| (back.number, back.twice) == (0, 8)));
        assert!(matches!(write(&Flips(1)), Err(EncodingError::Unfaithful)));
    }
}
