use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const CHUNK: usize = 64;

/// An append-only list that is cheap to clone however long it is.
///
/// Full chunks of 64 are shared between clones; only the last, unfinished chunk is copied when a clone
/// and its source part ways. A clone costs two reference counts, a push amortised O(1).
///
/// ```
/// use thermidor_types::Chunked;
/// let mut history: Chunked<u32> = (0..100).collect();
/// let before = history.clone();
/// history.push(100);
/// assert_eq!((before.len(), history.len()), (100, 101));
/// assert_eq!(history.iter().rev().next(), Some(&100));
/// ```
#[derive(Clone, Debug)]
pub struct Chunked<T> {
    full: Arc<Vec<Arc<[T]>>>,
    tail: Arc<Vec<T>>,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self { full: Arc::default(), tail: Arc::default() }
    }
}

impl<T: Clone> Chunked<T> {
    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        let tail = Arc::make_mut(&mut self.tail);
        tail.push(item);
        if tail.len() == CHUNK {
            let chunk = std::mem::take(tail).into();
            Arc::make_mut(&mut self.full).push(chunk);
        }
    }

    /// Replaces the item at `index`, copying its chunk if it is shared. Returns whether there was one.
    pub fn replace(&mut self, index: usize, item: T) -> bool {
        let (chunk, place) = (index / CHUNK, index % CHUNK);
        if chunk < self.full.len() {
            let mut items = self.full[chunk].to_vec();
            items[place] = item;
            Arc::make_mut(&mut self.full)[chunk] = items.into();
            true
        } else if index < self.len() {
            Arc::make_mut(&mut self.tail)[place] = item;
            true
        } else {
            false
        }
    }
}

impl<T> Chunked<T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.tail.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `index`.
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.full.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK),
            None => self.tail.get(index - self.full.len() * CHUNK),
        }
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.tail.last().or_else(|| self.full.last().and_then(|chunk| chunk.last()))
    }

    /// The items from first to last; walks from either end.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + '_ {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(self.tail.iter())
    }
}

impl<T: Clone> Extend<T> for Chunked<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T: Clone> FromIterator<T> for Chunked<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        list.extend(items);
        list
    }
}

impl<T: PartialEq> PartialEq for Chunked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Chunked<T> {}

impl<T: Serialize> Serialize for Chunked<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.full.iter().flat_map(|chunk| chunk.iter()).chain(self.tail.iter()))
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for Chunked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|items| items.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Would fail if a chunk border lost, doubled or reordered an item, or a clone saw a later change.
        #[test]
        fn behaves_like_a_vector(items in prop::collection::vec(any::<u16>(), 0..400), at in 0usize..400) {
            let list: Chunked<u16> = items.iter().copied().collect();
            let mut changed = list.clone();
            let replaced = changed.replace(at, 7);
            prop_assert_eq!(replaced, at < items.len());
            prop_assert_eq!(list.iter().copied().collect::<Vec<_>>(), items.clone());
            prop_assert_eq!(list.iter().rev().copied().collect::<Vec<_>>(), items.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(list.last(), items.last());
            prop_assert_eq!(list.get(at), items.get(at));
            let mut expected = items;
            if let Some(item) = expected.get_mut(at) { *item = 7; }
            prop_assert_eq!(serde_json::to_string(&changed).ok(), serde_json::to_string(&expected).ok());
        }
    }
}
