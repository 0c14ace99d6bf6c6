//! Types, bounds and generics of `rustdoc`'s JSON, written as in the source.

use std::collections::BTreeMap;

use serde_json::Value;

/// What cannot be written, because its format is not known.
pub(crate) type Unknown = String;

/// What is needed to write a type: the names of what it consists of.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    /// All that `rustdoc` knows.
    pub(crate) crate_: &'a Value,
    /// Where the users of this crate find its items, by their numbers.
    pub(crate) public: BTreeMap<u64, String>,
}

/// The only part of an enum of the JSON: its variant, and what this has.
fn variant(value: &Value) -> Result<(&str, &Value), Unknown> {
    if let Some(name) = value.as_str() {
        return Ok((name, &Value::Null));
    }
    let parts = value.as_object().filter(|parts| parts.len() == 1);
    let (name, inner) =
        parts.and_then(|parts| parts.iter().next()).ok_or_else(|| unknown(value))?;
    Ok((name, inner))
}

pub(crate) fn unknown(value: &Value) -> Unknown {
    format!("this is not known of rustdoc's JSON: {value}")
}

pub(crate) fn text(value: &Value) -> Result<&str, Unknown> {
    value.as_str().ok_or_else(|| unknown(value))
}

pub(crate) fn array(value: &Value) -> Result<&[Value], Unknown> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| unknown(value))
}

fn flag(value: &Value, name: &str) -> Result<bool, Unknown> {
    value[name].as_bool().ok_or_else(|| unknown(value))
}

/// `word` and a space if it is so.
pub(crate) fn word<'w>(value: &Value, name: &str, word: &'w str) -> Result<&'w str, Unknown> {
    Ok(if flag(value, name)? { word } else { "" })
}

impl Names<'_> {
    /// Each of `values` as `write` writes it, with `between` between them.
    pub(crate) fn each(
        &self,
        values: &Value,
        between: &str,
        write: impl Fn(&Self, &Value) -> Result<String, Unknown>,
    ) -> Result<String, Unknown> {
        let parts: Result<Vec<_>, _> =
            array(values)?.iter().map(|value| write(self, value)).collect();
        Ok(parts?.join(between))
    }

    /// The name of an item. For one of this crate it is the path by which users reach it; for one of the
    /// standard library its whole path; for others, their crate and name, as where in the crate it lies is
    /// nobody's business.
    fn item(&self, path: &Value) -> Result<String, Unknown> {
        let id = path["id"].as_u64().ok_or_else(|| unknown(path))?;
        if let Some(public) = self.public.get(&id) {
            return Ok(public.clone());
        }
        let written = text(&path["path"])?;
        let summary = &self.crate_["paths"][id.to_string()];
        let last = written.rsplit("::").next().unwrap_or(written);
        let Some(whole) = summary["path"].as_array() else { return Ok(last.to_owned()) };
        let whole: Result<Vec<_>, _> = whole.iter().map(text).collect();
        let whole = whole?;
        let (first, last) = (whole[0], whole[whole.len() - 1]);
        Ok(match first {
            "core" | "alloc" | "std" => whole.join("::"),
            _ if summary["crate_id"] == 0 => last.to_owned(),
            _ => format!("{first}::{last}"),
        })
    }

    /// An item with its arguments.
    pub(crate) fn path(&self, path: &Value) -> Result<String, Unknown> {
        Ok(self.item(path)? + &self.arguments(&path["args"])?)
    }

    fn arguments(&self, arguments: &Value) -> Result<String, Unknown> {
        if arguments.is_null() {
            return Ok(String::new());
        }
        match variant(arguments)? {
            ("angle_bracketed", inner) => {
                let arguments = self.each(&inner["args"], ", ", Self::argument)?;
                let constraints = self.each(&inner["constraints"], ", ", Self::constraint)?;
                let both: Vec<_> =
                    [arguments, constraints].into_iter().filter(|part| !part.is_empty()).collect();
                Ok(if both.is_empty() { String::new() } else { format!("<{}>", both.join(", ")) })
            }
            ("parenthesized", inner) => {
                let inputs = self.each(&inner["inputs"], ", ", Self::type_)?;
                Ok(format!("({inputs}){}", self.output(&inner["output"])?))
            }
            _ => Err(unknown(arguments)),
        }
    }

    fn argument(&self, argument: &Value) -> Result<String, Unknown> {
        match variant(argument)? {
            ("lifetime", lifetime) => Ok(text(lifetime)?.to_owned()),
            ("type", inner) => self.type_(inner),
            ("const", inner) => Ok(text(&inner["expr"])?.to_owned()),
            ("infer", _) => Ok("_".to_owned()),
            _ => Err(unknown(argument)),
        }
    }

    fn constraint(&self, constraint: &Value) -> Result<String, Unknown> {
        let name =
            format!("{}{}", text(&constraint["name"])?, self.arguments(&constraint["args"])?);
        match variant(&constraint["binding"])? {
            ("equality", term) => Ok(format!("{name} = {}", self.term(term)?)),
            ("constraint", bounds) => Ok(format!("{name}: {}", self.bounds(bounds)?)),
            _ => Err(unknown(constraint)),
        }
    }

    fn term(&self, term: &Value) -> Result<String, Unknown> {
        match variant(term)? {
            ("type", inner) => self.type_(inner),
            ("constant", inner) => Ok(text(&inner["expr"])?.to_owned()),
            _ => Err(unknown(term)),
        }
    }

    pub(crate) fn output(&self, output: &Value) -> Result<String, Unknown> {
        Ok(if output.is_null() { String::new() } else { format!(" -> {}", self.type_(output)?) })
    }

    pub(crate) fn type_(&self, value: &Value) -> Result<String, Unknown> {
        let (kind, inner) = variant(value)?;
        Ok(match kind {
            "resolved_path" => self.path(inner)?,
            "generic" | "primitive" => text(inner)?.to_owned(),
            "tuple" => match array(inner)? {
                [one] => format!("({},)", self.type_(one)?),
                _ => format!("({})", self.each(inner, ", ", Self::type_)?),
            },
            "slice" => format!("[{}]", self.type_(inner)?),
            "array" => format!("[{}; {}]", self.type_(&inner["type"])?, text(&inner["len"])?),
            "impl_trait" => format!("impl {}", self.bounds(inner)?),
            "infer" => "_".to_owned(),
            "raw_pointer" => {
                let word = if flag(inner, "is_mutable")? { "mut" } else { "const" };
                format!("*{word} {}", self.type_(&inner["type"])?)
            }
            "borrowed_ref" => {
                let lifetime = inner["lifetime"].as_str().map(|name| format!("{name} "));
                let mutable = word(inner, "is_mutable", "mut ")?;
                format!("&{}{mutable}{}", lifetime.unwrap_or_default(), self.type_(&inner["type"])?)
            }
            "dyn_trait" => {
                let traits = self.each(&inner["traits"], " + ", Self::poly_trait)?;
                let lifetime = inner["lifetime"].as_str().map(|name| format!(" + {name}"));
                format!("dyn {traits}{}", lifetime.unwrap_or_default())
            }
            "qualified_path" => {
                let end = format!("{}{}", text(&inner["name"])?, self.arguments(&inner["args"])?);
                let owner = self.type_(&inner["self_type"])?;
                match &inner["trait"] {
                    Value::Null => format!("{owner}::{end}"),
                    of => format!("<{owner} as {}>::{end}", self.path(of)?),
                }
            }
            "function_pointer" => {
                let parameters = self.for_all(&inner["generic_params"])?;
                let inputs = self
                    .each(&inner["sig"]["inputs"], ", ", |names, input| names.type_(&input[1]))?;
                let output = self.output(&inner["sig"]["output"])?;
                format!("{parameters}{}fn({inputs}){output}", header(&inner["header"])?)
            }
            _ => return Err(unknown(value)),
        })
    }

    fn poly_trait(&self, value: &Value) -> Result<String, Unknown> {
        Ok(self.for_all(&value["generic_params"])? + &self.path(&value["trait"])?)
    }

    fn for_all(&self, parameters: &Value) -> Result<String, Unknown> {
        let parameters = self.each(parameters, ", ", Self::parameter)?;
        Ok(if parameters.is_empty() { parameters } else { format!("for<{parameters}> ") })
    }

    pub(crate) fn bounds(&self, bounds: &Value) -> Result<String, Unknown> {
        self.each(bounds, " + ", Self::bound)
    }

    fn bound(&self, bound: &Value) -> Result<String, Unknown> {
        match variant(bound)? {
            ("trait_bound", inner) => {
                let modifier = match text(&inner["modifier"])? {
                    "none" => "",
                    "maybe" => "?",
                    _ => return Err(unknown(bound)),
                };
                Ok(format!("{modifier}{}", self.poly_trait(inner)?))
            }
            ("outlives", lifetime) => Ok(text(lifetime)?.to_owned()),
            ("use", captured) => {
                let captured =
                    self.each(captured, ", ", |_, one| Ok(text(variant(one)?.1)?.to_owned()))?;
                Ok(format!("use<{captured}>"))
            }
            _ => Err(unknown(bound)),
        }
    }

    fn parameter(&self, parameter: &Value) -> Result<String, Unknown> {
        let name = text(&parameter["name"])?;
        let behind = |before: &str, what: String| {
            if what.is_empty() { what } else { format!("{before}{what}") }
        };
        match variant(&parameter["kind"])? {
            ("lifetime", inner) => {
                let longer =
                    self.each(&inner["outlives"], " + ", |_, one| Ok(text(one)?.to_owned()))?;
                Ok(format!("{name}{}", behind(": ", longer)))
            }
            ("type", inner) => {
                let default = match &inner["default"] {
                    Value::Null => String::new(),
                    default => self.type_(default)?,
                };
                let bounds = behind(": ", self.bounds(&inner["bounds"])?);
                Ok(format!("{name}{bounds}{}", behind(" = ", default)))
            }
            ("const", inner) => {
                let default = inner["default"].as_str().unwrap_or_default().to_owned();
                Ok(format!(
                    "const {name}: {}{}",
                    self.type_(&inner["type"])?,
                    behind(" = ", default)
                ))
            }
            _ => Err(unknown(parameter)),
        }
    }

    /// The parameters that stand behind the name, as in `<'a, T: Copy>`. Those for arguments of the kind
    /// `impl Trait` have no name in the source.
    pub(crate) fn parameters(&self, generics: &Value) -> Result<String, Unknown> {
        let named = array(&generics["params"])?
            .iter()
            .filter(|one| one["kind"]["type"]["is_synthetic"] != true)
            .map(|one| self.parameter(one))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(if named.is_empty() { String::new() } else { format!("<{}>", named.join(", ")) })
    }

    /// The clause `where`, with a space before it.
    pub(crate) fn where_(&self, generics: &Value) -> Result<String, Unknown> {
        let clauses = self.each(&generics["where_predicates"], ", ", Self::predicate)?;
        Ok(if clauses.is_empty() { clauses } else { format!(" where {clauses}") })
    }

    fn predicate(&self, predicate: &Value) -> Result<String, Unknown> {
        match variant(predicate)? {
            ("bound_predicate", inner) => {
                let all = self.for_all(&inner["generic_params"])?;
                Ok(format!(
                    "{all}{}: {}",
                    self.type_(&inner["type"])?,
                    self.bounds(&inner["bounds"])?
                ))
            }
            ("lifetime_predicate", inner) => {
                let longer =
                    self.each(&inner["outlives"], " + ", |_, one| Ok(text(one)?.to_owned()))?;
                Ok(format!("{}: {longer}", text(&inner["lifetime"])?))
            }
            ("eq_predicate", inner) => {
                Ok(format!("{} == {}", self.type_(&inner["lhs"])?, self.term(&inner["rhs"])?))
            }
            _ => Err(unknown(predicate)),
        }
    }
}

/// What stands before `fn`.
pub(crate) fn header(header: &Value) -> Result<String, Unknown> {
    let abi = match variant(&header["abi"])? {
        ("Rust", _) => String::new(),
        (name, _) => format!("extern \"{name}\" "),
    };
    Ok([
        word(header, "is_const", "const ")?,
        word(header, "is_async", "async ")?,
        word(header, "is_unsafe", "unsafe ")?,
        &abi,
    ]
    .concat())
}
