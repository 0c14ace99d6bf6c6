//! Cutting what a program writes into lines.

/// Of a longer line, only so much is kept.
pub(super) const LONGEST_LINE: usize = 1 << 16;

/// Puts the lines of one stream together from pieces.
///
/// A line ends with a line feed, a carriage return (which programs that show their progress
/// write), or both.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    after_return: bool,
    cut: bool,
}

impl Lines {
    /// Takes a piece, and hands out each line that ends in it; and whether it was cut.
    pub(super) fn take(&mut self, mut piece: &[u8], mut line: impl FnMut(&[u8], bool)) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.after_return) && piece[0] == b'\n' {
            piece = &piece[1..];
        }
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.keep(&piece[..end]);
            self.hand_out(&mut line);
            let both = piece[end..].starts_with(b"\r\n");
            self.after_return = piece[end..] == *b"\r";
            piece = &piece[end + 1 + usize::from(both)..];
        }
        self.keep(piece);
    }

    /// Hands out the last line, if it has no end.
    pub(super) fn finish(&mut self, mut line: impl FnMut(&[u8], bool)) {
        if !self.line.is_empty() {
            self.hand_out(&mut line);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.line.len();
        self.cut |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn hand_out(&mut self, line: &mut impl FnMut(&[u8], bool)) {
        line(&self.line, self.cut);
        self.line.clear();
        self.cut = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let (mut assembler, mut lines) = (Lines::default(), Vec::new());
        for piece in pieces {
            assembler.take(piece, |line, cut| lines.push((line.to_vec(), cut)));
        }
        assembler.finish(|line, cut| lines.push((line.to_vec(), cut)));
        lines
    }

    fn texts(pieces: &[&[u8]]) -> Vec<String> {
        lines(pieces).into_iter().map(|(line, _)| String::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        assert_eq!(texts(&[b"a\nb\r", b"\nc\rd\r\n\n", b"e"]), ["a", "b", "c", "d", "", "e"]);
        assert_eq!(texts(&[b"a\r", b"b\n"]), ["a", "b"]);
        assert_eq!(texts(&[b"a\r", b"\n", b"\n"]), ["a", ""]);
    }

    #[test]
    fn a_line_without_bounds_takes_no_more_room_than_one_with() {
        let long = vec![b'x'; LONGEST_LINE];
        assert_eq!(lines(&[&long, b"\n"]), [(long.clone(), false)]);
        assert_eq!(lines(&[&long, b"y", b"z\nw"]), [(long, true), (b"w".to_vec(), false)]);
    }

    proptest! {
        #[test]
        fn where_pieces_end_is_no_matter(text in "[ab\r\n]{0,40}", cuts in proptest::collection::vec(0usize..41, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                pieces.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            let whole = lines(&[text.as_bytes()]);
            prop_assert_eq!(lines(&pieces), whole.clone());
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            prop_assert_eq!(lines(&bytes), whole);
        }
    }
}
