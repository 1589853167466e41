//! The package's text table: each text once, the first empty.

use std::collections::HashMap;

use super::PackageError;

/// Texts in order of first use, for the writer.
pub(super) struct Interner<'a> {
    texts: Vec<&'a str>,
    index: HashMap<&'a str, u32>,
}

impl<'a> Interner<'a> {
    pub(super) fn new() -> Self {
        Self {
            texts: vec![""],
            index: HashMap::from([("", 0)]),
        }
    }

    /// The index of a text, added where it is new.
    pub(super) fn id(&mut self, text: &'a str) -> u32 {
        let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        *self.index.entry(text).or_insert_with(|| {
            self.texts.push(text);
            next
        })
    }

    /// The ids of many texts as column items.
    pub(super) fn ids(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Vec<i64> {
        texts
            .into_iter()
            .map(|text| i64::from(self.id(text)))
            .collect()
    }

    pub(super) fn texts(&self) -> &[&'a str] {
        &self.texts
    }
}

/// Texts by index, for the reader.
pub(super) struct Texts(pub(super) Vec<String>);

impl Texts {
    pub(super) fn get(&self, id: u32) -> Result<String, PackageError> {
        self.0
            .get(id as usize)
            .cloned()
            .ok_or_else(|| PackageError::Malformed {
                what: format!("text {id} of {}", self.0.len()),
            })
    }
}
