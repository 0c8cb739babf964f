//! Calendar days, and the windows for which an address is requested: every congress, year, quarter,
//! month or day of a date range.

use josh::catalog::wording;
use time::{Date, Duration, Month, OffsetDateTime};

use crate::formats::dates;

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// The first day of a month.
    fn first_of(year: i64, month: i64) -> Day {
        let month = Month::try_from(month as u8).unwrap_or(Month::January);
        Day(Date::from_calendar_date(year as i32, month, 1).unwrap_or(Date::MAX))
    }

    /// Parses a date in any format that `dates::iso` accepts.
    pub fn parse(text: &str) -> Option<Day> {
        wording::day(&dates::iso(text)?).map(Day)
    }

    pub fn today() -> Day {
        Day(OffsetDateTime::now_utc().date())
    }

    pub fn plus(self, days: i64) -> Day {
        Day(self.0.saturating_add(Duration::days(days)))
    }

    fn year_and_month(self) -> (i64, i64) {
        (self.0.year().into(), u8::from(self.0.month()).into())
    }

    pub fn year(self) -> i64 {
        self.0.year().into()
    }

    fn congress(self) -> i64 {
        wording::congress_on(&self.to_string()).unwrap_or_default()
    }

    /// The first day of the congress in session on this day.
    pub fn start_of_congress(self) -> Day {
        start_of(self.congress())
    }
}

/// The third of January on which a congress starts.
fn start_of(congress: i64) -> Day {
    Day::first_of(congress * 2 + 1787, 1).plus(2)
}

/// The current time in UTC, "2025-01-31T12:00:00Z".
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let (hour, minute, second) = now.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", now.date())
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The period of an address: that of its shortest placeholder.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Day,
    Month,
    Quarter,
    Year,
    Congress,
    Whole,
}

impl Unit {
    fn of(address: &str) -> Unit {
        let has = |name: &str| address.contains(name);
        match () {
            _ if has("{day}") => Unit::Day,
            _ if has("{month}") => Unit::Month,
            _ if has("{quarter}") => Unit::Quarter,
            _ if has("{year}") || has("{session}") => Unit::Year,
            _ if has("{congress}") => Unit::Congress,
            _ => Unit::Whole,
        }
    }

    /// The first day of the period that contains this day, and the first day of the next one.
    fn around(self, day: Day) -> (Day, Day) {
        let (year, month) = day.year_and_month();
        let months = |first: i64, count: i64| {
            let next = first + count;
            (Day::first_of(year, first), Day::first_of(year + next / 13, (next - 1) % 12 + 1))
        };
        match self {
            Unit::Day => (day, day.plus(1)),
            Unit::Month => months(month, 1),
            Unit::Quarter => months((month - 1) / 3 * 3 + 1, 3),
            Unit::Year => (Day::first_of(year, 1), Day::first_of(year + 1, 1)),
            Unit::Congress | Unit::Whole => (day.start_of_congress(), start_of(day.congress() + 1)),
        }
    }
}

/// One period for which an address is requested.
#[derive(Clone, Debug)]
pub struct Window {
    pub first: Day,
    pub last: Day,
    since: Day,
    /// "2025-01-03", "2025-01", "2025Q1", "2025", "119"; empty for an address without a period.
    pub name: String,
}

impl Window {
    /// The windows of an address, oldest first.
    pub fn all(address: &str, since: Day, until: Day) -> Vec<Window> {
        let unit = Unit::of(address);
        if unit == Unit::Whole {
            return vec![Window { first: since, last: until, since, name: String::new() }];
        }
        let mut windows = Vec::new();
        let mut day = since;
        while day <= until {
            let (first, next) = unit.around(day);
            let (year, month) = first.year_and_month();
            let name = match unit {
                Unit::Day => first.to_string(),
                Unit::Month => format!("{year}-{month:02}"),
                Unit::Quarter => format!("{year}Q{}", (month + 2) / 3),
                Unit::Year => year.to_string(),
                Unit::Congress | Unit::Whole => first.congress().to_string(),
            };
            windows.push(Window { first, last: next.plus(-1), since, name });
            day = next;
        }
        windows
    }

    /// Fills in the placeholders of a pattern. A year belongs to the congress in session for most
    /// of it.
    pub fn fill(&self, pattern: &str) -> String {
        let (year, month) = self.first.year_and_month();
        let values = [
            ("{since}", self.since.to_string()),
            ("{until}", self.last.to_string()),
            ("{day}", self.first.to_string()),
            ("{next_day}", self.first.plus(1).to_string()),
            ("{month}", format!("{month:02}")),
            ("{quarter}", ((month + 2) / 3).to_string()),
            ("{year}", year.to_string()),
            ("{session}", (2 - self.last.year() % 2).to_string()),
            ("{congress}", self.last.congress().to_string()),
        ];
        values.iter().fold(pattern.to_string(), |text, (name, value)| text.replace(name, value))
    }

    /// Whether a day belongs to it.
    pub fn contains(&self, day: Day) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// Whether it includes a part of this year.
    pub fn includes_year(&self, year: i64) -> bool {
        (self.first.year()..=self.last.year()).contains(&year)
    }

    /// Whether the publisher may not have published anything for it yet. The slowest, the House's
    /// accounts, appear two months after their quarter.
    pub fn is_recent(&self, today: Day) -> bool {
        !self.name.is_empty() && self.first.plus(180) > today
    }

    /// Whether its content no longer changes.
    pub fn is_settled(&self, today: Day) -> bool {
        self.last.plus(7) < today && !self.name.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).expect("a day")
    }

    fn filled(address: &str, since: &str, until: &str) -> Vec<String> {
        Window::all(address, day(since), day(until)).iter().map(|w| w.fill(address)).collect()
    }

    #[test]
    fn days_round_trip_and_know_their_congress() {
        for text in ["1970-01-01", "2000-02-29", "2024-12-31", "2025-03-01", "1999-12-31"] {
            assert_eq!(day(text).to_string(), text);
        }
        assert_eq!(day("2024-02-28").plus(2), day("2024-03-01"));
        assert_eq!(day("2026-11-17").start_of_congress(), day("2025-01-03"));
    }

    #[test]
    fn an_address_has_one_window_per_period() {
        assert_eq!(
            filled("d/{day}-{next_day}", "2024-12-31", "2025-01-01"),
            ["d/2024-12-31-2025-01-01", "d/2025-01-01-2025-01-02"]
        );
        assert_eq!(filled("{year}/{month}", "2024-12-15", "2025-01-02"), ["2024/12", "2025/01"]);
        assert_eq!(
            filled("{year}Q{quarter}", "2024-11-15", "2025-04-02"),
            ["2024Q4", "2025Q1", "2025Q2"]
        );
        assert_eq!(
            filled("{congress}_{session}", "2024-06-01", "2026-02-01"),
            ["118_2", "119_1", "119_2"]
        );
        assert_eq!(filled("{congress}", "2025-01-03", "2026-11-17"), ["119"]);
        assert_eq!(filled("all", "2025-01-03", "2026-11-17"), ["all"]);
    }

    #[test]
    fn a_period_is_recent_then_settled() {
        let quarter = &Window::all("{year}Q{quarter}", day("2025-01-03"), day("2025-01-03"))[0];
        assert!(quarter.is_recent(day("2025-05-30")) && !quarter.is_recent(day("2025-07-30")));
        assert!(!quarter.is_settled(day("2025-04-07")) && quarter.is_settled(day("2025-04-08")));
        let all = &Window::all("all", day("2025-01-03"), day("2025-01-03"))[0];
        assert!(!all.is_recent(day("2025-01-03")) && !all.is_settled(day("2027-01-03")));
    }
}
