//! Where the time of a run went: the code that took it, and the lines that moved.

use std::cmp::Reverse;
use std::collections::HashMap;

use kilocore_emulation_orders::{LineUse, Report, Sharing, UseKind};
use serde::Serialize;

use crate::chain::RunChain;
use crate::names::{Names, Symbols};

/// A function of the program, and what it took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionTime {
    /// Its name, or where it is.
    pub function: String,
    /// How long cores executed it, in ns of simulated time, all together.
    pub computed_ns: f64,
    /// How long they waited for lines that it needed, likewise.
    pub waited_ns: f64,
}

/// A cache line that moved between cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotLine {
    /// The variable on it for which it moved most, from the first byte on that anybody needed, or where it is.
    pub data: String,
    /// How often a core needed it that another one had.
    pub moves: u64,
    /// How long cores waited for that, in ns of simulated time, all together.
    pub waited_ns: f64,
    /// Whether threads need it for the same bytes. None if nobody is known to have needed it.
    pub sharing: Option<Sharing>,
    /// Who needed it, the most frequent first.
    pub by: Vec<HotUse>,
}

/// A function that needed bytes of a line that another core had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotUse {
    /// Its name, or where it is.
    pub function: String,
    /// What it does to the bytes.
    pub access: UseKind,
    /// The variable that they are of, or where they are.
    pub data: String,
    /// How often.
    pub moves: u64,
    /// How long its cores waited, in ns of simulated time, all together.
    pub waited_ns: f64,
}

/// Where the time of a run went.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Causes {
    /// The functions that took most, the most first.
    pub functions: Vec<FunctionTime>,
    /// The lines that took most, the most first.
    pub lines: Vec<HotLine>,
    /// The chain of waits that bounds the run.
    pub chain: RunChain,
}

/// Functions that are kept.
const MOST_FUNCTIONS: usize = 100;
/// Uses of a line that are kept.
const MOST_USES: usize = 8;

impl Causes {
    /// Those that a run reports, by the symbols of the program's files.
    pub(crate) fn of(report: &Report, symbols: &mut Symbols) -> Self {
        let mut names = Names::new(&report.files, symbols);
        let mut functions: HashMap<String, FunctionTime> = HashMap::new();
        for code in &report.code {
            let function = names.function(code.address);
            let of = functions.entry(function.clone()).or_insert(FunctionTime {
                function,
                computed_ns: 0.0,
                waited_ns: 0.0,
            });
            of.computed_ns += code.computed_ns;
            of.waited_ns += code.waited_ns;
        }
        let mut functions: Vec<FunctionTime> = functions.into_values().collect();
        let time = |of: &FunctionTime| of.computed_ns + of.waited_ns;
        functions
            .sort_by(|a, b| time(b).total_cmp(&time(a)).then_with(|| a.function.cmp(&b.function)));
        functions.truncate(MOST_FUNCTIONS);
        let line = |line: &kilocore_emulation_orders::MovedLine| HotLine {
            data: head(line.address, &line.uses, &mut names),
            moves: line.moves,
            waited_ns: line.waited_ns,
            sharing: line.sharing(),
            by: by(line.address, &line.uses, &mut names),
        };
        let lines = report.lines.iter().map(line).collect();
        Self { functions, lines, chain: RunChain::of(report, &mut names) }
    }
}

/// The variable for which a line moved most, from the lowest byte on that anybody needed: what lies before it may be
/// another variable.
fn head(line: u64, uses: &[LineUse], names: &mut Names<'_>) -> String {
    // By variable, or all that is of none: the lowest byte and the moves.
    let mut variables: Vec<(Option<String>, u32, u64)> = Vec::new();
    for one in uses {
        let variable = names.variable(line + u64::from(one.offset)).map(|(name, _)| name);
        match variables.iter_mut().find(|(known, ..)| *known == variable) {
            Some((_, lowest, moves)) => {
                *lowest = one.offset.min(*lowest);
                *moves += one.moves;
            }
            None => variables.push((variable, one.offset, one.moves)),
        }
    }
    let most = variables.iter().max_by_key(|(_, lowest, moves)| (*moves, Reverse(*lowest)));
    names.data(line + u64::from(most.map_or(0, |(_, lowest, _)| *lowest)))
}

/// Uses by the same function of the same bytes are one.
fn by(line: u64, uses: &[LineUse], names: &mut Names<'_>) -> Vec<HotUse> {
    let mut by: Vec<HotUse> = Vec::new();
    for one in uses.iter().filter(|one| one.moves > 0) {
        let function = names.function(one.code);
        let data = names.data(line + u64::from(one.offset));
        let known = by
            .iter_mut()
            .find(|it| it.function == function && it.data == data && it.access == one.access);
        match known {
            Some(known) => {
                known.moves += one.moves;
                known.waited_ns += one.waited_ns;
            }
            None => by.push(HotUse {
                function,
                access: one.access,
                data,
                moves: one.moves,
                waited_ns: one.waited_ns,
            }),
        }
    }
    by.sort_by(|a, b| b.moves.cmp(&a.moves).then_with(|| a.function.cmp(&b.function)));
    by.truncate(MOST_USES);
    by
}
