//! The API's CSV, read and written: rows of names and values, then a table with one row for each
//! observation, the series' members repeated.

use super::answer::{Answer, ENTRY_MEMBERS, Failure, FailureKind, Point, Row, SERIES_MEMBERS};
use super::question::{Endpoint, Lang, Question};

fn undecodable(why: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Decode, format!("The answer can't be read: {why}"))
}

pub fn read(text: &str) -> Result<Answer, Failure> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut answer = Answer::default();
    let mut header: Option<Vec<String>> = None;
    for record in reader.records() {
        let record = record.map_err(undecodable)?;
        let cell = |at: usize| record.get(at).unwrap_or_default().trim();
        if let Some(header) = &header {
            add(&mut answer, header, &record);
            continue;
        }
        match cell(0) {
            "STATUS" => {
                answer.status = cell(1).parse().map_err(|_| undecodable("STATUS is no number"))?;
            }
            "MESSAGEID" => answer.message_id = cell(1).to_string(),
            "MESSAGE" => answer.message = cell(1).to_string(),
            "DATE" => answer.date = Some(cell(1).to_string()).filter(|date| !date.is_empty()),
            "PARAMETER" => drop(answer.parameter.insert(cell(1).into(), cell(2).into())),
            "DB" => answer.db = Some(cell(1).to_string()),
            "NEXTPOSITION" => answer.next_position = cell(1).parse().ok(),
            "SERIES_CODE" => header = Some(record.iter().map(|c| c.trim().to_string()).collect()),
            _ => {}
        }
    }
    match answer.status {
        0 => Err(undecodable("it has no STATUS")),
        _ => Ok(answer),
    }
}

/// Adds a row of the table: an observation of the last series, or of a new one.
fn add(answer: &mut Answer, header: &[String], record: &csv::StringRecord) {
    let mut row = Row::default();
    let (mut period, mut value) = (None, None);
    for (name, cell) in header.iter().zip(record.iter()) {
        match name.as_str() {
            "SURVEY_DATES" => period = Some(cell.trim().to_string()),
            "VALUES" => value = Some(cell.trim()).filter(|v| !["", "null"].contains(v)),
            name => row.set(name, cell),
        }
    }
    let Some(period) = period else { return answer.rows.push(row) };
    let point = Point { period, value: value.map(str::to_string) };
    match answer.rows.last_mut().filter(|last| last.members == row.members) {
        Some(last) => last.points.push(point),
        None => {
            row.points.push(point);
            answer.rows.push(row);
        }
    }
}

pub fn write(answer: &Answer, question: &Question) -> String {
    let status = answer.status.to_string();
    let position = answer.next_position.map(|position| position.to_string()).unwrap_or_default();
    let date = answer.date.clone().unwrap_or_default();
    let mut lines: Vec<Vec<&str>> = vec![
        vec!["STATUS", &status],
        vec!["MESSAGEID", &answer.message_id],
        vec!["MESSAGE", &answer.message],
        vec!["DATE", &date],
    ];
    let is_list = question.endpoint == Endpoint::Metadata;
    if is_list {
        lines.push(vec!["DB", answer.db.as_deref().unwrap_or_default()]);
    } else {
        let pairs = answer.parameter.iter();
        lines.extend(pairs.map(|(name, value)| vec!["PARAMETER", name, value]));
        lines.push(vec!["NEXTPOSITION", &position]);
    }
    let is_shown = |name: &&&str| question.lang == Lang::Jp || !name.ends_with("_J");
    let known = SERIES_MEMBERS.iter().chain(if is_list { ENTRY_MEMBERS } else { &[] });
    let known: Vec<&str> = known.filter(is_shown).copied().collect();
    let mut header = known.clone();
    if !is_list {
        header.extend(["SURVEY_DATES", "VALUES"]);
    }
    lines.push(header);
    for row in &answer.rows {
        let members: Vec<&str> = known.iter().map(|name| row.member(name)).collect();
        if is_list {
            lines.push(members);
            continue;
        }
        for point in &row.points {
            let value = point.value.as_deref().unwrap_or("null");
            lines.push(members.iter().copied().chain([point.period.as_str(), value]).collect());
        }
    }
    let quoted = |cell: &&str| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    };
    let line = |cells: &Vec<&str>| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Format, decode, encode};
    use super::*;

    fn question(format: Format, lang: Lang) -> Question {
        let endpoint = Endpoint::Code { codes: vec!["A".into()], window: Default::default() };
        Question { format, lang, db: "FM99".into(), endpoint }
    }

    fn answer() -> Answer {
        let mut row = Row::default();
        for (name, value) in [
            ("SERIES_CODE", "A"),
            ("NAME_OF_TIME_SERIES", "Tea, \"green\""),
            ("NAME_OF_TIME_SERIES_J", "緑茶"),
            ("FREQUENCY", "MONTHLY"),
            ("LAST_UPDATE", "20251002"),
        ] {
            row.set(name, value);
        }
        let point = |period: &str, value: Option<&str>| Point {
            period: period.into(),
            value: value.map(str::to_string),
        };
        row.points = vec![point("202401", Some("1.10")), point("202402", None)];
        let parameter = [("DB", "FM99"), ("LAYER1", "*"), ("STARTPOSITION", "")];
        Answer {
            date: Some("2026-02-19T5:00:11.587+09:00".into()),
            parameter: parameter.map(|(n, v)| (n.to_string(), v.to_string())).into(),
            next_position: Some(6),
            rows: vec![row],
            ..Answer::with_message("M181000I", true)
        }
    }

    /// Given one answer in both formats and all encodings, when it is read, then it is the same:
    /// digits, wildcard, one-digit hour, commas, and a missing value is none.
    #[test]
    fn json_and_csv_are_the_same_answer() {
        let (json, csv) = (question(Format::Json, Lang::Jp), question(Format::Csv, Lang::Jp));
        let text = encode(&answer(), &csv);
        assert!(text.contains(",null\n") && text.contains("\"Tea, \"\"green\"\"\""), "{text}");
        let sjis = encoding_rs::SHIFT_JIS.encode(&text).0.into_owned();
        let with_bom = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        for body in [sjis, with_bom, text.into_bytes()] {
            assert_eq!(decode(&body, Format::Csv, Lang::Jp).unwrap(), answer());
        }
        let text = encode(&answer(), &json);
        assert!(text.contains("\"VALUES\":[1.10,null]"), "{text}");
        assert_eq!(decode(text.as_bytes(), Format::Json, Lang::Jp).unwrap(), answer());
    }

    /// Errors are JSON also where CSV was asked for.
    #[test]
    fn an_error_is_read_whatever_was_asked_for() {
        let body = br#"{"STATUS":400,"MESSAGEID":"M181013E","MESSAGE":"Nonexistent series code"}"#;
        for format in [Format::Csv, Format::Json] {
            let failure = decode(body, format, Lang::En).unwrap().checked().unwrap_err();
            assert_eq!((failure.name(), failure.is_retryable()), ("API_ERROR", false));
        }
        let uneven = r#"{"STATUS":200,"RESULTSET":[{"SERIES_CODE":"A",
            "VALUES":{"SURVEY_DATES":[202401,202402],"VALUES":[1]}}]}"#;
        for garbage in ["<html>", "", "{}", "[1]", "STATUS,x\n", uneven] {
            for format in [Format::Csv, Format::Json] {
                let failure = decode(garbage.as_bytes(), format, Lang::Jp).unwrap_err();
                assert_eq!(failure.name(), "DECODE_ERROR", "{garbage}");
            }
        }
    }
}
