use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One way in which a tool touches the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It reads what the caller did not hand it: files, documents, memory.
    Read,
    /// It changes something that stays.
    Write,
    /// It talks to other machines.
    Network,
    /// It runs programs.
    Execute,
    /// It costs money.
    Spend,
}

impl Effect {
    /// All of them.
    pub const EVERY: [Self; 5] = [Self::Read, Self::Write, Self::Network, Self::Execute, Self::Spend];
}

/// The set of ways in which a tool touches the world; approval policies decide by it.
///
/// ```
/// use thermidor_tools::{Effect, Effects};
/// let effects = Effects::from([Effect::Read, Effect::Network]);
/// assert!(effects.contains(Effect::Network) && !effects.contains(Effect::Write));
/// assert_eq!(format!("{effects:?}"), "{Read, Network}");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Effects(u8);

impl Effects {
    /// Touches nothing: computes from its arguments.
    pub const NONE: Self = Self(0);
    /// May do anything: what is assumed of a tool that declares nothing.
    pub const ALL: Self = Self(0b1_1111);

    /// Whether `effect` is in the set.
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & (1 << effect as u8) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The effects in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::EVERY.into_iter().filter(move |effect| self.contains(*effect))
    }
}

impl FromIterator<Effect> for Effects {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        Self(effects.into_iter().fold(0, |set, effect| set | 1 << effect as u8))
    }
}

impl<const N: usize> From<[Effect; N]> for Effects {
    fn from(effects: [Effect; N]) -> Self {
        effects.into_iter().collect()
    }
}

impl From<Effect> for Effects {
    fn from(effect: Effect) -> Self {
        [effect].into()
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Effect>::deserialize(deserializer).map(|effects| effects.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if two effects shared a bit or `ALL` missed one.
    #[test]
    fn all_is_every_effect() {
        assert_eq!(Effects::from(Effect::EVERY), Effects::ALL);
        let text = serde_json::to_string(&Effects::ALL).expect("serialises");
        assert_eq!(text, r#"["read","write","network","execute","spend"]"#);
        assert_eq!(serde_json::from_str::<Effects>(&text).expect("reads back"), Effects::ALL);
    }
}
