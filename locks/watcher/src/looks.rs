//! Looks at threads in the middle of a window, for those whose registers the kernel does not show.
//!
//! The system says in which call a thread sleeps. A thread that left its core before such a look
//! and got one after it slept in that call all the time. Most stretches end without a look. But the
//! looks also tell at which places in the code threads enter the calls in which they sleep, and the
//! processor can watch these places.

use std::collections::BTreeMap;

use kilocore_linux::{Call, SyscallState, syscall_state};
use rand_core::Rng;
use syscalls::Sysno;

use crate::ids::{Moment, Pid, Tid};
use crate::memory::read;
use crate::registers::{Registers, SYSCALL};
use crate::window::{Switch, SwitchKind, Window};

/// How many threads are looked at at a time.
const THREADS: usize = 64;
/// How much of a stack is copied, in bytes.
const STACK: usize = 4096;

/// A thread slept in a call.
#[derive(Debug)]
struct ObservedSleep {
    tid: Tid,
    /// At all times between these.
    from: Moment,
    to: Moment,
    call: Call,
    /// A copy of its stack, where one was wanted and the thread did not move meanwhile.
    stack: Vec<u8>,
}

/// The looks of a window, and what all of them have told.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    seen: Vec<ObservedSleep>,
    /// By process and address of the instruction that enters the kernel, how often threads were
    /// found asleep there. It is 0 times where there is no such instruction.
    places: BTreeMap<(Pid, u64), u64>,
}

impl Looks {
    /// Looks at the threads, or at some of them if they are many.
    pub(crate) fn look(
        &mut self,
        threads: &BTreeMap<Tid, Pid>,
        stacks: bool,
        chance: &mut impl Rng,
    ) {
        let step = threads.len().div_ceil(THREADS).max(1);
        let first = chance.next_u64() as usize % step;
        for (tid, pid) in threads.iter().skip(first).step_by(step) {
            let from = Moment::now();
            let SyscallState::Call(call) = syscall_state(pid.0, tid.0) else { continue };
            let mut to = Moment::now();
            let mut stack = Vec::new();
            if stacks {
                stack = read(*pid, call.stack, STACK);
                // It may have gone on in the middle of the copy.
                if syscall_state(pid.0, tid.0) == SyscallState::Call(call) {
                    to = Moment::now();
                } else {
                    stack.clear();
                }
            }
            self.count(*pid, &call);
            self.seen.push(ObservedSleep { tid: *tid, from, to, call, stack });
        }
    }

    fn count(&mut self, pid: Pid, call: &Call) {
        let at = call.address.wrapping_sub(SYSCALL.len() as u64);
        if let Some(times) = self.places.get_mut(&(pid, at)) {
            *times += u64::from(*times > 0);
            return;
        }
        let enters = read(pid, at, SYSCALL.len()) == SYSCALL;
        self.places.insert((pid, at), u64::from(enters));
    }

    /// The places at which threads of a process were found asleep most often, at most so many.
    pub(crate) fn places(&self, pid: Pid, most: usize) -> Vec<u64> {
        let of_it = self.places.range((pid, 0)..=(pid, u64::MAX));
        let mut found: Vec<(u64, u64)> =
            of_it.filter(|(_, times)| **times > 0).map(|((_, at), times)| (*times, *at)).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, at)| at).take(most).collect()
    }

    /// Forgets processes that are gone or execute another program now.
    pub(crate) fn forget(&mut self, gone: impl Fn(Pid) -> bool) {
        self.places.retain(|(pid, _), _| !gone(*pid));
    }

    /// Adds what the looks of a window told to its switches, which are sorted by time.
    pub(crate) fn tell(&mut self, window: &mut Window) {
        let mut switches: BTreeMap<Tid, Vec<&mut Switch>> = BTreeMap::new();
        for switch in &mut window.switches {
            switches.entry(switch.tid).or_default().push(switch);
        }
        for look in self.seen.drain(..) {
            let Some(of_it) = switches.get_mut(&look.tid) else { continue };
            let next = of_it.partition_point(|switch| switch.at <= look.from);
            // It came back before the look was over.
            if of_it.get(next).is_some_and(|switch| switch.at < look.to) {
                continue;
            }
            let Some(left) = next.checked_sub(1).and_then(|last| of_it.get_mut(last)) else {
                continue;
            };
            look.told(&mut left.what);
        }
    }
}

impl ObservedSleep {
    /// Adds it to the record that the thread left its core.
    fn told(self, what: &mut SwitchKind) {
        let SwitchKind::Out { preempted: false, call, registers, stack } = what else { return };
        match registers {
            None => {
                let Some(number) = Sysno::new(self.call.number as usize) else { return };
                *call = Some(number);
                *registers = Some(Registers::of_call(&self.call));
                *stack = self.stack;
            }
            Some(registers) if stack.is_empty() && registers.sp() == self.call.stack => {
                *stack = self.stack;
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(from: u64, to: u64) -> ObservedSleep {
        let call = Call {
            number: Sysno::futex as u64,
            arguments: [0x1000, 128, 2, 0, 0, 0],
            stack: 0x7000,
            address: 0x4002,
        };
        ObservedSleep { tid: Tid(2), from: Moment(from), to: Moment(to), call, stack: vec![1] }
    }

    fn window(preempted: bool) -> Window {
        let out = SwitchKind::Out { preempted, call: None, registers: None, stack: Vec::new() };
        let switch = |at, what| Switch { pid: Pid(1), tid: Tid(2), at: Moment(at), what };
        let switches = vec![
            switch(100, out.clone()),
            switch(200, SwitchKind::In),
            switch(300, out),
            switch(400, SwitchKind::In),
        ];
        Window { switches, ..Window::default() }
    }

    fn told(window: &Window) -> Vec<bool> {
        let called = |switch: &Switch| matches!(switch.what, SwitchKind::Out { call: Some(_), .. });
        window.switches.iter().map(called).collect()
    }

    #[test]
    fn a_look_tells_of_the_stretch_that_it_lies_in() {
        for (from, to, expected) in [
            (310, 320, [false, false, true, false]),
            (110, 190, [true, false, false, false]),
            // The thread ran, or may have; or it was not seen to leave.
            (190, 210, [false; 4]),
            (210, 220, [false; 4]),
            (50, 60, [false; 4]),
        ] {
            let mut window = window(false);
            let mut looks = Looks { seen: vec![look(from, to)], ..Looks::default() };
            looks.tell(&mut window);
            assert_eq!(told(&window), expected, "{from} to {to}");
        }
        let mut window = window(true);
        Looks { seen: vec![look(110, 120)], ..Looks::default() }.tell(&mut window);
        assert_eq!(told(&window), [false; 4], "it was ready to run");
    }

    #[test]
    fn the_places_with_the_most_sleepers_come_first() {
        let place = |pid, at, times| ((Pid(pid), at), times);
        let places = [place(1, 10, 5), place(1, 20, 90), place(1, 30, 0), place(2, 10, 1)].into();
        let looks = Looks { places, ..Looks::default() };
        assert_eq!(looks.places(Pid(1), 4), [20, 10]);
        assert_eq!(looks.places(Pid(1), 1), [20]);
        assert_eq!(looks.places(Pid(2), 1), [10]);
        assert!(looks.places(Pid(3), 1).is_empty());
    }
}
