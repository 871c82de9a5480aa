//! The moment of a view in the zone of its user.

use jiff::{ZonedDateTime, civil::Weekday, tz::TimeZone};
use minijinja::Value;

use crate::{Language, View};

/// A moment in a zone, ready to be written.
pub(crate) struct LocalTime {
    zoned: ZonedDateTime,
    zone: String,
    /// Whether the view's zone is unknown, and UTC stands in for it.
    pub(crate) fallback: bool,
}

impl LocalTime {
    pub(crate) fn of(view: &View) -> Self {
        let found = TimeZone::get(&view.zone).ok();
        let fallback = found.is_none();
        let zone = if fallback { "UTC".to_owned() } else { view.zone.to_string() };
        let moment =
            jiff::Timestamp::from_millisecond(view.now.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self { zoned: moment.to_zoned_datetime(found.unwrap_or(TimeZone::UTC)), zone, fallback }
    }

    /// The zone in use, an IANA name.
    pub(crate) fn zone(&self) -> &str {
        &self.zone
    }

    /// The date for people: `Wednesday, 1 April 2026`.
    pub(crate) fn date_in_words(&self, language: Language) -> String {
        let (year, month, day) = (self.zoned.year(), self.zoned.month(), self.zoned.day());
        let (en, zh) = weekday(self.zoned.weekday());
        match language {
            Language::En => {
                format!("{en}, {day} {} {year}", MONTHS[usize::from(month.unsigned_abs() - 1) % 12])
            }
            Language::Zh => format!("{year}年{month}月{day}日，{zh}"),
        }
    }

    /// The values of the placeholders that tell the time.
    pub(crate) fn values(&self) -> Vec<(String, Value)> {
        let z = &self.zoned;
        [
            ("date", format!("{:04}-{:02}-{:02}", z.year(), z.month(), z.day())),
            ("time", format!("{:02}:{:02}", z.hour(), z.minute())),
            ("year", format!("{:04}", z.year())),
            ("month", format!("{:02}", z.month())),
            ("day", format!("{:02}", z.day())),
            ("hour", format!("{:02}", z.hour())),
            ("minute", format!("{:02}", z.minute())),
            ("second", format!("{:02}", z.second())),
            ("weekday", weekday(z.weekday()).0.to_owned()),
            ("timezone", self.zone.clone()),
            ("iso", z.timestamp().display_with_offset(z.offset()).to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into()
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn weekday(day: Weekday) -> (&'static str, &'static str) {
    match day {
        Weekday::Monday => ("Monday", "星期一"),
        Weekday::Tuesday => ("Tuesday", "星期二"),
        Weekday::Wednesday => ("Wednesday", "星期三"),
        Weekday::Thursday => ("Thursday", "星期四"),
        Weekday::Friday => ("Friday", "星期五"),
        Weekday::Saturday => ("Saturday", "星期六"),
        Weekday::Sunday => ("Sunday", "星期日"),
    }
}
