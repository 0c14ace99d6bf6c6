//! What was seen so far.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use kilocore_kernel_path::{Recording, Seen};

use crate::symbols::{Symbol, Symbols};

/// What the plugin was asked for.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) symbols: Symbols,
    pub(crate) output: String,
    pub(crate) operation: String,
    pub(crate) kernel: String,
    pub(crate) nodes: u32,
}

/// Set once, when the plugin is installed.
pub(crate) static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// No processor is recorded.
const NONE: u32 = u32::MAX;

/// The processor that is recorded. All processors are executed by one thread.
static ACTIVE: AtomicU32 = AtomicU32::new(NONE);

/// What a line or a lock is named by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Name {
    /// A variable of the kernel's.
    Variable(Symbol),
    /// The function that touched it.
    In(Symbol),
}

static STATE: Mutex<State> = Mutex::new(State {
    recording: None,
    wrong: None,
    last: Symbol::PROGRAM,
    caller: Symbol::PROGRAM,
});

#[derive(Debug)]
pub(crate) struct State {
    recording: Option<Recording<Name>>,
    /// Why there is none, if there is none.
    wrong: Option<&'static str>,
    /// The function of the block that was executed last.
    pub(crate) last: Symbol,
    /// The function that called one of locks last.
    pub(crate) caller: Symbol,
}

/// Whether this processor is recorded.
#[inline]
pub(crate) fn is_active(processor: u32) -> bool {
    ACTIVE.load(Ordering::Relaxed) == processor
}

pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn begin(&mut self, processor: u32) {
        let recording = self.recording.get_or_insert_with(Recording::new);
        if ACTIVE.load(Ordering::Relaxed) != NONE {
            self.wrong = Some("a processor began before another one had ended");
        } else if recording.processors() != processor || processor == 64 {
            self.wrong =
                Some("the processors have to begin in the order of their numbers, once each");
        } else {
            recording.begin();
            ACTIVE.store(processor, Ordering::Relaxed);
        }
    }

    pub(crate) fn end(&mut self, processor: u32) {
        if is_active(processor) {
            ACTIVE.store(NONE, Ordering::Relaxed);
        } else {
            self.wrong = Some("a processor ended that had not begun");
        }
    }

    pub(crate) fn execute(&mut self, count: u32) {
        if let Some(recording) = &mut self.recording {
            recording.execute(count);
        }
    }

    pub(crate) fn see(&mut self, what: Seen, name: Name) {
        if let Some(recording) = &mut self.recording {
            recording.see(what, name);
        }
    }
}

/// Writes the path to the file that was asked for.
pub(crate) fn write() -> Result<(), String> {
    let (Some(recorder), state) = (RECORDER.get(), state()) else { return Ok(()) };
    if let Some(wrong) = state.wrong {
        return Err(format!("nothing was recorded: {wrong}"));
    }
    let recording =
        state.recording.as_ref().ok_or("nothing was recorded: no program said 'begin'")?;
    if recording.processors() % recorder.nodes.max(1) != 0 {
        return Err(format!(
            "{} processors are not on {} nodes",
            recording.processors(),
            recorder.nodes
        ));
    }
    let in_words = |name| match name {
        Name::Variable(symbol) => recorder.symbols.name(symbol).to_owned(),
        Name::In(symbol) => format!("in {}", recorder.symbols.name(symbol)),
    };
    let path = recording.path(&recorder.operation, &recorder.kernel, recorder.nodes, in_words);
    fs::write(&recorder.output, path.to_string())
        .map_err(|error| format!("{}: {error}", recorder.output))
}
