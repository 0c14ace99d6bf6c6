//! Where threads of Java wait, as their virtual machine says.
//!
//! Such a thread sleeps on a word of its own, and compiled code keeps no frames that anybody else
//! could follow. So the virtual machine is asked a few times, as `jstack` does. It answers to a
//! thread of its own here, as it may be slow, and windows go on meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use crate::java_threads::{
    Dump, JavaFrame, JavaThread, Synchronizers, WaitKind, is_hotspot, threads,
};
use kilocore_lock_profile::Frame;

use crate::ids::{Moment, Pid, Tid};

/// How often a virtual machine is asked at most, and how long is waited in between.
const MOST: usize = 12;
const PAUSE_NS: u64 = 200_000_000;
/// For how long an answer stops all threads, for each of them. The answer itself comes later, when the
/// machine's own thread for it has a core.
const STOPPED_FOR_EACH: Duration = Duration::from_micros(15);
/// How many callers of a place are kept.
const DEPTH: usize = 8;

/// A thread that waited when the virtual machine was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JavaWait {
    tid: Tid,
    pub(crate) kind: WaitKind,
    /// The class of the object that it waited for.
    pub(crate) class: String,
    /// Whether it waited for a thread to end.
    pub(crate) joins: bool,
    /// Where in the program, the innermost method first.
    pub(crate) frames: Vec<Frame>,
}

/// What one virtual machine said.
#[derive(Debug)]
struct Machine {
    answer: Option<Receiver<Option<Dump>>>,
    asked: usize,
    next: Moment,
}

/// What the dumps of all virtual machines said.
#[derive(Debug, Default)]
pub(crate) struct Java {
    machines: BTreeMap<Pid, Machine>,
    waits: BTreeMap<Pid, Vec<JavaWait>>,
    /// Processes that are none.
    others: BTreeSet<Pid>,
}

impl Java {
    /// Takes answers, and asks those whose turn it is. Returns for how long programs were held up.
    pub(crate) fn turn(&mut self, members: &BTreeSet<Pid>) -> Duration {
        let mut held_up = Duration::ZERO;
        for pid in members {
            if self.others.contains(pid) {
                continue;
            }
            if !self.machines.contains_key(pid) && !is_hotspot(pid.0) {
                self.others.insert(*pid);
                continue;
            }
            let now = Moment::now();
            let first = Machine { answer: None, asked: 0, next: now };
            let machine = self.machines.entry(*pid).or_insert(first);
            match machine.answer.as_ref().map(Receiver::try_recv) {
                Some(Ok(dump)) => {
                    machine.answer = None;
                    machine.next = Moment(now.0 + PAUSE_NS);
                    match dump {
                        Some(dump) => {
                            held_up += STOPPED_FOR_EACH * dump.threads.len() as u32;
                            self.waits.entry(*pid).or_default().extend(waits(&dump));
                        }
                        // It does not answer, and will not.
                        None => machine.asked = MOST,
                    }
                }
                Some(Err(TryRecvError::Disconnected)) => machine.answer = None,
                Some(Err(TryRecvError::Empty)) => {}
                None if machine.asked < MOST && machine.next <= now => {
                    machine.asked += 1;
                    machine.answer = ask(*pid);
                }
                None => {}
            }
        }
        held_up
    }

    /// The processes that are virtual machines.
    pub(crate) fn machines(&self) -> impl Iterator<Item = Pid> {
        self.machines.keys().copied()
    }

    /// Forgets a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.machines.remove(&pid);
        self.waits.remove(&pid);
        self.others.remove(&pid);
    }

    /// Where these threads of a process waited most often; if they never did, where all did. If a class
    /// is given, waits for objects of another one do not count.
    pub(crate) fn place(
        &self,
        pid: Pid,
        of: &BTreeSet<Tid>,
        kinds: &[WaitKind],
        class: Option<&str>,
    ) -> Option<&JavaWait> {
        let is = |wait: &&JavaWait| {
            kinds.contains(&wait.kind) && class.is_none_or(|class| class == wait.class)
        };
        let of_kind = || self.waits.get(&pid).into_iter().flatten().filter(is);
        most_frequent(of_kind().filter(|wait| of.contains(&wait.tid)))
            .or_else(|| most_frequent(of_kind()))
    }
}

/// Asks, in a thread of its own.
fn ask(pid: Pid) -> Option<Receiver<Option<Dump>>> {
    let (sender, receiver) = channel();
    let asking = move || {
        let dump = threads(pid.0, Synchronizers::LeftOut).ok();
        // Nobody may be there any more to hear it.
        let _ = sender.send(dump);
    };
    thread::Builder::new().name("jvm".to_owned()).spawn(asking).ok().map(|_| receiver)
}

fn waits(dump: &Dump) -> Vec<JavaWait> {
    let wait = |thread: &JavaThread| {
        let waited = thread.waits_for.as_ref()?;
        let own = thread.frames.iter().position(|frame| frame.is_own())?;
        let (above, own) = thread.frames.split_at(own);
        let frames = own.iter().take(DEPTH).map(frame).collect();
        let class = waited.class.clone().unwrap_or_default();
        let joins = |frame: &JavaFrame| frame.class == "java.lang.Thread" && frame.method == "join";
        let joins = above.iter().any(joins);
        Some(JavaWait { tid: Tid(thread.tid?), kind: waited.kind, class, joins, frames })
    };
    dump.threads.iter().filter_map(wait).collect()
}

fn frame(frame: &JavaFrame) -> Frame {
    let line = frame.line.unwrap_or_default();
    Frame {
        function: format!("{}.{}", frame.class, frame.method),
        module: frame.class.clone(),
        offset: u64::from(line),
        line: frame.file.as_ref().map(|file| format!("{file}:{line}")),
    }
}

fn most_frequent<'a>(waits: impl Iterator<Item = &'a JavaWait>) -> Option<&'a JavaWait> {
    let mut counts: Vec<(usize, &JavaWait)> = Vec::new();
    for wait in waits {
        match counts.iter_mut().find(|(_, one)| one.frames == wait.frames) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, wait)),
        }
    }
    counts.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, wait)| wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_where_it_was_found_most_often() {
        let dump = |tid: u32, line: u32| {
            let text = format!(
                "\"worker\" #12 prio=5 os_prio=0 cpu=1.0ms elapsed=2.0s tid=0x1 nid={tid:#x} \
                 waiting for monitor entry  [0x2]\n   java.lang.Thread.State: BLOCKED (on object \
                 monitor)\n\tat p.Planted.section(Planted.java:{line})\n\t- waiting to lock \
                 <0x00000000fe> (a java.lang.Object)\n\tat p.Planted.run(Planted.java:99)\n\n"
            );
            waits(&Dump::parse(text.as_bytes()))
        };
        let mut java = Java::default();
        for (tid, line) in [(7, 10), (7, 20), (7, 20), (8, 10), (8, 10), (8, 10)] {
            java.waits.entry(Pid(1)).or_default().extend(dump(tid, line));
        }
        let joining = "\"main\" #1 prio=5 os_prio=0 cpu=1.0ms elapsed=2.0s tid=0x1 nid=0x5 in \
                       Object.wait()  [0x2]\n   java.lang.Thread.State: WAITING (on object monitor)\n\
                       \tat java.lang.Object.wait(java.base@17/Native Method)\n\t- waiting on \
                       <0x00000000fe> (a java.lang.Thread)\n\tat \
                       java.lang.Thread.join(java.base@17/Thread.java:1304)\n\tat \
                       p.Planted.main(Planted.java:5)\n\n";
        let joins: Vec<bool> =
            waits(&Dump::parse(joining.as_bytes())).iter().map(|wait| wait.joins).collect();
        assert_eq!(joins, [true]);
        assert!(java.waits[&Pid(1)].iter().all(|wait| !wait.joins));
        let place = |tids: &[u32]| {
            let of = tids.iter().copied().map(Tid).collect();
            let place = java.place(Pid(1), &of, &[WaitKind::Monitor], None).expect("there is one");
            (place.class.clone(), place.frames[0].line.clone().expect("it is known"))
        };
        assert_eq!(place(&[7]), ("java.lang.Object".to_owned(), "Planted.java:20".to_owned()));
        assert_eq!(place(&[9]).1, "Planted.java:10", "of all");
        let none = BTreeSet::new();
        let of = |kind, class| java.place(Pid(1), &none, &[kind], class).is_some();
        assert!(!of(WaitKind::Notification, None));
        assert!(of(WaitKind::Monitor, Some("java.lang.Object")));
        assert!(!of(WaitKind::Monitor, Some("java.lang.String")));
    }
}
