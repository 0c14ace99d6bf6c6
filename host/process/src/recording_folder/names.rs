//! The names of folders and of the files in them.

use std::io;
use std::path::Path;

/// What the names of the outer folders begin with.
const PREFIX: &str = "kilocore-recordings-";

/// The number of random bytes in a name. Nobody can guess so many.
const RANDOM_BYTES: usize = 16;

/// What the name of a recording ends with.
const RECORDING: &str = ".kcrec";

/// Returns a random number as hexadecimal digits.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    loop {
        // SAFETY: the buffer is ours and has that length.
        let filled = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), RANDOM_BYTES, 0) };
        if filled == RANDOM_BYTES as isize {
            return Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        let error = io::Error::last_os_error();
        if filled < 0 && error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn is_random(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 2 * RANDOM_BYTES && text.bytes().all(is_digit)
}

/// Returns a name for an outer folder.
pub(crate) fn outer() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", random()?))
}

/// Whether a name is one of those that [`outer`] returns.
pub(crate) fn is_outer(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(is_random)
}

/// Returns the outer one of a folder of ours, or `None` if the path is not of that form.
pub(crate) fn outer_of(folder: &Path) -> Option<&Path> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let outer = folder.parent()?;
    let is_ours = is_random(&name(folder)?) && is_outer(&name(outer)?) && outer.is_absolute();
    is_ours.then_some(outer)
}

/// Returns a name for a recording of a process that begins at a moment.
pub(crate) fn recording(pid: u32, moment: u64) -> io::Result<String> {
    Ok(format!("{pid}-{moment}-{}{RECORDING}", random()?))
}

/// Returns the name of the note that a process found no room for its recording.
pub(crate) fn note(pid: u32) -> String {
    format!("{pid}.lost")
}

/// Returns the process and the moment in a recording's name, or `None` if it is no such name.
#[must_use]
pub fn process_of(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_suffix(RECORDING)?.splitn(3, '-');
    let (pid, moment, random) = (parts.next()?, parts.next()?, parts.next()?);
    is_random(random).then_some((pid.parse().ok()?, moment.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are_and_nothing_else_is_taken_for_one() {
        let name = recording(7, 99).expect("there are random numbers");
        assert_eq!(process_of(&name), Some((7, 99)));
        assert_ne!(name, recording(7, 99).expect("there are random numbers"));
        for other in ["7-99.kcrec", "7-99-12.kcrec", "7-99-", "", "x-1-2.kcrec"] {
            assert_eq!(process_of(other), None, "{other}");
        }
        let outer = outer().expect("there are random numbers");
        let inner = random().expect("there are random numbers");
        assert!(is_outer(&outer));
        let path = Path::new("/dev/shm").join(&outer).join(&inner);
        assert_eq!(outer_of(&path), Some(Path::new("/dev/shm").join(&outer).as_path()));
        for other in ["/", "/etc/passwd", &format!("/home/{inner}"), &format!("{outer}/{inner}")] {
            assert_eq!(outer_of(Path::new(other)), None, "{other}");
        }
        assert_eq!(outer_of(&path.join("..")), None);
    }
}
