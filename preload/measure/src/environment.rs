//! Where recordings go: the directory of the environment and the names of files in it.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use kilocore_lock_recording::PATH_BYTES;
use kilocore_preload_common::errno;

use crate::clock;

/// Whether [`START`] or a first use has looked at the environment: 1 no directory, 2 there is.
static CONFIGURED: AtomicU32 = AtomicU32::new(0);

/// The directory, as the environment had it when the program began.
static DIRECTORY: [AtomicU8; PATH_BYTES] = [const { AtomicU8::new(0) }; PATH_BYTES];

/// Notes the directory before the program can change its environment.
extern "C" fn start() {
    errno::preserved(configure);
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Whether it is known already that there is no directory.
pub(crate) fn is_known_off() -> bool {
    CONFIGURED.load(Ordering::Relaxed) == 1
}

/// Records nothing from now on.
pub(crate) fn turn_off() {
    CONFIGURED.store(1, Ordering::Release);
}

/// Whether there is a directory to record into.
pub(crate) fn configure() -> bool {
    match CONFIGURED.load(Ordering::Acquire) {
        0 => {}
        known => return known == 2,
    }
    // SAFETY: a C string; the result is a C string of the environment or null.
    let value = unsafe { libc::getenv(c"KILOCORE_MEASURE_DIR".as_ptr()) };
    let mut length = 0;
    if !value.is_null() {
        // SAFETY: getenv gave a C string.
        let bytes = unsafe { CStr::from_ptr(value) }.to_bytes();
        if bytes.len() < PATH_BYTES - 64 {
            for (to, from) in DIRECTORY.iter().zip(bytes) {
                to.store(*from, Ordering::Relaxed);
            }
            length = bytes.len();
        }
    }
    CONFIGURED.store(if length > 0 { 2 } else { 1 }, Ordering::Release);
    length > 0
}

/// Puts text together in a buffer, cutting what does not fit.
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

/// The beginning of the path of any file of this process: the directory and the process id.
fn path_of_process() -> Text {
    let mut text = Text { bytes: [0; PATH_BYTES], length: 0 };
    for byte in DIRECTORY.iter().map(|byte| byte.load(Ordering::Relaxed)) {
        if byte == 0 {
            break;
        }
        text.push(byte);
    }
    text.push(b'/');
    // SAFETY: takes no argument.
    text.push_number(unsafe { libc::getpid() } as u64);
    text
}

/// The path, with a final zero byte, of this process image's recording: no other image has the same
/// id at this time.
pub(crate) fn recording_path() -> [u8; PATH_BYTES] {
    let mut text = path_of_process();
    text.push(b'-');
    text.push_number(clock::system_ns(libc::CLOCK_MONOTONIC));
    text.push_all(b".kcrec");
    text.bytes
}

/// The path, with a final zero byte, of the mark that something could not be recorded.
pub(crate) fn mark_path() -> [u8; PATH_BYTES] {
    let mut text = path_of_process();
    text.push_all(b".lost");
    text.bytes
}
