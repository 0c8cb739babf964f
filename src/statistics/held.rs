//! Answers from the bundle as the Bank would give them: the same messages, limits and positions.

use std::collections::BTreeMap;

use serde_json::Value;

use super::query::{self, HeldSeries};
use super::supplier::{Origin, Supplied, Supplier};
use crate::api::{Context, Result};
use crate::boj::answer::Point;
use crate::boj::catalog::{
    DATABASES, FREQUENCIES, MOST_CODES, MOST_SERIES, MOST_VALUES, date_digits,
};
use crate::boj::{Answer, Endpoint, Failure, Lang, Question, Row, Window};
use crate::catalog::spec::Fields;

/// Members of a row, and the fields that fill them.
const MEMBERS: &[(&str, &str)] = &[
    ("SERIES_CODE", "code"),
    ("NAME_OF_TIME_SERIES", "name"),
    ("NAME_OF_TIME_SERIES_J", "name_ja"),
    ("UNIT", "unit"),
    ("UNIT_J", "unit_ja"),
    ("CATEGORY", "category"),
    ("CATEGORY_J", "category_ja"),
];

/// The same for what only a database's list has.
const LIST_MEMBERS: &[(&str, &str)] = &[
    ("NOTES", "notes"),
    ("NOTES_J", "notes_ja"),
    ("START_OF_THE_TIME_SERIES", "first_period"),
    ("END_OF_THE_TIME_SERIES", "last_period"),
];

/// The bundle of the call.
pub struct Held;

type Asked = std::result::Result<Answer, Failure>;

impl Supplier for Held {
    fn ask(
        &self,
        question: &Question,
        context: &Context,
    ) -> Result<std::result::Result<Supplied, Failure>> {
        if let Err(failure) = check_database(question, context)? {
            return Ok(Err(failure));
        }
        let answer = match &question.endpoint {
            Endpoint::Code { codes, window } => by_code(question, codes, window, context)?,
            Endpoint::Layer { layers, frequency, window } => {
                by_layer(question, layers, frequency, window, context)?
            }
            Endpoint::Metadata => Ok(list(question, context)?),
        };
        let origin = Origin::Bundle(context.bundle.manifest.as_of.clone());
        Ok(answer.map(|answer| Supplied { answer, body: None, origin }))
    }
}

/// The Bank's refusal with this message, `detail` at its end.
fn refusal(question: &Question, id: &str, detail: &str) -> Failure {
    let mut answer = Answer::with_message(id, question.lang == Lang::Jp);
    answer.message.push_str(detail);
    let message = answer.message.clone();
    answer.checked().err().unwrap_or_else(|| Failure::invalid(message))
}

fn check_database(
    question: &Question,
    context: &Context,
) -> Result<std::result::Result<(), Failure>> {
    let db = question.db.as_str();
    if !DATABASES.iter().any(|known| known.code == db) {
        return Ok(Err(refusal(question, "M181005E", "")));
    }
    let held = query::databases(context)?;
    if held.iter().any(|known| known == db) {
        return Ok(Ok(()));
    }
    let there = match held.is_empty() {
        true => "it holds none of the Bank of Japan".to_string(),
        false => format!("it holds {}", held.join(", ")),
    };
    Ok(Err(Failure::invalid(format!(
        "db: this bundle does not hold {db}; {there}. The operator can build one \
         from the Bank's answers (josh-data-build build), or have the Bank asked (--boj-base-url)"
    ))))
}

fn by_code(
    question: &Question,
    codes: &[String],
    window: &Window,
    context: &Context,
) -> Result<Asked> {
    let mut found: Vec<HeldSeries> = Vec::new();
    for (at, code) in codes.iter().enumerate() {
        let Some(series) = query::series(context, &question.db, code)? else {
            return Ok(Err(refusal(question, "M181013E", &format!("：{}", at + 1))));
        };
        if found.first().is_some_and(|first| first.text("frequency") != series.text("frequency")) {
            return Ok(Err(refusal(question, "M181014E", &format!("：{}", at + 1))));
        }
        found.push(series);
    }
    let frequency = found.first().map(name_of_frequency).unwrap_or_default();
    let digits = date_digits(&frequency);
    for (date, id) in [(&window.start, "M181015E"), (&window.end, "M181016E")] {
        if date.as_ref().is_some_and(|date| date.len() != digits) {
            return Ok(Err(refusal(question, id, "")));
        }
    }
    let numbered = found.into_iter().enumerate().map(|(at, series)| (at as u64 + 1, series));
    page(question, numbered.collect(), window, context).map(Ok)
}

fn by_layer(
    question: &Question,
    layers: &[String],
    frequency: &str,
    window: &Window,
    context: &Context,
) -> Result<Asked> {
    let is_meant = |series: &HeldSeries| {
        let place = series.text("layers");
        let place: Vec<&str> = place.split(',').collect();
        layers.iter().enumerate().all(|(at, layer)| {
            let here = place.get(at).copied().unwrap_or("0");
            here != "0" && (layer == "*" || layer == here)
        })
    };
    let all = query::all_series(context, &question.db)?;
    let below: Vec<HeldSeries> = all.into_iter().filter(is_meant).collect();
    if below.len() > MOST_CODES {
        return Ok(Err(refusal(question, "M181007E", "")));
    }
    let named = FREQUENCIES.iter().find(|(code, _)| *code == frequency).map_or("", |(_, n)| *n);
    // Weeks come in several kinds, which one asks for together.
    let fits = |series: &HeldSeries| {
        let own = name_of_frequency(series);
        own == named || (frequency == "W" && own.starts_with("WEEKLY"))
    };
    let numbered = below.into_iter().filter(fits).enumerate().map(|(at, series)| {
        let position = series.position().unwrap_or(at as u64 + 1);
        (position, series)
    });
    page(question, numbered.collect(), window, context).map(Ok)
}

/// The series from a position on, whole ones, as many as one answer may have.
fn page(
    question: &Question,
    numbered: Vec<(u64, HeldSeries)>,
    window: &Window,
    context: &Context,
) -> Result<Answer> {
    let from = window.position.unwrap_or(1);
    let mut answer = Answer::with_message("M181000I", question.lang == Lang::Jp);
    let mut values = 0;
    for (position, series) in numbered.into_iter().filter(|(position, _)| *position >= from) {
        context.check()?;
        let mut row = row(&series, question.lang, false);
        row.position = Some(position);
        row.points = series.points(context)?;
        row.points.retain(|point| is_within(point, window));
        values += row.points.len();
        let is_full = answer.rows.len() == MOST_SERIES || values > MOST_VALUES;
        if is_full && !answer.rows.is_empty() {
            answer.next_position = Some(position);
            break;
        }
        answer.rows.push(row);
    }
    let has_value = |row: &Row| row.points.iter().any(|point| point.value.is_some());
    if !answer.rows.iter().any(has_value) {
        answer = Answer::with_message("M181030I", question.lang == Lang::Jp);
    }
    answer.parameter = echo(question);
    Ok(answer)
}

/// Whether a period lies in the window, which may be written shorter: a day in a month.
fn is_within(point: &Point, window: &Window) -> bool {
    let part = |digits: usize| point.period.get(..digits).unwrap_or(&point.period);
    window.start.as_ref().is_none_or(|start| part(start.len()) >= start.as_str())
        && window.end.as_ref().is_none_or(|end| part(end.len()) <= end.as_str())
}

/// The list of a database with its headings, in the order of the Bank.
fn list(question: &Question, context: &Context) -> Result<Answer> {
    let mut rows: BTreeMap<(u64, usize), Row> = BTreeMap::new();
    for (at, series) in query::all_series(context, &question.db)?.iter().enumerate() {
        if at.is_multiple_of(256) {
            context.check()?;
        }
        for heading in series.headings(context)? {
            let position = heading.get("position").and_then(Value::as_u64).unwrap_or(0);
            rows.entry((position, 0)).or_insert_with(|| heading_row(&heading, question.lang));
        }
        let position = series.position().unwrap_or(u64::MAX);
        rows.insert((position, at + 1), row(series, question.lang, true));
    }
    let mut answer = Answer::with_message("M181000I", question.lang == Lang::Jp);
    answer.db = Some(question.db.clone());
    answer.rows = rows.into_values().collect();
    Ok(answer)
}

fn heading_row(heading: &Fields, lang: Lang) -> Row {
    let mut row = Row::default();
    let text = |name: &str| heading.get(name).and_then(Value::as_str).unwrap_or_default();
    row.set("NAME_OF_TIME_SERIES", text("name"));
    if lang == Lang::Jp {
        row.set("NAME_OF_TIME_SERIES_J", text("name_ja"));
    }
    set_layers(&mut row, text("layers"));
    row
}

fn row(series: &HeldSeries, lang: Lang, is_list: bool) -> Row {
    let mut row = Row::default();
    for (member, field) in MEMBERS.iter().chain(if is_list { LIST_MEMBERS } else { &[] }) {
        if lang == Lang::Jp || !member.ends_with("_J") {
            row.set(member, &series.text(field));
        }
    }
    row.set("FREQUENCY", &name_of_frequency(series));
    row.set("LAST_UPDATE", &series.text("updated").replace('-', ""));
    if is_list {
        set_layers(&mut row, &series.text("layers"));
    }
    row
}

fn set_layers(row: &mut Row, layers: &str) {
    for (at, layer) in layers.split(',').enumerate() {
        row.set(&format!("LAYER{}", at + 1), layer);
    }
}

/// As answers name it.
fn name_of_frequency(series: &HeldSeries) -> String {
    series.text("frequency").to_ascii_uppercase()
}

/// The parameters as the Bank echoes them.
fn echo(question: &Question) -> BTreeMap<String, String> {
    let mut echo: BTreeMap<String, String> = ["STARTDATE", "ENDDATE", "STARTPOSITION"]
        .map(|name| (name.to_string(), String::new()))
        .into();
    for (name, value) in question.parameters() {
        match name {
            "code" => {}
            "layer" => echo.extend(
                value
                    .split(',')
                    .enumerate()
                    .map(|(at, layer)| (format!("LAYER{}", at + 1), layer.to_string())),
            ),
            name => drop(echo.insert(name.to_ascii_uppercase(), value.to_ascii_uppercase())),
        }
    }
    echo
}
