//! A file of points that are kept: what is accepted is written again as it was. Digests are made here, as whoever writes
//! such a file can make one as well.
#![no_main]

use kilocore_points::{Batch, Key};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let digest = Key::of_bytes(bytes);
    for file in [bytes.to_vec(), [digest.bytes(), bytes].concat()] {
        let Some(batch) = Batch::read(&file) else { continue };
        assert_eq!(batch.to_bytes(), file);
        let parts = batch.clone().split(256);
        assert_eq!(parts.iter().map(Batch::len).sum::<usize>(), batch.len());
    }
});
