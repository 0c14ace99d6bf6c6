//! Checks whether a TOML table describes a machine: first each field by itself, then the fields
//! against each other.

use crate::names::nearest;
use crate::schema::{FIELDS, Field, Kind, MOST_HOPS, MOST_THREADS, RISING, SECTIONS};
use toml::{Table, Value};

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The path of the field or section, such as `latency.same_node_ns`.
    pub(crate) key: String,
    /// What is wrong with it. This ends a sentence that begins with the path: "is missing".
    pub(crate) problem: String,
    /// What to write instead, such as "did you mean `name`?".
    pub(crate) mend: String,
}

impl Problem {
    fn new(key: impl Into<String>, problem: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), mend: mend.into() }
    }
}

/// Checks everything. The error is the first problem found.
pub(crate) fn check(table: &Table) -> Result<(), Problem> {
    unknown_keys(table)?;
    for field in FIELDS {
        check_field(table, field)?;
    }
    check_name(table)?;
    check_size(table)?;
    check_smt(table)?;
    check_hops(table)?;
    check_caches(table)?;
    for (keys, why) in RISING {
        check_rising(table, keys, why)?;
    }
    Ok(())
}

fn unknown_keys(table: &Table) -> Result<(), Problem> {
    let in_section = |section: &str| -> Vec<&'static str> {
        let mut names: Vec<_> = FIELDS
            .iter()
            .map(Field::section_and_name)
            .filter(|(of, _)| *of == section)
            .map(|(_, name)| name)
            .collect();
        if section.is_empty() {
            names.extend(SECTIONS);
        }
        names
    };
    reject_unknown(table, "", &in_section(""))?;
    for section in SECTIONS {
        match table.get(section) {
            None => {
                let mend =
                    format!("add a section [{section}] with {}", in_section(section).join(", "));
                return Err(Problem::new(section, "is missing", mend));
            }
            Some(Value::Table(inner)) => reject_unknown(inner, section, &in_section(section))?,
            Some(other) => {
                let problem = format!("is {}, not a section", kind_of(other));
                return Err(Problem::new(
                    section,
                    problem,
                    format!("write [{section}] on a line of its own, and its fields below"),
                ));
            }
        }
    }
    Ok(())
}

fn reject_unknown(table: &Table, section: &str, known: &[&str]) -> Result<(), Problem> {
    let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let path = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
    let mend = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("remove it; known here are {}", known.join(", ")),
    };
    Err(Problem::new(path, "is unknown", mend))
}

/// Returns the value at a path: `name` at the top of the file, or `section.name`.
fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((section, name)) => table.get(section)?.as_table()?.get(name),
    }
}

/// Returns the number at a path that holds a figure or a count. It is always there once the fields
/// have been checked one by one.
fn number(table: &Table, path: &str) -> Option<f64> {
    let value = at(table, path)?;
    as_number(value.as_table().and_then(|figure| figure.get("value")).unwrap_or(value))
}

#[expect(clippy::cast_precision_loss, reason = "bounds are far below 2^53")]
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

fn check_field(table: &Table, field: &Field) -> Result<(), Problem> {
    let value = at(table, field.path);
    let Some(value) = value else {
        return match field.kind {
            Kind::Hops | Kind::Optional { .. } => Ok(()),
            _ => Err(Problem::new(field.path, "is missing", example(field))),
        };
    };
    match field.kind {
        Kind::Text => match value.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(()),
            Some(_) => Err(Problem::new(field.path, "is empty", example(field))),
            None => Err(Problem::new(field.path, format!("is {}", kind_of(value)), example(field))),
        },
        Kind::Count { low, high } => match value.as_integer() {
            Some(count) if (i64::from(low)..=i64::from(high)).contains(&count) => Ok(()),
            Some(count) => Err(Problem::new(field.path, format!("is {count}"), example(field))),
            None => Err(Problem::new(field.path, format!("is {}", kind_of(value)), example(field))),
        },
        Kind::Hops => Ok(()),
        Kind::Figure { low, high } | Kind::Optional { low, high } => {
            check_figure(value, field, low, high)
        }
    }
}

/// Returns what to write for a field. Messages end with it.
fn example(field: &Field) -> String {
    let (_, name) = field.section_and_name();
    let meaning = field.meaning;
    match field.kind {
        Kind::Text => format!("write {name} = \"…\" ({meaning})"),
        Kind::Count { low, high } if low == high => format!("write {name} = {low} ({meaning})"),
        Kind::Count { low, high } => {
            format!("write {name} = a whole number from {low} to {high} ({meaning})")
        }
        Kind::Hops => {
            format!("write {name} = a list with a list of whole numbers for each node ({meaning})")
        }
        Kind::Figure { low, high } | Kind::Optional { low, high } => format!(
            "write {name}.value = a number from {low} to {high} ({meaning}), and {name}.source = \"…\" or {name}.estimated = \"…\""
        ),
    }
}

/// Checks a figure, which looks like this:
///
/// ```toml
/// clock_ghz.value = 3.4
/// clock_ghz.source = "vendor's data sheet"
/// ```
///
/// An estimate has `clock_ghz.estimated` instead of `clock_ghz.source`.
fn check_figure(value: &Value, field: &Field, low: f64, high: f64) -> Result<(), Problem> {
    let path = field.path;
    let Value::Table(figure) = value else {
        return Err(Problem::new(
            path,
            format!("is {} without a source", kind_of(value)),
            example(field),
        ));
    };
    reject_unknown(figure, path, &["value", "source", "estimated"])?;
    let key = format!("{path}.value");
    let number =
        figure.get("value").ok_or_else(|| Problem::new(&key, "is missing", example(field)))?;
    let number = as_number(number)
        .ok_or_else(|| Problem::new(&key, format!("is {}", kind_of(number)), example(field)))?;
    // The range excludes NaN and the infinities too. `is_finite` only makes that plain.
    if !number.is_finite() || !(low..=high).contains(&number) {
        return Err(Problem::new(key, format!("is {number}"), example(field)));
    }
    check_provenance(figure, path)
}

fn check_provenance(figure: &Table, path: &str) -> Result<(), Problem> {
    let mend = "give the publication or measurement as `source`, or how you arrived at it as `estimated`, exactly one of the two";
    for name in ["source", "estimated"] {
        if let Some(text) = figure.get(name) {
            let key = format!("{path}.{name}");
            match text.as_str() {
                None => {
                    return Err(Problem::new(
                        key,
                        format!("is {}, not a string", kind_of(text)),
                        mend,
                    ));
                }
                Some(text) if text.trim().is_empty() => {
                    return Err(Problem::new(key, "is empty", mend));
                }
                Some(_) => {}
            }
        }
    }
    match (figure.contains_key("source"), figure.contains_key("estimated")) {
        (true, true) => Err(Problem::new(path, "has both a source and an estimate", mend)),
        (false, false) => Err(Problem::new(path, "has neither a source nor an estimate", mend)),
        _ => Ok(()),
    }
}

fn check_name(table: &Table) -> Result<(), Problem> {
    let name = at(table, "name").and_then(Value::as_str).unwrap_or_default();
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.chars().all(allowed) && name.len() <= 64 {
        return Ok(());
    }
    Err(Problem::new(
        "name",
        format!("is {name:?}"),
        "use at most 64 lower-case letters, digits and hyphens, so that it can be typed",
    ))
}

/// Returns the number of hardware threads, which is the product of the five counts. It fits into 64
/// bits, because each count has been checked to be at most 1,024.
fn threads(table: &Table) -> u64 {
    ["sockets", "nodes_per_socket", "groups_per_node", "cores_per_group", "threads_per_core"]
        .iter()
        .filter_map(|name| at(table, &format!("topology.{name}"))?.as_integer())
        .filter_map(|count| u64::try_from(count).ok())
        .product()
}

fn check_size(table: &Table) -> Result<(), Problem> {
    let threads = threads(table);
    if threads <= MOST_THREADS {
        return Ok(());
    }
    Err(Problem::new(
        "topology",
        format!("multiplies to {threads} hardware threads"),
        format!(
            "describe a machine of at most {MOST_THREADS}; each count is per unit of the level above"
        ),
    ))
}

/// Checks that `smt_throughput` is at most the number of threads of a core. Siblings share a core,
/// so none of them is faster than a thread that has the core to itself.
fn check_smt(table: &Table) -> Result<(), Problem> {
    let (Some(throughput), Some(threads)) =
        (number(table, "smt_throughput"), number(table, "topology.threads_per_core"))
    else {
        return Ok(());
    };
    if throughput <= threads {
        return Ok(());
    }
    Err(Problem::new(
        "smt_throughput.value",
        format!("is {throughput}, more than `topology.threads_per_core`, which is {threads}"),
        format!("write a number from 1 (siblings gain nothing) to {threads}"),
    ))
}

/// Checks the matrix of hops, if there is one. With two nodes it looks like this:
///
/// ```toml
/// hops = [[0, 1], [1, 0]]
/// ```
fn check_hops(table: &Table) -> Result<(), Problem> {
    const KEY: &str = "topology.hops";
    let Some(hops) = at(table, KEY) else { return Ok(()) };
    let count = |name| at(table, name).and_then(Value::as_integer).unwrap_or(1);
    let nodes = count("topology.sockets") * count("topology.nodes_per_socket");
    let shape =
        format!("write {nodes} lists of {nodes} whole numbers, one list a node, or leave it out");
    let rows: Option<Vec<Vec<i64>>> = hops.as_array().and_then(|rows| {
        rows.iter().map(|row| row.as_array()?.iter().map(Value::as_integer).collect()).collect()
    });
    let Some(rows) = rows else {
        return Err(Problem::new(KEY, "is not a list of lists of whole numbers", shape));
    };
    let of_nodes = |length: usize| i64::try_from(length) == Ok(nodes);
    if !of_nodes(rows.len()) || !rows.iter().all(|row| of_nodes(row.len())) {
        return Err(Problem::new(KEY, format!("does not fit the machine's {nodes} nodes"), shape));
    }
    for (a, row) in rows.iter().enumerate() {
        for (b, &hops) in row.iter().enumerate() {
            let key = format!("{KEY}[{a}][{b}]");
            if a == b && hops != 0 {
                return Err(Problem::new(
                    key,
                    format!("is {hops}"),
                    "a node is 0 hops from itself",
                ));
            }
            if a != b && !(1..=i64::from(MOST_HOPS)).contains(&hops) {
                return Err(Problem::new(
                    key,
                    format!("is {hops}"),
                    format!("two nodes are 1 to {MOST_HOPS} hops apart"),
                ));
            }
            if hops != rows[b][a] {
                let problem = format!("is {hops}, but the way back is {}", rows[b][a]);
                return Err(Problem::new(key, problem, "make the matrix symmetric"));
            }
        }
    }
    Ok(())
}

fn check_caches(table: &Table) -> Result<(), Problem> {
    let line = at(table, "caches.line_bytes").and_then(Value::as_integer).unwrap_or_default();
    if line.count_ones() != 1 {
        return Err(Problem::new(
            "caches.line_bytes",
            format!("is {line}"),
            "write a power of two, such as 64",
        ));
    }
    let shared = at(table, "caches.shared_per_node").and_then(Value::as_integer);
    let groups = at(table, "topology.groups_per_node").and_then(Value::as_integer);
    if shared != Some(1) && shared != groups {
        return Err(Problem::new(
            "caches.shared_per_node",
            format!("is {}", shared.unwrap_or_default()),
            format!("write 1, or the number of groups in a node, {}", groups.unwrap_or_default()),
        ));
    }
    let none = number(table, "caches.shared_kib") == Some(0.0);
    if !none && number(table, "caches.shared_hit_ns") == Some(0.0) {
        return Err(Problem::new(
            "caches.shared_hit_ns.value",
            "is 0 although there is a last-level cache",
            "write the time of a hit in it, or set caches.shared_kib to 0",
        ));
    }
    Ok(())
}

/// Checks that none of the figures at `keys` is less than the one before it. `why` is the reason
/// that the message states.
fn check_rising(table: &Table, keys: &[&str], why: &str) -> Result<(), Problem> {
    for pair in keys.windows(2) {
        let (Some(near), Some(far)) = (number(table, pair[0]), number(table, pair[1])) else {
            continue;
        };
        if far < near {
            let problem = format!("is {far}, less than `{}`, which is {near}", pair[0]);
            return Err(Problem::new(
                format!("{}.value", pair[1]),
                problem,
                format!("correct the one that is wrong: {why}"),
            ));
        }
    }
    Ok(())
}
