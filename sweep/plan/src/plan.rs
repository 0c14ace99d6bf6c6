//! From the text of a plan to its runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use toml::{Spanned, Value as Toml};

use crate::condition::Condition;
use crate::document::{AfterTable, Document, RunTable, line_of};
use crate::figure::{Refused, figures_of};
use crate::limits::{MOST_BYTES, MOST_RUNS};
use crate::output::Output;
use crate::range::numbers;
use crate::run::own_output;
use crate::template::{Template, is_name, no_name};
use crate::with::With;
use crate::{AfterCommand, PlanError, PlannedFigure, PlannedRun, Value};

/// What is to be run, and where the answers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The folder of the answers, relative to the plan's own, if the plan names one.
    pub folder: Option<PathBuf>,
    /// The runs, in the plan's order. At least one.
    pub runs: Vec<PlannedRun>,
    /// The figures of all its runs together, in the plan's order.
    pub figures: Vec<PlannedFigure>,
    /// What is run when all runs are answered and all figures made, one after the other.
    pub after: Vec<AfterCommand>,
}

impl Plan {
    /// Reads a plan. `origin` is what messages call its file.
    ///
    /// # Errors
    /// [`PlanError`], if it is none, or would run nothing, too much, or two runs into one file.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PlanError> {
        if text.len() > MOST_BYTES {
            return Err(PlanError::Long { origin: origin.to_owned() });
        }
        let document: Document = toml::from_str(text).map_err(|error| PlanError::Syntax {
            origin: origin.to_owned(),
            line: error.span().map(|span| line_of(text, span.start)),
            message: error.message().trim_end().to_owned(),
        })?;
        let with = With::of(&document).map_err(|(at, problem)| PlanError::Meaning {
            origin: origin.to_owned(),
            line: line_of(text, at),
            problem,
        })?;
        let reading = Reading { text, origin, with };
        let mut runs = Vec::new();
        for table in &document.run {
            reading.add(table, &mut runs)?;
        }
        if runs.is_empty() {
            return Err(PlanError::Empty { origin: origin.to_owned() });
        }
        reading.refuse_shared_files(&runs)?;
        let figures = figures_of(&document.figure, &runs, text)
            .map_err(|Refused { at, problem }| reading.problem(at, problem))?;
        let folder = document.folder.map(|folder| reading.folder(&folder)).transpose()?;
        let after = document.after.iter().map(|table| reading.after(table));
        let after = after.collect::<Result<_, _>>()?;
        Ok(Self { folder, runs, figures, after })
    }
}

/// A plan that is read.
struct Reading<'a> {
    text: &'a str,
    origin: &'a str,
    with: With,
}

/// A variable's name and its values.
type Axis = (String, Vec<Value>);

impl Reading<'_> {
    fn problem(&self, at: usize, problem: impl Into<String>) -> PlanError {
        PlanError::Meaning {
            origin: self.origin.to_owned(),
            line: line_of(self.text, at),
            problem: problem.into(),
        }
    }

    fn folder(&self, folder: &Spanned<String>) -> Result<PathBuf, PlanError> {
        match folder.get_ref().is_empty() {
            false => Ok(PathBuf::from(folder.get_ref())),
            true => {
                Err(self.problem(folder.span().start, "'folder' is empty; write a folder's name"))
            }
        }
    }

    /// Adds the runs of a `[[run]]`.
    fn add(&self, table: &RunTable, runs: &mut Vec<PlannedRun>) -> Result<(), PlanError> {
        let at = table.command.span().start;
        let (over, each) = (self.over(table)?, self.each(table)?);
        let names: HashSet<&str> = over
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(each.iter().flatten().map(|(name, _)| name.as_str()))
            .collect();
        let is_known = |name: &str| names.contains(name);

        let (words, output) = (self.run_words(&table.command)?, self.output(table)?);
        let in_use: Vec<&Template> = words.iter().chain(output.templates()).collect();
        if let Some(unknown) = in_use.iter().find_map(|template| template.unknown(is_known)) {
            let problem = format!(
                "'{{{unknown}}}' has no values; write 'over.{unknown} = [\"…\"]', or mend the name"
            );
            return Err(self.problem(at, problem));
        }
        let conditions = |tables: &[Spanned<BTreeMap<String, Toml>>]| {
            let condition = |table: &Spanned<BTreeMap<String, Toml>>| {
                let start = table.span().start;
                let read = Condition::of(table.get_ref(), is_known);
                read.map(|it| (start, it)).map_err(|problem| self.problem(start, problem))
            };
            tables.iter().map(condition).collect::<Result<Vec<_>, _>>()
        };
        let (skip, only) = (conditions(&table.skip)?, conditions(&table.only)?);
        // Of what stands in the text, so that the message is the same each time.
        let used: HashSet<&str> = in_use.iter().flat_map(|template| template.names()).collect();
        let first_unused = over.iter().map(|(name, _)| name);
        let mut first_unused = first_unused.chain(each.iter().flatten().map(|(name, _)| name));
        if let Some(unused) = first_unused.find(|name| !used.contains(name.as_str())) {
            let problem = format!(
                "'{unused}' has values, but no '{{{unused}}}' is in the command; write it there, or leave the values out"
            );
            return Err(self.problem(at, problem));
        }

        let held = |conditions: &[(usize, Condition)], values: &[(String, Value)]| {
            let value = |name: &str| values.iter().find(|(own, _)| own == name).map(|(_, it)| it);
            for (at, condition) in conditions {
                if condition.holds(&value).map_err(|problem| self.problem(*at, problem))? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let together = if each.is_empty() { vec![Vec::new()] } else { each };
        let axes = over.iter().map(|(_, values)| values.len());
        let most = axes.fold(together.len(), |most, values| most.saturating_mul(values));
        if most > MOST_RUNS - runs.len() {
            let problem = format!(
                "with these {most} combinations, the plan has more than {MOST_RUNS}; write fewer values, or several plans"
            );
            return Err(self.problem(at, problem));
        }
        for values in combinations(&together, &over) {
            if held(&skip, &values)? || (!only.is_empty() && !held(&only, &values)?) {
                continue;
            }
            let value = |name: &str| values.iter().find(|(own, _)| own == name).map(|(_, it)| it);
            let filled = words.iter().map(|word| word.filled(value, str::to_owned)).collect();
            let answer = output
                .filled(&values, runs.len() + 1)
                .map_err(|problem| self.problem(at, problem))?;
            runs.push(PlannedRun { line: line_of(self.text, at), values, words: filled, answer });
        }
        Ok(())
    }

    /// A command that is run when all runs are answered. It has no values.
    fn after(&self, table: &AfterTable) -> Result<AfterCommand, PlanError> {
        let at = table.command.span().start;
        let words = self.words(&table.command)?;
        let words: Vec<Template> = words.iter().map(|word| self.with.put_into(word)).collect();
        if let Some(name) = words.iter().find_map(|word| word.unknown(|_| false)) {
            let problem = format!(
                "'{{{name}}}' has no value after all runs; write 'with.{name} = \"…\"', or make the command a '[[run]]'"
            );
            return Err(self.problem(at, problem));
        }
        let words = words.iter().map(|word| word.filled(|_| None, str::to_owned)).collect();
        Ok(AfterCommand { line: line_of(self.text, at), words })
    }

    /// The words of a command of Kilocore's.
    fn words(&self, command: &Spanned<String>) -> Result<Vec<String>, PlanError> {
        let at = command.span().start;
        let Some(words) = shlex::split(command.get_ref()) else {
            return Err(self.problem(at, "a quote in the command has no end; write it"));
        };
        if !words.first().is_some_and(|program| is_own(program)) {
            let problem = "the command is none of Kilocore's; begin with the program's name, as in \
                           \"kilocore forecast db.json\"";
            return Err(self.problem(at, problem));
        }
        Ok(words)
    }

    /// The words of a run's command, before values are put in.
    fn run_words(&self, command: &Spanned<String>) -> Result<Vec<Template>, PlanError> {
        let at = command.span().start;
        let words = self.words(command)?;
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(option) = own_output(&texts) {
            let problem = format!(
                "the command has {option}; write 'output = \"…\"' instead, so that each run has a file of its own"
            );
            return Err(self.problem(at, problem));
        }
        Ok(texts.into_iter().map(|text| self.with.put_into(text)).collect())
    }

    fn output(&self, table: &RunTable) -> Result<Output, PlanError> {
        let at = table.output.as_ref().map_or(table.command.span().start, |it| it.span().start);
        Output::of(table.output.as_ref().map(Spanned::get_ref), &self.with)
            .map_err(|problem| self.problem(at, problem))
    }

    /// The variables under `over`, in the order of the text.
    fn over(&self, table: &RunTable) -> Result<Vec<Axis>, PlanError> {
        let mut over: Vec<_> = table.over.iter().collect();
        over.sort_by_key(|(_, values)| values.span().start);
        let axis = |(name, values): (&String, &Spanned<Toml>)| {
            let at = values.span().start;
            self.check_name(name, at)?;
            let values = axis_values(values.get_ref()).map_err(|problem| {
                self.problem(at, format!("the values of '{name}': {problem}"))
            })?;
            Ok((name.clone(), values))
        };
        over.into_iter().map(axis).collect()
    }

    /// The values that belong together.
    fn each(&self, table: &RunTable) -> Result<Vec<Vec<(String, Value)>>, PlanError> {
        let mut all: Vec<Vec<(String, Value)>> = Vec::new();
        for one in &table.each {
            let at = one.span().start;
            let mut values = Vec::new();
            for (name, toml) in one.get_ref() {
                self.check_name(name, at)?;
                if table.over.contains_key(name) {
                    let problem =
                        format!("'{name}' stands under 'over' and under 'each'; leave one out");
                    return Err(self.problem(at, problem));
                }
                let value = Value::of(toml).ok_or_else(|| {
                    let problem = format!(
                        "'{name}' is no value; under 'each' write one number or text for each name"
                    );
                    self.problem(at, problem)
                })?;
                values.push((name.clone(), value));
            }
            let names = |values: &[(String, Value)]| -> Vec<String> {
                values.iter().map(|(name, _)| name.clone()).collect()
            };
            if all.first().is_some_and(|first| names(first) != names(&values)) || values.is_empty()
            {
                let problem = "not all tables under 'each' have the same names; give each a value in each table";
                return Err(self.problem(at, problem));
            }
            all.push(values);
        }
        Ok(all)
    }

    fn check_name(&self, name: &str, at: usize) -> Result<(), PlanError> {
        if self.with.has(name) {
            let problem = format!("'{name}' has a value under 'with' already; leave one out");
            return Err(self.problem(at, problem));
        }
        match is_name(name) {
            true => Ok(()),
            false => Err(self.problem(at, no_name(name))),
        }
    }

    /// No run may write into the file of another, nor take it for a folder.
    fn refuse_shared_files(&self, runs: &[PlannedRun]) -> Result<(), PlanError> {
        let mut owners: HashMap<&Path, &PlannedRun> = HashMap::new();
        let shared = |file: &Path, one: &PlannedRun, other: &PlannedRun| PlanError::Meaning {
            origin: self.origin.to_owned(),
            line: one.line,
            problem: format!(
                "'{}' is the output of two runs, {} (line {}) and {} (line {}); write the names of what differs into \
                 'output', as in \"{{name}}.json\"",
                file.display(),
                described(other),
                other.line,
                described(one),
                one.line,
            ),
        };
        for run in runs {
            for file in run.answer.files() {
                if let Some(other) = owners.insert(file, run) {
                    return Err(shared(file, run, other));
                }
            }
        }
        for run in runs {
            let above = run.answer.files().iter().flat_map(|file| file.ancestors().skip(1));
            for folder in above {
                if let Some(other) = owners.get(folder) {
                    return Err(shared(folder, run, other));
                }
            }
        }
        Ok(())
    }
}

fn described(run: &PlannedRun) -> String {
    match run.values.is_empty() {
        true => "one without values".to_owned(),
        false => run.named(),
    }
}

/// Whether a program is one of Kilocore's, by its name.
fn is_own(program: &str) -> bool {
    program == "kilocore" || program.starts_with("kilocore-")
}

/// The values of a list, of ranges, or of one number.
fn axis_values(toml: &Toml) -> Result<Vec<Value>, String> {
    let values = match toml {
        Toml::Array(list) => {
            let one = |value: &Toml| {
                Value::of(value).ok_or_else(|| format!("{value} is no number and no text"))
            };
            list.iter().map(one).collect::<Result<Vec<_>, _>>()?
        }
        Toml::String(ranges) => {
            let numbers = numbers(ranges).map_err(|error| error.to_string())?;
            numbers.into_iter().map(Value::from).collect()
        }
        one => vec![
            Value::of(one)
                .ok_or("write a list, as in [\"a\", \"b\"], or ranges, as in \"1-9:2\"")?,
        ],
    };
    if values.is_empty() {
        return Err("the list is empty; write at least one, or leave the name out".to_owned());
    }
    let mut seen = HashSet::new();
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(twice) => Err(format!("'{twice}' stands there twice; leave one out")),
        None => Ok(values),
    }
}

/// All combinations: those that belong together outermost, then each axis in turn, the last one changing first.
fn combinations<'a>(
    together: &'a [Vec<(String, Value)>],
    over: &'a [Axis],
) -> impl Iterator<Item = Vec<(String, Value)>> + 'a {
    let inner: usize = over.iter().map(|(_, values)| values.len()).product();
    together.iter().flat_map(move |fixed| {
        (0..inner).map(move |index| {
            let mut left = index;
            let mut chosen: Vec<(String, Value)> = over
                .iter()
                .rev()
                .map(|(name, values)| {
                    let value = values[left % values.len()].clone();
                    left /= values.len();
                    (name.clone(), value)
                })
                .collect();
            chosen.reverse();
            fixed.iter().cloned().chain(chosen).collect()
        })
    })
}
