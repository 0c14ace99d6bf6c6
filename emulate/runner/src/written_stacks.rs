//! What the stacks say that were written of a study: where the time went by function, on the most cores.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_show::{Mark, Provenance, Table, number};
use serde::Serialize;

use crate::stacks::{BEGINNINGS, DOES, ON};
use crate::words::number_of;

/// Where the threads' time went on one number of cores, by function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenStacks {
    schema: &'static str,
    provenance: Provenance,
    /// The number of cores, and the locks if they are not the program's own.
    on: String,
    /// The others in the file.
    left_out: Vec<String>,
    /// The most time first.
    functions: Vec<StackFunction>,
}

/// A function, and what threads did in it, in ns of all of them together.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct StackFunction {
    function: String,
    computed_ns: f64,
    waited_ns: f64,
    spun_ns: f64,
    system_ns: f64,
    /// All that, with what the functions did that it called.
    with_callees_ns: f64,
}

/// A line that is no stack of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {0}: no stack as `kilocore emulate --stacks` writes it; remove the line, or have the file written anew"
)]
pub struct NoStack(usize);

/// What threads did outside of all functions whose names are known.
const NOWHERE: &str = "(no function is known)";

/// Functions that are shown. The document has all.
const SHOWN: usize = 20;

/// A line in its parts.
struct Stack<'a> {
    on: &'a str,
    cores: u32,
    functions: Vec<&'a str>,
    /// Which of [`DOES`] it is.
    kind: usize,
    ns: f64,
}

impl<'a> Stack<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (stack, ns) = line.trim_end().rsplit_once(' ')?;
        let mut frames = stack.split(';');
        let _ = frames.next().filter(|first| BEGINNINGS.contains(first))?;
        let on = frames.next()?;
        let cores = on.strip_prefix(ON)?.split(' ').next()?.parse().ok()?;
        let last = frames.next_back()?;
        let kind = DOES.iter().position(|does| *does == last)?;
        let ns = ns.parse().ok().filter(|ns: &f64| ns.is_finite() && *ns >= 0.0)?;
        Some(Self { on, cores, functions: frames.collect(), kind, ns })
    }
}

impl WrittenStacks {
    /// Returns whether a text begins as these stacks do.
    #[must_use]
    pub fn is_likely(text: &str) -> bool {
        text.lines().next().is_some_and(|line| Stack::of(line).is_some())
    }

    /// Reads those on the most cores, with the program's own locks if they are there.
    ///
    /// # Errors
    /// [`NoStack`].
    pub fn read(text: &str) -> Result<Self, NoStack> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let stacks = lines.map(|(number, line)| Stack::of(line).ok_or(NoStack(number)));
        let stacks = stacks.collect::<Result<Vec<Stack<'_>>, NoStack>>()?;
        let all: BTreeSet<(u32, &str)> = stacks.iter().map(|it| (it.cores, it.on)).collect();
        let most = all.last().map(|(cores, _)| *cores);
        // What is said of locks stands behind the number, so the program's own come first.
        let shown =
            all.iter().find(|(cores, _)| Some(*cores) == most).copied().ok_or(NoStack(1))?;
        let mut times: BTreeMap<&str, ([f64; DOES.len()], f64)> = BTreeMap::new();
        for stack in stacks.iter().filter(|stack| stack.on == shown.1) {
            let own = stack.functions.last().copied().unwrap_or(NOWHERE);
            times.entry(own).or_default().0[stack.kind] += stack.ns;
            let callers: BTreeSet<&str> = stack.functions.iter().copied().chain([own]).collect();
            callers.into_iter().for_each(|one| times.entry(one).or_default().1 += stack.ns);
        }
        let function = |(name, (did, with_callees_ns)): (&str, ([f64; DOES.len()], f64))| {
            let [computed_ns, waited_ns, spun_ns, system_ns] = did;
            let function = name.to_owned();
            StackFunction { function, computed_ns, waited_ns, spun_ns, system_ns, with_callees_ns }
        };
        let mut functions: Vec<StackFunction> = times.into_iter().map(function).collect();
        functions.sort_by(|a, b| b.own_ns().total_cmp(&a.own_ns()));
        let others = all.iter().filter(|one| **one != shown);
        Ok(Self {
            schema: "kilocore-emulated-stacks/1",
            provenance: Provenance::Emulated,
            on: said(shown),
            left_out: others.map(|one| said(*one)).collect(),
            functions,
        })
    }

    /// The time by function.
    #[must_use]
    pub fn table(&self) -> Table {
        let all: f64 = self.functions.iter().map(StackFunction::own_ns).sum();
        let share = |ns: f64| number::percent(if all > 0.0 { ns / all } else { 0.0 });
        let row = |it: &StackFunction| {
            let shares =
                [it.computed_ns, it.waited_ns, it.spun_ns, it.system_ns, it.with_callees_ns];
            let own = number::nanoseconds(it.own_ns());
            (it.function.clone(), [own].into_iter().chain(shares.map(share)).collect())
        };
        let mut below = vec![format!(
            "{} in all, of all threads together; all but own are shares of it",
            number::nanoseconds(all)
        )];
        if !self.left_out.is_empty() {
            below.push(format!("What it has {} is not shown.", self.left_out.join(", ")));
        }
        let more = self.functions.len().saturating_sub(SHOWN);
        below.extend((more > 0).then(|| format!("and {more} more; --json has them")));
        Table {
            name: "functions".to_owned(),
            title: format!("Where the simulated time of its threads goes {}", self.on),
            mark: Some(Mark::new(self.provenance, "")),
            front: "function",
            headings: ["own", "computes", "waits for lines", "spins", "in kernel", "with callees"]
                .into(),
            rows: self.functions.iter().take(SHOWN).map(row).collect(),
            below,
        }
    }
}

/// A number of cores and what a stack says of it, in words.
fn said((cores, on): (u32, &str)) -> String {
    let locks = on.find(' ').map_or("", |at| &on[at..]);
    format!("on {}{locks}", number_of(cores, "core"))
}

impl StackFunction {
    fn own_ns(&self) -> f64 {
        self.computed_ns + self.waited_ns + self.spun_ns + self.system_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "main thread;cores=1;main;work;[computing] 7\n\
        main thread;cores=8 under mcs;main;[spins] 900\n\
        main thread;cores=8;main;[computing] 100\n\
        main thread;cores=8;[in kernel] 10\n\
        other threads;cores=8;work;work;[computing] 600\n\
        other threads;cores=8;work;operator new(int);[waits for lines] 290\n";

    #[test]
    fn functions_are_those_on_the_most_cores_with_the_programs_own_locks() {
        assert!(WrittenStacks::is_likely(WRITTEN));
        let read = WrittenStacks::read(WRITTEN).expect("stacks");
        assert_eq!(read.on, "on 8 cores");
        assert_eq!(read.left_out, ["on 1 core", "on 8 cores under mcs"]);
        let figures: Vec<(&str, f64, f64)> = read
            .functions
            .iter()
            .map(|it| (&*it.function, it.own_ns(), it.with_callees_ns))
            .collect();
        let expected = [
            ("work", 600.0, 890.0),
            ("operator new(int)", 290.0, 290.0),
            ("main", 100.0, 100.0),
            (NOWHERE, 10.0, 10.0),
        ];
        assert_eq!(figures, expected);
        let text = read.table().plain(100_u16);
        assert!(text.contains("(emulated)") && text.contains("1.00 µs in all"), "{text}");
        assert!(text.contains("on 1 core, on 8 cores under mcs"), "{text}");
    }

    #[test]
    fn other_stacks_are_none_of_these() {
        for text in
            ["", "main;work 12\n", "main thread;main;work 12\n", "main thread;cores=x;[spins] 1"]
        {
            assert!(!WrittenStacks::is_likely(text), "{text}");
        }
        assert_eq!(WrittenStacks::read(&format!("{WRITTEN}main;work 1\n")), Err(NoStack(7)));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_shown_or_refused(
            lines in proptest::collection::vec("(main thread|other threads|x);cores=[0-9]{1,11}( under [a-z]{0,3})?;[a-z;]{0,9}\\[(computing|spins|in kernel|waits for lines|y)\\] [0-9.e-]{1,12}", 0..6),
        ) {
            if let Ok(stacks) = WrittenStacks::read(&lines.join("\n")) {
                assert!(!stacks.table().plain(80_u16).is_empty());
            }
        }
    }
}
