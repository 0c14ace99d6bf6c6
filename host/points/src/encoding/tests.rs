use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{EncodingError, read, write};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    One(f64),
    Two(u32, String),
    Named { yes: bool, letter: char },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapped(u64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    small: (i8, u8, i16, u16),
    large: (i32, u32, i64, u64, i128, u128),
    single: f32,
    kinds: Vec<Kind>,
    named: BTreeMap<String, Option<Wrapped>>,
    array: [u16; 3],
    unit: (),
    boxed: Box<[f64]>,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Unit),
        any::<f64>().prop_map(Kind::One),
        (any::<u32>(), ".{0,8}").prop_map(|(number, text)| Kind::Two(number, text)),
        any::<(bool, char)>().prop_map(|(yes, letter)| Kind::Named { yes, letter }),
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = any::<((i8, u8, i16, u16), (i32, u32, i64, u64, i128, u128), f32, [u16; 3])>();
    let named = btree_map(".{0,4}", proptest::option::of(any::<u64>().prop_map(Wrapped)), 0..4);
    let boxed = vec(any::<f64>(), 0..4).prop_map(Vec::into_boxed_slice);
    (numbers, vec(kind(), 0..5), named, boxed).prop_map(
        |((small, large, single, array), kinds, named, boxed)| Everything {
            small,
            large,
            single,
            kinds,
            named,
            array,
            unit: (),
            boxed,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_bit_for_bit(value in everything()) {
        let bytes = write(&value).unwrap();
        let back: Everything = read(&bytes).unwrap();
        prop_assert_eq!(format!("{back:?}"), format!("{value:?}"));
        prop_assert_eq!(write(&back).unwrap(), bytes);
    }

    #[test]
    fn what_is_cut_short_or_longer_is_refused(value in everything(), at: prop::sample::Index) {
        let mut bytes = write(&value).unwrap();
        let cut = read::<Everything>(&bytes[..at.index(bytes.len())]);
        prop_assert!(cut.is_err(), "{:?}", cut);
        bytes.push(0);
        prop_assert_eq!(read::<Everything>(&bytes).unwrap_err(), EncodingError::Left);
    }

    #[test]
    fn whatever_the_bytes_are_what_is_read_is_written_again(
        bytes in vec(any::<u8>(), 0..200),
    ) {
        if let Ok(value) = read::<Everything>(&bytes) {
            let again: Everything = read(&write(&value).unwrap()).unwrap();
            prop_assert_eq!(format!("{again:?}"), format!("{value:?}"));
        }
    }
}

#[test]
fn figures_that_are_no_numbers_come_back() {
    let figures = [f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, f64::MIN_POSITIVE, 0.1 + 0.2];
    let back: [f64; 6] = read(&write(&figures).unwrap()).unwrap();
    assert_eq!(back.map(f64::to_bits), figures.map(f64::to_bits));
    let some: Option<f64> = read(&write(&Some(f64::NAN)).unwrap()).unwrap();
    assert!(some.is_some_and(f64::is_nan));
}

#[test]
fn a_length_that_is_a_lie_asks_for_no_memory() {
    let mut bytes = u32::MAX.to_le_bytes().to_vec();
    bytes.extend([7; 40]);
    assert_eq!(read::<Vec<u64>>(&bytes).unwrap_err(), EncodingError::Short);
    assert_eq!(read::<String>(&bytes).unwrap_err(), EncodingError::Short);
    assert_eq!(read::<BTreeMap<u64, u64>>(&bytes).unwrap_err(), EncodingError::Short);
}

#[test]
fn what_says_neither_yes_nor_no_is_refused() {
    assert_eq!(read::<bool>(&[2]).unwrap_err(), EncodingError::NeitherYesNorNo);
    assert_eq!(read::<Option<()>>(&[2]).unwrap_err(), EncodingError::NeitherYesNorNo);
    assert_eq!(read::<char>(&[0, 0xd8, 0, 0]).unwrap_err(), EncodingError::NoText);
    assert_eq!(read::<String>(&[1, 0, 0, 0, 0xff]).unwrap_err(), EncodingError::NoText);
    assert!(matches!(read::<Kind>(&[9, 0, 0, 0]).unwrap_err(), EncodingError::Type(_)));
}

#[test]
fn a_field_that_is_skipped_is_missing_and_no_other_takes_its_place() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Skips {
        #[serde(skip_serializing_if = "Option::is_none")]
        sometimes: Option<u8>,
        #[serde(rename = "other")]
        always: u8,
        #[serde(skip)]
        never: u32,
    }
    for sometimes in [None, Some(2)] {
        let skips = Skips { sometimes, always: 1, never: 0 };
        let bytes = write(&skips).unwrap();
        assert_eq!(read::<Skips>(&bytes).unwrap(), skips);
        // That a field is missing is an error if it has to be there.
        assert!(read::<Skips>(&[&bytes[..bytes.len() - 2], &[0]].concat()).is_err());
    }
}

#[test]
fn what_asks_the_bytes_what_they_are_is_not_read() {
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        One(u8),
    }
    let bytes = write(&Untagged::One(1)).unwrap();
    assert_eq!(read::<Untagged>(&bytes).unwrap_err(), EncodingError::NoType);
}
