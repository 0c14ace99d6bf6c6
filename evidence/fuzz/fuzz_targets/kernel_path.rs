//! Recordings of a kernel's path: what is accepted is written in the same words, and accepted again.
#![no_main]

use kilocore_kernel_path::Path;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(path) = Path::read(text) else { return };
    assert_eq!(Path::read(&path.to_string()).as_ref(), Ok(&path));
});
