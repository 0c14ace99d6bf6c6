//! A dump is outside data: nothing in it is too strange.

use kilocore_lock_watcher::java_threads::Dump;
use proptest::prelude::*;

/// Uses all that can be asked of a dump.
fn exercise(dump: &Dump) {
    for thread in &dump.threads {
        let _ = (thread.place(), thread.stack().count());
        for held in &thread.holds {
            let _ = thread.taken_at(held);
            assert!(dump.holder(held.address).is_some());
        }
        if let Some(tid) = thread.tid {
            assert!(dump.thread(tid).is_some());
        }
    }
}

/// Lines that are nearly those of a dump.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "\"[a\" ]{0,4}\"? ?(#1 )?(\\[[0-9]{0,11}\\] )?(nid=(0x)?[0-9a-f]{0,11})?",
        " {0,3}java.lang.Thread.State: (BLOCKED|WAITING|[A-Z]{0,3}) ?[(]?",
        "\tat [a-zé.$/]{0,9}([(][A-Za:é/0-9 .]{0,9}[)]?){0,2}",
        "\tat java.lang.Object.wait0?[(]Native Method[)]",
        "\t- (waiting on|locked|waiting to lock|waiting to re-lock in wait\\(\\)|parking to wait for ) \
         <(0x)?[0-9a-f]{0,17}>? ?([(]a [a-z$é]{0,5}[)]?)?",
        "\t- <0x[0-3]> [(]a b[)]",
        "   Locked ownable synchronizers:",
        "   (Carrying|Mounted) virtual thread #[0-9]{0,21}",
        "[ \t\"é-]{0,4}",
    ];
    proptest::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        exercise(&Dump::parse(&bytes));
    }

    #[test]
    fn lines_in_any_order_are_read(text in lines()) {
        exercise(&Dump::parse(text.as_bytes()));
    }

    #[test]
    fn damaged_dumps_are_read(from in 0_usize..9000, length in 0_usize..300, byte: u8) {
        let mut text = include_bytes!("dumps/jdk-25.txt").to_vec();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        text.splice(from..to, [byte]);
        let dump = Dump::parse(&text);
        exercise(&dump);
        // The damage reaches two threads at most, unless it makes a quote out of nothing.
        prop_assert!(dump.threads.len() > 5);
    }
}
