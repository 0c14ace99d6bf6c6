//! Times as clocks show them: `0m12.345s`, as a shell's `time` prints, `1:02.5` and `1:02:03`.

use super::number::{Evidence, Figure, Value, figure};

/// The seconds of such a time; none if a text is not one.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some((minutes, seconds)) = text.strip_suffix('s').and_then(|text| text.split_once('m')) {
        return Some(whole(minutes)? * 60.0 + part(seconds)?);
    }
    let mut parts = text.rsplit(':');
    let (last, minutes) = (part(parts.next()?)?, whole(parts.next()?)?);
    let hours = parts.next().map_or(Some(0.0), whole)?;
    parts.next().is_none().then_some(hours * 3600.0 + minutes * 60.0 + last)
}

fn whole(text: &str) -> Option<f64> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| text.parse().ok()).flatten()
}

/// Seconds below a minute, perhaps with decimals, before which no thousands can stand.
fn part(text: &str) -> Option<f64> {
    let Figure { value, rest: "", tells: Evidence { .. } } = figure(text)? else { return None };
    let (Value::Plain(value) | Value::Either { decimal: value, .. }) = value;
    (0.0..60.0).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn clocks_are_read() {
        for (text, expected) in [
            ("0m12.345s", 12.345),
            ("2m3,5s", 123.5),
            ("1:02.5", 62.5),
            ("1:02:03", 3723.0),
            ("0:59", 59.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", ":", "12", "12s", "m5s", "1:60", "1:2:3:4", "a:b", "-1:05"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
