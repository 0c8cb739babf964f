//! Converts UTC times, which the APIs of Congress.gov and Regulations.gov use, to days in
//! Washington.

use josh::catalog::wording;
use time::{Date, Duration, Month};

use super::dates::{checked, iso};

/// The day of a time in Washington. Midnight there is 4:00Z in summer and 5:00Z in winter. 4:00Z
/// sharp is midnight all year: some files disregard the clock change.
pub fn day(moment: &str) -> Option<String> {
    let sharp = moment.get(11..19) == Some("04:00:00");
    let winter = !sharp && iso(moment).is_some_and(|date| is_standard_time(&date));
    local_day(moment, if winter { 5 } else { 4 })
}

/// Whether the clocks show standard time in the night before this day: from the first Sunday of
/// November to the second of March.
fn is_standard_time(date: &str) -> bool {
    let Some(day) = wording::day(date) else { return false };
    let sunday = |month: Month, weeks: i64| {
        let first = Date::from_calendar_date(day.year(), month, 1).ok()?;
        let ahead = (7 - i64::from(first.weekday().number_days_from_sunday())) % 7;
        first.checked_add(Duration::days(ahead + 7 * weeks))
    };
    let (start, end) = (sunday(Month::March, 1), sunday(Month::November, 0));
    // The clocks change at 2:00, so the night before the Sunday still has the old time.
    start.zip(end).is_some_and(|(start, end)| day <= start || day > end)
}

/// A day that an API writes as a time: midnight in the time zone of whoever entered it, from UTC
/// (`00:00:00Z`, 52 of 15,927 posted dates) over Washington to Hawaii (`10:00:00Z`), all of which
/// is the same date in UTC. Only a time within an hour is a moment.
pub fn entered_day(moment: &str) -> Option<String> {
    let is_hour = moment.trim().get(13..19).is_some_and(|rest| rest == ":00:00");
    if is_hour { iso(moment) } else { day(moment) }
}

/// The last day of a period that ends at this time: a minute before midnight is 3:59Z in summer
/// and 4:59Z in winter.
pub fn last_day(moment: &str) -> Option<String> {
    local_day(moment, 5)
}

fn local_day(moment: &str, midnight: u8) -> Option<String> {
    let date = iso(moment)?;
    let in_utc = moment.trim().ends_with('Z');
    let hour: Option<u8> = moment.trim().get(11..13).and_then(|h| h.parse().ok());
    if in_utc && hour.is_some_and(|h| h < midnight) { day_before(&date) } else { Some(date) }
}

fn day_before(date: &str) -> Option<String> {
    let number =
        |range: std::ops::Range<usize>| date.get(range).and_then(|s| s.parse::<i64>().ok());
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if day > 1 {
        return checked(year, month, day - 1);
    }
    let (year, month) = if month > 1 { (year, month - 1) } else { (year - 1, 12) };
    (28..=31).rev().find_map(|last| checked(year, month, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of regulations.gov and of CRS reports, all of which name a day.
    #[test]
    fn a_whole_hour_is_the_day_that_was_entered() {
        for time in ["00:00:00Z", "01:00:00Z", "04:00:00Z", "05:00:00Z", "10:00:00Z"] {
            assert_eq!(entered_day(&format!("2021-05-25T{time}")).as_deref(), Some("2021-05-25"));
        }
        assert_eq!(entered_day("2021-05-25T01:46:00Z").as_deref(), Some("2021-05-24"));
        assert_eq!(entered_day("2021-05-25").as_deref(), Some("2021-05-25"));
    }

    #[test]
    fn utc_is_ahead_of_washington() {
        assert_eq!(day("2024-07-01T04:00:00Z").as_deref(), Some("2024-07-01"));
        assert_eq!(day("2024-03-01T01:30:00Z").as_deref(), Some("2024-02-29"));
        assert_eq!(last_day("2025-01-01T04:59:59Z").as_deref(), Some("2024-12-31"));
        assert_eq!(day("2025-12-11T04:39:06Z").as_deref(), Some("2025-12-10"));
        assert_eq!(day("2025-12-11T04:00:00Z").as_deref(), Some("2025-12-11"));
        assert_eq!(day("2025-06-11T04:39:06Z").as_deref(), Some("2025-06-11"));
        // The clocks changed on 9 March and 2 November 2025.
        assert_eq!(day("2025-03-09T04:30:00Z").as_deref(), Some("2025-03-08"));
        assert_eq!(day("2025-03-10T04:30:00Z").as_deref(), Some("2025-03-10"));
        assert_eq!(day("2025-11-02T04:30:00Z").as_deref(), Some("2025-11-02"));
        assert_eq!(day("2025-11-03T04:30:00Z").as_deref(), Some("2025-11-02"));
        assert_eq!(day("2024-07-01").as_deref(), Some("2024-07-01"));
        assert_eq!(day("2024-07-01T00:10:00-04:00").as_deref(), Some("2024-07-01"));
    }
}
