//! A dump, read line by line. What is not understood is passed over, so that a dump of a version to
//! come tells what it still has in common with those of today.

use super::line::{self, Line, Lock, Object};
use super::{Dump, Held, HeldKind, JavaFrame, JavaThread, State, WaitKind, Waited};

impl Dump {
    /// Reads what `jstack` or `jcmd PID Thread.print` prints, or what [`crate::java_threads::threads`] was told.
    /// A text that is none gives no threads.
    ///
    /// A thread whose name has line feeds in it is left out.
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let mut threads = Vec::new();
        let mut open = None;
        for text in String::from_utf8_lossy(text).lines() {
            if text.starts_with('"') {
                close(&mut open, &mut threads);
                open = line::header(text).map(|(name, tid)| Open::of(name, tid));
            } else if text.starts_with([' ', '\t']) {
                if let Some(open) = &mut open {
                    open.take(line::line(text));
                }
            } else if !text.trim().is_empty() {
                // No thread's: deadlocks are described at the end, with stacks of their own.
                close(&mut open, &mut threads);
            }
        }
        close(&mut open, &mut threads);
        Self { threads, complete: true }
    }
}

fn close(open: &mut Option<Open>, threads: &mut Vec<JavaThread>) {
    threads.extend(open.take().map(Open::finish));
}

/// A thread of which more may come.
#[derive(Debug)]
struct Open {
    thread: JavaThread,
    /// Whether its synchronizers are listed now.
    synchronizers: bool,
    /// The frames below those of the virtual thread that it carries, and what these hold.
    carrier: (Vec<JavaFrame>, Vec<Held>),
}

impl Open {
    fn of(name: &str, tid: Option<u32>) -> Self {
        let thread = JavaThread { name: name.to_owned(), tid, ..JavaThread::default() };
        Self { thread, synchronizers: false, carrier: Default::default() }
    }

    fn take(&mut self, line: Line<'_>) {
        match line {
            Line::State(state) => self.thread.state = state,
            Line::Frame(frame) => self.thread.frames.push(frame),
            Line::Lock(Lock::Owned, object) if self.synchronizers => {
                self.holds_synchronizer(object)
            }
            Line::Lock(Lock::Locked, object) => self.holds_monitor(object),
            Line::Lock(lock, object) => self.waits(lock, object),
            Line::Synchronizers => self.synchronizers = true,
            Line::Carrying(number) => self.thread.carries = Some(number),
            Line::Mounted => {
                let (frames, holds) = &mut self.carrier;
                frames.append(&mut self.thread.frames);
                holds.append(&mut self.thread.holds);
            }
            Line::Other => {}
        }
    }

    fn holds_synchronizer(&mut self, object: Object<'_>) {
        let Some(address) = object.address else { return };
        let class = object.class.map(str::to_owned);
        self.thread.holds.push(Held { kind: HeldKind::Synchronizer, address, class, frame: None });
    }

    /// A monitor may be entered several times. The frames come innermost first.
    fn holds_monitor(&mut self, object: Object<'_>) {
        let (Some(address), Some(frame)) =
            (object.address, self.thread.frames.len().checked_sub(1))
        else {
            return;
        };
        let known = self.thread.holds.iter_mut().find(|held| held.address == address);
        match known {
            Some(held) => held.frame = Some(frame),
            None => self.thread.holds.push(Held {
                kind: HeldKind::Monitor,
                address,
                class: object.class.map(str::to_owned),
                frame: Some(frame),
            }),
        }
    }

    /// A thread waits for the first thing that is named. If that has no address, a later line may:
    /// the frame that called `Object.wait` says what it will enter again.
    fn waits(&mut self, lock: Lock, object: Object<'_>) {
        let blocked = self.thread.state == Some(State::Blocked);
        let kind = match lock {
            Lock::Enter => WaitKind::Monitor,
            Lock::Initialization => WaitKind::ClassInitialization,
            Lock::Park if object.class.is_some_and(is_condition) => WaitKind::Notification,
            Lock::Park => WaitKind::Synchronizer,
            // Notified, it waits like everybody else who wants to enter.
            Lock::Wait | Lock::EnterAgain if blocked => WaitKind::Monitor,
            Lock::Wait => WaitKind::Notification,
            // Names what is waited on, which an earlier line said.
            Lock::EnterAgain => WaitKind::Notification,
            Lock::Locked | Lock::Owned => return,
        };
        let class = object.class.map(str::to_owned);
        match &mut self.thread.waits_for {
            None => {
                self.thread.waits_for = Some(Waited { kind, address: object.address, class });
            }
            Some(waited) if lock == Lock::EnterAgain && waited.address.is_none() => {
                (waited.address, waited.class) = (object.address, class);
            }
            Some(_) => {}
        }
    }

    fn finish(mut self) -> JavaThread {
        self.give_up();
        let mut thread = self.thread;
        let (frames, mut holds) = self.carrier;
        for held in &mut holds {
            held.frame = held.frame.map(|frame| frame + thread.frames.len());
        }
        thread.frames.extend(frames);
        thread.holds.extend(holds);
        thread
    }

    /// A frame is said to hold the monitor that the thread gave up in `Object.wait`.
    fn give_up(&mut self) {
        let thread = &mut self.thread;
        let in_wait = thread.frames.first().is_some_and(|frame| {
            frame.class == "java.lang.Object" && matches!(&*frame.method, "wait" | "wait0")
        });
        let Some(waited) = thread.waits_for.as_mut().filter(|_| in_wait) else { return };
        if waited.address.is_none() {
            let mut monitors = thread.holds.iter().filter(|held| held.kind == HeldKind::Monitor);
            // Only a thread that is in a monitor can wait there, so if it is in one, it is that.
            if let (Some(only), None) = (monitors.next(), monitors.next()) {
                (waited.address, waited.class) = (Some(only.address), only.class.clone());
            }
        }
        let given_up = waited.address;
        thread.holds.retain(|held| match given_up {
            Some(address) => held.address != address,
            None => held.kind != HeldKind::Monitor,
        });
    }
}

/// A condition of a lock, which is left when another thread signals it.
fn is_condition(class: &str) -> bool {
    class.ends_with("$ConditionObject")
}
