//! What a Java virtual machine's memory says of its locks. The memory is what it was when it was read in
//! bits and pieces, so it may be anything.
#![no_main]

use kilocore_lock_watcher::java_threads::{Inside, Memory, VARIABLES};
use libfuzzer_sys::fuzz_target;

/// Pages that are written by the input: each begins at another place of it.
struct Pages<'a>(&'a [u8]);

impl Memory for Pages<'_> {
    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let from = (address % self.0.len() as u64) as usize;
        self.0.iter().cycle().skip(from).take(length).copied().collect()
    }
}

fuzz_target!(|bytes: &[u8]| {
    if bytes.is_empty() {
        return;
    }
    let memory = Pages(bytes);
    // Each variable is somewhere else.
    let mut variable = |name: &str| name.starts_with(VARIABLES).then(|| 8 * name.len() as u64);
    if let Some(mut inside) = Inside::of(&mut variable, &memory) {
        for waiting in inside.waiting(&memory, (1, 9)) {
            let _ = inside.is_still(&memory, &waiting.lock);
        }
    }
});
