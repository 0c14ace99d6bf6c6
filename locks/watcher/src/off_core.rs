//! The stretches of a window in which threads were off their cores, and why.

use std::collections::BTreeMap;

use crate::calls::{Calls, Reason, named};
use crate::ids::{Moment, Pid, Tid};
use crate::memory::Code;
use crate::registers::Registers;
use crate::window::{SwitchKind, Window};

/// Why a thread was off its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Others took its core.
    Preempted,
    /// It had to wait.
    Waits(Reason),
    /// It left before the window began, or its registers are unknown.
    Unknown,
}

/// A thread was off its core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Off {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    /// From when to when, within the window.
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    /// Whether it came back in the window.
    pub(crate) came_back: bool,
    pub(crate) why: Why,
    /// Where in user space, and a copy of the stack, if there is one.
    pub(crate) registers: Option<Registers>,
    pub(crate) stack: Vec<u8>,
}

/// Returns all of them, in the order in which they began.
pub(crate) fn off_core(window: &Window, calls: &mut Calls, code: &mut Code) -> Vec<Off> {
    let mut open: BTreeMap<Tid, Off> = BTreeMap::new();
    let mut seen: BTreeMap<Tid, ()> = BTreeMap::new();
    let mut all = Vec::new();
    for switch in &window.switches {
        let (pid, tid, at) = (switch.pid, switch.tid, switch.at);
        let first = seen.insert(tid, ()).is_none();
        match &switch.what {
            SwitchKind::Out { preempted, call, registers, stack } => {
                let why = match (preempted, call, registers) {
                    (true, ..) => Why::Preempted,
                    (false, Some(call), Some(registers)) => {
                        Why::Waits(named(pid, *call, registers))
                    }
                    (false, None, Some(registers)) => {
                        Why::Waits(calls.reason(code, pid, tid, registers, stack))
                    }
                    (false, _, None) => Why::Unknown,
                };
                let (registers, stack) = (*registers, stack.clone());
                let (to, came_back) = (window.end, false);
                open.insert(tid, Off { pid, tid, from: at, to, came_back, why, registers, stack });
            }
            SwitchKind::In => match open.remove(&tid) {
                Some(off) => all.push(Off { to: at, came_back: true, ..off }),
                None if first => all.push(Off {
                    pid,
                    tid,
                    from: window.begin,
                    to: at,
                    came_back: true,
                    why: Why::Unknown,
                    registers: None,
                    stack: Vec::new(),
                }),
                None => {}
            },
            SwitchKind::Exit => {
                open.remove(&tid);
            }
        }
    }
    all.extend(open.into_values());
    all.sort_by_key(|off| (off.from, off.tid));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Switch;

    #[test]
    fn stretches_are_cut_at_the_window_and_have_their_reasons() {
        let switch = |tid, at, what| Switch { pid: Pid(1), tid: Tid(tid), at: Moment(at), what };
        let out = |preempted| SwitchKind::Out {
            preempted,
            call: None,
            registers: None,
            stack: Vec::new(),
        };
        let window = Window {
            begin: Moment(100),
            end: Moment(200),
            switches: vec![
                switch(1, 110, SwitchKind::In),
                switch(2, 120, out(true)),
                switch(2, 130, SwitchKind::In),
                switch(2, 150, out(false)),
                switch(3, 160, out(true)),
                switch(3, 170, SwitchKind::Exit),
            ],
            ..Window::default()
        };
        let all = off_core(&window, &mut Calls::default(), &mut Code::default());
        let seen: Vec<_> =
            all.iter().map(|off| (off.tid.0, off.from.0, off.to.0, off.came_back)).collect();
        assert_eq!(seen, [(1, 100, 110, true), (2, 120, 130, true), (2, 150, 200, false)]);
        assert_eq!(all[1].why, Why::Preempted);
    }
}
