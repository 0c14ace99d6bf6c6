//! What `go test -bench` prints, on several numbers of cores (`-cpu 1,2,4`).
//!
//! ```text
//! BenchmarkMutex      20000000    60.3 ns/op
//! BenchmarkMutex-4    10000000   121.0 ns/op    0 B/op
//! ```
//!
//! The number behind the name is that of cores, and 1 if there is none. `ns/op` is the time of the run by
//! the operations of all goroutines.

use super::cell::sound;
use super::error::{ReadError, shown};
use super::number::{Figure, Value, figure};
use super::place::{InputPlace, LeftOut};
use super::rows::Rows;
use super::unit::{Quantity, unit};

/// A line of a benchmark.
struct Line<'a> {
    name: &'a str,
    cores: u32,
    /// Nanoseconds of an operation.
    nanoseconds: &'a str,
}

/// Whether a text has a line of a benchmark.
pub(super) fn is_likely(text: &str) -> bool {
    text.lines().any(|text| line(text).is_some())
}

/// Reads all lines of benchmarks, and passes over others.
pub(super) fn read(text: &str) -> Result<Rows, ReadError> {
    let mut rows = Rows::default();
    for (number, text) in (1..).zip(text.lines()) {
        let Some(line) = line(text) else { continue };
        let place = InputPlace::Line(number);
        let value = match figure(line.nanoseconds) {
            Some(Figure { value: Value::Plain(value), rest: "", .. }) => Ok(value),
            // Go writes decimals with a point and thousands with nothing.
            Some(Figure { value: Value::Either { mark: '.', decimal, .. }, rest: "", .. }) => {
                Ok(decimal)
            }
            _ => Err("not a number"),
        };
        let throughput = value.and_then(|value| {
            sound(value, Quantity::PerOperation.throughput(value * 1e-9, line.cores))
        });
        match throughput {
            Ok(throughput) => rows.add(line.name, line.cores, throughput)?,
            Err(what) => {
                let why = format!("ns/op is '{}', {what}", shown(line.nanoseconds));
                rows.left_out.push(LeftOut { place, why });
            }
        }
    }
    let how = Quantity::PerOperation.assumption().unwrap_or_default();
    rows.assumed.push("the number behind a benchmark's name is that of cores".to_owned());
    rows.assumed.push(format!("'ns/op' is {how}"));
    Ok(rows)
}

/// The benchmark of a line; none if it is of something else.
fn line(text: &str) -> Option<Line<'_>> {
    let mut words = text.split_whitespace();
    let full = words.next()?.strip_prefix("Benchmark")?;
    words.next()?.parse::<u64>().ok()?;
    let figures: Vec<&str> = words.collect();
    let is_time = |pair: &&[&str]| {
        pair[1] == "ns/op" && unit(pair[1]).is_some_and(|unit| unit.quantity.is_some())
    };
    let nanoseconds = figures.chunks_exact(2).find(is_time)?[0];
    let cores = full.rsplit_once('-').and_then(|(name, cores)| {
        let cores = cores.parse().ok().filter(|&cores| cores > 0)?;
        Some((name, cores))
    });
    let (name, cores) = cores.unwrap_or((full, 1));
    Some(Line { name: if name.is_empty() { "Benchmark" } else { name }, cores, nanoseconds })
}

#[cfg(test)]
mod tests {
    use super::{is_likely, read};

    #[test]
    fn benchmarks_are_read_by_names_and_cores() {
        let text = "goos: linux\npkg: x/y\nBenchmarkMutex         \t20000000\t        50 ns/op\n\
                    BenchmarkMutex-4       \t10000000\t       100 ns/op\t  0 B/op\n\
                    BenchmarkRW/read-only-4\t  100\t  0.500 ns/op\nBenchmarkX-2\t1\tNaN ns/op\n\
                    PASS\nok  \tx/y\t2.3s\n";
        assert!(is_likely(text) && !is_likely("threads,ns/op\n1,5\n"));
        let rows = read(text).expect("benchmarks");
        let table = rows.finish().expect("a table");
        let read: Vec<(&str, Vec<(u32, f64)>)> = table
            .variants
            .iter()
            .map(|v| (v.name.as_str(), v.points.iter().map(|p| (p.cores, p.throughput)).collect()))
            .collect();
        let per_second = |nanoseconds: f64| (nanoseconds * 1e-9).recip();
        let mutex = vec![(1, per_second(50.0)), (4, per_second(100.0))];
        assert_eq!(read, [("Mutex", mutex), ("RW/read-only", vec![(4, per_second(0.5))])]);
        assert_eq!(table.left_out[0].to_string(), "line 6: ns/op is 'NaN', not a number");
    }
}
