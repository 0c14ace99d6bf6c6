//! Where threads were found spinning for others: addresses of code, which become functions.

use std::collections::{BTreeMap, BTreeSet};

use crate::word_names::{Names, lock_spun_for};
use kilocore_lock_profile::{Frame, SpinPlace};

use crate::ids::{Pid, Tid};

/// So many addresses are kept. Loops are short, and programs have few of them.
const MOST: usize = 4096;

/// What is known of an address, or of a function.
#[derive(Debug, Default)]
struct SpinSamples {
    samples: u64,
    threads: BTreeSet<Tid>,
}

/// The addresses at which threads were found.
#[derive(Debug, Default)]
pub(crate) struct SpinAddresses(BTreeMap<(Pid, u64), SpinSamples>);

impl SpinAddresses {
    /// Adds that a thread was found at an address.
    pub(crate) fn add(&mut self, pid: Pid, tid: Tid, address: u64) {
        if self.0.len() < MOST || self.0.contains_key(&(pid, address)) {
            let found = self.0.entry((pid, address)).or_default();
            found.samples += 1;
            found.threads.insert(tid);
        }
    }

    /// The functions that these addresses are in.
    pub(crate) fn told(self, names: &mut BTreeMap<Pid, Names>) -> Vec<SpinPlace> {
        let mut known = |pid, address| {
            let frames = names.get_mut(&pid).map(|names| names.frames(address));
            let frames = frames.unwrap_or_default();
            let name = own(&frames).map_or_else(|| format!("code at {address:#x}"), title);
            (name, lock_spun_for(&frames))
        };
        type Place = (Pid, String, Option<&'static str>);
        let mut places: BTreeMap<Place, SpinSamples> = BTreeMap::new();
        for ((pid, address), found) in self.0 {
            let (name, lock) = known(pid, address);
            let place = places.entry((pid, name, lock)).or_default();
            place.samples += found.samples;
            place.threads.extend(found.threads);
        }
        let told = |((pid, function, lock), found): (Place, SpinSamples)| SpinPlace {
            process: pid.0,
            function,
            lock: lock.map(str::to_owned),
            samples: found.samples,
            threads: found.threads.len() as u64,
        };
        places.into_iter().map(told).collect()
    }
}

/// The innermost function that is no library's way to read an atomic word.
fn own(frames: &[Frame]) -> Option<&Frame> {
    let of_library = |frame: &&Frame| {
        let name = frame.function.trim_start_matches('<');
        ["core::", "std::", "__gcc_atomic", "boost::atomic"].iter().any(|of| name.starts_with(of))
    };
    frames.iter().find(|frame| !of_library(frame)).or(frames.first())
}

/// What a function is called. Its lines are several, and mean the same loop.
fn title(frame: &Frame) -> String {
    let file = frame.module.rsplit('/').next().unwrap_or(&frame.module);
    match frame.function.as_str() {
        "" => frame.to_string(),
        function => format!("{function} in {file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Frame {
        let (function, module) = (function.to_owned(), "/opt/bin/server".to_owned());
        Frame { function, module, offset: 0x1330, line: None }
    }

    #[test]
    fn a_loop_is_called_after_the_function_that_waits() {
        let inlined = [frame("std::atomic<int>::load"), frame("wait_for_all"), frame("worker")];
        assert_eq!(own(&inlined).map(title).as_deref(), Some("wait_for_all in server"));
        assert_eq!(
            own(&inlined[..1]).map(title).as_deref(),
            Some("std::atomic<int>::load in server")
        );
        assert_eq!(own(&[frame("")]).map(title).as_deref(), Some("server+0x1330"));
        assert_eq!(own(&[]), None);
    }

    #[test]
    fn addresses_without_names_stay_addresses() {
        let mut spun = SpinAddresses::default();
        for (tid, address) in [(1, 0x10), (2, 0x10), (1, 0x20), (1, 0x10)] {
            spun.add(Pid(7), Tid(tid), address);
        }
        let told = spun.told(&mut BTreeMap::new());
        let told: Vec<_> = told
            .iter()
            .map(|one| (&*one.function, one.process, one.samples, one.threads))
            .collect();
        assert_eq!(told, [("code at 0x10", 7, 3, 2), ("code at 0x20", 7, 1, 1)]);
    }

    #[test]
    fn some_functions_spin_for_a_lock_and_of_others_nobody_knows() {
        let in_java =
            |function: &str| Frame { module: "/lib/libjvm.so".to_owned(), ..frame(function) };
        let lock = |function: &str| lock_spun_for(&[in_java(function)]);
        assert_eq!(lock("ObjectMonitor::TrySpin(JavaThread*)"), Some("Java monitor"));
        assert_eq!(lock("SpinPause"), None, "collectors of garbage spin there as well");
        assert_eq!(lock_spun_for(&[frame("wait_for_all")]), None);
    }
}
