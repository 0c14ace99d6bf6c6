//! The files into which a run's answer goes.

use std::path::{Component, Path, PathBuf};

use toml::Value as Toml;

use crate::template::Template;
use crate::with::With;
use crate::{Answer, Value};

/// Where the answers of a `[[run]]` go.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Reports that the command writes.
    Reports(Vec<Template>),
    /// What the command prints.
    Printed,
}

impl Output {
    /// What a plan says under `output`.
    ///
    /// # Errors
    /// With what is wrong, if it is no text, and no list of texts.
    pub(crate) fn of(toml: Option<&Toml>, with: &With) -> Result<Self, String> {
        let problem = || "'output' is no file; write \"{name}.json\", or a list of such".to_owned();
        let texts = match toml {
            None => return Ok(Self::Printed),
            Some(Toml::String(one)) => vec![one.as_str()],
            Some(Toml::Array(list)) => {
                list.iter().map(Toml::as_str).collect::<Option<_>>().ok_or_else(problem)?
            }
            Some(_) => return Err(problem()),
        };
        if texts.is_empty() {
            return Err(problem());
        }
        Ok(Self::Reports(texts.into_iter().map(|text| with.put_into(text)).collect()))
    }

    /// The names in it.
    pub(crate) fn templates(&self) -> &[Template] {
        match self {
            Self::Reports(templates) => templates,
            Self::Printed => &[],
        }
    }

    /// The files of a combination of values.
    ///
    /// # Errors
    /// With what is wrong, if one would not be in the plan's folder.
    pub(crate) fn filled(&self, values: &[(String, Value)], run: usize) -> Result<Answer, String> {
        let value = |name: &str| values.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        match self {
            Self::Reports(templates) => templates
                .iter()
                .map(|template| inside(template.filled(value, part_of_a_name)))
                .collect::<Result<_, _>>()
                .map(Answer::Reports),
            Self::Printed if values.is_empty() => {
                Ok(Answer::Printed(PathBuf::from(format!("run-{run}.txt"))))
            }
            Self::Printed => {
                let values: Vec<String> =
                    values.iter().map(|(_, value)| part_of_a_name(value.as_str())).collect();
                inside(format!("{}.txt", values.join("-"))).map(Answer::Printed)
            }
        }
    }
}

/// A value as it stands in a file's name: in one folder, whatever it is.
fn part_of_a_name(value: &str) -> String {
    value.replace(['/', '\0'], "-")
}

/// A path, if it leads to a file below the folder that it is taken from.
pub(crate) fn inside(path: String) -> Result<PathBuf, String> {
    let is_below = !path.is_empty()
        && !path.ends_with('/')
        && Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
    match is_below {
        true => Ok(PathBuf::from(path)),
        false => Err(format!(
            "the output '{path}' is no file below the plan's folder; write a name such as \"{{name}}.json\", and under \
             'folder' where all of them go"
        )),
    }
}
