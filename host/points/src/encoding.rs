//! Points as bytes: bit for bit, and of next to no more bytes than they hold.
//!
//! JSON would not do. It has no infinite numbers and none that are not a number, and it takes four times the room.
//!
//! Numbers have their own width, the least significant byte first. Texts, bytes, sequences and maps begin with their
//! length, in four bytes. A value that may be missing begins with a byte that says whether it is there, and a variant
//! with its number, in four bytes. A struct is its fields, without their names, each after a byte that says whether it
//! is there, as one may be skipped (`skip_serializing_if`). So whoever reads has to know the type, and the type has to
//! be read as it is written. One that asks the bytes what they are (`untagged`, `flatten`) can be written, and not
//! read. One of which a field is never written can be read only if it is never read either (`skip`).
//!
//! Whoever reads trusts nothing: whatever the bytes are, no more memory is asked for than there are bytes, and the
//! bytes have to end where the value does.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use std::fmt::Display;

use thiserror::Error;

/// Why a value cannot be written, or bytes are none.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum EncodingError {
    /// The bytes end before the value does.
    #[error("cut short")]
    Short,
    /// More bytes than the value has.
    #[error("bytes are left")]
    Left,
    /// A length beyond 2^32, or one that this host has no memory for.
    #[error("too long")]
    Long,
    /// A byte that says neither yes nor no.
    #[error("neither yes nor no")]
    NeitherYesNorNo,
    /// A number that is no letter, or a text that is not UTF-8.
    #[error("no text")]
    NoText,
    /// A type that asks the bytes what they are.
    #[error("bytes do not say what they are")]
    NoType,
    /// What the type itself says.
    #[error("{0}")]
    Type(String),
}

impl serde::ser::Error for EncodingError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Type(message.to_string())
    }
}

impl serde::de::Error for EncodingError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Type(message.to_string())
    }
}

#[cfg(test)]
mod tests;
