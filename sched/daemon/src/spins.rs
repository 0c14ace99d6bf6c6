//! Samples of what threads execute: how much of it is their own code, and how much spin loops.
//!
//! Each core has a clock that samples who runs there in user space, so that the cost does not grow with
//! the number of threads. It needs no hardware counter, but the right to see all of a core.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use kilocore_linux::perf_events::{Event, Ring, online_cores, process, records, word};
use kilocore_sched_policy::Nanos;
use kilocore_symbols::spin_loops::{Answers, COUNT, SAMPLED, STACK_POINTER, place, spin_loop};
use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_CPU_CLOCK, PERF_RECORD_SAMPLE, PERF_SAMPLE_IP, PERF_SAMPLE_REGS_ABI_64,
    PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_TID, PERF_TYPE_SOFTWARE,
    perf_event_attr,
};

use crate::named::Named;
use crate::tree::Tree;

/// How far samples are apart: as far as votes of windows of a tenth of a second allow, because each one
/// interrupts the program.
const PERIOD: Nanos = Nanos(2_000_000);

/// How far apart they are while watching is loose.
const LOOSE_PERIOD: Nanos = Nanos(8_000_000);

/// Bytes of the stack in a sample: enough for where the functions return to that a spin loop calls.
const STACK: u32 = 256;

/// How far above the stack pointer anything is taken for the stack, in bytes.
const REACH: u64 = 1 << 20;

/// Pages of a core's buffer: 128 KiB, some three hundred samples.
const PAGES: usize = 32;

/// How many addresses are remembered at most.
const REMEMBERED: usize = 1 << 16;

/// For how long a thread, by samples, ran its own code, and was in spin loops there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sampled {
    pub(crate) user: Nanos,
    pub(crate) spun: Nanos,
}

/// The samplers of all cores.
#[derive(Debug)]
pub(crate) struct Spins {
    rings: Vec<Ring>,
    /// How far samples are apart now.
    period: Nanos,
    /// Whether an address of a process belongs to a spin loop, and on what of the stack that depends.
    known: BTreeMap<(Named, u64), Answers>,
}

impl Spins {
    /// Starts to sample where the threads of all cores are.
    pub(crate) fn begin() -> io::Result<Self> {
        let mut rings = Vec::new();
        for core in online_cores().ok_or(io::ErrorKind::NotFound)? {
            let mut attribute = perf_event_attr {
                type_: PERF_TYPE_SOFTWARE,
                size: size_of::<perf_event_attr>() as u32,
                config: u64::from(PERF_COUNT_SW_CPU_CLOCK),
                sample_type: u64::from(
                    PERF_SAMPLE_IP
                        | PERF_SAMPLE_TID
                        | PERF_SAMPLE_REGS_USER
                        | PERF_SAMPLE_STACK_USER,
                ),
                sample_regs_user: SAMPLED,
                sample_stack_user: STACK,
                ..perf_event_attr::default()
            };
            attribute.__bindgen_anon_1.sample_period = PERIOD.0;
            attribute.set_exclude_kernel(1);
            let event = Event::open(&mut attribute, -1, core as libc::c_int)?;
            rings.push(Ring::at_most(event, PAGES).map_err(|(_, error)| error)?);
        }
        Ok(Self { rings, period: PERIOD, known: BTreeMap::new() })
    }

    /// Takes few samples from now on, or many. Whatever was sampled until now has been taken.
    pub(crate) fn set_loose(&mut self, is_loose: bool) {
        let period = if is_loose { LOOSE_PERIOD } else { PERIOD };
        // All clocks are of one kind: if the first cannot be set, none can.
        if period != self.period
            && self.rings.iter().all(|ring| ring.event().set_period(period.0).is_ok())
        {
            self.period = period;
        }
    }

    /// What each thread has executed since the last call, by its tid.
    pub(crate) fn take(&mut self, tree: &Tree) -> BTreeMap<u32, Sampled> {
        let mut bytes = Vec::new();
        for ring in &mut self.rings {
            ring.drain(&mut bytes);
        }
        let processes: BTreeMap<u32, Named> =
            tree.threads().map(|thread| (thread.of.id, thread.process)).collect();
        let mut sampled: BTreeMap<u32, Sampled> = BTreeMap::new();
        for record in records(&bytes).flatten().filter(|record| record.kind == PERF_RECORD_SAMPLE) {
            let (Some(at), Some(tid)) = (word(record.body, 0), process(record.body, 12)) else {
                continue;
            };
            let Some(&process) = processes.get(&(tid as u32)) else { continue };
            let is_spin =
                Snapshot::of(record.body).is_some_and(|it| self.is_spin(process, at, &it));
            let sampled = sampled.entry(tid as u32).or_default();
            sampled.user.0 += self.period.0;
            sampled.spun.0 += if is_spin { self.period.0 } else { 0 };
        }
        sampled
    }

    fn is_spin(&mut self, process: Named, at: u64, snapshot: &Snapshot<'_>) -> bool {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let ask = || {
            let memory = File::open(format!("/proc/{}/mem", process.id));
            let read = |address, length| {
                // What is on the stack by now may be something else.
                if snapshot.is_on_stack(address) {
                    return snapshot.stack(address, length).unwrap_or_default().to_vec();
                }
                let mut code = vec![0; length];
                let read = memory
                    .as_ref()
                    .map_or(0, |memory| memory.read_at(&mut code, address).unwrap_or(0));
                code.truncate(read);
                code
            };
            spin_loop(at, |of| snapshot.registers.get(place(of)?).copied(), read)
        };
        let answer = self.known.entry((process, at)).or_default().now(|at| snapshot.word(at), ask);
        answer.found.as_ref().is_some_and(|found| found.waits())
    }
}

/// The registers of a thread and the nearest of its stack, when it was sampled.
struct Snapshot<'a> {
    registers: [u64; COUNT],
    stack: &'a [u8],
}

impl<'a> Snapshot<'a> {
    /// Takes them from a sample. There is none of code of 32 bits, which has other registers.
    fn of(sample: &'a [u8]) -> Option<Self> {
        if word(sample, 16)? != u64::from(PERF_SAMPLE_REGS_ABI_64) {
            return None;
        }
        let mut registers = [0; COUNT];
        for (index, register) in registers.iter_mut().enumerate() {
            *register = word(sample, 24 + 8 * index)?;
        }
        // A copy of the stack is its size, so many bytes, and how many of them there were.
        let at = 24 + 8 * COUNT;
        let size = usize::try_from(word(sample, at)?).ok()?;
        let copied = if size == 0 { 0 } else { word(sample, at + 8 + size)? as usize };
        let stack = sample.get(at + 8..)?.get(..copied.min(size))?;
        Some(Self { registers, stack })
    }

    fn pointer(&self) -> u64 {
        place(STACK_POINTER).map_or(0, |at| self.registers[at])
    }

    /// So many bytes at an address of the stack, if they were copied.
    fn stack(&self, address: u64, length: usize) -> Option<&'a [u8]> {
        let from = usize::try_from(address.checked_sub(self.pointer())?).ok()?;
        self.stack.get(from..)?.get(..length)
    }

    fn is_on_stack(&self, address: u64) -> bool {
        address.wrapping_sub(self.pointer()) < REACH
    }

    /// The word so far above the stack pointer, if it was copied.
    fn word(&self, at: i64) -> Option<u64> {
        let bytes = self.stack(self.pointer().wrapping_add_signed(at), size_of::<u64>())?;
        word(bytes, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_take_another_period_and_the_first_one_again() {
        // Not every user may sample whole cores.
        let Ok(mut spins) = Spins::begin() else { return };
        spins.set_loose(true);
        assert_eq!(spins.period, LOOSE_PERIOD);
        spins.set_loose(false);
        assert_eq!(spins.period, PERIOD);
    }
}
