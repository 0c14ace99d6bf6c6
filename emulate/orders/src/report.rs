//! What an emulated run reports.

use serde::{Deserialize, Serialize};

use crate::file_system::MOST_SAID;
use crate::{Chain, CodeTime, Dependence, Found, MappedFile, MovedLine, Seen, SeenFile, Stacks};

/// The longest report that is read, in bytes.
pub const MOST_BYTES: u64 = 16 << 20;
/// No simulated time is longer, in ns: some years.
const MOST_NS: f64 = 1e17;
/// No more threads are believed.
const MOST_THREADS: usize = 1 << 16;
/// The longest path, in bytes, with a zero at its end.
const MOST_PATH: usize = libc::PATH_MAX as usize;

/// What happened in an emulated run, or in the part of it that was asked for. All times are simulated, in ns, and
/// those of a part begin where it does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// When the program had ended.
    pub end_ns: f64,
    /// From the start of the first thread that the program made to the end of the last one. Absent if it made
    /// none.
    pub parallel: Option<Span>,
    /// What the core of each thread did for it, in the order in which threads began.
    pub threads: Vec<ThreadTimes>,
    /// What was counted.
    pub counts: Counts,
    /// The lines that moved most between cores, those that took most time first.
    pub lines: Vec<MovedLine>,
    /// The code that took most time, the most first.
    pub code: Vec<CodeTime>,
    /// The chain of waits that bounds the run.
    pub chain: Chain,
    /// Where time went by the calls that led there, if that was asked for.
    pub stacks: Stacks,
    /// The files in the program's memory when it ended.
    pub files: Vec<MappedFile>,
    /// What the run depended on.
    pub dependence: Dependence,
    /// What came of the part that was asked for. Absent if it was the whole run.
    pub seen: Option<Seen>,
    /// Why the program was not emulated to its end.
    pub failure: Option<String>,
    /// The threads that wait for ever, if that is why.
    pub stuck: Vec<StuckThread>,
}

/// A thread that waits for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StuckThread {
    /// The thread's number, from 0 in the order in which they began.
    pub thread: u64,
    /// Where it waits, and the calls that led there, the innermost first.
    pub calls: Vec<u64>,
}

/// A span of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// When it began, in ns.
    pub start_ns: f64,
    /// When it ended, in ns.
    pub end_ns: f64,
}

impl Span {
    /// How long it is, in ns.
    #[must_use]
    pub fn ns(self) -> f64 {
        self.end_ns - self.start_ns
    }
}

/// How long a core did what for a thread, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadTimes {
    /// Computing, and using lines that it had.
    pub working_ns: f64,
    /// Waiting for a line to arrive.
    pub stalled_ns: f64,
    /// Spinning on a line that nobody wrote.
    pub spinning_ns: f64,
    /// In the kernel.
    pub system_ns: f64,
}

/// What was counted in a run, of all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Instructions.
    pub instructions: u64,
    /// Loads and stores that the core's filter did not allow, so that the coherence was asked.
    pub misses: u64,
    /// How often a core needed a line that another one had.
    pub transfers: u64,
    /// How often one thread let another one go on.
    pub handovers: u64,
    /// How often a thread was put to sleep because it spun.
    pub spins: u64,
    /// Pages that were touched for the first time.
    pub page_faults: u64,
    /// Calls of the system.
    pub system_calls: u64,
    /// How often a thread waited for something that is not simulated.
    pub outside: u64,
    /// Processes that the program started. What these do is not in the report.
    pub processes: u64,
    /// Calls that take a lock, of the library that replaces locks.
    pub lock_calls: u64,
    /// Of these, how many were left to glibc at most, as those that lock a recursive mutex are.
    pub lock_calls_left: u64,
}

/// Why a report is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// It is not JSON, or has other fields.
    #[error("the report is not what it should be: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is larger than any is.
    #[error("the report has {0} bytes; none has more than {MOST_BYTES}")]
    Size(u64),
    /// A time of it is none.
    #[error("the report has a time of {0} ns")]
    Time(f64),
    /// Its chain of waits names places that it does not have, or is larger than any is.
    #[error("the report has a chain of waits that cannot be one")]
    Chain,
    /// Its calls are no tree, or more than are told apart.
    #[error("the report has call stacks that cannot be some")]
    Stacks,
    /// It has more threads than can be.
    #[error("the report has {0} threads; none has more than {MOST_THREADS}")]
    Threads(usize),
    /// The program has seen more files than are reported.
    #[error("the report has {0} files that were seen; none has more than {max}", max = Dependence::MOST_FILES)]
    Files(usize),
    /// What the program has seen is at no path, or too long.
    #[error("the report has a file that was seen at no path, or with too long a text")]
    Seen,
}

impl Report {
    /// Reads a report, which a stranger may have written.
    ///
    /// # Errors
    /// If it cannot be one.
    pub fn read(bytes: &[u8]) -> Result<Self, ReportError> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ReportError::Size(bytes.len() as u64));
        }
        let report: Self = serde_json::from_slice(bytes)?;
        let threads = report.threads.len().max(report.stuck.len());
        if threads > MOST_THREADS {
            return Err(ReportError::Threads(threads));
        }
        report.dependence.check()?;
        if !report.chain.is_whole() {
            return Err(ReportError::Chain);
        }
        if !report.stacks.is_whole() {
            return Err(ReportError::Stacks);
        }
        let spans = report.parallel.iter().flat_map(|span| [span.start_ns, span.end_ns, span.ns()]);
        let threads = report.threads.iter().flat_map(|thread| {
            [thread.working_ns, thread.stalled_ns, thread.spinning_ns, thread.system_ns]
        });
        let is_none = |time: &f64| !(0.0..=MOST_NS).contains(time);
        let lines = report
            .lines
            .iter()
            .flat_map(|line| line.uses.iter().map(|one| one.waited_ns).chain([line.waited_ns]));
        let code = report.code.iter().flat_map(|code| [code.computed_ns, code.waited_ns]);
        let seen = report
            .seen
            .iter()
            .flat_map(|seen| [seen.detailed_ns, seen.from_ns, seen.until_ns].into_iter().flatten());
        let all = spans
            .chain(threads)
            .chain(lines)
            .chain(code)
            .chain(seen)
            .chain(report.chain.times())
            .chain(report.stacks.times());
        match all.chain([report.end_ns]).find(is_none) {
            Some(time) => Err(ReportError::Time(time)),
            None => Ok(report),
        }
    }

    /// The bytes that [`read`](Self::read) takes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("all of it can be written as JSON")
    }

    /// How long the program was by itself: before its first thread and after its last one, in ns.
    #[must_use]
    pub fn serial_ns(&self) -> f64 {
        self.end_ns - self.parallel.map_or(0.0, Span::ns)
    }
}

impl Dependence {
    /// Who has looked for more files than that depends on too many.
    pub const MOST_FILES: usize = 4_096;
    /// The longest text of what else it depended on, in bytes.
    pub const MOST_TEXT: usize = 1 << 10;

    fn check(&self) -> Result<(), ReportError> {
        if self.files.len() > Self::MOST_FILES {
            return Err(ReportError::Files(self.files.len()));
        }
        let is_path = |path: &str| {
            path.starts_with('/') && path.len() < MOST_PATH && !path.bytes().any(|byte| byte == 0)
        };
        let is_right = |SeenFile { path, found, .. }: &SeenFile| {
            let said = if let Found::Says(text) = found { text.len() } else { 0 };
            is_path(path) && said <= MOST_SAID
        };
        let text = self.also.as_ref().map_or(0, String::len);
        if text <= Self::MOST_TEXT && self.files.iter().all(is_right) {
            Ok(())
        } else {
            Err(ReportError::Seen)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainPart, ChainShare, StackCall};

    fn report() -> Report {
        Report {
            end_ns: 100.0,
            parallel: Some(Span { start_ns: 10.0, end_ns: 90.0 }),
            threads: vec![ThreadTimes { working_ns: 5.0, ..ThreadTimes::default() }],
            counts: Counts { instructions: 7, ..Counts::default() },
            ..Report::default()
        }
    }

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let read = Report::read(&report().to_bytes()).expect("as it was written");
        assert_eq!(read, report());
        assert!((read.serial_ns() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let refused = |report: Report| Report::read(&report.to_bytes()).expect_err("no report");
        let backwards = Some(Span { start_ns: 90.0, end_ns: 10.0 });
        assert!(matches!(
            refused(Report { parallel: backwards, ..report() }),
            ReportError::Time(_)
        ));
        assert!(matches!(refused(Report { end_ns: 1e30, ..report() }), ReportError::Time(_)));
        let thread = ThreadTimes { stalled_ns: -1.0, ..ThreadTimes::default() };
        assert!(matches!(
            refused(Report { threads: vec![thread], ..report() }),
            ReportError::Time(_)
        ));
        let seen = Some(Seen { from_ns: Some(-1.0), ..Seen::default() });
        assert!(matches!(refused(Report { seen, ..report() }), ReportError::Time(_)));
        let at = |at| ChainShare { part: ChainPart::Lines { at }, count: 0, ns: 1.0 };
        let chain = |parts| Chain { end_ns: 1.0, parts, places: vec![vec![], vec![1, 2]] };
        let good = Report { chain: chain(vec![at(1)]), ..report() };
        assert_eq!(Report::read(&good.to_bytes()).expect("as it was written"), good);
        let without_place = Report { chain: chain(vec![at(2)]), ..report() };
        assert!(matches!(refused(without_place), ReportError::Chain));
        let calls = |before| {
            let call = StackCall { before, code: 1, ..StackCall::default() };
            Stacks { calls: vec![StackCall::default(), StackCall::default(), call] }
        };
        let good = Report { stacks: calls(1), ..report() };
        assert_eq!(Report::read(&good.to_bytes()).expect("as it was written"), good);
        let circle = Report { stacks: calls(2), ..report() };
        assert!(matches!(refused(circle), ReportError::Stacks));
        let many = vec![ThreadTimes::default(); MOST_THREADS + 1];
        assert!(matches!(refused(Report { threads: many, ..report() }), ReportError::Threads(_)));
        let seen = |path: &str, found| SeenFile { path: path.to_owned(), follows: true, found };
        let depends = |files, also| {
            let dependence = Dependence { files, also };
            Report::read(&Report { dependence, ..report() }.to_bytes())
        };
        let long = "x".repeat(MOST_PATH);
        for bad in [
            seen("relative", Found::Nothing),
            seen("/a\0b", Found::Nothing),
            seen(&format!("/{long}"), Found::Nothing),
            seen("/proc/version", Found::Says("x".repeat(MOST_SAID + 1))),
        ] {
            assert!(matches!(depends(vec![bad], None), Err(ReportError::Seen)));
        }
        let many = vec![seen("/a", Found::Nothing); Dependence::MOST_FILES + 1];
        assert!(matches!(depends(many, None), Err(ReportError::Files(_))));
        let text = Some("x".repeat(Dependence::MOST_TEXT + 1));
        assert!(matches!(depends(Vec::new(), text), Err(ReportError::Seen)));
        assert!(depends(vec![seen("/a", Found::Nothing)], Some("x".to_owned())).is_ok());
        assert!(matches!(Report::read(b"{\"end_ns\": nan}"), Err(ReportError::Malformed(_))));
        assert!(matches!(
            Report::read(&vec![b' '; MOST_BYTES as usize + 1]),
            Err(ReportError::Size(_))
        ));
    }
}
