//! Rings in memory: two threads, and damage.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::Ordering;
use std::thread;

use kilocore_references::layout::{LayoutError, MOST_RINGS, Shared, Sizes};
use kilocore_references::record::{Record, burst};
use kilocore_references::ring::{Malformed, Reader, Writer};
use kilocore_references::{Burst, PageNumber};

const SIZES: Sizes = Sizes { rings: 2, slots: 256 };

/// Calls this with memory for two rings.
fn with_memory(call: impl FnOnce(*mut u8, Shared<'_>)) {
    let layout = Layout::from_size_align(SIZES.bytes(), 256).expect("a small layout");
    // SAFETY: the layout is not empty. The memory lives until the end of this function, and `Shared` is
    // the only way to it.
    unsafe {
        let base = alloc_zeroed(layout);
        assert!(matches!(Shared::open(base, layout.size()), Err(LayoutError::NoReferences)));
        call(base, Shared::create(base, layout.size(), SIZES, 2_000, 1).expect("it fits"));
        dealloc(base, layout);
    }
}

#[test]
fn everything_comes_out_in_order() {
    const RECORDS: u64 = 100_000;
    with_memory(|_, shared| {
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = Writer::new(shared.ring(1));
                for number in 0..RECORDS {
                    while !writer.has_room(1) {
                        writer.publish();
                        thread::yield_now();
                    }
                    let (page, reads) = (PageNumber(number), number as u32);
                    writer.push(burst(Burst { page, reads, writes: 7 }));
                }
                writer.publish();
            });
            let mut reader = Reader::new(shared.ring(1));
            for number in 0..RECORDS {
                while reader.is_empty() && !reader.look() {
                    reader.give_back();
                    thread::yield_now();
                }
                let (page, reads) = (PageNumber(number), number as u32);
                let expected = Record::Burst(Burst { page, reads, writes: 7 });
                assert_eq!(reader.front(), Ok(Some((expected, 1))));
                reader.skip(1);
            }
            assert!(!reader.look());
        });
        assert!(!Reader::new(shared.ring(0)).look());
    });
}

#[test]
fn what_no_program_writes_is_noticed() {
    with_memory(|base, shared| {
        let mut writer = Writer::new(shared.ring(0));
        // It says that three slots follow.
        writer.push([6 << 52 | 3 << 58, 1]);
        writer.publish();
        let mut reader = Reader::new(shared.ring(0));
        assert!(reader.look());
        assert_eq!(reader.front(), Err(Malformed));
        shared.rings()[0].head.store(1 << 40, Ordering::Relaxed);
        assert!(reader.look());
        assert_eq!(reader.front(), Err(Malformed));

        // SAFETY: the same memory.
        let open = |bytes| unsafe { Shared::open(base, bytes) };
        assert!(open(SIZES.bytes()).is_ok());
        assert!(matches!(open(SIZES.bytes() - 1), Err(LayoutError::Sizes)));
        shared.header().rings.store(MOST_RINGS + 1, Ordering::Relaxed);
        assert!(matches!(open(SIZES.bytes()), Err(LayoutError::Sizes)));
        shared.header().version.store(9, Ordering::Relaxed);
        assert!(matches!(open(SIZES.bytes()), Err(LayoutError::OtherVersion(9))));
    });
}
