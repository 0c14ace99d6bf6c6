//! Which host was measured, and when. The source of a figure says so.

use crate::MeasureError;
use kilocore_machine::Description;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a built-in machine of the same maker, from which to take what cannot be measured.
pub(crate) fn relative(cpuinfo: &str) -> Result<Description, MeasureError> {
    let name = if cpuinfo.contains("AuthenticAMD") { "epyc-7742-2s" } else { "xeon-8375c-2s" };
    Ok(kilocore_machine::find(name)?)
}

/// The name of this host.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "this host".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the date in UTC, as year-month-day.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(since.as_secs() / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Returns the date of a day. Days are counted from the first of January 1970.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// Returns the value of a field of `/proc/cpuinfo`, whose lines look like these:
///
/// ```text
/// model name    : AMD EPYC 7742 64-Core Processor
/// cpu MHz        : 2250.000
/// ```
pub(crate) fn cpuinfo_field<'t>(cpuinfo: &'t str, name: &str) -> Option<&'t str> {
    cpuinfo.lines().find_map(|line| {
        let (field, value) = line.split_once(':')?;
        (field.trim() == name).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::{civil, cpuinfo_field};

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }

    #[test]
    fn fields_of_cpuinfo_are_found_by_their_whole_name() {
        let text = "processor\t: 0\nmodel\t\t: 207\nmodel name\t: Some CPU @ 2:3\nempty\t:\n";
        assert_eq!(cpuinfo_field(text, "model name"), Some("Some CPU @ 2:3"));
        assert_eq!(cpuinfo_field(text, "empty"), None);
        assert_eq!(cpuinfo_field(text, "name"), None);
    }
}
