//! The list of a crate's public items: one a line, in the order of their names, with what belongs to each
//! indented below it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::types::{Names, Unknown, array, header, text, unknown, word};

/// Traits that the compiler implements for types by itself, and which users rely on.
const SEEN_AUTO_TRAITS: [&str; 2] = ["Send", "Sync"];

/// Traits that say nothing to users.
const UNSEEN_TRAITS: [&str; 1] = ["StructuralPartialEq"];

/// A public item, and where its users find it.
struct Found<'a> {
    path: String,
    item: &'a Value,
}

/// Returns the list of the crate that `rustdoc` describes as `crate_`.
pub(crate) fn listing(crate_: &Value) -> Result<String, Unknown> {
    let in_format = |what: Unknown| {
        format!(
            "{what} (in format {} of rustdoc's JSON; 57 was known to do)",
            crate_["format_version"]
        )
    };
    write(crate_).map_err(in_format)
}

fn write(crate_: &Value) -> Result<String, Unknown> {
    let root = item(crate_, &crate_["root"])?;
    let mut walk = Walk { crate_, found: Vec::new(), inside: Vec::new() };
    walk.module(root, text(&root["name"])?)?;
    let mut public = BTreeMap::new();
    for found in &walk.found {
        let id = found.item["id"].as_u64().ok_or_else(|| unknown(found.item))?;
        public.entry(id).or_insert_with(|| found.path.clone());
    }
    let lister = Lister { names: Names { crate_, public } };
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    walk.found.iter().map(|found| lister.block(found)).collect()
}

fn item<'a>(crate_: &'a Value, id: &Value) -> Result<&'a Value, Unknown> {
    let number = id.as_u64().ok_or_else(|| unknown(id))?;
    crate_["index"].get(number.to_string()).ok_or_else(|| unknown(id))
}

fn kind(item: &Value) -> Result<(&str, &Value), Unknown> {
    let inner = item["inner"].as_object().and_then(|inner| inner.iter().next());
    inner.map(|(kind, inner)| (kind.as_str(), inner)).ok_or_else(|| unknown(item))
}

/// Goes through the modules that users can name.
struct Walk<'a> {
    crate_: &'a Value,
    found: Vec<Found<'a>>,
    /// The modules that it is in, as a module may hand on one that it lies in.
    inside: Vec<&'a Value>,
}

impl<'a> Walk<'a> {
    fn module(&mut self, module: &'a Value, path: &str) -> Result<(), Unknown> {
        if self.inside.iter().any(|outer| std::ptr::eq(*outer, module)) {
            return Ok(());
        }
        self.inside.push(module);
        for id in array(&kind(module)?.1["items"])? {
            let item = item(self.crate_, id)?;
            match kind(item)? {
                ("use", inner) => self.handed_on(item, inner, path)?,
                ("impl", _) => {}
                _ => self.item(item, &format!("{path}::{}", text(&item["name"])?))?,
            }
        }
        self.inside.pop();
        Ok(())
    }

    fn item(&mut self, item: &'a Value, path: &str) -> Result<(), Unknown> {
        self.found.push(Found { path: path.to_owned(), item });
        if kind(item)?.0 == "module" { self.module(item, path) } else { Ok(()) }
    }

    /// What `pub use` hands on: under its new name if it is of this crate, or else the line itself.
    fn handed_on(&mut self, line: &'a Value, inner: &'a Value, path: &str) -> Result<(), Unknown> {
        let target = item(self.crate_, &inner["id"]).ok();
        match (target, inner["is_glob"].as_bool()) {
            (Some(module), Some(true)) if kind(module)?.0 == "module" => self.module(module, path),
            (Some(target), Some(false)) => {
                self.item(target, &format!("{path}::{}", text(&inner["name"])?))
            }
            (None, Some(_)) => {
                self.found
                    .push(Found { path: format!("{path}::{}", text(&inner["name"])?), item: line });
                Ok(())
            }
            _ => Err(unknown(inner)),
        }
    }
}

struct Lister<'a> {
    names: Names<'a>,
}

impl Lister<'_> {
    /// The lines of an item and of all that belongs to it.
    fn block(&self, found: &Found<'_>) -> Result<String, Unknown> {
        let (kind, inner) = kind(found.item)?;
        let path = &found.path;
        let before = attributes(found.item)?;
        let generics = &inner["generics"];
        let mut lines = Vec::new();
        let line = match kind {
            "module" => format!("pub mod {path}"),
            "use" => format!("pub use {} as {path}", text(&inner["source"])?),
            "macro" => format!("macro {path}!"),
            "constant" => format!("pub const {path}: {}", self.names.type_(&inner["type"])?),
            "static" => {
                let mutable = word(inner, "is_mutable", "mut ")?;
                format!("pub static {mutable}{path}: {}", self.names.type_(&inner["type"])?)
            }
            "type_alias" => format!(
                "pub type {path}{} = {}{}",
                self.names.parameters(generics)?,
                self.names.type_(&inner["type"])?,
                self.names.where_(generics)?
            ),
            "function" => format!("pub {}", self.function(path, inner)?),
            "struct" | "union" | "enum" => {
                lines.extend(self.parts(kind, inner)?);
                lines.extend(self.implementations(&inner["impls"])?);
                let shape =
                    if kind == "struct" { self.shape(&inner["kind"])? } else { String::new() };
                format!(
                    "pub {kind} {path}{}{shape}{}",
                    self.names.parameters(generics)?,
                    self.names.where_(generics)?
                )
            }
            "trait" => {
                for id in array(&inner["items"])? {
                    lines.push(indented(1, &self.member(self.item(id)?)?));
                }
                let bounds = self.names.bounds(&inner["bounds"])?;
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let dyn_compatible = word(inner, "is_dyn_compatible", "dyn-compatible ")?;
                format!(
                    "pub {}{dyn_compatible}trait {path}{}{bounds}{}",
                    word(inner, "is_unsafe", "unsafe ")?,
                    self.names.parameters(generics)?,
                    self.names.where_(generics)?
                )
            }
            _ => return Err(unknown(found.item)),
        };
        lines.insert(0, format!("{before}{line}\n"));
        Ok(lines.concat())
    }

    fn item(&self, id: &Value) -> Result<&Value, Unknown> {
        item(self.names.crate_, id)
    }

    /// What stands behind the name of a struct without named fields.
    fn shape(&self, kind: &Value) -> Result<String, Unknown> {
        let Some(fields) = kind["tuple"].as_array() else {
            let hidden = kind["plain"]["has_stripped_fields"] == true;
            return Ok(if hidden { " { .. }".to_owned() } else { String::new() });
        };
        let field = |id: &Value| match id {
            Value::Null => Ok("_".to_owned()),
            id => {
                Ok(format!("pub {}", self.names.type_(&self.item(id)?["inner"]["struct_field"])?))
            }
        };
        Ok(format!(
            "({})",
            fields.iter().map(field).collect::<Result<Vec<_>, Unknown>>()?.join(", ")
        ))
    }

    /// Lists the fields of a structure or union, or the variants of an enumeration.
    fn parts(&self, kind: &str, inner: &Value) -> Result<Vec<String>, Unknown> {
        let ids = match kind {
            "struct" => &inner["kind"]["plain"]["fields"],
            "union" => &inner["fields"],
            _ => &inner["variants"],
        };
        let ids = ids.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut lines = Vec::new();
        for id in ids {
            let part = self.item(id)?;
            let name = text(&part["name"])?;
            let before = attributes(part)?;
            if kind != "enum" {
                let of = self.names.type_(&part["inner"]["struct_field"])?;
                lines.push(indented(1, &format!("{before}pub {name}: {of}")));
                continue;
            }
            let variant = &part["inner"]["variant"];
            let number = variant["discriminant"]["value"].as_str();
            let number = number.map(|number| format!(" = {number}")).unwrap_or_default();
            let shape = self.shape(&variant["kind"])?.replace("pub ", "");
            lines.push(indented(1, &format!("{before}{name}{shape}{number}")));
            for id in variant["kind"]["struct"]["fields"].as_array().into_iter().flatten() {
                let field = self.item(id)?;
                let of = self.names.type_(&field["inner"]["struct_field"])?;
                lines.push(indented(2, &format!("{}: {of}", text(&field["name"])?)));
            }
        }
        Ok(lines)
    }

    /// A function, named `name`, without `pub`.
    fn function(&self, name: &str, function: &Value) -> Result<String, Unknown> {
        let generics = &function["generics"];
        let inputs = self.names.each(&function["sig"]["inputs"], ", ", |names, input| {
            let (name, of) = (text(&input[0])?, names.type_(&input[1])?);
            Ok(match (name, &*of) {
                ("self", "Self") => "self".to_owned(),
                ("self", "&Self") => "&self".to_owned(),
                ("self", "&mut Self") => "&mut self".to_owned(),
                _ => format!("{name}: {of}"),
            })
        })?;
        Ok(format!(
            "{}fn {name}{}({inputs}){}{}",
            header(&function["header"])?,
            self.names.parameters(generics)?,
            self.names.output(&function["sig"]["output"])?,
            self.names.where_(generics)?
        ))
    }

    /// An item of a trait or of an implementation. Those of a trait are as public as it is.
    fn member(&self, member: &Value) -> Result<String, Unknown> {
        let (kind, inner) = kind(member)?;
        let name = text(&member["name"])?;
        let public = if member["visibility"] == "public" { "pub " } else { "" };
        let line = match kind {
            "function" => {
                let provided = if inner["has_body"] == true { " { .. }" } else { "" };
                format!("{public}{}{provided}", self.function(name, inner)?)
            }
            "assoc_const" => {
                let provided = if inner["value"].is_null() { "" } else { " = .." };
                format!("{public}const {name}: {}{provided}", self.names.type_(&inner["type"])?)
            }
            "assoc_type" => {
                let generics = &inner["generics"];
                let bounds = self.names.bounds(&inner["bounds"])?;
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let of = match &inner["type"] {
                    Value::Null => String::new(),
                    of => format!(" = {}", self.names.type_(of)?),
                };
                let (parameters, clauses) =
                    (self.names.parameters(generics)?, self.names.where_(generics)?);
                format!("type {name}{parameters}{bounds}{of}{clauses}")
            }
            _ => return Err(unknown(member)),
        };
        Ok(attributes(member)? + &line)
    }

    /// The implementations of a type: its own functions, and the traits that it has.
    fn implementations(&self, ids: &Value) -> Result<Vec<String>, Unknown> {
        let mut blocks = Vec::new();
        for id in array(ids)? {
            let inner = &self.item(id)?["inner"]["impl"];
            if !inner["blanket_impl"].is_null() {
                continue;
            }
            if inner["trait"].is_null() {
                blocks.extend(self.own_functions(inner)?);
            } else if self.is_seen(inner)? {
                blocks.push(self.trait_of(inner)?);
            }
        }
        blocks.sort();
        Ok(blocks)
    }

    fn is_seen(&self, implementation: &Value) -> Result<bool, Unknown> {
        let name = text(&implementation["trait"]["path"])?;
        let name = name.rsplit("::").next().unwrap_or(name);
        let is_auto = implementation["is_synthetic"] == true;
        Ok(!UNSEEN_TRAITS.contains(&name) && (!is_auto || SEEN_AUTO_TRAITS.contains(&name)))
    }

    fn heading(&self, implementation: &Value) -> Result<String, Unknown> {
        let generics = &implementation["generics"];
        let negative = word(implementation, "is_negative", "!")?;
        let of = match &implementation["trait"] {
            Value::Null => String::new(),
            of => format!("{negative}{} for ", self.names.path(of)?),
        };
        let for_ = self.names.type_(&implementation["for"])?;
        let unsafe_ = word(implementation, "is_unsafe", "unsafe ")?;
        let (parameters, clauses) =
            (self.names.parameters(generics)?, self.names.where_(generics)?);
        Ok(format!("{unsafe_}impl{parameters} {of}{for_}{clauses}"))
    }

    /// The public items of an `impl` without a trait, below its heading.
    fn own_functions(&self, implementation: &Value) -> Result<Option<String>, Unknown> {
        let mut lines = Vec::new();
        for id in array(&implementation["items"])? {
            // What is not public is not in the index.
            if let Ok(member) = self.item(id)
                && member["visibility"] == "public"
            {
                let member = self.member(member)?;
                lines.push(indented(2, member.trim_end_matches(" { .. }")));
            }
        }
        lines.sort();
        let heading = indented(1, &self.heading(implementation)?);
        Ok((!lines.is_empty()).then(|| heading + &lines.concat()))
    }

    /// A trait of a type, with the types that it is implemented with.
    fn trait_of(&self, implementation: &Value) -> Result<String, Unknown> {
        let mut block = indented(1, &self.heading(implementation)?);
        for id in array(&implementation["items"])? {
            let member = self.item(id)?;
            if kind(member)?.0 == "assoc_type" {
                block.push_str(&indented(2, &self.member(member)?));
            }
        }
        Ok(block)
    }
}

fn indented(depth: usize, line: &str) -> String {
    format!("{:width$}{line}\n", "", width = depth * 4)
}

/// The attributes of an item that its users have to do with, with a space behind each.
fn attributes(item: &Value) -> Result<String, Unknown> {
    let mut before = String::new();
    for attribute in array(&item["attrs"])? {
        if attribute == "non_exhaustive" {
            before.push_str("#[non_exhaustive] ");
        } else if !attribute["must_use"].is_null() {
            before.push_str("#[must_use] ");
        } else if let Some(repr) = attribute["repr"].as_object() {
            let kind = text(&repr["kind"])?;
            let mut parts = if kind == "rust" { Vec::new() } else { vec![kind.to_owned()] };
            for part in ["align", "packed", "int"] {
                match &repr[part] {
                    Value::Null => {}
                    Value::String(int) => parts.push(int.clone()),
                    number => parts.push(format!("{part}({number})")),
                }
            }
            before.push_str(&format!("#[repr({})] ", parts.join(", ")));
        }
    }
    if !item["deprecation"].is_null() {
        before.push_str("#[deprecated] ");
    }
    Ok(before)
}

#[cfg(test)]
mod tests;
