//! A virtual machine's memory is outside data: the little that is read of it is understood, and nothing
//! in it is too strange.

use std::collections::BTreeMap;

use kilocore_lock_watcher::java_threads::{Inside, JavaLock, Memory};
use proptest::prelude::*;

/// Memory that is made by hand.
#[derive(Default)]
struct Made(BTreeMap<u64, u8>);

impl Made {
    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.0.extend(bytes.iter().enumerate().map(|(index, byte)| (at + index as u64, *byte)));
    }

    fn word(&mut self, at: u64, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    fn half(&mut self, at: u64, value: u32) {
        self.put(at, &value.to_le_bytes());
    }
}

impl Memory for Made {
    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let of = |index| self.0.get(&address.wrapping_add(index)).copied();
        (0..length as u64).map_while(of).collect()
    }
}

/// Where the variables are that tell the layout of the tables.
const VARIABLES: [(&str, u64); 11] = [
    ("gHotSpotVMStructs", 0x1000),
    ("gHotSpotVMStructEntryArrayStride", 0x1008),
    ("gHotSpotVMStructEntryTypeNameOffset", 0x1010),
    ("gHotSpotVMStructEntryFieldNameOffset", 0x1018),
    ("gHotSpotVMStructEntryTypeStringOffset", 0x1020),
    ("gHotSpotVMStructEntryOffsetOffset", 0x1028),
    ("gHotSpotVMStructEntryAddressOffset", 0x1030),
    ("gHotSpotVMTypes", 0x1038),
    ("gHotSpotVMTypeEntryArrayStride", 0x1040),
    ("gHotSpotVMTypeEntryTypeNameOffset", 0x1048),
    ("gHotSpotVMTypeEntrySizeOffset", 0x1050),
];

fn variable(name: &str) -> Option<u64> {
    VARIABLES.iter().find(|(of, _)| *of == name).map(|(_, at)| *at)
}

/// As JDK 17 on Linux has them: type, field, type of the field, offset, address.
const FIELDS: [(&str, &str, &str, u64, u64); 29] = [
    ("ThreadsSMRSupport", "_java_thread_list", "ThreadsList*", 0, 0x6000),
    ("ThreadsList", "_length", "const uint", 4, 0),
    ("ThreadsList", "_threads", "JavaThread *const *const", 16, 0),
    ("JavaThread", "_threadObj", "OopHandle", 648, 0),
    ("JavaThread", "_current_pending_monitor", "ObjectMonitor*", 776, 0),
    ("JavaThread", "_osthread", "OSThread*", 560, 0),
    ("OSThread", "_thread_id", "OSThread::thread_id_t", 208, 0),
    ("ObjectMonitor", "_object", "", 8, 0),
    ("ObjectMonitor", "_owner", "", 64, 0),
    ("CompressedOops", "_narrow_oop._base", "address", 0, 0x6010),
    ("CompressedOops", "_narrow_oop._shift", "int", 0, 0x6018),
    ("CompressedKlassPointers", "_narrow_klass._base", "address", 0, 0x6020),
    ("CompressedKlassPointers", "_narrow_klass._shift", "int", 0, 0x6028),
    ("oopDesc", "_mark", "markWord", 0, 0),
    ("oopDesc", "_metadata._klass", "Klass*", 8, 0),
    ("Klass", "_super", "Klass*", 120, 0),
    ("Klass", "_name", "Symbol*", 24, 0),
    ("Symbol", "_length", "u2", 4, 0),
    ("Symbol", "_body", "", 6, 0),
    ("InstanceKlass", "_fields", "Array<u2>*", 456, 0),
    ("InstanceKlass", "_java_fields_count", "u2", 310, 0),
    ("InstanceKlass", "_constants", "ConstantPool*", 232, 0),
    ("Universe", "_collectedHeap", "CollectedHeap*", 0, 0x6030),
    ("CollectedHeap", "_total_collections", "unsigned int", 64, 0),
    ("JVMFlag", "flags", "JVMFlag*", 0, 0x6040),
    ("JVMFlag", "numFlags", "size_t", 0, 0x6048),
    ("JVMFlag", "_name", "const char*", 8, 0),
    ("JVMFlag", "_addr", "", 0, 0),
    ("Nothing", "_needed", "int", 1, 1),
];

/// A class with one field besides a first one.
fn class(memory: &mut Made, at: u64, name: &str, above: u64, field: (&str, u16)) {
    let symbol = |memory: &mut Made, at: u64, text: &str| {
        memory.put(at + 4, &(text.len() as u16).to_le_bytes());
        memory.put(at + 6, text.as_bytes());
    };
    symbol(memory, at + 0x300, name);
    symbol(memory, at + 0x340, "other");
    symbol(memory, at + 0x380, field.0);
    memory.word(at + 24, at + 0x300);
    memory.word(at + 120, above);
    memory.word(at + 456, at + 0x400);
    memory.put(at + 310, &2_u16.to_le_bytes());
    memory.word(at + 232, at + 0x480);
    memory.word(at + 0x480 + 72 + 8, at + 0x340);
    memory.word(at + 0x480 + 72 + 16, at + 0x380);
    memory.half(at + 0x400, 12);
    for (index, (constant, offset)) in [(1_u16, 12_u16), (2, field.1)].into_iter().enumerate() {
        let numbers = [0, constant, 0, 0, offset << 2 | 1, 0];
        for (number, value) in numbers.into_iter().enumerate() {
            memory.put(at + 0x404 + 2 * (6 * index + number) as u64, &value.to_le_bytes());
        }
    }
}

const LOCK: u64 = 0x9_0000;
const MONITOR: u64 = 0xa_0000;

/// A machine with three threads: one waits for a monitor, one for a lock, and one for nothing.
fn machine() -> Made {
    let mut memory = Made::default();
    for (name, at) in VARIABLES {
        let value = match name.trim_start_matches("gHotSpotVM") {
            "Structs" => 0x2000,
            "StructEntryArrayStride" => 48,
            "StructEntryFieldNameOffset" | "TypeEntrySizeOffset" => 8,
            "StructEntryTypeStringOffset" => 16,
            "StructEntryOffsetOffset" => 32,
            "StructEntryAddressOffset" => 40,
            "Types" => 0x5000,
            "TypeEntryArrayStride" => 16,
            _ => 0,
        };
        memory.word(at, value);
    }
    let mut texts = 0x10_0000;
    let mut text = |memory: &mut Made, text: &str| {
        texts += 0x200;
        memory.put(texts, &[0; 0x200]);
        memory.put(texts, text.as_bytes());
        texts
    };
    memory.put(0x2000, &[0; 48 * (FIELDS.len() + 1)]);
    for (index, (of, field, of_type, offset, address)) in FIELDS.into_iter().enumerate() {
        let entry = 0x2000 + 48 * index as u64;
        for (at, name) in [(0, of), (8, field), (16, of_type)] {
            let name = text(&mut memory, name);
            memory.word(entry + at, name);
        }
        memory.word(entry + 32, offset);
        memory.word(entry + 40, address);
    }
    memory.put(0x5000, &[0; 48]);
    for (entry, name, size) in [(0x5000, "ConstantPool", 72), (0x5010, "JVMFlag", 24)] {
        let name = text(&mut memory, name);
        memory.word(entry, name);
        memory.word(entry + 8, size);
    }
    // The machine's options.
    memory.word(0x6040, 0x6500);
    memory.word(0x6048, 2);
    for (entry, name, at, on) in [(0x6500, "UseZGC", 0x6600, 0), (0x6518, "UseG1GC", 0x6601, 1)] {
        let name = text(&mut memory, name);
        memory.word(entry, at);
        memory.word(entry + 8, name);
        memory.put(at, &[on]);
    }
    // The threads.
    for at in [0x6010, 0x6018, 0x6028] {
        memory.word(at, 0);
    }
    memory.word(0x6020, 0x4_0000);
    memory.word(0x6030, 0x6100);
    memory.half(0x6100 + 64, 5);
    memory.word(0x6000, 0x6200);
    memory.half(0x6204, 3);
    memory.word(0x6210, 0x6300);
    for (index, thread) in [0x7_0000_u64, 0x7_1000, 0x7_2000].into_iter().enumerate() {
        memory.word(0x6300 + 8 * index as u64, thread);
        memory.put(thread, &[0; 0x400]);
        memory.word(thread + 560, thread + 0x500);
        memory.half(thread + 0x500 + 208, 100 + index as u32);
        memory.word(thread + 648, thread + 0x800);
        memory.word(thread + 0x800, thread + 0x900);
        // An object of class Thread, whose reference to a blocker is narrow.
        memory.put(thread + 0x900, &[0; 64]);
        memory.half(thread + 0x908, 0x1000);
    }
    class(&mut memory, 0x4_1000, "java/lang/Thread", 0, ("parkBlocker", 20));
    let synchronizer = "java/util/concurrent/locks/AbstractQueuedSynchronizer";
    class(&mut memory, 0x4_2000, synchronizer, 0, ("state", 16));
    class(&mut memory, 0x4_3000, "p/Sync", 0x4_2000, ("more", 28));
    memory.word(0x7_0000 + 776, MONITOR);
    memory.word(MONITOR + 8, 0x6400);
    memory.word(MONITOR + 64, 0x7_2000);
    memory.word(0x6400, 0x7_2900);
    memory.half(0x7_1914, LOCK as u32);
    memory.put(LOCK, &[0; 32]);
    memory.word(LOCK, 1);
    memory.half(LOCK + 8, 0x3000);
    memory
}

#[test]
fn what_threads_wait_for_is_read() {
    let mut memory = machine();
    let mut inside = Inside::of(&mut variable, &memory).expect("it says where it keeps what");
    let monitor = JavaLock::Monitor { word: MONITOR + 64, object: 0x6400 };
    let lock = JavaLock::Synchronizer { word: LOCK + 16, class: 0x4_3000, collections: 5 };
    let mut found = |memory: &Made, some| {
        let waiting = inside.waiting(memory, some);
        waiting.into_iter().map(|one| (one.tid, one.lock, one.class.unwrap())).collect::<Vec<_>>()
    };
    let of_monitor = (100, monitor, "java.lang.Thread".to_owned());
    let of_lock = (101, lock, "p.Sync".to_owned());
    assert_eq!(found(&memory, (0, 9)), [of_monitor.clone(), of_lock.clone()]);
    assert_eq!(found(&memory, (4, 3)), [of_lock, of_monitor]);
    assert_eq!(found(&memory, (2, 1)), []);
    assert!(inside.is_still(&memory, &monitor) && inside.is_still(&memory, &lock));
    // The monitor is deflated, and a collection begins.
    memory.word(MONITOR + 8, 0);
    memory.half(0x6100 + 64, 6);
    assert!(!inside.is_still(&memory, &monitor) && !inside.is_still(&memory, &lock));
}

#[test]
fn who_parks_for_no_lock_is_left_out() {
    let mut memory = machine();
    memory.put(0x4_3000 + 0x306, b"q/None");
    memory.word(0x4_3000 + 120, 0);
    let mut inside = Inside::of(&mut variable, &memory).expect("it says where it keeps what");
    assert_eq!(inside.waiting(&memory, (0, 9)).len(), 1);
    // An object that is being moved is none.
    let mut memory = machine();
    memory.word(LOCK, 0x1234_5673);
    let mut inside = Inside::of(&mut variable, &memory).expect("it says where it keeps what");
    assert_eq!(inside.waiting(&memory, (0, 9)).len(), 1);
}

#[test]
fn objects_that_may_be_moved_at_any_time_are_left_alone() {
    let mut memory = machine();
    memory.put(0x6601, &[0]);
    let mut inside = Inside::of(&mut variable, &memory).expect("it says where it keeps what");
    let tids: Vec<u32> = inside.waiting(&memory, (0, 9)).iter().map(|one| one.tid).collect();
    assert_eq!(tids, [100], "monitors stay where they are");
}

#[test]
fn a_machine_that_does_not_say_where_it_keeps_what_is_left_alone() {
    let memory = machine();
    assert_eq!(Inside::of(&mut |_| None, &memory), None);
    assert_eq!(Inside::of(&mut variable, &Made::default()), None);
}

/// Memory of which every address has something.
struct Any(Vec<u8>);

impl Memory for Any {
    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let from = (address % self.0.len() as u64) as usize;
        self.0.iter().cycle().skip(from).take(length).copied().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_memory_is_read(bytes in proptest::collection::vec(any::<u8>(), 1..600)) {
        let memory = Any(bytes);
        if let Some(mut inside) = Inside::of(&mut variable, &memory) {
            let _ = inside.waiting(&memory, (3, 9));
        }
    }

    #[test]
    fn damaged_memory_is_read(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut memory = machine();
        let places: Vec<u64> = memory.0.keys().copied().collect();
        for (place, byte) in damage {
            memory.put(*place.get(&places), &[byte]);
        }
        if let Some(mut inside) = Inside::of(&mut variable, &memory) {
            for waiting in inside.waiting(&memory, (1, 9)) {
                let _ = inside.is_still(&memory, &waiting.lock);
            }
        }
    }
}
