//! Where a virtual machine keeps what: the table that HotSpot has for tools, in its own memory.
//!
//! Layouts differ from version to version and from build to build. So the machine carries a table of
//! the fields that tools may want, from JDK 8 on: `gHotSpotVMStructs`, an array whose entries name a
//! type and a field, and say how far from its start the field lies, or where a static one is. Even
//! the layout of an entry is told, by variables such as `gHotSpotVMStructEntryOffsetOffset`. All
//! these are exported, so a stripped library has them too.

use std::collections::BTreeMap;

use crate::java_threads::memory::{Memory, number, number_in, pointer, text};

/// How the names of the library's variables begin that are needed.
pub const VARIABLES: &str = "gHotSpotVM";
/// Addresses of the library's variables, by their names.
pub type Variables<'a> = &'a mut dyn FnMut(&str) -> Option<u64>;

/// More entries, and longer ones, are no table. JDK 17 has 788 of 48 bytes.
const MOST: usize = 1 << 13;
const LONGEST: usize = 1 << 10;

/// A field of a type of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Field {
    /// How far from the start of what it is a field of.
    pub(crate) offset: u64,
    /// Where it is, if it is static.
    pub(crate) address: u64,
    /// Its type, as far as the machine tells.
    pub(crate) of_type: String,
}

/// The fields of some types.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields(BTreeMap<(String, String), Field>);

impl Fields {
    /// Reads the fields of these types. There are none if the table cannot be read.
    pub(crate) fn read(variables: Variables<'_>, memory: &dyn Memory, types: &[&str]) -> Self {
        let mut fields = Self::default();
        let Some(layout) = Layout::read(variables, memory) else { return fields };
        let table = variables("gHotSpotVMStructs").and_then(|at| pointer(memory, at));
        let Some(table) = table else { return fields };
        // The names of types are the same text for all of their fields.
        let mut names: BTreeMap<u64, Option<String>> = BTreeMap::new();
        for index in 0..MOST as u64 {
            let entry = table.wrapping_add(index.wrapping_mul(layout.stride as u64));
            let bytes = memory.read(entry, layout.stride);
            let at = |offset, size| number_in(&bytes, offset, size);
            let Some(of) = at(layout.type_name, 8).filter(|name| *name != 0) else { break };
            let name = names
                .entry(of)
                .or_insert_with(|| text(memory, of).filter(|name| types.contains(&name.as_str())));
            let Some(name) = name.clone() else { continue };
            let Some(field) = at(layout.field_name, 8).and_then(|name| text(memory, name)) else {
                continue;
            };
            let of_type = at(layout.type_string, 8).filter(|at| *at != 0);
            let found = Field {
                offset: at(layout.offset, 8).unwrap_or_default(),
                address: at(layout.address, 8).unwrap_or_default(),
                of_type: of_type.and_then(|at| text(memory, at)).unwrap_or_default(),
            };
            fields.0.insert((name, field), found);
        }
        fields
    }

    /// A field by the name of its type and its own.
    pub(crate) fn get(&self, of: &str, field: &str) -> Option<&Field> {
        self.0.get(&(of.to_owned(), field.to_owned()))
    }

    /// How far a field lies from the start.
    pub(crate) fn offset(&self, of: &str, field: &str) -> Option<u64> {
        self.get(of, field).map(|field| field.offset)
    }

    /// Where a static field is.
    pub(crate) fn address(&self, of: &str, field: &str) -> Option<u64> {
        self.get(of, field).map(|field| field.address).filter(|address| *address != 0)
    }
}

/// How long a type of the machine is, by the table of types beside that of fields.
pub(crate) fn size(variables: Variables<'_>, memory: &dyn Memory, of: &str) -> Option<u64> {
    let mut number_of = |name: &str| -> Option<usize> {
        let at = variables(&format!("gHotSpotVMTypeEntry{name}"))?;
        usize::try_from(number(memory, at, 8)?).ok().filter(|number| *number <= LONGEST)
    };
    let stride = number_of("ArrayStride").filter(|stride| *stride > 0)?;
    let (name, size) = (number_of("TypeNameOffset")?, number_of("SizeOffset")?);
    let table = variables("gHotSpotVMTypes").and_then(|at| pointer(memory, at))?;
    for index in 0..MOST as u64 {
        let entry = memory.read(table.wrapping_add(index.wrapping_mul(stride as u64)), stride);
        let at = number_in(&entry, name, 8).filter(|name| *name != 0)?;
        if text(memory, at)? == of {
            return number_in(&entry, size, 8);
        }
    }
    None
}

/// Whether an option of the machine is switched on, by the table of its options, which has been read
/// of the type `JVMFlag`. `size` is how long an entry is.
pub(crate) fn is_on(fields: &Fields, memory: &dyn Memory, size: u64, options: &[&str]) -> bool {
    let table = || {
        let flags = pointer(memory, fields.address("JVMFlag", "flags")?)?;
        let count = number(memory, fields.address("JVMFlag", "numFlags")?, 8)?;
        let name = fields.offset("JVMFlag", "_name")?;
        let value = fields.offset("JVMFlag", "_addr")?;
        Some((flags, count.min(MOST as u64), name, value))
    };
    let Some((flags, count, name, value)) = table() else { return false };
    (0..count).any(|index| {
        let flag = flags.wrapping_add(index.wrapping_mul(size));
        let named = pointer(memory, flag.wrapping_add(name)).and_then(|at| text(memory, at));
        let is_one = named.is_some_and(|name| options.contains(&name.as_str()));
        let value =
            || pointer(memory, flag.wrapping_add(value)).and_then(|at| number(memory, at, 1));
        is_one && value() == Some(1)
    })
}

/// How an entry of the table is laid out.
#[derive(Debug, Clone, Copy)]
struct Layout {
    stride: usize,
    type_name: usize,
    field_name: usize,
    type_string: usize,
    offset: usize,
    address: usize,
}

impl Layout {
    fn read(variables: Variables<'_>, memory: &dyn Memory) -> Option<Self> {
        let mut of = |name: &str| -> Option<usize> {
            let at = variables(&format!("gHotSpotVMStructEntry{name}"))?;
            let number = usize::try_from(number(memory, at, 8)?).ok()?;
            (number <= LONGEST).then_some(number)
        };
        Some(Self {
            stride: of("ArrayStride").filter(|stride| *stride > 0)?,
            type_name: of("TypeNameOffset")?,
            field_name: of("FieldNameOffset")?,
            type_string: of("TypeStringOffset")?,
            offset: of("OffsetOffset")?,
            address: of("AddressOffset")?,
        })
    }
}
