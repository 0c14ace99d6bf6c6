//! What a Java virtual machine says of its threads.
#![no_main]

use kilocore_lock_watcher::java_threads::Dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for thread in &Dump::parse(bytes).threads {
        let _ = (thread.place(), thread.stack().count());
        for held in &thread.holds {
            let _ = thread.taken_at(held);
        }
    }
});
