//! Files of the system that say which processors there are.
//!
//! The program opens the host's file, and then that file's descriptor becomes one of a file in memory with what is
//! true of the simulated machine.

use std::fmt::Write as _;

use kilocore_qemu_plugin::text;

use crate::machine;

/// What such a file says on the simulated machine, if it is one of these.
fn content(path: &str) -> Option<String> {
    let last = machine::cores() - 1;
    match path {
        "/sys/devices/system/cpu/online"
        | "/sys/devices/system/cpu/possible"
        | "/sys/devices/system/cpu/present" => {
            Some(if last == 0 { "0\n".to_owned() } else { format!("0-{last}\n") })
        }
        "/proc/cpuinfo" => Some((0..=last).fold(String::new(), |mut text, core| {
            let _ = write!(text, "processor\t: {core}\nmodel name\t: simulated\n\n");
            text
        })),
        "/proc/stat" => {
            Some((0..=last).fold("cpu  0 0 0 0 0 0 0 0 0 0\n".to_owned(), |mut text, core| {
                let _ = writeln!(text, "cpu{core} 0 0 0 0 0 0 0 0 0 0");
                text
            }))
        }
        _ => None,
    }
}

/// The program has opened the file whose path is at an address.
pub(crate) fn opened(path: u64, descriptor: i64) {
    let Some(path) = text(path) else { return };
    let (Some(content), Ok(descriptor)) = (content(&path), i32::try_from(descriptor)) else {
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
