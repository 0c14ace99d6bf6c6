//! Objects of Java in the heap of a virtual machine: their classes, and where the fields of a class are.
//!
//! References to objects and to classes may be narrow: four bytes, which count in units from a base.
//! Nobody says whether they are. So both are tried, and the one that leads to a class with a name is
//! right.

use crate::java_threads::fields::{Fields, Variables, is_on, size};
use crate::java_threads::memory::{Memory, number, number_in, pointer};

/// The types whose fields are needed.
pub(crate) const TYPES: [&str; 10] = [
    "oopDesc",
    "Klass",
    "InstanceKlass",
    "ConstantPool",
    "Symbol",
    "CompressedOops",
    "CompressedKlassPointers",
    "CollectedHeap",
    "Universe",
    "JVMFlag",
];
/// The collectors that move objects only while the program stands still.
const COLLECTORS: [&str; 3] = ["UseSerialGC", "UseParallelGC", "UseG1GC"];
/// A class with more fields, or above which there are more classes, is none.
const MOST_FIELDS: usize = 1 << 12;
const MOST_CLASSES: usize = 64;
/// A field has six numbers of two bytes. The lowest bits of the last two say what these are; an offset,
/// if they are this.
const NUMBERS: usize = 6;
const IS_OFFSET: u64 = 1;
/// A longer offset is none.
const LARGEST: u64 = 1 << 16;
/// The lowest bits of an object's first word, while the collector moves it.
const MOVED: u64 = 3;

/// How wide references are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    Narrow { base: u64, shift: u32 },
    Wide,
}

impl Width {
    /// The reference at a place.
    fn reference(self, memory: &dyn Memory, at: u64) -> Option<u64> {
        match self {
            Self::Wide => pointer(memory, at),
            Self::Narrow { base, shift } => {
                let narrow = number(memory, at, 4).filter(|to| *to != 0)?;
                Some(base.wrapping_add(narrow << shift))
            }
        }
    }
}

/// Where what of an object, a class and a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heap {
    mark: u64,
    class: u64,
    super_class: u64,
    name: u64,
    name_length: u64,
    name_body: u64,
    fields: u64,
    fields_count: u64,
    constants: u64,
    /// How long the head of a table of constants is.
    constants_head: u64,
    classes: [Width; 2],
    objects: [Width; 2],
    /// Where the heap's description is, and in it the number of collections so far.
    heap: u64,
    collections: u64,
}

impl Heap {
    /// Finds out how objects of a machine are laid out. `None` if it does not say, or if they may be
    /// moved at any time.
    pub(crate) fn of(
        fields: &Fields,
        variables: Variables<'_>,
        memory: &dyn Memory,
    ) -> Option<Self> {
        let constants_head = size(variables, memory, "ConstantPool")?;
        let flag = size(variables, memory, "JVMFlag")?;
        if !is_on(fields, memory, flag, &COLLECTORS) {
            return None;
        }
        let static_of = |of: &[(&str, &str)]| of.iter().find_map(|(a, b)| fields.address(a, b));
        let narrow = |base: &[(&str, &str)], shift: &[(&str, &str)]| -> Option<Width> {
            let base = number(memory, static_of(base)?, 8)?;
            let shift = number(memory, static_of(shift)?, 4)?;
            Some(Width::Narrow { base, shift: u32::try_from(shift).ok().filter(|by| *by < 8)? })
        };
        let objects = narrow(
            &[("CompressedOops", "_narrow_oop._base"), ("CompressedOops", "_base")],
            &[("CompressedOops", "_narrow_oop._shift"), ("CompressedOops", "_shift")],
        )?;
        let classes = narrow(
            &[
                ("CompressedKlassPointers", "_narrow_klass._base"),
                ("CompressedKlassPointers", "_base"),
            ],
            &[
                ("CompressedKlassPointers", "_narrow_klass._shift"),
                ("CompressedKlassPointers", "_shift"),
            ],
        )?;
        Some(Self {
            mark: fields.offset("oopDesc", "_mark")?,
            class: fields.offset("oopDesc", "_metadata._klass")?,
            super_class: fields.offset("Klass", "_super")?,
            name: fields.offset("Klass", "_name")?,
            name_length: fields.offset("Symbol", "_length")?,
            name_body: fields.offset("Symbol", "_body")?,
            // From JDK 21 on, they are packed in another way, which is not read.
            fields: fields.offset("InstanceKlass", "_fields")?,
            fields_count: fields.offset("InstanceKlass", "_java_fields_count")?,
            constants: fields.offset("InstanceKlass", "_constants")?,
            constants_head,
            classes: [classes, Width::Wide],
            objects: [objects, Width::Wide],
            heap: fields.address("Universe", "_collectedHeap")?,
            collections: fields.offset("CollectedHeap", "_total_collections")?,
        })
    }

    /// How many collections have begun so far. Objects stay where they are while it stays the same.
    pub(crate) fn collections(&self, memory: &dyn Memory) -> Option<u32> {
        let heap = pointer(memory, self.heap)?;
        Some(number(memory, heap.wrapping_add(self.collections), 4)? as u32)
    }

    /// A class, by the object of which it is, and its name as the machine has it: `java/lang/Thread`.
    pub(crate) fn class_of(&self, memory: &dyn Memory, object: u64) -> Option<(u64, String)> {
        let moves = number(memory, object.wrapping_add(self.mark), 8)? & MOVED == MOVED;
        if moves {
            return None;
        }
        let at = object.wrapping_add(self.class);
        self.classes.iter().find_map(|width| {
            let class = width.reference(memory, at)?;
            Some((class, self.name(memory, class)?))
        })
    }

    /// The object to which a field refers, its class, and the class's name.
    pub(crate) fn referred(&self, memory: &dyn Memory, at: u64) -> Option<(u64, u64, String)> {
        self.objects.iter().find_map(|width| {
            let object = width.reference(memory, at)?;
            let (class, name) = self.class_of(memory, object)?;
            Some((object, class, name))
        })
    }

    /// The class of a name, among a class and those above it.
    pub(crate) fn above(&self, memory: &dyn Memory, class: u64, name: &str) -> Option<u64> {
        let mut class = class;
        for _ in 0..MOST_CLASSES {
            if self.name(memory, class)? == name {
                return Some(class);
            }
            class = pointer(memory, class.wrapping_add(self.super_class))?;
        }
        None
    }

    /// How far from an object's start its field of a name lies, which a class declares.
    pub(crate) fn field(&self, memory: &dyn Memory, class: u64, name: &str) -> Option<u64> {
        let count = number(memory, class.wrapping_add(self.fields_count), 2)? as usize;
        let array = pointer(memory, class.wrapping_add(self.fields))?;
        let constants = pointer(memory, class.wrapping_add(self.constants))?;
        let numbers = memory.read(array.wrapping_add(4), 2 * NUMBERS * count.min(MOST_FIELDS));
        numbers.chunks_exact(2 * NUMBERS).find_map(|field| {
            let of = |index: usize| number_in(field, 2 * index, 2);
            let constant = self.constants_head.wrapping_add(8 * of(1)?);
            let symbol = pointer(memory, constants.wrapping_add(constant))?;
            if self.symbol(memory, symbol)? != name {
                return None;
            }
            let packed = of(5)? << 16 | of(4)?;
            let offset = packed >> 2;
            (packed & 3 == IS_OFFSET && offset < LARGEST).then_some(offset)
        })
    }

    /// A class's name as the machine has it.
    pub(crate) fn name(&self, memory: &dyn Memory, class: u64) -> Option<String> {
        self.symbol(memory, pointer(memory, class.wrapping_add(self.name))?)
    }

    fn symbol(&self, memory: &dyn Memory, symbol: u64) -> Option<String> {
        let length = number(memory, symbol.wrapping_add(self.name_length), 2)? as usize;
        let bytes = memory.read(symbol.wrapping_add(self.name_body), length);
        let is_whole = length > 0 && bytes.len() == length;
        is_whole.then(|| String::from_utf8(bytes).ok()).flatten()
    }
}
