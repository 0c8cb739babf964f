//! Days of the calendar, and the windows in which an address is asked for: every congress, year, quarter, month or day
//! from one day to another.

use josh::catalog::wording;

use crate::formats::dates;

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    pub fn of(year: i64, month: i64, day: i64) -> Day {
        // Years that begin in March put the leap day last; 400 of them are 146,097 days.
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Day(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    /// A day as people and files write it.
    pub fn parse(text: &str) -> Option<Day> {
        let iso = dates::iso(text)?;
        Some(Day::of(iso[..4].parse().ok()?, iso[5..7].parse().ok()?, iso[8..10].parse().ok()?))
    }

    pub fn today() -> Day {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Day(now.map_or(0, |t| t.as_secs() as i64 / 86_400))
    }

    pub fn plus(self, days: i64) -> Day {
        Day(self.0 + days)
    }

    fn parts(self) -> (i64, i64, i64) {
        let days = self.0 + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * from_march + 2) / 5 + 1)
    }

    fn year(self) -> i64 {
        self.parts().0
    }

    fn congress(self) -> i64 {
        wording::congress_on(&self.to_string()).unwrap_or_default()
    }

    /// The day on which the congress that sits now first met.
    pub fn start_of_congress(self) -> Day {
        Day::of(self.congress() * 2 + 1787, 1, 3)
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// How finely an address cuts time: by the smallest placeholder in it.
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

    /// The first day of the period that holds this day, and the first of the next.
    fn around(self, day: Day) -> (Day, Day) {
        let (year, month, _) = day.parts();
        let months = |first: i64, count: i64| {
            let next = first + count;
            (Day::of(year, first, 1), if next > 12 { Day::of(year + 1, next - 12, 1) } else { Day::of(year, next, 1) })
        };
        match self {
            Unit::Day => (day, day.plus(1)),
            Unit::Month => months(month, 1),
            Unit::Quarter => months((month - 1) / 3 * 3 + 1, 3),
            Unit::Year => (Day::of(year, 1, 1), Day::of(year + 1, 1, 1)),
            Unit::Congress | Unit::Whole => (day.start_of_congress(), Day::of((day.congress() + 1) * 2 + 1787, 1, 3)),
        }
    }
}

/// One period that an address is asked for.
#[derive(Clone, Debug)]
pub struct Window {
    pub first: Day,
    pub last: Day,
    since: Day,
    /// "2025-01-03", "2025-01", "2025Q1", "2025", "119"; empty for an address without time.
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
            let (year, month, _) = first.parts();
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

    /// A pattern with its placeholders filled. A year counts for the congress that sits in most of it.
    pub fn fill(&self, pattern: &str) -> String {
        let (year, month, _) = self.first.parts();
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

    /// Whether a publisher may not have put up anything for it yet; the slowest, the House's accounts, come two months
    /// after their quarter.
    pub fn is_young(&self, today: Day) -> bool {
        !self.name.is_empty() && self.first.plus(180) > today
    }

    /// Whether what it holds no longer changes.
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
    fn days_go_to_and_fro() {
        for text in ["1970-01-01", "2000-02-29", "2024-12-31", "2025-03-01", "1999-12-31"] {
            assert_eq!(day(text).to_string(), text);
        }
        assert_eq!(day("2024-02-28").plus(2), day("2024-03-01"));
        assert_eq!(day("2026-11-17").start_of_congress(), day("2025-01-03"));
    }

    #[test]
    fn an_address_is_asked_for_every_period() {
        assert_eq!(
            filled("d/{day}-{next_day}", "2024-12-31", "2025-01-01"),
            ["d/2024-12-31-2025-01-01", "d/2025-01-01-2025-01-02"]
        );
        assert_eq!(filled("{year}/{month}", "2024-12-15", "2025-01-02"), ["2024/12", "2025/01"]);
        assert_eq!(filled("{year}Q{quarter}", "2024-11-15", "2025-04-02"), ["2024Q4", "2025Q1", "2025Q2"]);
        assert_eq!(filled("{congress}_{session}", "2024-06-01", "2026-02-01"), ["118_2", "119_1", "119_2"]);
        assert_eq!(filled("{congress}", "2025-01-03", "2026-11-17"), ["119"]);
        assert_eq!(filled("all", "2025-01-03", "2026-11-17"), ["all"]);
    }

    #[test]
    fn a_period_is_young_then_settled() {
        let quarter = &Window::all("{year}Q{quarter}", day("2025-01-03"), day("2025-01-03"))[0];
        assert!(quarter.is_young(day("2025-05-30")) && !quarter.is_young(day("2025-07-30")));
        assert!(!quarter.is_settled(day("2025-04-07")) && quarter.is_settled(day("2025-04-08")));
        let whole = &Window::all("all", day("2025-01-03"), day("2025-01-03"))[0];
        assert!(!whole.is_young(day("2025-01-03")) && !whole.is_settled(day("2027-01-03")));
    }
}
