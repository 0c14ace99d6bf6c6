//! Names in points.

use serde::{Deserialize, Deserializer, de};

/// A name that is known when the program is built, in a point. To have this type is needed if the point is read:
/// `Deserialize` would take a reference that it sees for one into what it reads from.
pub type Name = &'static str;

/// Reads one of these names, for `#[serde(deserialize_with = "…")]`.
///
/// # Errors
/// If what is read is none of them.
pub fn read_name<'de, D: Deserializer<'de>>(
    from: D,
    names: impl IntoIterator<Item = Name>,
) -> Result<Name, D::Error> {
    let read = String::deserialize(from)?;
    let known = names.into_iter().find(|name| *name == read);
    known.ok_or_else(|| de::Error::custom("no such name"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize};

    use super::{Name, read_name};
    use crate::encoding::{read, write};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Named {
        #[serde(deserialize_with = "one_of_two")]
        name: Name,
    }

    fn one_of_two<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        read_name(from, ["one", "two"])
    }

    #[test]
    fn only_names_that_are_known_are_read() {
        let two = Named { name: "two" };
        assert_eq!(read::<Named>(&write(&two).unwrap()).unwrap(), two);
        assert!(write(&Named { name: "three" }).is_err(), "nobody could read it");
        let other = write(&BTreeMap::from([("name".to_owned(), "three".to_owned())]));
        assert!(read::<Named>(&other.unwrap()).is_err());
    }
}
