//! The intervals of a series over time, by name and as SQL.

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
}
