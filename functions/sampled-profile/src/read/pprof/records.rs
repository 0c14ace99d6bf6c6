//! The records of a pprof profile, with those fields that are needed.
//!
//! The numbers of the fields are those of pprof's `profile.proto`. Texts are indices into the table
//! of strings. Other records are referred to by ids that the file chooses.

use prost::Message;

/// Numbers of the fields of the outermost record.
pub(crate) mod field {
    pub(crate) const SAMPLE_TYPE: u64 = 1;
    pub(crate) const SAMPLE: u64 = 2;
    pub(crate) const MAPPING: u64 = 3;
    pub(crate) const LOCATION: u64 = 4;
    pub(crate) const FUNCTION: u64 = 5;
    pub(crate) const STRING: u64 = 6;
    pub(crate) const DURATION_NANOS: u64 = 10;
    pub(crate) const PERIOD_TYPE: u64 = 11;
    pub(crate) const PERIOD: u64 = 12;
    pub(crate) const DEFAULT_SAMPLE_TYPE: u64 = 14;
    /// Fields that are records, texts or packed numbers: a mask with one bit for each.
    pub(crate) const WITH_LENGTH: u64 = 0b0010_1000_0111_1110;
    /// Fields that are numbers: a mask with one bit for each.
    pub(crate) const NUMBERS: u64 = 0b1111_0111_1000_0000;
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ValueType {
    /// The index of the text that says what is counted: `cpu`, for instance.
    #[prost(int64, tag = "1")]
    pub(crate) kind: i64,
    /// The index of the text that says in what it is counted: `nanoseconds`, for instance.
    #[prost(int64, tag = "2")]
    pub(crate) unit: i64,
}

/// A stack and a number for each sample type.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sample {
    /// The ids of the stack's locations, the innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) locations: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) values: Vec<i64>,
}

/// A file that code was loaded from.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(int64, tag = "5")]
    pub(crate) file: i64,
}

/// An address in the code, with the functions there: several if some were inlined.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Location {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) mapping: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) address: u64,
    /// The innermost function first. The last one owns the code; the others were inlined into it.
    #[prost(message, repeated, tag = "4")]
    pub(crate) lines: Vec<Line>,
}

/// A function at an address.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Line {
    #[prost(uint64, tag = "1")]
    pub(crate) function: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Function {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(int64, tag = "2")]
    pub(crate) name: i64,
    /// As the linker names it.
    #[prost(int64, tag = "3")]
    pub(crate) linked: i64,
}
