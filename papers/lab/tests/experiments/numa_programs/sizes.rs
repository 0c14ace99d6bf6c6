//! Where the programs keep what.

use std::collections::BTreeSet;

use kilocore_lab::numa_programs::{Program, Size};
use kilocore_platform::Native;

const PAGE: usize = 4096;

#[test]
fn every_page_has_one_use() {
    for program in Program::ALL {
        let run = program.prepare::<Native>(Size::Small, 5, 1).unwrap();
        let mut seen = BTreeSet::new();
        let private = run.private_memory();
        let threads: BTreeSet<usize> = private.iter().map(|&(thread, _)| thread).collect();
        assert!(threads.into_iter().eq(0..5), "{program}");
        let ranges = private.into_iter().map(|(_, range)| range).chain(run.shared_memory());
        for range in ranges {
            assert!(!range.is_empty() && range.start % PAGE == 0 && range.end % PAGE == 0);
            assert!(range.step_by(PAGE).all(|page| seen.insert(page)), "{program}");
        }
    }
}
