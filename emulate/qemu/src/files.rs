//! Files of the system that say what the machine is like.
//!
//! The program opens a file that is always there, instead of the host's, and then its descriptor becomes one of a
//! file in memory with what is true of the simulated machine ([`described`]).

use crate::call::Change;
use crate::{described, memory};
use kilocore_qemu_plugin::text;

/// What is opened instead, with the zero byte at its end.
const ALWAYS_THERE: &[u8; 10] = b"/dev/null\0";

/// The program is about to open the file whose path is at an address. If it is one of these, another path is there
/// for the moment of the call, unless nobody may write there: then the host's file is opened, if it has one.
pub(crate) fn opening(path: u64) -> Change {
    let Some(content) = text(path).and_then(|path| described::content(&path)) else {
        return Change::None;
    };
    let was = memory::read_u64s::<2>(path).filter(|_| memory::write(path, ALWAYS_THERE));
    Change::File { content, path: was.map(|was| (path, was)) }
}

/// The program has opened a file that is to have this content, or could not.
pub(crate) fn opened(content: &str, descriptor: i64) {
    let Some(descriptor) = i32::try_from(descriptor).ok().filter(|&number| number >= 0) else {
        return;
    };
    // SAFETY: a name that lives meanwhile; descriptors are numbers. What is in memory is written whole, and read from
    // its beginning.
    unsafe {
        let file = libc::memfd_create(c"kilocore".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return;
        }
        let written = libc::write(file, content.as_ptr().cast(), content.len());
        if written == content.len() as isize && libc::lseek(file, 0, libc::SEEK_SET) == 0 {
            libc::dup3(file, descriptor, libc::O_CLOEXEC);
        }
        libc::close(file);
    }
}
