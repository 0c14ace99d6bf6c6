//! One run of a program, watched: when what it does begins and ceases to count, and what is seen
//! of it meanwhile.

use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use kilocore_lock_profile::{RecordingError, Scaling, Snapshot};
use kilocore_process::Started;

use crate::clock::Mark;
use crate::concurrent_watch::Counting;
use crate::conduct::BeforeEnd;
use crate::events::{Event, Events};
use crate::outside::{Observer, RecorderPaths};

/// When what is recorded counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    pub(crate) delay: Option<Duration>,
    pub(crate) duration: Option<Duration>,
}

/// A moment at which the recordings were read.
#[derive(Debug)]
pub(crate) struct Moment {
    pub(crate) mark: Mark,
    pub(crate) snapshot: Snapshot,
}

/// What became of a run.
#[derive(Debug)]
pub(crate) struct Watched<'a> {
    pub(crate) pid: u32,
    pub(crate) looker: Observer<'a>,
    /// When what counts began, if that was not with the program, and whether it began at all.
    pub(crate) begin: Option<Moment>,
    pub(crate) never_began: bool,
    /// When what counts ended, if that was not with the program.
    pub(crate) end: Option<Moment>,
    pub(crate) time_was_up: bool,
    /// What was timed before it was asked to end.
    pub(crate) scaling: Option<Scaling>,
}

/// What counts at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Counting,
    After,
}

/// Watches a run until the program has ended. Tells another watcher when what happens begins and
/// ceases to count. Returns `None` if it was never started.
///
/// # Errors
/// If the recordings cannot be read at the moment when they must be.
pub(crate) fn watch<'a>(
    started: &Receiver<Started>,
    mut events: Events,
    schedule: Schedule,
    places: RecorderPaths<'a>,
    adopts: bool,
    tell: &dyn Fn(Counting),
    before_end: Option<&BeforeEnd<'_>>,
) -> Result<Option<Watched<'a>>, RecordingError> {
    let Ok(program) = started.recv() else { return Ok(None) };
    let began = Instant::now();
    let mut watched = Watched {
        pid: program.pid,
        looker: Observer::at(program.pid, places, adopts),
        begin: None,
        never_began: schedule.delay.is_some(),
        end: None,
        time_was_up: false,
        scaling: None,
    };
    if schedule.delay.is_none() {
        tell(Counting::Begin(program.pid));
    }
    let mut phase = if schedule.delay.is_some() { Phase::Before } else { Phase::Counting };
    // The next moment at which time alone changes the phase.
    let mut change = schedule.delay.or(schedule.duration).map(|wait| began + wait);
    let mut round = began;
    loop {
        let until = change.map_or(round, |change| change.min(round));
        let due = match events.next(until) {
            Some(Event::Over) => return Ok(Some(watched)),
            Some(Event::Begin) => Some(Phase::Counting),
            Some(Event::End) => (phase == Phase::Counting).then_some(Phase::After),
            None if change.is_some_and(|change| change <= Instant::now()) => match phase {
                Phase::Before => Some(Phase::Counting),
                _ => Some(Phase::After),
            },
            None => None,
        };
        let time_is_up = change.is_some_and(|change| change <= Instant::now());
        match due {
            Some(Phase::Counting) => {
                watched.begin = Some(moment(places.recordings, &watched.looker)?);
                (watched.end, watched.never_began) = (None, false);
                watched.looker.begin_anew();
                change = schedule.duration.map(|wait| Instant::now() + wait);
                phase = Phase::Counting;
                tell(Counting::Begin(program.pid));
            }
            Some(_) => {
                tell(Counting::End);
                watched.end = Some(moment(places.recordings, &watched.looker)?);
                // What the program does while it ends does not count, so it is asked only now.
                if let (true, Some(before_end)) = (time_is_up, before_end) {
                    watched.scaling = Some(before_end(program.pid, Some(places.recordings)));
                }
                watched.time_was_up = time_is_up && program.terminate();
                change = None;
                phase = Phase::After;
            }
            None => {}
        }
        if Instant::now() >= round {
            round = Instant::now() + watched.looker.round(phase == Phase::Counting);
        }
    }
}

/// Reads the recordings now.
fn moment(recordings: &Path, looker: &Observer<'_>) -> Result<Moment, RecordingError> {
    let mut snapshot = Snapshot::read(recordings)?;
    let mark = Mark::now();
    for pid in looker.members() {
        if let Some(time) = kilocore_linux::processor_time(pid) {
            snapshot.note_processor_time(pid, time);
        }
    }
    Ok(Moment { mark, snapshot })
}
