//! What charts, lines and columns are called in a figure.

use kilocore_figures::Provenance;

/// A column's name as people read it: `throughput per s`.
pub(crate) fn label(column: &str) -> String {
    column.replace('_', " ")
}

/// What a figure is called that nobody has named.
pub(crate) fn against(y: &str, x: &str) -> String {
    format!("{} against {}", label(y), label(x))
}

/// What a line or a chart is called that has these values; empty if there is a single one. A number alone says nothing, so
/// it has the name of its column before it.
pub(crate) fn of_values(columns: &[String], values: &[String]) -> String {
    let part = |(column, value): (&String, &String)| match value.as_str() {
        "" => format!("no {}", label(column)),
        number if number.parse::<f64>().is_ok() => format!("{} {number}", label(column)),
        "true" => label(column),
        "false" => format!("not {}", label(column)),
        name => name.to_owned(),
    };
    columns.iter().zip(values).map(part).collect::<Vec<_>>().join(", ")
}

/// What a line is called. Its kind is a part of it if there are several.
pub(crate) fn of_line(name: String, kind: Provenance, several: bool) -> String {
    match (several, name.is_empty()) {
        (true, true) => kind.name().to_owned(),
        (true, false) => format!("{name} ({})", kind.name()),
        (false, _) => name,
    }
}

/// Words in a sentence: `a, b and c`.
pub(crate) fn and(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// So many things: `1 row`, `1,200 rows`.
pub(crate) fn number_of(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", kilocore_show::number::count(number as u64))
}

#[cfg(test)]
mod tests {
    use kilocore_figures::Provenance;

    use super::{and, of_line, of_values};

    #[test]
    fn values_are_named_so_that_they_say_something_alone() {
        let columns = ["lock", "seed", "in_order"].map(str::to_owned);
        let named = |values: [&str; 3]| of_values(&columns, &values.map(str::to_owned));
        assert_eq!(named(["mcs", "3", "true"]), "mcs, seed 3, in order");
        assert_eq!(named(["", "x", "false"]), "no lock, x, not in order");
        assert_eq!(of_line("mcs".to_owned(), Provenance::Measured, true), "mcs (measured)");
        assert_eq!(of_line(String::new(), Provenance::Measured, true), "measured");
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
        assert_eq!(and(&["a"]), "a");
    }
}
