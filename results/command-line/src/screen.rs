//! What can be shown where messages and tables go.

use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::os::fd::AsFd;

use kilocore_show::terminal::ascii;

/// The narrowest that tables are made for; on a narrower screen they run over.
const NARROW: u16 = 40;

/// Wider lines are hard to read.
const WIDE: u16 = 100;

/// The width that tables may take there: that of the terminal, or what `COLUMNS` says.
#[must_use]
pub fn width(place: impl AsFd) -> u16 {
    let told = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = terminal_size::terminal_size_of(place);
    width_of(told, terminal.map(|(terminal_size::Width(columns), _)| columns))
}

fn width_of(told: Option<u16>, terminal: Option<u16>) -> u16 {
    told.filter(|columns| *columns > 0).or(terminal).unwrap_or(WIDE).clamp(NARROW, WIDE)
}

/// Whether the terminal can do no more than print one character after the other.
#[must_use]
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether only plain characters can be shown: the terminal is dumb, or the language's characters
/// are said to be others than those of Unicode. Where nothing is said, as in many containers, they
/// are taken to be of Unicode, as nearly all terminals' are.
#[must_use]
pub fn is_plain() -> bool {
    let first = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env::var_os);
    is_dumb()
        || first.into_iter().find(|value| !value.is_empty()).is_some_and(|set| !is_unicode(&set))
}

fn is_unicode(locale: &OsStr) -> bool {
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The text in characters that can be shown.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !is_plain() { text.into() } else { ascii(text).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_as_wide_as_the_screen_within_reason() {
        assert_eq!(width_of(None, None), WIDE);
        assert_eq!(width_of(None, Some(60)), 60);
        assert_eq!(width_of(Some(72), Some(60)), 72);
        assert_eq!(width_of(Some(0), Some(300)), WIDE);
        assert_eq!(width_of(Some(3), None), NARROW);
    }

    #[test]
    fn languages_say_whether_they_have_unicode() {
        assert!(is_unicode(OsStr::new("en_GB.UTF-8")) && is_unicode(OsStr::new("C.utf8")));
        assert!(!is_unicode(OsStr::new("C")) && !is_unicode(OsStr::new("de_DE.ISO-8859-1")));
    }
}
