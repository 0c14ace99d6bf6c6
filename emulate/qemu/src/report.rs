//! The file of the report.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::{Mutex, PoisonError};

use kilocore_emulation_orders::Report;

/// The file of the report.
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Opens the file for the report, which is there already.
pub(crate) fn open(path: &str) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    Ok(())
}

/// Reports why the program cannot be emulated any further, and ends it.
pub(crate) fn fail(why: &str) -> ! {
    say(why);
    end()
}

/// Ends the program, of which all has been reported.
pub(crate) fn end() -> ! {
    // SAFETY: it ends the process at once, whatever its threads do.
    unsafe { libc::_exit(1) }
}

/// Reports why the program is not emulated to its end, unless it ends in another way after all.
pub(crate) fn say(why: &str) {
    put(&Report { failure: Some(why.to_owned()), ..Report::default() });
}

/// Writes a report, in the place of any before it.
pub(crate) fn put(report: &Report) {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &mut *file {
        // Whoever waits for the report sees that it is not whole.
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(&report.to_bytes()));
        if let Err(error) = written {
            eprintln!("kilocore: the report cannot be written: {error}");
        }
    }
}
