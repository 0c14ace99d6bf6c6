//! The directory for recordings, from the environment, and the names of the files in it.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use kilocore_lock_recording::PATH_BYTES;
use kilocore_preload_common::{RealFunction, environment, errno, is_thread_sanitized};

use crate::clock;

/// 0 before [`START`] or a first use has looked at the environment. Afterwards it is 1 if no
/// directory is given, and 2 if there is one.
static CONFIGURED: AtomicU32 = AtomicU32::new(0);

/// The directory, as it was in the environment when the program began.
static DIRECTORY: [AtomicU8; PATH_BYTES] = [const { AtomicU8::new(0) }; PATH_BYTES];

/// Notes the directory before the program can change its environment, and looks up the functions
/// that this library displaces.
extern "C" fn start() {
    RealFunction::find_all();
    errno::preserved(configure);
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Returns whether it is already known that there is no directory.
pub(crate) fn is_known_off() -> bool {
    CONFIGURED.load(Ordering::Relaxed) == 1
}

/// Makes the library record nothing from now on.
pub(crate) fn turn_off() {
    CONFIGURED.store(1, Ordering::Release);
}

/// Looks at the environment if that has not been done yet. Returns whether there is a directory to
/// record into.
pub(crate) fn configure() -> bool {
    match CONFIGURED.load(Ordering::Acquire) {
        0 => {}
        known => return known == 2,
    }
    // SAFETY: this runs when the library starts or even earlier, when there is nobody who changes the
    // environment, and copies the value.
    let value = unsafe { environment::value_of("KILOCORE_MEASURE_DIR") };
    let value = value.filter(|_| !is_thread_sanitized()).unwrap_or_default();
    let mut length = 0;
    if value.len() < PATH_BYTES - 64 {
        for (to, from) in DIRECTORY.iter().zip(value) {
            to.store(*from, Ordering::Relaxed);
        }
        length = value.len();
    }
    CONFIGURED.store(if length > 0 { 2 } else { 1 }, Ordering::Release);
    length > 0
}

/// Text in a buffer. What does not fit is cut off.
struct Text {
    bytes: [u8; PATH_BYTES],
    length: usize,
}

impl Text {
    fn push(&mut self, byte: u8) {
        if self.length < PATH_BYTES - 1 {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    fn push_all(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.push(*byte);
        }
    }

    fn push_number(&mut self, number: u64) {
        let mut divisor = 1;
        while number / divisor >= 10 {
            divisor *= 10;
        }
        while divisor > 0 {
            self.push(b'0' + (number / divisor % 10) as u8);
            divisor /= 10;
        }
    }
}

/// Returns the beginning of the path of any file of this process: the directory and the process id.
fn path_of_process() -> Text {
    let mut text = Text { bytes: [0; PATH_BYTES], length: 0 };
    for byte in DIRECTORY.iter().map(|byte| byte.load(Ordering::Relaxed)) {
        if byte == 0 {
            break;
        }
        text.push(byte);
    }
    text.push(b'/');
    // SAFETY: the function has no arguments.
    text.push_number(unsafe { libc::getpid() } as u64);
    text
}

/// Returns the path of this process image's recording, with a final zero byte. No other image has
/// the same process id at the same time.
pub(crate) fn recording_path() -> [u8; PATH_BYTES] {
    let mut text = path_of_process();
    text.push(b'-');
    text.push_number(clock::system_ns(libc::CLOCK_MONOTONIC));
    text.push_all(b".kcrec");
    text.bytes
}

/// Returns the path of the file that says that something could not be recorded, with a final zero
/// byte.
pub(crate) fn mark_path() -> [u8; PATH_BYTES] {
    let mut text = path_of_process();
    text.push_all(b".lost");
    text.bytes
}
