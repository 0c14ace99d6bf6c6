//! Progress where there is no terminal: a line now and then.

use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;
use kilocore_show::number::count;

use crate::say;

/// How long it takes until a line says how far something is, and until the next one. What is over by then needs none.
const EVERY: Duration = Duration::from_secs(10);

/// Tells now and then how far a bar is, until it is finished or dropped. Without a thread to tell it, nothing is
/// told.
pub(crate) fn tell(bar: &ProgressBar) {
    let bar = bar.downgrade();
    let tell = move || loop {
        thread::sleep(EVERY);
        match bar.upgrade() {
            Some(bar) if !bar.is_finished() => say(&line(&bar)),
            _ => return,
        }
    };
    let _ = thread::Builder::new().name("progress".to_owned()).spawn(tell);
}

/// Where a bar is.
fn line(bar: &ProgressBar) -> String {
    let what = match bar.message() {
        message if message.is_empty() => "working".to_owned(),
        message => message,
    };
    match (bar.position(), bar.length()) {
        (0, _) => what,
        (done, Some(of)) if of > 1 => format!("{what}: {} of {}", count(done), count(of)),
        (done, _) => format!("{what}: {} done", count(done)),
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressBar;

    use super::line;

    #[test]
    fn a_line_says_what_is_done_and_of_how_much() {
        let bar = ProgressBar::hidden().with_message("simulating");
        assert_eq!(line(&bar), "simulating");
        bar.inc(1_234);
        assert_eq!(line(&bar), "simulating: 1,234 done");
        bar.set_length(9_258);
        assert_eq!(line(&bar), "simulating: 1,234 of 9,258");
        bar.set_message("");
        assert_eq!(line(&bar), "working: 1,234 of 9,258");
    }
}
