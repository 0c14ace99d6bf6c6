//! What a program does while it runs, counted at its sockets, or by the recorder under it.
//!
//! A server answers requests, and nobody but its clients knows how many. What it sends is counted instead: by the
//! kernel, or, for users to whom the kernel does not count, as bytes of TCP connections. A look at these connections
//! also tells whether requests wait that it has not read. Of a program with a recorder under it, the locks that it takes
//! can be counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kilocore_linux::{Sends, TcpSocket, processor_time, sockets_of, tcp_sockets, threads};
use kilocore_lock_profile::{ENOUGH_SECTIONS, SECTION, WhyNotTimed};

use crate::recordings::sections;

/// Connections that may end between two looks, as a share of those that there are, before their bytes count for
/// nothing: what they moved at last nobody knows.
const MAY_END: f64 = 0.05;

/// How work is counted.
#[derive(Debug)]
enum Source {
    /// Successful sends.
    Sends(Sends),
    /// Bytes that TCP connections have moved.
    Bytes,
    /// Critical sections, which are recorded in this folder.
    Sections(PathBuf),
}

/// What some processes do.
#[derive(Debug)]
pub(crate) struct WindowWork {
    source: Source,
    connections: Connections,
    /// The processor time of each process when it was last looked at.
    times: BTreeMap<u32, Duration>,
    used: Duration,
}

/// How much was done until a moment. What was done between two moments is the difference.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// `None` if that is not known.
    work: Option<f64>,
    used: Duration,
    ended: u64,
    looks: u64,
    waiting: u64,
}

/// What was done between two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorkDone {
    /// In units of the work.
    pub(crate) work: f64,
    pub(crate) cpu_time: Duration,
    /// At which share of the looks something had come that nobody had read, if anybody could look.
    pub(crate) waiting: Option<f64>,
}

impl WindowWork {
    /// Begins to count what these processes do, and what their children do if `with_children`: what they send, or the
    /// critical sections of all who record in a folder. `None` if that cannot be counted.
    pub(crate) fn begin(
        processes: &[u32],
        with_children: bool,
        recordings: Option<&Path>,
    ) -> Option<Self> {
        let mut listed = || processes.iter().flat_map(|&pid| threads(pid)).collect::<Vec<u32>>();
        let mut connections = Connections::default();
        connections.look(processes);
        let mut sends = || match Sends::begin(&mut listed, with_children) {
            Ok(sends) => Some(Source::Sends(sends)),
            Err(_) => {
                let any = connections.last.values().any(|socket| socket.moved.is_some());
                any.then_some(Source::Bytes)
            }
        };
        let sections = recordings.map(|folder| Source::Sections(folder.to_owned()));
        let source = sections.or_else(&mut sends)?;
        let times = processes.iter().filter_map(|&pid| Some((pid, processor_time(pid)?))).collect();
        Some(Self { source, connections, times, used: Duration::ZERO })
    }

    /// What a unit is called.
    pub(crate) fn unit(&self) -> &'static str {
        match self.source {
            Source::Sends(_) => "send",
            Source::Bytes => "byte over TCP",
            Source::Sections(_) => SECTION,
        }
    }

    /// How much a window has to have of it to say anything, and why none says anything if all have less.
    pub(crate) fn least(&self) -> (f64, WhyNotTimed) {
        match self.source {
            Source::Sends(_) | Source::Bytes => (1.0, WhyNotTimed::Idle),
            Source::Sections(_) => (ENOUGH_SECTIONS as f64, WhyNotTimed::FewSections),
        }
    }

    /// Looks at the processes, which is to be done often: of a process or a connection that has ended, what it did
    /// since the last look is not known.
    pub(crate) fn look(&mut self, processes: &[u32]) {
        self.connections.look(processes);
        for &pid in processes {
            let Some(now) = processor_time(pid) else { continue };
            // One that has begun since has used all its time since.
            let before = self.times.insert(pid, now).unwrap_or_default();
            self.used += now.saturating_sub(before);
        }
        self.times.retain(|pid, _| processes.contains(pid));
    }

    /// Looks at the processes, and returns what they have done.
    pub(crate) fn done(&mut self, processes: &[u32]) -> Done {
        self.look(processes);
        let work = match &self.source {
            Source::Sends(sends) => Some(sends.count().unwrap_or_default()),
            Source::Bytes => Some(self.connections.moved),
            Source::Sections(folder) => sections(folder),
        };
        let work = work.map(|work| work as f64);
        let Connections { looks, waiting, ended, .. } = self.connections;
        Done { work, used: self.used, ended, looks, waiting }
    }

    /// What was done between two moments.
    ///
    /// # Errors
    /// If too much of it is not known.
    pub(crate) fn between(&self, from: Done, to: Done) -> Result<WorkDone, WhyNotTimed> {
        let ended = (to.ended - from.ended) as f64;
        let most = MAY_END * self.connections.last.len() as f64;
        if matches!(self.source, Source::Bytes) && ended > most {
            return Err(WhyNotTimed::Uncounted);
        }
        let work = to.work.zip(from.work).ok_or(WhyNotTimed::SectionsLost)?;
        let looks = to.looks - from.looks;
        let waiting = (looks > 0).then(|| (to.waiting - from.waiting) as f64 / looks as f64);
        let cpu_time = to.used.saturating_sub(from.used);
        Ok(WorkDone { work: (work.0 - work.1).max(0.0), cpu_time, waiting })
    }
}

/// The TCP sockets of some processes, as they were when they were last looked at.
#[derive(Debug, Default)]
struct Connections {
    last: BTreeMap<u32, TcpSocket>,
    /// Bytes that were seen to be moved.
    moved: u64,
    /// Connections that have ended.
    ended: u64,
    looks: u64,
    /// Looks at which something had come that was not there before, and nobody had read it.
    waiting: u64,
}

impl Connections {
    fn look(&mut self, processes: &[u32]) {
        let Ok(all) = tcp_sockets() else { return };
        let own: std::collections::BTreeSet<u32> =
            processes.iter().flat_map(|&pid| sockets_of(pid)).collect();
        let all = all.into_iter().filter(|socket| own.contains(&socket.inode));
        self.add(all.map(|socket| (socket.inode, socket)).collect());
    }

    fn add(&mut self, now: BTreeMap<u32, TcpSocket>) {
        // In another network namespace there are none to be seen, which says nothing.
        if now.is_empty() && self.last.is_empty() {
            return;
        }
        let is_first = self.looks == 0;
        let mut waits = false;
        for (inode, socket) in &now {
            let before = self.last.get(inode);
            // What nobody ever reads stays as it is.
            waits |= socket.unread > 0 && before != Some(socket);
            let moved = before.and_then(|before| before.moved).unwrap_or(0);
            let more = socket.moved.unwrap_or(0).saturating_sub(moved);
            self.moved += if is_first { 0 } else { more };
        }
        let ended = self
            .last
            .iter()
            .filter(|(inode, socket)| socket.moved.is_some() && !now.contains_key(inode));
        self.ended += ended.count() as u64;
        self.looks += 1;
        self.waiting += u64::from(waits);
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sockets(all: &[(u32, u32, u64)]) -> BTreeMap<u32, TcpSocket> {
        let socket = |&(inode, unread, moved): &(u32, u32, u64)| {
            (inode, TcpSocket { inode, unread, moved: Some(moved) })
        };
        all.iter().map(socket).collect()
    }

    #[test]
    fn bytes_count_from_the_first_look_on_and_those_of_new_connections_whole() {
        let mut connections = Connections::default();
        connections.add(sockets(&[(1, 0, 1000), (2, 0, 500)]));
        assert_eq!(connections.moved, 0);
        connections.add(sockets(&[(1, 0, 1100), (3, 0, 7)]));
        assert_eq!((connections.moved, connections.ended), (107, 1));
    }

    #[test]
    fn requests_wait_if_others_do_at_each_look() {
        let mut connections = Connections::default();
        for look in 0..10 {
            // One has not been read for ever.
            connections
                .add(sockets(&[(1, 50, 1000), (2, 40 * u32::from(look % 2 == 0), look * 9)]));
        }
        assert_eq!((connections.looks, connections.waiting), (10, 5));
    }

    #[test]
    fn bytes_of_connections_that_come_and_go_are_no_measure() {
        let work = |source| WindowWork {
            source,
            connections: Connections { last: sockets(&[(1, 0, 0); 1]), ..Connections::default() },
            times: BTreeMap::new(),
            used: Duration::ZERO,
        };
        let from = Done { work: Some(0.0), ..Done::default() };
        let to = Done { work: Some(5.0), ended: 1, ..Done::default() };
        assert_eq!(work(Source::Bytes).between(from, to), Err(WhyNotTimed::Uncounted));
        let stays = Done { ended: 0, ..to };
        let done = work(Source::Bytes).between(from, stays).expect("they last");
        assert_eq!((done.work, done.waiting), (5.0, None));
    }
}
