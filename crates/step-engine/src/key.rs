use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

/// Names one piece of work inside one run, for instance `stage-plan:2`. Chosen by the machine from its own
/// state, never reused.
///
/// Numbers under one name should be dense: the engine remembers which ones are finished as ranges.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectKey {
    name: SmolStr,
    number: u32,
}

impl EffectKey {
    /// The piece of work number `number` of those called `name`.
    pub fn new(name: impl Into<SmolStr>, number: u32) -> Self {
        Self { name: name.into(), number }
    }

    /// What sort of work it is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which one of its sort.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.number)
    }
}

/// The text does not have the form `name:number`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an effect key of the form name:number: {0:?}")]
pub struct ParseKeyError(String);

impl FromStr for EffectKey {
    type Err = ParseKeyError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.rsplit_once(':')
            .and_then(|(name, number)| Some(Self::new(name, number.parse().ok()?)))
            .ok_or_else(|| ParseKeyError(text.into()))
    }
}

impl Serialize for EffectKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EffectKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is in flight in a run: effects and children with a start record and no end record.
///
/// Folded from the journal, so that `next` stays a function of saved state alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open(BTreeMap<EffectKey, u32>);

impl Open {
    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the work `key` is in flight.
    pub fn contains(&self, key: &EffectKey) -> bool {
        self.0.contains_key(key)
    }

    /// The attempt in flight, counted from 1.
    pub fn attempt(&self, key: &EffectKey) -> Option<u32> {
        self.0.get(key).copied()
    }

    /// The keys in flight, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &EffectKey> {
        self.0.keys()
    }

    pub(crate) fn insert(&mut self, key: EffectKey, attempt: u32) {
        self.0.insert(key, attempt);
    }

    pub(crate) fn remove(&mut self, key: &EffectKey) -> Option<u32> {
        self.0.remove(key)
    }
}

impl FromIterator<EffectKey> for Open {
    /// First attempts, for tests of machines.
    fn from_iter<I: IntoIterator<Item = EffectKey>>(keys: I) -> Self {
        Self(keys.into_iter().map(|key| (key, 1)).collect())
    }
}

/// The keys that are finished, as closed ranges of numbers by name: bounded by how scattered they are,
/// not by how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finished(BTreeMap<SmolStr, Vec<(u32, u32)>>);

impl Finished {
    pub(crate) fn contains(&self, key: &EffectKey) -> bool {
        self.0.get(&key.name).is_some_and(|ranges| {
            let at = ranges.partition_point(|range| range.1 < key.number);
            ranges.get(at).is_some_and(|range| range.0 <= key.number)
        })
    }

    pub(crate) fn insert(&mut self, key: &EffectKey) {
        let (ranges, number) = (self.0.entry(key.name.clone()).or_default(), key.number);
        let at = ranges.partition_point(|range| range.1 < number);
        if ranges.get(at).is_some_and(|range| range.0 <= number) {
            return;
        }
        let joins_left = at > 0 && ranges[at - 1].1.checked_add(1) == Some(number);
        let joins_right = ranges.get(at).is_some_and(|range| number.checked_add(1) == Some(range.0));
        match (joins_left, joins_right) {
            (true, true) => {
                ranges[at - 1].1 = ranges[at].1;
                ranges.remove(at);
            }
            (true, false) => ranges[at - 1].1 = number,
            (false, true) => ranges[at].0 = number,
            (false, false) => ranges.insert(at, (number, number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Would fail if joining ranges lost or invented a finished key: a finished effect would run again.
        #[test]
        fn finished_is_a_set(numbers in prop::collection::vec(0u32..40, 0..60)) {
            let mut finished = Finished::default();
            for number in &numbers {
                finished.insert(&EffectKey::new("a", *number));
            }
            for number in 0..40 {
                prop_assert_eq!(finished.contains(&EffectKey::new("a", number)), numbers.contains(&number));
                prop_assert!(!finished.contains(&EffectKey::new("b", number)));
            }
            let ranges = finished.0.get("a").map_or(0, Vec::len);
            let mut sorted = numbers; sorted.sort_unstable(); sorted.dedup();
            let gaps = sorted.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
            prop_assert_eq!(ranges, if sorted.is_empty() { 0 } else { gaps + 1 });
        }

        #[test]
        fn keys_read_back(name in "[a-z:#]{1,12}", number: u32) {
            let key = EffectKey::new(name, number);
            prop_assert_eq!(key.to_string().parse::<EffectKey>(), Ok(key));
        }
    }
}
