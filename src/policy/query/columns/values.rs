//! The values of a column by what is in them.

use super::Table;
use crate::api::{Context, Result};
use crate::catalog::Field;

impl Table<'_> {
    /// The values that have all of these words somewhere in them, the most frequent first. Nothing
    /// where the column can't tell.
    pub fn values_with(
        &self,
        context: &Context,
        field: &Field,
        words: &[String],
        most: usize,
    ) -> Result<Option<Vec<String>>> {
        // How often a value is in one list is not known.
        let Some(column) = self.column(field.name).filter(|column| !column.has_repeats) else {
            return Ok(None);
        };
        context.check()?;
        let has_words = |code: &u32| {
            column.folded(*code).is_some_and(|text| words.iter().all(|w| text.contains(w.as_str())))
        };
        let mut found: Vec<u32> = (1..=column.values).filter(has_words).collect();
        // Codes are in the order of the values.
        found.sort_by_key(|code| (std::cmp::Reverse(column.count(*code)), *code));
        let texts = found.into_iter().take(most).filter_map(|code| column.text(code));
        Ok(Some(texts.map(str::to_string).collect()))
    }
}
