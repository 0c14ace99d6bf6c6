//! Values that all commands of a plan have in common.

use std::collections::BTreeMap;

use toml::{Spanned, Value as Toml};

use crate::Value;
use crate::document::Document;
use crate::template::{Template, is_name, no_name};

/// What a plan has under `with`: a name has one value, in each command and each output.
#[derive(Debug, Default)]
pub(crate) struct With(BTreeMap<String, Value>);

/// Where something is wrong, and what.
type Wrong = (usize, String);

impl With {
    /// # Errors
    /// If a name cannot stand in braces, or has no single value, or stands nowhere.
    pub(crate) fn of(document: &Document) -> Result<Self, Wrong> {
        let all = document.with.iter().map(|(name, toml)| Self::one(name, toml));
        let with = Self(all.collect::<Result<_, _>>()?);
        for (name, toml) in &document.with {
            let stands_in = |text: &str| Template::from(text).names().any(|own| own == name);
            if !texts(document).any(stands_in) {
                let problem = format!(
                    "'{name}' stands under 'with', but no '{{{name}}}' is in a command; write it there, or leave it out"
                );
                return Err((toml.span().start, problem));
            }
        }
        Ok(with)
    }

    fn one(name: &str, toml: &Spanned<Toml>) -> Result<(String, Value), Wrong> {
        let wrong = |problem| (toml.span().start, problem);
        if !is_name(name) {
            return Err(wrong(no_name(name)));
        }
        let value = Value::of(toml.get_ref()).ok_or_else(|| {
            wrong(format!("'{name}' is no value; under 'with' write one number or text for it"))
        })?;
        Ok((name.to_owned(), value))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text of the plan, with these values in it.
    pub(crate) fn put_into(&self, text: &str) -> Template {
        Template::from(text).with(|name| self.0.get(name))
    }
}

/// All texts in which names may stand.
fn texts(document: &Document) -> impl Iterator<Item = &str> {
    let of_runs = document.run.iter().flat_map(|run| {
        let output = run.output.as_ref().map(Spanned::get_ref);
        let listed = output.and_then(Toml::as_array).into_iter().flatten();
        let outputs = output.into_iter().chain(listed).filter_map(Toml::as_str);
        outputs.chain([run.command.get_ref().as_str()])
    });
    of_runs.chain(document.after.iter().map(|after| after.command.get_ref().as_str()))
}
