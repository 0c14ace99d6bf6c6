//! Which combinations of values a plan means.

use std::collections::BTreeMap;

use toml::Value as Toml;

use crate::Value;
use crate::range::numbers;
use crate::template::is_name;

/// A table of conditions on variables. It holds of a combination of values if all of them do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition(Vec<(String, Test)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    /// The value is one of these.
    Among(Vec<Value>),
    /// It compares so with another.
    Compared(Comparison, Operand),
}

/// The operators, the longer ones first, as they begin like the others.
const OPERATORS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Not),
    ("<", Comparison::Below),
    (">", Comparison::Above),
    ("=", Comparison::Is),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtMost,
    AtLeast,
    Not,
    Below,
    Above,
    Is,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    Value(Value),
    Variable(String),
}

impl Condition {
    /// The condition of a table.
    ///
    /// # Errors
    /// With what is wrong, if it names no variable of the plan, or says nothing of one.
    pub(crate) fn of(
        table: &BTreeMap<String, Toml>,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        if table.is_empty() {
            return Err("the condition is empty; write { variable = value }".to_owned());
        }
        let test = |(name, toml): (&String, &Toml)| {
            if !is_known(name) {
                return Err(format!("the condition is on '{name}', which the run gives no values"));
            }
            let test = Test::of(toml).ok_or_else(|| {
                format!(
                    "the condition on '{name}' says nothing; write a value, a list, a range as \"1-5\", \
                     or a comparison as \"> 8\" or \"<= {{cores}}\""
                )
            })?;
            match &test {
                Test::Compared(_, Operand::Variable(other)) if !is_known(other) => Err(format!(
                    "the condition compares '{name}' with '{{{other}}}', which the run gives no values"
                )),
                _ => Ok((name.clone(), test)),
            }
        };
        table.iter().map(test).collect::<Result<_, _>>().map(Self)
    }

    /// The names that it needs the values of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(name, test)| {
            let other = match test {
                Test::Compared(_, Operand::Variable(other)) => Some(other.as_str()),
                _ => None,
            };
            [name.as_str()].into_iter().chain(other)
        })
    }

    /// Whether it holds of a combination.
    ///
    /// # Errors
    /// With what is wrong, if it asks which of two is greater and one is no number.
    pub(crate) fn holds<'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value>,
    ) -> Result<bool, String> {
        for (name, test) in &self.0 {
            let Some(own) = value(name) else { return Ok(false) };
            let holds = match test {
                Test::Among(values) => values.iter().any(|other| other.is(own)),
                Test::Compared(how, Operand::Value(other)) => how.holds(own, other)?,
                Test::Compared(how, Operand::Variable(other)) => match value(other) {
                    Some(other) => how.holds(own, other)?,
                    None => false,
                },
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Test {
    fn of(toml: &Toml) -> Option<Self> {
        match toml {
            Toml::Array(values) => {
                values.iter().map(Value::of).collect::<Option<_>>().map(Self::Among)
            }
            Toml::String(text) => Self::of_text(text),
            one => Value::of(one).map(|value| Self::Among(vec![value])),
        }
    }

    fn of_text(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let compared = OPERATORS.iter().find_map(|&(sign, how)| {
            let operand = trimmed.strip_prefix(sign)?.trim();
            let variable = operand.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            let operand = match variable.filter(|name| is_name(name)) {
                Some(name) => Operand::Variable(name.to_owned()),
                None => Operand::Value(Value::from(operand)),
            };
            Some((how, operand))
        });
        match compared {
            Some((_, Operand::Value(value))) if value.as_str().is_empty() => None,
            Some((how, Operand::Value(value)))
                if how.needs_numbers() && value.number().is_none() =>
            {
                None
            }
            Some((how, operand)) => Some(Self::Compared(how, operand)),
            None => {
                let range = numbers(trimmed).unwrap_or_default();
                let values = range.into_iter().map(Value::from);
                Some(Self::Among(values.chain([Value::from(text)]).collect()))
            }
        }
    }
}

impl Comparison {
    fn needs_numbers(self) -> bool {
        !matches!(self, Self::Is | Self::Not)
    }

    fn holds(self, one: &Value, other: &Value) -> Result<bool, String> {
        let number = |value: &Value| {
            value.number().ok_or_else(|| {
                format!("a condition asks whether '{one}' or '{other}' is greater, and '{value}' is no number")
            })
        };
        Ok(match self {
            Self::Is => one.is(other),
            Self::Not => !one.is(other),
            Self::AtMost => number(one)? <= number(other)?,
            Self::AtLeast => number(one)? >= number(other)?,
            Self::Below => number(one)? < number(other)?,
            Self::Above => number(one)? > number(other)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Condition;
    use crate::Value;

    const KNOWN: [&str; 3] = ["lock", "threads", "cores"];

    fn condition(table: &str) -> Result<Condition, String> {
        Condition::of(&toml::from_str(table).expect("it is TOML"), |name| KNOWN.contains(&name))
    }

    fn holds(table: &str, lock: &str, threads: &str, cores: &str) -> Result<bool, String> {
        let values = [lock, threads, cores].map(Value::from);
        let value =
            |name: &str| KNOWN.iter().position(|known| *known == name).map(|at| &values[at]);
        condition(table)?.holds(&value)
    }

    #[test]
    fn values_lists_ranges_and_comparisons_hold_of_what_they_say() {
        for (table, expected) in [
            ("lock = 'mcs'", true),
            ("lock = 'mc'", false),
            ("lock = ['ticket', 'mcs']", true),
            ("lock = '!= mcs'", false),
            ("lock = '= mcs'", true),
            ("threads = 16", true),
            ("threads = 16.0", true),
            ("threads = '1-15'", false),
            ("threads = '1-15, 16-32:16'", true),
            ("threads = '> 16'", false),
            ("threads = '>= 16'", true),
            ("threads = '<{cores}'", false),
            ("threads = '> {cores}'", true),
            ("threads = '!={cores}'", true),
            ("lock = 'mcs'\nthreads = '<= 8'", false),
            ("lock = 'mcs'\nthreads = '<= 16'", true),
        ] {
            assert_eq!(holds(table, "mcs", "16", "8"), Ok(expected), "{table}");
        }
        assert_eq!(
            holds("lock = '1-2'", "1-2", "1", "1"),
            Ok(true),
            "a text that looks like a range"
        );
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for (table, part) in [
            ("", "empty"),
            ("locks = 'mcs'", "'locks'"),
            ("threads = '>'", "says nothing"),
            ("threads = '> many'", "says nothing"),
            ("threads = '> {most}'", "{most}"),
            ("threads = { over = 8 }", "says nothing"),
        ] {
            let error = condition(table).expect_err(table);
            assert!(error.contains(part), "{error}");
        }
        let error = holds("lock = '> 4'", "mcs", "1", "1").expect_err("no number");
        assert!(error.contains("'mcs' is no number"), "{error}");
    }
}
