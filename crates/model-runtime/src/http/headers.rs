use std::time::Duration;

use reqwest::header::HeaderMap;
use smol_str::SmolStr;

/// The provider's name for the request.
pub(super) fn request_id(headers: &HeaderMap) -> Option<SmolStr> {
    ["x-request-id", "request-id"].iter().find_map(|name| text(headers, name)).map(SmolStr::from)
}

/// The wait a provider asks for: `retry-after-ms`, or `retry-after` as seconds or as a date (RFC 9110,
/// section 10.2.3), which is measured against the answer's own `date`: clocks differ.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(wait) = text(headers, "retry-after-ms").and_then(|text| text.parse().ok()) {
        return seconds(wait).map(|wait| wait / 1000);
    }
    let asked = text(headers, "retry-after")?;
    if let Ok(wait) = asked.parse() {
        return seconds(wait);
    }
    let (until, now) = (date(asked)?, date(text(headers, "date")?)?);
    Some(Duration::from_secs(u64::try_from(until.saturating_sub(now)).unwrap_or_default()))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// A year at most: longer is nonsense and would overflow elsewhere.
fn seconds(wait: f64) -> Option<Duration> {
    (0.0..=31_536_000.0).contains(&wait).then(|| Duration::from_secs_f64(wait))
}

/// Seconds since 1970 of an HTTP date in its one living form, `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<i64> {
    let rest = text.split_once(", ")?.1.strip_suffix(" GMT")?;
    let mut words = rest.split(' ');
    let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let day: i64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: i64 = year.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = i64::try_from(months.iter().position(|name| *name == month)?).ok()? + 1;
    let mut clock =
        time.splitn(3, ':').map(|part| part.parse::<i64>().ok().filter(|part| (0..=60).contains(part)));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days by the civil calendar, years beginning in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("printable"))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn every_form_of_retry_after_is_understood() {
        let check = |pairs: &[(&'static str, &str)], expected: Option<u64>| {
            assert_eq!(retry_after(&headers(pairs)), expected.map(Duration::from_millis), "{pairs:?}");
        };
        let now = ("date", "Thu, 29 Feb 2024 23:59:50 GMT");
        check(&[("retry-after", "2")], Some(2_000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after-ms", "120"), ("retry-after", "9")], Some(120));
        check(&[("retry-after", "Fri, 01 Mar 2024 00:00:05 GMT"), now], Some(15_000));
        check(&[("retry-after", "Thu, 29 Feb 2024 00:00:00 GMT"), now], Some(0));
        check(&[("retry-after", "Fri, 01 Mar 2024 00:00:05 GMT")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "NaN")], None);
        check(&[], None);
    }

    #[test]
    fn dates_count_from_1970() {
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(date("Sunday, 06-Nov-94 08:49:37 GMT"), None);
    }
}
