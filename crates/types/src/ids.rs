use std::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Takes the next id from `ids`.
            pub fn fresh(ids: &dyn Ids) -> Self {
                Self(ids.next())
            }

            /// The UUID itself.
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::from_str(text).map(Self)
            }
        }
    };
}

uuid_id! {
    /// Names a tree: a root run with all its child runs. To a person this is *the run*.
    TreeId
}
uuid_id! {
    /// Names one command; a command posted twice under one id takes effect once.
    CommandId
}

macro_rules! name_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(SmolStr);

        impl $name {
            /// The characters.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<SmolStr>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_id! {
    /// Names a tool call inside one run. Ours, not the provider's: unique whatever the provider sends.
    CallId
}
name_id! {
    /// Names a member of a group, or an agent on its own. Stable, in any script.
    MemberId
}

/// A source of fresh ids. Handed in, so that tests are stable.
pub trait Ids: Send + Sync + 'static {
    /// An id that was never given before.
    fn next(&self) -> Uuid;
}

/// UUID version 7: unique everywhere, sorted by time of creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "the one place where ids are drawn")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// 1, 2, 3, … : for tests and examples that print ids.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl Ids for SequentialIds {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1))
    }
}
