//! `kilocore steer --watch`: a live view on the terminal.
//!
//! A thread of its own draws. The daemon hands it a snapshot after each window and never waits for it:
//! if the terminal is slow, snapshots are left out.

mod page;
mod tty;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kilocore_command_line::{Failure, say};
use kilocore_sched_daemon::{Daemon, Snapshot};
use kilocore_sched_policy::PolicyName;
use page::Page;
use tty::{Screen, Tty};

/// So many snapshots may wait to be drawn.
const WAITING: usize = 16;

/// Keys are looked for this often.
const KEYS: Duration = Duration::from_millis(50);

/// It is drawn at most this often.
const FRAME: Duration = Duration::from_millis(100);

/// What others may have printed is drawn over this often.
const ANEW: Duration = Duration::from_secs(1);

/// A view that is not on the terminal yet.
#[derive(Debug)]
pub(super) struct View {
    tty: Tty,
    page: Page,
    shared: bool,
}

/// A view on the terminal. When this is dropped, the terminal is as before.
#[derive(Debug)]
pub(super) struct OpenView {
    ends_steering: bool,
    ended: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// The view of what a policy does with a command or, if there is none, with processes.
    pub(super) fn of(
        command: &[OsString],
        pids: &[u32],
        policy: PolicyName,
        dry_run: bool,
    ) -> Result<Self, Failure> {
        let tty = Tty::find().map_err(|error| {
            Failure::new(format!(
                "--watch draws on the terminal, /dev/tty, which cannot be had: {error}; run it in the \
                 foreground of a terminal, or take --log FILE in its place"
            ))
        })?;
        let ours = !command.is_empty();
        let (subject, q) = if ours {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
            (words.join(" "), "closes this view; the program goes on, steered as before")
        } else {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            let q = "ends steering and puts everything back, as does Ctrl-C";
            (format!("processes {}", pids.join(", ")), q)
        };
        let page = Page { subject, policy: policy.to_string(), dry_run, q, ..Page::default() };
        Ok(Self { tty, page, shared: ours })
    }

    /// Shows what this daemon does.
    pub(super) fn show(self, daemon: &mut Daemon) -> OpenView {
        let (tell, told) = mpsc::sync_channel(WAITING);
        daemon.watch(move |snapshot| {
            let _ = tell.try_send(snapshot);
        });
        let ended = Arc::new(AtomicBool::new(false));
        let closed = Arc::new(AtomicBool::new(false));
        let ends_steering = !self.shared;
        let (over, quit) = (Arc::clone(&ended), Arc::clone(&closed));
        let thread = std::thread::spawn(move || {
            // A terminal that has gone away ends the view and nothing else.
            if let Ok(screen) = self.tty.borrow() {
                let _ = draw(screen, self.page, self.shared, &told, &over, &quit);
            }
        });
        OpenView { ends_steering, ended, closed, thread: Some(thread) }
    }
}

impl OpenView {
    /// Whether somebody has closed it and steering is to end with it.
    pub(super) fn asks_to_end(&self) -> bool {
        self.ends_steering && self.closed.load(Ordering::SeqCst)
    }
}

impl Drop for OpenView {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // What the panic has said may be on the screen that is gone.
            say("the live view has failed, which is an error in kilocore");
        }
    }
}

/// Draws until `over`, or somebody has `quit`. `shared` is whether others may print on the terminal.
fn draw(
    mut screen: Screen,
    mut page: Page,
    shared: bool,
    told: &mpsc::Receiver<Snapshot>,
    over: &AtomicBool,
    quit: &AtomicBool,
) -> std::io::Result<()> {
    let mut drawn: Option<Instant> = None;
    let mut anew = Instant::now();
    while !over.load(Ordering::SeqCst) {
        match told.recv_timeout(KEYS) {
            Ok(snapshot) => page.take(snapshot),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        while let Some(key) = screen.key() {
            if matches!(key, b'q' | b'Q') {
                quit.store(true, Ordering::SeqCst);
                return Ok(());
            }
        }
        if drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
            let all = shared && anew.elapsed() >= ANEW;
            screen.draw(all, |frame| page.draw(frame))?;
            drawn = Some(Instant::now());
            if all {
                anew = Instant::now();
            }
        }
    }
    Ok(())
}
