//! By what a point is known.

use std::fmt::{self, Debug, Display, Write};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// A digest of all that a point depends on.
///
/// It is made of what `Debug` says, as that has every field of a type, also one that is added later. So a type
/// whose `Debug` leaves something out needs a key of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; Self::BYTES]);

impl Key {
    /// How many bytes a key has.
    pub const BYTES: usize = 32;

    /// The key of these inputs.
    ///
    /// # Panics
    /// If their `Debug` fails, which none does that is derived.
    #[must_use]
    pub fn of(inputs: &(impl Debug + ?Sized)) -> Self {
        let mut digest = Digested(Sha256::new());
        write!(digest, "{inputs:?}").expect("inputs can be written");
        Self(digest.0.finalize().into())
    }

    /// The key of several inputs, one after the other.
    #[must_use]
    pub fn of_all(keys: &[Key]) -> Self {
        let mut digest = Sha256::new();
        keys.iter().for_each(|key| digest.update(key.0));
        Self(digest.finalize().into())
    }

    /// The key of bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The key that has these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The key that is displayed as `text`: 64 hexadecimal digits, in small letters.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != Self::BYTES || !rest.is_empty() {
            return None;
        }
        for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(Self(bytes))
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::from_text(&text)
            .ok_or_else(|| de::Error::custom("no key: one has 64 hexadecimal digits"))
    }
}

/// A digest of a text that is never there as a whole.
struct Digested(Sha256);

impl Write for Digested {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Key;

    #[test]
    fn a_key_is_the_digest_of_what_debug_says() {
        assert_eq!(Key::of(&(1, "a", 0.5)), Key::of_bytes(br#"(1, "a", 0.5)"#));
        assert_ne!(Key::of(&0.0), Key::of(&-0.0));
        assert_ne!(Key::of(&0.1), Key::of(&(0.1 + f64::EPSILON / 8.0)));
        assert_ne!(Key::of(&("a", "b")), Key::of(&("a\", \"b", "")));
    }

    #[test]
    fn the_order_of_several_matters() {
        let [a, b] = [Key::of(&1), Key::of(&2)];
        assert_ne!(Key::of_all(&[a, b]), Key::of_all(&[b, a]));
        assert_ne!(Key::of_all(&[a]), a);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let text = Key::of(&1).to_string();
        for wrong in
            [&text[1..], "", &format!("{text}0"), &format!("{text}00"), &text.to_uppercase()]
        {
            assert_eq!(Key::from_text(wrong), None, "{wrong}");
        }
        assert_eq!(Key::from_text(&"é".repeat(32)), None);
    }

    proptest! {
        #[test]
        fn a_key_is_read_as_it_is_displayed(bytes: [u8; 32]) {
            let key = Key::from_bytes(bytes);
            prop_assert_eq!(Key::from_text(&key.to_string()), Some(key));
            prop_assert_eq!(key.bytes(), &bytes);
        }
    }
}
