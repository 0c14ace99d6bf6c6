//! The page of where the threads' time went, and of who waited for whom.

use askama::Template;
use kilocore_lock_profile::{Profile, Run};
use kilocore_predict::{ForecastPoint, Recommendation};

use crate::drawn::Drawn;
use crate::page_parts::{CHART_STYLE, PAGE_STYLE, SCRIPT};
use crate::text::{printable, printable_document};
use crate::waits_parts::{WAITS_STYLE, Waits};
use crate::{Mark, ReportError};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, Template)]
#[template(path = "waits.html")]
struct Page<'a> {
    title: &'a str,
    advice: Option<&'a Recommendation>,
    waits: Waits,
    /// There are none to hide.
    curves: [Drawn<'a, ForecastPoint>; 0],
}

/// The page of where the threads' time went in the run that counts, below the advice if there is any:
/// one file that needs no other. The same profile gives the same bytes.
///
/// # Errors
/// [`ReportError::NoTimes`] if the profile does not say where the time went, [`ReportError::Layout`]
/// if the template cannot be filled in.
pub fn waits_page(
    profile: &Profile,
    advice: Option<&Recommendation>,
) -> Result<String, ReportError> {
    let times = profile.runs.first().and_then(Run::checked_times);
    let times = times.ok_or(ReportError::NoTimes)?;
    let title = printable(&profile.command.join(" "));
    let waits = Waits::new(&times, Mark::of_host(&profile.host));
    let page = Page { title: &title, advice, waits, curves: [] };
    Ok(printable_document(&page.render()?))
}
