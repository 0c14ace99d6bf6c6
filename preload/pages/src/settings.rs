//! What the user asks for, in environment variables.

use core::ffi::CStr;
use core::fmt::Write as _;

use kilocore_pages::PAGE_BYTES;
use kilocore_preload_common::errno;

/// The largest range that the pool has: 512 neighbouring pages.
pub(crate) const LARGEST: usize = 512 * PAGE_BYTES;

/// Blocks of fewer bytes are left to the C library: it has them in its heap, where no system call is
/// needed for them either.
pub(crate) const SMALLEST_BLOCK: usize = 128 << 10;

/// Which requests are served, and from how much memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Mappings of fewer bytes go to the kernel.
    pub(crate) least: usize,
    /// And so do those of more.
    pub(crate) most: usize,
    /// The bytes that the pool may have in use at a time.
    pub(crate) total: usize,
}

const MIN: Variable = Variable { name: c"KILOCORE_PAGES_MIN", least: 1, most: LARGEST };
const MAX: Variable = Variable { name: c"KILOCORE_PAGES_MAX", least: PAGE_BYTES, most: LARGEST };
const TOTAL: Variable = Variable { name: c"KILOCORE_PAGES_TOTAL", least: LARGEST, most: 1 << 40 };

/// A variable with a number of bytes.
struct Variable {
    name: &'static CStr,
    least: usize,
    most: usize,
}

impl Settings {
    /// Reads the environment. If it is wrong, there is one line on standard error, and no pool.
    pub(crate) fn read() -> Option<Self> {
        let settings = Self {
            least: MIN.read(PAGE_BYTES)?,
            most: MAX.read(LARGEST)?,
            total: TOTAL.read(1 << 30)?,
        };
        if settings.least > settings.most {
            complain(|line| {
                line.write_str(
                    "KILOCORE_PAGES_MIN is more than KILOCORE_PAGES_MAX: make it smaller",
                )
            });
            return None;
        }
        Some(settings)
    }
}

/// Returns the value of a variable, if it is set and not empty.
pub(crate) fn value_of(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string, and so is what is returned, or null. No thread sets variables
    // yet, because this is the first time that memory is used.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: as above.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }).filter(|text| !text.is_empty())
}

impl Variable {
    fn read(&self, default: usize) -> Option<usize> {
        let Some(text) = value_of(self.name) else { return Some(default) };
        let read = text.to_str().ok().and_then(size);
        if let Some(bytes) = read.filter(|bytes| (self.least..=self.most).contains(bytes)) {
            return Some(bytes);
        }
        let name = self.name.to_str().unwrap_or_default();
        let text = text.to_str().unwrap_or("?");
        let (least, most) = (self.least, self.most);
        complain(|line| {
            write!(line, "{name}={text}: give {least} to {most} bytes, for example 256K or 2M")
        });
        None
    }
}

/// Reads a number of bytes such as `4096`, `256K`, `2M` or `1G`.
fn size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// Prints one line on standard error.
pub(crate) fn complain(write: impl FnOnce(&mut Line) -> core::fmt::Result) {
    let mut line = Line::new();
    // This cannot fail. Text that does not fit is cut off.
    let _ = line.write_str("kilocore: ");
    let _ = write(&mut line);
    let _ = line.write_str("; memory stays as it is\n");
    line.print(libc::STDERR_FILENO);
}

const ROOM: usize = 1024;

/// A line of text on the stack.
pub(crate) struct Line {
    text: [u8; ROOM],
    length: usize,
}

impl Line {
    pub(crate) const fn new() -> Self {
        Self { text: [0; ROOM], length: 0 }
    }

    pub(crate) fn print(&self, file: libc::c_int) {
        errno::preserved(|| {
            // SAFETY: the text has that length. There is nobody to whom a failure could be reported.
            unsafe { libc::write(file, self.text.as_ptr().cast(), self.length) };
        });
    }
}

impl core::fmt::Write for Line {
    fn write_str(&mut self, piece: &str) -> core::fmt::Result {
        let room = &mut self.text[self.length..];
        let taken = piece.len().min(room.len());
        room[..taken].copy_from_slice(&piece.as_bytes()[..taken]);
        self.length += taken;
        Ok(())
    }
}
