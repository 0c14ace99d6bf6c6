//! Texts in which a variable's name in braces stands for its value.

use crate::Value;

/// Names that stay as they are where the plan gives them no values: commands give them values of their own.
const OF_COMMANDS: [&str; 2] = ["cores", "threads"];

/// A text with names in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(String),
}

/// What may be between braces to be a name. All else between braces is text, as in `awk '{print $1}'`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// What is said of a name that is none.
pub(crate) fn no_name(name: &str) -> String {
    format!(
        "'{name}' cannot stand in braces; write a name of letters, digits, '-' and '_' that begins with a letter"
    )
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            match from[1..].split_once('}') {
                Some((name, after)) if is_name(name) => {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    pieces.push(Piece::Variable(name.to_owned()));
                    rest = after;
                }
                _ => {
                    plain.push('{');
                    rest = &from[1..];
                }
            }
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Self(pieces)
    }
}

impl Template {
    /// The names in it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The first name that is neither one of these, nor one that commands give values.
    pub(crate) fn unknown(&self, is_known: impl Fn(&str) -> bool) -> Option<&str> {
        self.names().find(|name| !OF_COMMANDS.contains(name) && !is_known(name))
    }

    /// The same, with the values that some names have everywhere.
    pub(crate) fn with<'a>(self, value: impl Fn(&str) -> Option<&'a Value>) -> Self {
        let piece = |piece| match piece {
            Piece::Variable(name) => match value(&name) {
                Some(value) => Piece::Text(value.as_str().to_owned()),
                None => Piece::Variable(name),
            },
            text @ Piece::Text(_) => text,
        };
        Self(self.0.into_iter().map(piece).collect())
    }

    /// The text, with each name's value in its place, as `shown` has it. A name without one stays.
    pub(crate) fn filled<'a>(
        &self,
        value: impl Fn(&str) -> Option<&'a Value>,
        shown: impl Fn(&str) -> String,
    ) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Variable(name) => match value(name) {
                Some(value) => shown(value.as_str()),
                None => format!("{{{name}}}"),
            },
        };
        self.0.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Template;
    use crate::Value;

    #[test]
    fn names_in_braces_are_filled_and_all_else_stays() {
        let (one, two) = (Value::from("{b}"), Value::from("2"));
        let filled = |text: &str| {
            let value = |name: &str| match name {
                "a" => Some(&one),
                "b-c_2" => Some(&two),
                _ => None,
            };
            Template::from(text).filled(value, str::to_owned)
        };
        assert_eq!(filled("x{a}y{b-c_2}{cores}"), "x{b}y2{cores}");
        for same in ["", "{", "}", "{}", "{ a }", "{2}", "{print $1}", "a{", "${A:-1}", "{é}"] {
            assert_eq!(filled(same), same);
        }
        assert_eq!(filled("{{a}}"), "{{b}}");
    }

    #[test]
    fn only_names_of_the_plan_and_of_commands_are_known() {
        let unknown =
            |text: &str| Template::from(text).unknown(|name| name == "a").map(str::to_owned);
        assert_eq!(unknown("{a} {cores} {threads}"), None);
        assert_eq!(unknown("{a} {aa}").as_deref(), Some("aa"));
    }
}
