//! Ending a program that takes too long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::Started;

/// How long a program that was asked to end may take to do so.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends a program after some time, unless it is dropped before.
#[derive(Debug)]
pub struct EndAfter {
    limit: Duration,
    passed: Arc<AtomicBool>,
    /// Hung up when it is dropped.
    _over: Sender<()>,
    /// Taken by whoever watches.
    waiting: Mutex<Option<Receiver<()>>>,
}

impl EndAfter {
    /// What ends a program after so long.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        let (over, waiting) = channel();
        let passed = Arc::new(AtomicBool::new(false));
        Self { limit, passed, _over: over, waiting: Mutex::new(Some(waiting)) }
    }

    /// Begins to wait: what [`Start::on_start`](crate::Start::on_start) calls with the program's process id. The
    /// program is asked to end when the time is over, and killed if it does not. Later calls do nothing.
    pub fn watch(&self, pid: libc::pid_t) {
        let waiting = self.waiting.lock().ok().and_then(|mut waiting| waiting.take());
        let Some(waiting) = waiting else { return };
        let (limit, passed) = (self.limit, Arc::clone(&self.passed));
        let started = Started::new(pid);
        thread::spawn(move || {
            let is_over = |limit| waiting.recv_timeout(limit) != Err(RecvTimeoutError::Timeout);
            if is_over(limit) {
                return;
            }
            passed.store(true, Ordering::Relaxed);
            // It has ended meanwhile if it cannot be asked.
            if started.terminate() && !is_over(PATIENCE) {
                _ = started.kill();
            }
        });
    }

    /// Whether the time has passed, so that the program was ended.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Instant;

    use super::*;
    use crate::{Start, run};

    fn ended(script: &str, limit: Duration) -> (bool, Duration) {
        let command: Vec<OsString> = ["sh", "-c", script].map(Into::into).to_vec();
        let end_after = EndAfter::new(limit);
        let began = Instant::now();
        let on_start = Box::new(|pid| end_after.watch(pid));
        run(Start { command: &command, on_start: Some(on_start), ..Start::default() })
            .expect("there is a shell");
        (end_after.has_passed(), began.elapsed())
    }

    #[test]
    fn what_takes_too_long_is_ended_even_if_it_does_not_listen() {
        let (passed, took) = ended("exec sleep 1000", Duration::from_millis(50));
        assert!(passed && took < Duration::from_secs(100), "{took:?}");
        let deaf = "trap '' TERM; while :; do sleep 0.1; done";
        let (passed, took) = ended(deaf, Duration::from_millis(50));
        assert!(passed && took < Duration::from_secs(100), "{took:?}");
    }

    #[test]
    fn what_ends_in_time_is_left_alone() {
        assert!(!ended("exit 0", Duration::from_secs(1000)).0);
    }
}
