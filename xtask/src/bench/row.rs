use serde::{Deserialize, Serialize};

/// One row of the table: a median with the lowest and the highest sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) figure: String,
    pub(crate) what: String,
    pub(crate) unit: String,
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) samples: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
    pub(crate) how: String,
}

/// What the median shall be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    /// The row of these samples, of which there is at least one.
    pub(crate) fn of(figure: &str, what: &str, unit: &str, mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let at = |place: usize| samples.get(place).copied().unwrap_or(f64::NAN);
        Self {
            figure: figure.to_owned(),
            what: what.to_owned(),
            unit: unit.to_owned(),
            median: at(samples.len() / 2),
            low: at(0),
            high: at(samples.len().saturating_sub(1)),
            samples: samples.len(),
            target: None,
            how: String::new(),
        }
    }

    pub(crate) fn at_most(self, target: f64) -> Self {
        Self { target: Some(Target::AtMost(target)), ..self }
    }

    pub(crate) fn how(self, how: impl Into<String>) -> Self {
        Self { how: how.into(), ..self }
    }

    /// Whether the target is met; without one there is nothing to meet.
    pub(crate) fn met(&self) -> Option<bool> {
        self.target.map(|target| match target {
            Target::AtMost(most) => self.median <= most,
            Target::AtLeast(least) => self.median >= least,
        })
    }
}
