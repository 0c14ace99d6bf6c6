//! Text from elsewhere, made safe to show.

/// The text without characters that move the cursor, change colours or reverse the order of what
/// follows: each becomes `�`. Function names and paths come from the program under study, which
/// may hold anything; escaping for HTML alone would let these through, and XML forbids some.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if misleads(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The text without characters that move the cursor, change colours or reverse the order of what
/// follows, each of which becomes `�`. Line ends stay.
#[must_use]
pub fn printable_document(text: &str) -> String {
    let shown = |c| if c != '\n' && misleads(c) { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(shown).collect()
}

/// Whether a character is a control, an explicit change of writing direction or no character.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// At most `width` characters of the text, with `…` in place of its middle: the end of a call
/// site (its line) says as much as the beginning (its function).
pub fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let tail = kept / 3;
    let head: String = text.chars().take(kept - tail).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{head}…{tail}")
}

/// Texts of at most `width` characters each, of which those that differ still do: where the usual
/// way to shorten would make two alike, the beginning that they share goes.
pub fn shortened_apart(texts: &[&str], width: usize) -> Vec<String> {
    let short: Vec<String> = texts.iter().map(|text| shortened(text, width)).collect();
    let clashes = |index: usize| {
        (0..texts.len()).any(|other| short[other] == short[index] && texts[other] != texts[index])
    };
    let apart = |index: usize| {
        if !clashes(index) {
            return short[index].clone();
        }
        let rivals = (0..texts.len()).filter(|&other| short[other] == short[index]);
        let shared = rivals
            .map(|other| shared_beginning(texts[index], texts[other]))
            .filter(|&n| n < texts[index].chars().count());
        let from = shared.max().unwrap_or(0);
        let rest: String = texts[index].chars().skip(from).take(width.saturating_sub(1)).collect();
        format!("…{rest}")
    };
    (0..texts.len()).map(apart).collect()
}

/// How many characters two texts begin with alike.
fn shared_beginning(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::{printable, shortened, shortened_apart};

    #[test]
    fn texts_that_differ_in_their_middle_stay_apart() {
        let names = [
            "a_long_beginning::get::and_a_long_end(lock.c:1)",
            "a_long_beginning::put::and_a_long_end(lock.c:1)",
            "short",
            "short",
        ];
        let shown = shortened_apart(&names, 20);
        assert_ne!(shown[0], shown[1]);
        assert!(shown.iter().all(|text| text.chars().count() <= 20), "{shown:?}");
        assert_eq!(shown[2..], ["short", "short"]);
    }

    #[test]
    fn terminal_and_direction_controls_are_replaced() {
        assert_eq!(printable("a\u{1b}[2Jb\u{0}\u{202e}c\n"), "a�[2Jb��c�");
        assert_eq!(printable("größe<T>"), "größe<T>");
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        assert_eq!(shortened("short", 9), "short");
        assert_eq!(shortened("function_with_a_name (file.c:12)", 16), "function_w…c:12)");
        assert_eq!(shortened("anything", 1), "…");
    }
}
