//! The directory for recordings, from the environment, and the names of the files in it.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use kilocore_lock_recording::PATH_BYTES;
use kilocore_preload_common::{RealFunction, environment, errno, is_thread_sanitized};

use crate::clock;
use crate::descriptors::FileId;

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

/// The room for a name in the folder, including a final zero byte.
pub(crate) const NAME_BYTES: usize = 96;

/// The number of random bytes in the name of a recording. Nobody can guess so many.
const RANDOM_BYTES: usize = 16;

/// Text in a buffer of `N` bytes, the last of which is zero. What does not fit is cut off.
pub(crate) struct Text<const N: usize> {
    pub(crate) bytes: [u8; N],
    pub(crate) length: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    fn push(&mut self, byte: u8) {
        if self.length < N - 1 {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    pub(crate) fn push_all(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.push(*byte);
        }
    }

    pub(crate) fn push_number(&mut self, number: u64) {
        let mut divisor = 1;
        while number / divisor >= 10 {
            divisor *= 10;
        }
        while divisor > 0 {
            self.push(b'0' + (number / divisor % 10) as u8);
            divisor /= 10;
        }
    }

    fn push_hexadecimal(&mut self, byte: u8) {
        for digit in [byte >> 4, byte & 15] {
            self.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
}

/// Returns the path of the folder, with a final zero byte.
pub(crate) fn folder() -> [u8; PATH_BYTES] {
    let mut path = [0; PATH_BYTES];
    for (to, from) in path[..PATH_BYTES - 1].iter_mut().zip(&DIRECTORY) {
        *to = from.load(Ordering::Relaxed);
    }
    path
}

/// Returns the beginning of the name of any file of this process: the process id.
fn name_of_process() -> Text<NAME_BYTES> {
    let mut text = Text::new();
    // SAFETY: the function has no arguments.
    text.push_number(unsafe { libc::getpid() } as u64);
    text
}

/// Returns the name of this process image's recording, with a final zero byte: the process, the
/// moment and a random number. No other image has the same process id at the same time.
pub(crate) fn recording_name() -> [u8; NAME_BYTES] {
    let mut random = [0u8; RANDOM_BYTES];
    // Where the kernel has no random numbers yet, these bytes stay zero. The file is still made
    // anew, with a name that nothing else has.
    // SAFETY: the buffer is ours and has that length.
    unsafe {
        libc::syscall(libc::SYS_getrandom, random.as_mut_ptr(), RANDOM_BYTES, libc::GRND_NONBLOCK)
    };
    let mut text = name_of_process();
    text.push_all(b"-");
    text.push_number(clock::system_ns(libc::CLOCK_MONOTONIC));
    text.push_all(b"-");
    for byte in random {
        text.push_hexadecimal(byte);
    }
    text.push_all(b".kcrec");
    text.bytes
}

/// Returns the name of the file that says that something could not be recorded, with a final zero
/// byte.
pub(crate) fn mark_name() -> [u8; NAME_BYTES] {
    let mut text = name_of_process();
    text.push_all(b".lost");
    text.bytes
}

/// Returns the name of the file that says that the program in this file was executed, with a final zero byte.
/// A program has one, however often and by whomever it is executed.
pub(crate) fn executed_name(program: FileId) -> [u8; NAME_BYTES] {
    let mut text = Text::new();
    text.push_number(program.device);
    text.push_all(b"-");
    text.push_number(program.inode);
    text.push_all(b".executed");
    text.bytes
}
