//! The terminal of this process: borrowed for a full-screen view, and given back whatever happens.
//!
//! Keys come one by one and unseen, but Ctrl-C remains a signal. So whoever handles signals handles it
//! as without a view.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// The other screen, without a cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";

/// No colours, the cursor, and the screen that was there.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// The terminal and its settings of before, while it is borrowed. Who draws holds this.
static BORROWED: Mutex<Option<(File, libc::termios)>> = Mutex::new(None);

/// The terminal of this process, not borrowed yet.
#[derive(Debug)]
pub(super) struct Tty(File);

/// The borrowed terminal. When this is dropped, it is as before.
pub(super) struct Screen {
    keys: File,
    terminal: Terminal<CrosstermBackend<File>>,
}

impl Tty {
    /// Finds it.
    ///
    /// # Errors
    /// If there is none, or it belongs to another job of the shell.
    pub(super) fn find() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        // SAFETY: both only ask, and the descriptor is open.
        let (front, own) = unsafe { (libc::tcgetpgrp(file.as_raw_fd()), libc::getpgrp()) };
        if front != own {
            return Err(io::Error::other("this command runs in the background"));
        }
        Ok(Self(file))
    }

    /// Borrows the terminal for the screen, until that is dropped.
    pub(super) fn borrow(self) -> io::Result<Screen> {
        give_back_on_panic();
        let before = settings(&self.0)?;
        let mut unseen = before;
        unseen.c_lflag &= !(libc::ICANON | libc::ECHO);
        // A read without a key returns at once.
        (unseen.c_cc[libc::VMIN], unseen.c_cc[libc::VTIME]) = (0, 0);
        let (keys, drawing) = (self.0.try_clone()?, self.0.try_clone()?);
        let mut borrowed = lock();
        set(&keys, &unseen)?;
        *borrowed = Some((self.0, before));
        drop(borrowed);
        let entered = (&keys).write_all(ENTER);
        let terminal = entered.and_then(|()| Terminal::new(CrosstermBackend::new(drawing)));
        match terminal {
            Ok(terminal) => Ok(Screen { keys, terminal }),
            Err(error) => {
                give_back(&mut lock());
                Err(error)
            }
        }
    }
}

impl Screen {
    /// Draws a frame, unless the terminal was given back. `anew` also draws over what others have printed.
    pub(super) fn draw(
        &mut self,
        anew: bool,
        frame: impl FnOnce(&mut ratatui::Frame<'_>),
    ) -> io::Result<()> {
        let borrowed = lock();
        if borrowed.is_none() {
            return Ok(());
        }
        if anew {
            let size = self.terminal.size()?;
            self.terminal
                .resize(ratatui::layout::Rect::from((ratatui::layout::Position::ORIGIN, size)))?;
        }
        self.terminal.draw(frame).map(drop)
    }

    /// A key that was pressed since the last call, if any.
    pub(super) fn key(&mut self) -> Option<u8> {
        let mut byte = [0];
        matches!(self.keys.read(&mut byte), Ok(1)).then_some(byte[0])
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The backend keeps nothing back, and what it prints when it is dropped comes before this.
        let _ = self.terminal.show_cursor();
        give_back(&mut lock());
    }
}

fn lock() -> MutexGuard<'static, Option<(File, libc::termios)>> {
    BORROWED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn give_back(borrowed: &mut Option<(File, libc::termios)>) {
    if let Some((mut file, before)) = borrowed.take() {
        let _ = file.write_all(LEAVE);
        let _ = set(&file, &before);
    }
}

/// A panic of any thread gives the terminal back before its message is printed.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            match BORROWED.try_lock() {
                Ok(mut borrowed) => give_back(&mut borrowed),
                Err(TryLockError::Poisoned(poisoned)) => give_back(&mut poisoned.into_inner()),
                // Somebody draws, perhaps this very thread, which gives it back as it unwinds.
                Err(TryLockError::WouldBlock) => {}
            }
            next(panic);
        }));
    });
}

fn settings(file: &File) -> io::Result<libc::termios> {
    let mut settings = MaybeUninit::uninit();
    // SAFETY: the descriptor is open, and there is room for the answer.
    if unsafe { libc::tcgetattr(file.as_raw_fd(), settings.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled it in.
    Ok(unsafe { settings.assume_init() })
}

fn set(file: &File, settings: &libc::termios) -> io::Result<()> {
    // SAFETY: the descriptor is open and the settings are valid.
    if unsafe { libc::tcsetattr(file.as_raw_fd(), libc::TCSANOW, settings) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
