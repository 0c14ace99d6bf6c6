//! Parses the comment lines with which `perf script --header` describes a recording:
//!
//! ```text
//! # os release : 6.1.0-18-amd64
//! # cpudesc : Intel(R) Xeon(R) CPU @ 2.30GHz
//! # cmdline : /usr/bin/perf record -F 999 -g sysbench cpu run
//! # duration : 2077.100 ms
//! # event : name = cycles, , id = { 11, 12 }, { sample_period, sample_freq } = 999, freq = 1
//! ```

use kilocore_figures::Nanoseconds;
use memchr::memmem;

use crate::clock::stated_ghz;
use crate::event_name::{is_of_one_kind, plain};
use crate::{Facts, Rate};

/// Most events that are remembered from the header.
const EVENTS: usize = 256;

/// Longest name of an event that is remembered, in bytes.
const NAME: usize = 1 << 9;

/// The values that perf prints for something unknown.
const NONE: [&str; 2] = ["", "(null)"];

/// What the header says.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    kernel: Option<String>,
    command: Option<String>,
    clock_ghz: Option<f64>,
    duration: Option<Nanoseconds>,
    events: Vec<(Vec<u8>, Rate)>,
}

impl Comments {
    /// Takes what a comment of the header says, such as `# os release : 6.18.44`. Others are
    /// ignored.
    pub(crate) fn line(&mut self, line: &[u8]) {
        let Some(colon) = memmem::find(line, b" :") else { return };
        let (key, value) = (line[..colon].trim_ascii(), line[colon + 2..].trim_ascii());
        let text =
            || Some(String::from_utf8_lossy(value).into_owned()).filter(|v| !NONE.contains(&&**v));
        match key.strip_prefix(b"#").map(<[u8]>::trim_ascii) {
            Some(b"os release") => self.kernel = text(),
            Some(b"cpudesc") => self.clock_ghz = text().and_then(|name| stated_ghz(&name)),
            Some(b"cmdline") => self.command = text(),
            Some(b"sample duration") => self.duration = text().and_then(|t| duration(&t)),
            Some(b"event") if self.events.len() < EVENTS => self.events.extend(event(value)),
            _ => {}
        }
    }

    /// Adds the facts to those of a profile that takes the samples of this event.
    pub(crate) fn tell(self, event: &[u8], facts: &mut Facts) {
        facts.kernel = self.kernel;
        facts.command = self.command;
        let is_hybrid = self.events.iter().any(|(name, _)| is_of_one_kind(name));
        facts.clock_ghz = self.clock_ghz.filter(|_| !is_hybrid);
        facts.duration = self.duration;
        let same = |name: &[u8]| name == event || plain(name) == plain(event);
        let of_event = match &self.events[..] {
            [(_, rate)] => Some(*rate),
            events => events.iter().find(|(name, _)| same(name)).map(|(_, rate)| *rate),
        };
        facts.rate = of_event.or(facts.rate);
    }
}

/// Parses a duration such as `2077.100 ms`.
fn duration(text: &str) -> Option<Nanoseconds> {
    let milliseconds: f64 = text.strip_suffix("ms")?.trim().parse().ok()?;
    let ns = milliseconds * 1e6;
    (ns >= 0.0 && ns < u64::MAX as f64).then_some(Nanoseconds(ns.round() as u64))
}

/// An event's name and how often it was sampled: a rate if its attributes have `freq = 1`.
fn event(value: &[u8]) -> Option<(Vec<u8>, Rate)> {
    let name = value.strip_prefix(b"name = ")?;
    let name = &name[..memmem::find(name, b", ").filter(|&end| end <= NAME)?];
    let number = setting(value, b"sample_freq } = ").filter(|&number| number > 0)?;
    let is_rate = setting(value, b" freq = ") == Some(1);
    let rate = if is_rate { Rate::Hertz(number as f64) } else { Rate::Period(number) };
    Some((name.to_owned(), rate))
}

/// The number behind a text.
fn setting(text: &[u8], key: &[u8]) -> Option<u64> {
    let behind = &text[memmem::find(text, key)? + key.len()..];
    let count = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&behind[..count]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_of_the_recording() {
        let mut comments = Comments::default();
        for line in [
            "# ========",
            "# captured on    : Sun Nov 22 00:02:25 2026",
            "# os release : 6.18.44",
            "# cpudesc : Intel(R) Xeon(R) CPU @ 2.30GHz",
            "# cmdline : /usr/bin/perf record -g -o a.data stress-ng --mmap 1 ",
            "# event : name = cpu-clock:ppp, , id = { 2596, 2597 }, type = 1, size = 128, \
             { sample_period, sample_freq } = 4000, sample_type = IP|TID, inherit = 1, freq = 1, x",
            "# event : name = page-faults, , id = { 3 }, { sample_period, sample_freq } = 7, x = 1",
            "# sample duration :   2077.100 ms",
            "# hostname : (null)",
        ] {
            comments.line(line.as_bytes());
        }
        let mut facts = Facts::default();
        comments.tell(b"page-faults:u", &mut facts);
        assert_eq!(facts.clock_ghz, Some(2.3));
        assert_eq!(facts.kernel.as_deref(), Some("6.18.44"));
        let command = "/usr/bin/perf record -g -o a.data stress-ng --mmap 1";
        assert_eq!(facts.command.as_deref(), Some(command));
        assert_eq!(facts.duration, Some(Nanoseconds(2_077_100_000)));
        assert_eq!(facts.rate, Some(Rate::Period(7)));
    }

    #[test]
    fn cores_of_several_kinds_have_no_common_clock() {
        let mut comments = Comments::default();
        comments.line(b"# cpudesc : 10th Gen Intel(R) Core(TM) L16G7 CPU @ 1.40GHz");
        comments.line(
            b"# event : name = cpu_atom/cycles/P, , id = { 1 }, { sample_period, sample_freq } = 7, x",
        );
        let mut facts = Facts::default();
        comments.tell(b"cycles", &mut facts);
        assert_eq!(facts.clock_ghz, None);
    }
}
