//! The page of where the threads' time went, and of who waited for whom.

use askama::Template;
use kilocore_forecast::Recommendation;
use kilocore_lock_profile::{Profile, Run};
use kilocore_show::ReportError;
use kilocore_show::page_parts::{Head, SCRIPT};
use kilocore_show::text::{printable, printable_document};

use crate::marks::measured_on;
use crate::waits_parts::{WAITS_STYLE, Waits};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, Template)]
#[template(path = "waits.html")]
struct Page<'a> {
    title: &'a str,
    advice: Option<&'a Recommendation>,
    waits: Waits,
}

impl<'a> Page<'a> {
    fn head(&self) -> Head<'a> {
        Head::new(self.title)
    }
}

/// Why there is no page of a profile without times.
const NO_TIMES: &str = "the profile does not say where the threads' time went: record the program with `--recorder watch`";

/// The page of where the threads' time went in the run that counts, below the advice if there is any:
/// one file that needs no other. The same profile gives the same bytes.
///
/// # Errors
/// [`ReportError::Missing`] if the profile does not say where the time went, [`ReportError::Layout`]
/// if the template cannot be filled in.
pub fn waits_page(
    profile: &Profile,
    advice: Option<&Recommendation>,
) -> Result<String, ReportError> {
    let times = profile.runs.first().and_then(Run::checked_times);
    let times = times.ok_or(ReportError::Missing(NO_TIMES))?;
    let title = printable(&profile.command.join(" "));
    let waits = Waits::new(&times, measured_on(&profile.host));
    let page = Page { title: &title, advice, waits };
    Ok(printable_document(&page.render()?))
}
