//! Counting a program's units of work from what it writes.
//!
//! A run on more cores that takes as long as a run on fewer may have done more work. So profiles
//! are compared per unit of work. Units are counted in one of three ways: a successful run is one
//! unit; each line that an expression matches is one unit; or the numbers that the expression
//! captures are added up:
//!
//! ```text
//!     total number of events:              20834      (expression: `events: +(\d+)`)
//! GET /index.html 200                                 (expression: `^GET`)
//! ```

mod lines;

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use crate::{Observer, Stream, shell_status};
use regex::bytes::{Regex, RegexBuilder};

pub use kilocore_figures::decimal::{Decimal, DecimalError};
use lines::{LONGEST_LINE, Lines};

/// How many of the last lines an error shows, and how much of each.
const SHOWN_LINES: usize = 5;
const SHOWN_LENGTH: usize = 160;

/// What counts as a unit of work.
#[derive(Debug, Clone)]
pub struct Rule {
    expression: Option<Regex>,
    unit: String,
}

/// Why units of work cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The expression cannot be understood.
    #[error("the expression '{expression}': {what}")]
    Expression {
        /// The regular expression that was to find the count.
        expression: String,
        /// What is wrong with it.
        what: String,
    },
    /// The expression captures several things.
    #[error(
        "the expression '{expression}' has {groups} groups, but one number is counted; write the \
         others as (?:…)"
    )]
    Groups {
        /// The regular expression that was to find the count.
        expression: String,
        /// How many groups it has.
        groups: usize,
    },
    /// The captured text is not a number.
    #[error("in the program's line '{line}': {source}")]
    Number {
        /// The line that it matched.
        line: String,
        /// What is wrong with the number.
        source: DecimalError,
    },
    /// The program printed no line that matches.
    #[error("no line of the program's output matches '{expression}'; {}", shown(last))]
    NoMatch {
        /// The regular expression that was to find the count.
        expression: String,
        /// The last lines that the program wrote.
        last: Vec<String>,
    },
    /// All numbers are 0.
    #[error(
        "the program says that it did nothing: all numbers that '{expression}' finds are 0; {}",
        shown(last)
    )]
    Nothing {
        /// The regular expression that was to find the count.
        expression: String,
        /// The last lines that the program wrote.
        last: Vec<String>,
    },
    /// A run is a unit, but this one failed.
    #[error(
        "the program ended with status {0}, so its run is no unit of work; say how units are \
         counted from its output, or mend it"
    )]
    Failed(i32),
}

/// The last lines, for an error.
fn shown(last: &[String]) -> String {
    if last.is_empty() {
        return "it wrote nothing".to_owned();
    }
    let lines: Vec<String> = last.iter().map(|line| format!("\n  {line}")).collect();
    format!("its last lines were:{}", lines.concat())
}

/// The units of work that a program reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// How many units of work that were, exactly.
    pub count: Decimal,
    /// What a unit is.
    pub unit: String,
    /// How many lines were too long to be looked at as a whole.
    pub cut_lines: u64,
}

impl Rule {
    /// A run that ends successfully is a unit.
    #[must_use]
    pub fn runs() -> Self {
        Self { expression: None, unit: "run".to_owned() }
    }

    /// Counts by an expression, applied to each line of standard output and standard error: each
    /// line that it matches is a unit or, if it has a group, the sum of the numbers that the group
    /// captures is how many there are.
    ///
    /// # Errors
    /// If the expression cannot be understood, or has several groups.
    pub fn lines(expression: &str, unit: Option<&str>) -> Result<Self, WorkError> {
        let regex = RegexBuilder::new(expression).build().map_err(|error| {
            WorkError::Expression { expression: expression.to_owned(), what: error.to_string() }
        })?;
        let groups = regex.captures_len() - 1;
        if groups > 1 {
            return Err(WorkError::Groups { expression: expression.to_owned(), groups });
        }
        let named = if groups == 0 { "line" } else { "unit" };
        Ok(Self { expression: Some(regex), unit: unit.unwrap_or(named).to_owned() })
    }

    /// What a unit of work is called.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// By an expression ([`lines`](Self::lines)) if there is one, and by runs otherwise.
    ///
    /// # Errors
    /// As [`lines`](Self::lines).
    pub fn new(expression: Option<&str>, unit: Option<&str>) -> Result<Self, WorkError> {
        expression.map_or_else(|| Ok(Self::runs()), |expression| Self::lines(expression, unit))
    }

    /// Whether the program's output has to be observed.
    #[must_use]
    pub fn needs_output(&self) -> bool {
        self.expression.is_some()
    }
}

/// Counts units of work while a program runs: an observer of what it writes.
#[derive(Debug)]
pub struct Counter {
    rule: Rule,
    streams: [Mutex<Lines>; 2],
    seen: Mutex<WorkCount>,
}

/// What was seen so far.
#[derive(Debug, Default)]
struct WorkCount {
    count: Decimal,
    matches: u64,
    cut_lines: u64,
    error: Option<WorkError>,
    /// The last lines, or the beginnings of long ones.
    last: VecDeque<Vec<u8>>,
}

impl Counter {
    /// A counter that has seen nothing.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self { rule, streams: Default::default(), seen: Mutex::default() }
    }

    /// What was counted, once the program has ended.
    ///
    /// # Errors
    /// If nothing was found to count, or what was found is no number.
    pub fn finish(&self, status: ExitStatus) -> Result<Work, WorkError> {
        let unit = self.rule.unit.clone();
        let Some(expression) = &self.rule.expression else {
            return match status.success() {
                true => Ok(Work { count: Decimal::whole(1), unit, cut_lines: 0 }),
                false => Err(WorkError::Failed(shell_status(status))),
            };
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in &self.streams {
            let mut lines = stream.lock().unwrap_or_else(PoisonError::into_inner);
            lines.finish(|line, cut| seen.look(expression, line, cut));
        }
        let named = expression.as_str().to_owned();
        let last = seen.last.iter().map(|line| printable(line)).collect();
        match &seen.error {
            Some(error) => Err(error.clone()),
            None if seen.matches == 0 => Err(WorkError::NoMatch { expression: named, last }),
            None if seen.count.is_zero() => Err(WorkError::Nothing { expression: named, last }),
            None => Ok(Work { count: seen.count, unit, cut_lines: seen.cut_lines }),
        }
    }
}

impl Observer for Counter {
    fn saw(&self, stream: Stream, bytes: &[u8]) {
        let Some(expression) = &self.rule.expression else { return };
        let lines = match stream {
            Stream::Output => &self.streams[0],
            Stream::Error => &self.streams[1],
        };
        lines.lock().unwrap_or_else(PoisonError::into_inner).take(bytes, |line, cut| {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.look(expression, line, cut);
        });
    }
}

impl WorkCount {
    /// Looks at a line.
    fn look(&mut self, expression: &Regex, line: &[u8], cut: bool) {
        self.cut_lines += u64::from(cut);
        self.remember(line);
        if expression.captures_len() == 1 {
            if expression.is_match(line) {
                self.add(line, Ok(Decimal::whole(1)));
            }
            return;
        }
        for captures in expression.captures_iter(line) {
            // A number that was cut with its line would be another number.
            let Some(number) = captures.get(1) else { continue };
            let number = match cut && number.end() == LONGEST_LINE {
                true => Err(DecimalError::TooLong("a number in a line of more than 64 KiB".into())),
                false => String::from_utf8_lossy(number.as_bytes()).parse(),
            };
            self.add(line, number);
        }
    }

    fn remember(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let mut room = Vec::new();
        if self.last.len() == SHOWN_LINES {
            room = self.last.pop_front().unwrap_or_default();
            room.clear();
        }
        room.extend_from_slice(&line[..line.len().min(4 * SHOWN_LENGTH + 4)]);
        self.last.push_back(room);
    }

    /// Adds a number; the first error stays.
    fn add(&mut self, line: &[u8], number: Result<Decimal, DecimalError>) {
        self.matches += 1;
        match number.and_then(|number| self.count.plus(number)) {
            Ok(sum) => self.count = sum,
            Err(source) => {
                let line = printable(line);
                self.error.get_or_insert(WorkError::Number { line, source });
            }
        }
    }
}

/// The beginning of a line, without what would confuse a terminal.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN_LENGTH + 4)]);
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut shown: String = text.chars().take(SHOWN_LENGTH).map(visible).collect();
    if text.chars().nth(SHOWN_LENGTH).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn count(rule: Rule, output: &[u8]) -> Result<Work, WorkError> {
        let counter = Counter::new(rule);
        for piece in output.chunks(7) {
            counter.saw(Stream::Output, piece);
        }
        counter.finish(ExitStatus::from_raw(0))
    }

    fn counted(expression: &str, output: &str) -> Result<String, WorkError> {
        let rule = Rule::lines(expression, Some("jobs"))?;
        count(rule, output.as_bytes()).map(|work| format!("{} {}", work.count, work.unit))
    }

    #[test]
    fn units_are_lines_or_numbers_or_runs() {
        assert_eq!(counted("^done", "done 1\nnot done\r\ndone 2").unwrap(), "2 jobs");
        assert_eq!(
            counted(r"(\S+) jobs", "1,000 jobs, 2.5e1 jobs\n0.75 jobs\n").unwrap(),
            "1025.75 jobs"
        );
        assert_eq!(count(Rule::runs(), b"").unwrap().count, Decimal::whole(1));
        let failed = Counter::new(Rule::runs()).finish(ExitStatus::from_raw(3 << 8));
        assert_eq!(failed, Err(WorkError::Failed(3)));
    }

    #[test]
    fn both_streams_count_and_do_not_mix() {
        let counter = Counter::new(Rule::lines(r"^n=(\d+)$", None).unwrap());
        counter.saw(Stream::Output, b"n=1");
        counter.saw(Stream::Error, b"n=");
        counter.saw(Stream::Output, b"0\n");
        counter.saw(Stream::Error, b"5\n");
        let work = counter.finish(ExitStatus::from_raw(0)).unwrap();
        assert_eq!((work.count, work.unit.as_str()), (Decimal::whole(15), "unit"));
    }

    #[test]
    fn what_cannot_be_counted_is_told_with_the_lines() {
        let Err(WorkError::NoMatch { last, .. }) = counted("x", "1\n2\n3\n\n4\n5\n6\u{1b}\n")
        else {
            panic!("nothing matches")
        };
        assert_eq!(last, ["2", "3", "4", "5", "6\u{fffd}"]);
        assert!(matches!(counted("=(.*)", "=0\n=0.0"), Err(WorkError::Nothing { .. })));
        let Err(WorkError::Number { line, source }) = counted("=(.*)", "=1\na =1,5\n=7") else {
            panic!("that is no number")
        };
        assert_eq!((line.as_str(), source), ("a =1,5", DecimalError::Comma("1,5".into())));
    }

    #[test]
    fn expressions_that_do_not_say_what_to_count_are_refused() {
        assert!(matches!(Rule::lines("(", None), Err(WorkError::Expression { .. })));
        assert!(matches!(Rule::lines("(a)(b)", None), Err(WorkError::Groups { groups: 2, .. })));
    }

    #[test]
    fn a_number_at_the_end_of_what_is_kept_of_a_line_is_not_taken_for_whole() {
        let mut long = vec![b' '; LONGEST_LINE - 2];
        long.extend_from_slice(b"1234567\nn 5\n");
        let rule = Rule::lines(r"(\d+)", None).unwrap();
        let Err(WorkError::Number { source, .. }) = count(rule, &long) else { panic!("cut") };
        assert!(matches!(source, DecimalError::TooLong(_)));
        let work = count(Rule::lines(r"n (\d+)", None).unwrap(), &long).unwrap();
        assert_eq!((work.count, work.cut_lines), (Decimal::whole(5), 1));
    }
}
