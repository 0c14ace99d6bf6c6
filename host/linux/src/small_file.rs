//! Reading the small files in which the system describes itself, without allocating.

use std::fs::File;
use std::io::{self, Read};

/// Reads a small file of the system's into `room`, as far as it fits.
pub fn read<'a>(path: &str, room: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut file = File::open(path)?;
    let mut length = 0;
    while length < room.len() {
        match file.read(&mut room[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&room[..length])
}
