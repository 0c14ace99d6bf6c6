//! Writing pprof profiles, laid out as Go's runtime does it.

use kilocore_sampled_profile::Function as Named;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Profile {
    #[prost(message, repeated, tag = "1")]
    pub(crate) sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) function: Vec<Function>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(crate) string_table: Vec<Vec<u8>>,
    #[prost(int64, tag = "9")]
    pub(crate) time_nanos: i64,
    #[prost(int64, tag = "10")]
    pub(crate) duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    pub(crate) period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    pub(crate) period: i64,
    #[prost(int64, repeated, tag = "13")]
    pub(crate) comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    pub(crate) default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ValueType {
    #[prost(int64, tag = "1")]
    pub(crate) kind: i64,
    #[prost(int64, tag = "2")]
    pub(crate) unit: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(int64, tag = "1")]
    pub(crate) key: i64,
    #[prost(int64, tag = "2")]
    pub(crate) str: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) memory_limit: u64,
    #[prost(int64, tag = "5")]
    pub(crate) filename: i64,
    #[prost(bool, tag = "7")]
    pub(crate) has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Location {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) mapping_id: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) address: u64,
    #[prost(message, repeated, tag = "4")]
    pub(crate) line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Line {
    #[prost(uint64, tag = "1")]
    pub(crate) function_id: u64,
    #[prost(int64, tag = "2")]
    pub(crate) line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Function {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(int64, tag = "2")]
    pub(crate) name: i64,
    #[prost(int64, tag = "3")]
    pub(crate) system_name: i64,
    #[prost(int64, tag = "4")]
    pub(crate) filename: i64,
}

impl Profile {
    /// A profile of processor time, a sample every ten milliseconds.
    pub(crate) fn go() -> Self {
        let mut profile = Self::default();
        profile.string(b"");
        let samples =
            ValueType { kind: profile.string(b"samples"), unit: profile.string(b"count") };
        let cpu = ValueType { kind: profile.string(b"cpu"), unit: profile.string(b"nanoseconds") };
        profile.sample_type = vec![samples, cpu];
        profile.period_type = Some(cpu);
        profile.period = 10_000_000;
        profile.duration_nanos = 2_000_000_000;
        profile
    }

    /// The index of a text.
    pub(crate) fn string(&mut self, text: &[u8]) -> i64 {
        let found = self.string_table.iter().position(|known| known == text);
        found.unwrap_or_else(|| {
            self.string_table.push(text.to_owned());
            self.string_table.len() - 1
        }) as i64
    }

    /// The location of a function at an address; one without a name has no lines.
    pub(crate) fn at(&mut self, function: &Named, address: u64) -> u64 {
        if let Some(known) = self.location.iter().find(|location| location.address == address) {
            return known.id;
        }
        let id = self.location.len() as u64 + 1;
        let mapping_id = self.map(&function.object);
        let mut line = Vec::new();
        if function.is_known() {
            line.push(Line { function_id: self.named(&function.name), line: 7 });
        }
        self.location.push(Location { id, mapping_id, address, line });
        id
    }

    /// The mapping of a file, 0 for none.
    fn map(&mut self, object: &str) -> u64 {
        if object.is_empty() {
            return 0;
        }
        let filename = self.string(object.as_bytes());
        if let Some(known) = self.mapping.iter().find(|mapping| mapping.filename == filename) {
            return known.id;
        }
        let id = self.mapping.len() as u64 + 1;
        self.mapping.push(Mapping { id, filename, has_functions: true, ..Mapping::default() });
        id
    }

    /// Returns the id of the function of this name, which is added if it is new.
    pub(crate) fn named(&mut self, name: &str) -> u64 {
        let name = self.string(name.as_bytes());
        if let Some(known) = self.function.iter().find(|function| function.name == name) {
            return known.id;
        }
        let id = self.function.len() as u64 + 1;
        self.function.push(Function { id, name, system_name: name, filename: 0 });
        id
    }
}
