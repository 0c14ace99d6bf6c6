//! What a lock profile says, without a forecast.

use std::path::Path;

use kilocore_lock_profile::Profile;
use kilocore_show::Format;

use crate::record::locks;
use kilocore_command_line::output;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{Destination, Failure};

/// Prints a profile, and writes pages of where the threads' time went.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let files = reports.files()?;
    if let Some((other, _)) = files.iter().find(|(_, format)| *format != Format::Html) {
        return Err(Failure::new(format!(
            "{}: of a lock profile there is a page, of where the threads' time went; choose a file that \
             ends in .html, or let `kilocore forecast` write a report",
            other.display()
        )));
    }
    let profile = Profile::read(file)?;
    for (path, _) in files {
        let page = kilocore_lock_report::waits_page(&profile, None)?;
        output::write(path, &page)?;
    }
    if reports.json {
        return output::json(&profile);
    }
    locks::print(&profile, Destination::Stdout);
    Ok(())
}
