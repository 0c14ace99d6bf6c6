//! Reads measurements from JSON.

use kilocore_locks::LockId;
use serde_json::{Map, Value};

use super::error::{ReadError, shown};
use super::place::{InputPlace, LeftOut};
use super::row::Row;
use super::rows::Rows;
use super::shape::ONLY_VARIANT;

/// The required keys. Each may have any of the names listed; the first name that is present counts.
const NEEDED: [(&str, &[&str]); 2] = [
    ("threads", &["cores", "threads"]),
    (ONLY_VARIANT, &[GIVEN, "throughput", "throughput_per_s"]),
];
/// The key of what was measured where `throughput` is a forecast.
const GIVEN: &str = "given";
/// The key of the document, or of a point, that says where throughputs come from.
const PROVENANCE: &str = "provenance";
/// Keys that name the lock or another variant. If no point has one, there is one variant.
const NAMES: [&str; 2] = ["lock", "variant"];

/// Reads a document, which is an array of points or an object with such an array:
///
/// ```text
/// {"points":[{"lock":"mcs","cores":6,"throughput":20},{"lock":"ticket","cores":6,"given":10}]}
/// ```
pub(super) fn read(text: &str) -> Result<Rows, ReadError> {
    let document: Value = serde_json::from_str(text)?;
    let points = match &document {
        Value::Array(points) => points,
        Value::Object(object) => match object.get("points") {
            Some(Value::Array(points)) => points,
            Some(_) => return Err(ReadError::Structure("points is no array".to_owned())),
            None => {
                return Err(ReadError::Structure(format!(
                    "an object with the keys {} and without points",
                    keys(object)
                )));
            }
        },
        // Cannot happen: the caller has seen that the document begins with a bracket or a brace.
        _ => return Err(ReadError::Structure("neither array nor object".to_owned())),
    };
    check_keys(points)?;
    let mut objects = points.iter().filter_map(Value::as_object);
    let is_named = objects.any(|point| NAMES.iter().any(|&name| point.contains_key(name)));
    let mut rows = Rows::default();
    come_from(&document, points, &mut rows)?;
    for (index, point) in (0..).zip(points) {
        let row = match point {
            Value::Object(point) => row(point, is_named),
            _ => Err("not an object".to_owned()),
        };
        match row.and_then(Row::measurement) {
            Ok((name, cores, throughput)) => rows.add(&name, cores, throughput)?,
            Err(why) => rows.left_out.push(LeftOut { place: InputPlace::Point(index), why }),
        }
    }
    Ok(rows)
}

/// Notes where the document says that the throughputs come from. Beside what was given, it is about the forecast.
fn come_from(document: &Value, points: &[Value], rows: &mut Rows) -> Result<(), ReadError> {
    if points.iter().any(|point| point.get(GIVEN).is_some()) {
        return Ok(());
    }
    let place = InputPlace::Columns(vec![PROVENANCE.to_owned()]);
    let all = [(place, document)].into_iter();
    for (place, said) in all.chain((0..).map(InputPlace::Point).zip(points)) {
        match said.get(PROVENANCE) {
            None | Some(Value::Null) => {}
            Some(Value::String(word)) => rows.come_from(word.trim(), place)?,
            Some(other) => rows.come_from(&other.to_string(), place)?,
        }
    }
    Ok(())
}

/// Refuses a document if one of the required keys is missing in all of its points.
fn check_keys(points: &[Value]) -> Result<(), ReadError> {
    let objects: Vec<&Map<String, Value>> = points.iter().filter_map(Value::as_object).collect();
    let Some(first) = objects.first() else { return Ok(()) };
    let nowhere = |names: &[&str]| {
        !objects.iter().any(|object| names.iter().any(|&name| object.contains_key(name)))
    };
    let missing: Vec<&'static str> =
        NEEDED.iter().filter(|(_, names)| nowhere(names)).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(ReadError::MissingColumns { found: first.keys().cloned().collect(), missing })
}

fn keys(object: &Map<String, Value>) -> String {
    let keys: Vec<String> = object.keys().map(|key| shown(key)).collect();
    if keys.is_empty() { "(none)".to_owned() } else { keys.join(", ") }
}

/// Reads the values of a point, as text.
fn row(point: &Map<String, Value>, is_named: bool) -> Result<Row, String> {
    let word = |key: &str| match point.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(other) => Some(other.to_string()),
    };
    if point.get(GIVEN) == Some(&Value::Null) {
        return Err("forecast, not measured: given is null".to_owned());
    }
    let (_, throughputs) = NEEDED[1];
    let alias = word("alias").filter(|alias| alias.parse::<LockId>().is_ok());
    let only = (!is_named).then(|| ONLY_VARIANT.to_owned());
    let named = NAMES.iter().find_map(|key| word(key));
    Ok(Row {
        variant: alias.or(named).or(only),
        cores: word("cores"),
        threads: word("threads"),
        throughput: throughputs.iter().find_map(|key| word(key)),
    })
}
