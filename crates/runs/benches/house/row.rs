use serde::Serialize;

use crate::Error;

/// One row of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    figure: &'static str,
    what: String,
    unit: &'static str,
    median: f64,
    low: f64,
    high: f64,
    samples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    how: String,
}

/// What the median shall be.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    /// The median of `samples`, with the lowest and the highest.
    pub(crate) fn of(
        figure: &'static str,
        what: impl Into<String>,
        unit: &'static str,
        samples: impl IntoIterator<Item = f64>,
    ) -> Self {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(at(middle.saturating_sub(1)), at(middle))
        } else {
            at(middle)
        };
        Self {
            figure,
            what: what.into(),
            unit,
            median,
            low: at(0),
            high: at(sorted.len().saturating_sub(1)),
            samples: sorted.len(),
            target: None,
            how: String::new(),
        }
    }

    pub(crate) fn at_most(self, target: f64) -> Self {
        Self { target: Some(Target::AtMost(target)), ..self }
    }

    pub(crate) fn at_least(self, target: f64) -> Self {
        Self { target: Some(Target::AtLeast(target)), ..self }
    }

    pub(crate) fn how(self, how: impl Into<String>) -> Self {
        Self { how: how.into(), ..self }
    }

    /// Prints it as a line of JSON.
    pub(crate) fn print(&self) -> Result<(), Error> {
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}
