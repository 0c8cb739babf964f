//! The intervals of a series over time, by name, as SQL and on the calendar.

use time::{Date, Duration, Month};

/// The width of a time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Interval {
    pub const NAMES: [(&'static str, Interval); 5] = [
        ("day", Interval::Day),
        ("week", Interval::Week),
        ("month", Interval::Month),
        ("quarter", Interval::Quarter),
        ("year", Interval::Year),
    ];

    /// As DuckDB's `date_trunc` names it.
    pub fn name(self) -> &'static str {
        Interval::NAMES.iter().find(|(_, interval)| *interval == self).map_or("", |(name, _)| name)
    }

    /// The step from one bucket to the next in SQL.
    pub const fn step(self) -> &'static str {
        match self {
            Interval::Day => "INTERVAL 1 DAY",
            Interval::Week => "INTERVAL 7 DAY",
            Interval::Month => "INTERVAL 1 MONTH",
            Interval::Quarter => "INTERVAL 3 MONTH",
            Interval::Year => "INTERVAL 1 YEAR",
        }
    }

    /// The first day of the interval that a day lies in.
    pub(super) fn start(self, day: Date) -> Date {
        let month = |month: u8| {
            let first = Month::try_from(month).ok();
            first.and_then(|month| Date::from_calendar_date(day.year(), month, 1).ok())
        };
        let month_of = u8::from(day.month());
        match self {
            Interval::Day => Some(day),
            Interval::Week => {
                day.checked_sub(Duration::days(day.weekday().number_days_from_monday().into()))
            }
            Interval::Month => month(month_of),
            Interval::Quarter => month((month_of - 1) / 3 * 3 + 1),
            Interval::Year => month(1),
        }
        .unwrap_or(day)
    }

    /// The first day of the interval after the one that begins on this day.
    pub(super) fn next(self, start: Date) -> Option<Date> {
        let after = |months: u8| {
            let at = u8::from(start.month()) - 1 + months;
            let month = Month::try_from(at % 12 + 1).ok()?;
            Date::from_calendar_date(start.year() + i32::from(at / 12), month, 1).ok()
        };
        match self {
            Interval::Day => start.next_day(),
            Interval::Week => start.checked_add(Duration::days(7)),
            Interval::Month => after(1),
            Interval::Quarter => after(3),
            Interval::Year => after(12),
        }
    }

    /// The first days of all intervals, from the one that begins on `first` to the one that begins
    /// on `last`.
    pub(super) fn starts(self, first: Date, last: Date) -> impl Iterator<Item = Date> {
        let next = move |start: &Date| self.next(*start);
        std::iter::successors(Some(first), next).take_while(move |start| *start <= last)
    }

    /// The number of the interval that a day lies in, counted from any one on.
    pub(super) fn number(self, day: Date) -> i64 {
        let (year, month) = (i64::from(day.year()), i64::from(u8::from(day.month())) - 1);
        match self {
            Interval::Day => day.to_julian_day().into(),
            Interval::Week => i64::from(self.start(day).to_julian_day()).div_euclid(7),
            Interval::Month => year * 12 + month,
            Interval::Quarter => year * 4 + month / 3,
            Interval::Year => year,
        }
    }
}
