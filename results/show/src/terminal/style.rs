//! How text for a terminal may look.

/// What a terminal, or whatever reads instead of one, can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns that a line may take, but for a command that is to be copied.
    pub width: u16,
    /// Whether characters beyond ASCII are understood.
    pub unicode: bool,
    /// Whether the verdict may be set off by an escape sequence for bold letters.
    pub color: bool,
}

impl Style {
    /// Of that width, with all characters and without escape sequences.
    #[must_use]
    pub fn of_width(width: u16) -> Self {
        Self { width, unicode: true, color: false }
    }

    /// The text in characters that can be shown. None of them is wider than what it stands for, so
    /// that columns stay where they are.
    pub fn shown(self, text: String) -> String {
        if self.unicode || text.is_ascii() { text } else { ascii(&text) }
    }

    /// The text in bold letters.
    pub fn strong(self, text: &str) -> String {
        if self.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The width of a line, everything else as [`Style::of_width`] has it.
impl From<u16> for Style {
    fn from(width: u16) -> Self {
        Self::of_width(width)
    }
}

/// The text in ASCII, so that columns stay where they are.
#[must_use]
pub fn ascii(text: &str) -> String {
    let pairs = text.replace("± ", "+-").replace("… ", "..");
    pairs.chars().map(|c| if c.is_ascii() { c } else { instead(c) }).collect()
}

/// What stands for a character where there is only ASCII.
fn instead(c: char) -> char {
    match c {
        '▁' => '1',
        '▂' => '2',
        '▃' => '3',
        '▄' => '4',
        '▅' => '5',
        '▆' => '6',
        '▇' => '7',
        '█' => '8',
        '○' => 'o',
        '●' => '*',
        '×' => 'x',
        'µ' => 'u',
        '–' | '−' | '⁻' | '─' => '-',
        '│' => '|',
        '…' | '±' => '~',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        'λ' => 'l',
        'σ' => 's',
        'κ' => 'k',
        '\u{a0}' => ' ',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::Style;

    #[test]
    fn plain_characters_keep_the_columns() {
        let plain = Style { unicode: false, ..Style::of_width(80) };
        let text = "cna ● ▁▂▃▄▅▆▇█ 4.72 × ±  12.3 µs ± 1.2 … and 3 more, größe…";
        let shown = plain.shown(text.to_owned());
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(shown.chars().count(), text.chars().count());
        assert_eq!(shown, "cna * 12345678 4.72 x +- 12.3 us +-1.2 ..and 3 more, gr??e~");
        assert_eq!(Style::of_width(80).shown(text.to_owned()), text);
    }

    #[test]
    fn letters_are_bold_only_where_that_is_wanted() {
        assert_eq!(Style::of_width(80).strong("so"), "so");
        let bold = Style { color: true, ..Style::of_width(80) };
        assert_eq!(bold.strong("so"), "\u{1b}[1mso\u{1b}[0m");
    }
}
