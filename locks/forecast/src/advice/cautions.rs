//! What the profiled run was like, as far as that takes something from the forecast.

use crate::from_profile::Conduct;
use crate::words::{counted, percent};

/// Idle cores are worth a word from this share of the usable ones on, if locks are not the reason.
const IDLE: f64 = 0.3;
/// Waiting on condition variables counts as the reason from this share of the threads' time on.
const MOSTLY_CONDITIONS: f64 = 0.25;

/// What the profiled run was like, as far as that takes something from the forecast.
/// Threads may have been seen to wait for locks that no forecast has.
pub(super) fn cautions(conduct: &Conduct, contended: bool) -> Vec<String> {
    let mut text = Vec::new();
    if conduct.unused_cores > IDLE * able(conduct) {
        let instead = match &conduct.condition_place {
            Some(place) if conduct.condition_share > MOSTLY_CONDITIONS => format!(
                "they waited on condition variables, longest on the one first used at {place}"
            ),
            _ => "they slept, waited for something else, or shared the cores with other programs"
                .to_owned(),
        };
        let serial = conduct.time.serial_share();
        let consequence = if serial > 0.0 {
            format!(
                "So {} of its computing is forecast as serial, which no further core divides; if \
                 other programs had the cores, that is too much",
                percent(serial)
            )
        } else {
            "The forecast takes it that every further thread brings as much work as these did; if \
             they wait for one another (for a token, a queue, a serial phase), the program scales \
             less than drawn here"
                .to_owned()
        };
        let who = match conduct.beside_others {
            true => "the process whose locks were seen kept",
            false => "its threads kept",
        };
        let locks = if contended { "the locks of this forecast" } else { "locks" };
        text.push(format!(
            "Mind that {who} only {:.1} of {} busy while profiled, which waits for {locks} do not \
             explain: {instead}. {consequence}.",
            conduct.busy_cores,
            counted(conduct.cores.into(), "core")
        ));
    }
    text
}

/// Cores that the profiled threads could have kept busy.
fn able(conduct: &Conduct) -> f64 {
    f64::from(conduct.cores).min(conduct.peak_threads as f64)
}
