//! BILLSTATUS XML in both generations of its field names, with the amendments, cost estimates and
//! committee reports that a bill lists.

use josh::catalog::ids;
use roxmltree::Node;
use serde_json::json;

use super::bill_record::Bill;
use super::{amendments, cbo_estimates, committee_reports};
use crate::formats::tree::{items, str_at};
use crate::formats::{eastern, xml};
use crate::record::{Rank, Record, Sink};

/// Reads the `billStatus` element.
pub fn read(root: Node<'_, '_>, out: &mut dyn Sink) {
    let Some(core) = xml::child(root, "bill") else {
        out.reject("billStatus", "no bill in it");
        return;
    };
    let bill = Bill::from_status(core);
    let Some(id) = bill.id() else {
        out.reject("billStatus", "a bill without type, congress and number");
        return;
    };
    for amendment in items(xml::child(core, "amendments"), &["amendment"]) {
        // The older files list amendments without their history.
        let listed = xml::child(amendment, "actions").is_none();
        let rank = if listed { Rank::Partial } else { Rank::Full };
        match amendments::record(amendment, rank, Some(&id)) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject(&format!("{id} amendments"), &reason),
        }
    }
    cost_estimates(core, &id).into_iter().chain(reports(core, &id)).for_each(|r| out.record(r));
    bill.emit(&id, out);
}

/// `rptUrl`, `rptTitle`, `rptPubDate` in the older files, `url`, `title`, `pubDate` in the newer.
fn cost_estimates(core: Node<'_, '_>, bill_id: &str) -> Vec<Record> {
    let estimate = |value: Node<'_, '_>| {
        let either = |new: &str, old: &str| [str_at(value, &[new]), str_at(value, &[old])].concat();
        let id = ids::canonical("cbo-estimates", &either("url", "rptUrl"))?;
        let number: i64 = id.strip_prefix("cbo:")?.parse().ok()?;
        let mut record = Record::new("cbo-estimates", id, Rank::Partial);
        record.set("number", number).set("bill_id", bill_id);
        let description = str_at(value, &["description"]);
        cbo_estimates::set_subject(&mut record, &either("title", "rptTitle"), &description);
        record.set("published_date", eastern::day(&either("pubDate", "rptPubDate")));
        Some(record)
    };
    items(xml::child(core, "cboCostEstimates"), &["item"])
        .into_iter()
        .filter_map(estimate)
        .collect()
}

/// Reports by their citations, "H. Rept. 114-182,Part 2".
fn reports(core: Node<'_, '_>, bill_id: &str) -> Vec<Record> {
    let report = |value: Node<'_, '_>| {
        let mut record = committee_reports::cited(&str_at(value, &["citation"]), Rank::Stub)?;
        record.set("bill_ids", json!([bill_id]));
        Some(record)
    };
    let mut found: Vec<Record> = Vec::new();
    for record in items(xml::child(core, "committeeReports"), &["committeeReport"])
        .into_iter()
        .filter_map(report)
    {
        if found.iter().all(|f| f.id != record.id) {
            found.push(record);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::sources::bills;

    const OLDER: &str = "<billStatus><bill><billType>HR</billType><billNumber>12</billNumber><congress>114</congress>
        <title>A thing</title><introducedDate>2015-01-06</introducedDate>
        <actions><actionByCounts><senate>1</senate></actionByCounts>
          <item><actionDate>2015-02-01</actionDate>
          <text>On passage Passed. (Roll no. 6).</text><committee/></item></actions>
        <recordedVotes><recordedVote><chamber>House</chamber><congress>114</congress><sessionNumber>1</sessionNumber>
          <rollNumber>6</rollNumber></recordedVote></recordedVotes>
        <committees><billCommittees><item><systemCode>hswm00</systemCode>
        <name>W</name></item></billCommittees></committees>
        <subjects><billSubjects><primarySubject><name>Taxation</name></primarySubject>
          <otherSubjects><item><name>Income tax</name></item></otherSubjects></billSubjects></subjects>
        <summaries><billSummaries><item><actionDesc>Introduced in House</actionDesc>
        <actionDate>2015-01-06</actionDate>
          <text><![CDATA[<p>It <b>taxes</b>.</p>]]></text></item></billSummaries></summaries>
        <cboCostEstimates><item><rptUrl>https://www.cbo.gov/publication/50918</rptUrl><rptTitle>H.R. 12</rptTitle>
          <rptPubDate>2015-10-20T21:59:41Z</rptPubDate></item></cboCostEstimates>
        <committeeReports><committeeReport><citation>H. Rept. 114-182,Part 2</citation></committeeReport>
        </committeeReports>
        <amendments/></bill></billStatus>";

    const NEWER: &str = "<billStatus><version>3.0.0</version><bill><type>HR</type><number>12</number>
        <congress>117</congress><title>A thing</title>
        <actions><item><actionDate>2021-02-01</actionDate><text>Referred.</text></item></actions>
        <committees><item><systemCode>hswm00</systemCode></item></committees>
        <subjects><legislativeSubjects><item><name>Income tax</name></item></legislativeSubjects>
          <policyArea><name>Taxation</name></policyArea></subjects>
        <summaries><summary><actionDesc>Introduced in House</actionDesc><text>It taxes.</text></summary></summaries>
        <cboCostEstimates><item><url>https://www.cbo.gov/publication/57269</url><title>H.R. 12</title>
          <pubDate>2021-06-08T15:00:00Z</pubDate></item></cboCostEstimates></bill></billStatus>";

    #[test]
    fn both_generations_give_the_same() {
        for (text, id, expected) in [
            (OLDER, "hr:114:12", vec!["cbo:50918", "hrpt:114:182-2", "hr:114:12"]),
            (NEWER, "hr:117:12", vec!["cbo:57269", "hr:117:12"]),
        ] {
            let read = read_text(bills::read, "bills/BILLSTATUS.xml", text);
            assert_eq!(read.ids(), expected);
            let last = read.records.len() - 1;
            assert_eq!(read.records[last].id, id);
            assert_eq!(*read.field(last, "committees"), serde_json::json!(["HSWM"]));
            assert_eq!(read.field(last, "policy_area"), "Taxation");
            assert_eq!(*read.field(last, "subjects"), serde_json::json!(["Income tax"]));
            let summary =
                read.records[last].rows.iter().find(|r| r.0 == "summaries").expect("a summary");
            assert_eq!(summary.1["text"], "It taxes.");
        }
    }

    #[test]
    fn roll_calls_listed_apart_find_their_actions() {
        let read = read_text(bills::read, "bills/BILLSTATUS.xml", OLDER);
        let action = read.records[2].rows.iter().find(|r| r.0 == "actions").expect("an action");
        assert_eq!(action.1["vote_id"], "house:114:1:6");
        assert_eq!(read.field(0, "published_date"), "2015-10-20");
    }

    /// What the files of the 119th Congress have that older ones did not.
    const NEWEST: &str = "<billStatus><bill><type>HR</type><number>1</number>
        <congress>119</congress><title>A thing</title>
        <committees><item><systemCode>hsbu00</systemCode><activities><item><name>Reported</name>
          <date>2025-05-21T03:55:00Z</date></item></activities></item></committees>
        <subjects><legislativeSubjects><item><name>Congress</name></item></legislativeSubjects>
          <policyArea><name>Congress</name></policyArea></subjects>
        <summaries><summary><actionDesc>Introduced in House</actionDesc>
          <cdata><text><![CDATA[<p>It <b>does</b>.</p>]]></text></cdata></summary></summaries>
        <amendments><amendment><type>SAMDT</type><number>2849</number><congress>119</congress>
          <submittedDate>2025-07-01T04:00:00Z</submittedDate>
          <amendedAmendment><type>SAMDT</type><number>2848</number><congress>119</congress>
          </amendedAmendment><actions><count>1</count><actions><item>
          <actionDate>2025-07-01</actionDate><actionCode>95000</actionCode>
          <text>Amendment SA 2849 not agreed to in Senate by Yea-Nay Vote.</text>
          <recordedVotes><recordedVote><rollNumber>369</rollNumber><chamber>Senate</chamber>
          <congress>119</congress><sessionNumber>1</sessionNumber></recordedVote></recordedVotes>
          </item></actions></actions></amendment></amendments></bill></billStatus>";

    #[test]
    fn amendments_come_with_their_actions_and_votes() {
        let read = read_text(bills::read, "bills/BILLSTATUS.xml", NEWEST);
        assert_eq!(read.ids(), ["samdt:119:2849", "hr:119:1"]);
        assert_eq!(read.field(0, "amends_amendment_id"), "samdt:119:2848");
        assert_eq!(read.field(0, "submitted_date"), "2025-07-01");
        let (sub, action) = &read.records[0].rows[0];
        assert_eq!((*sub, &action["vote_id"]), ("actions", &"senate:119:1:369".into()));
        assert_eq!(action["chamber"], "senate");
    }

    #[test]
    fn wrapped_summaries_late_reports_and_subjects_named_like_areas() {
        let read = read_text(bills::read, "bills/BILLSTATUS.xml", NEWEST);
        let rows = |sub: &str| -> Vec<_> {
            read.records[1].rows.iter().filter(|r| r.0 == sub).map(|r| &r.1).collect()
        };
        assert_eq!(rows("summaries")[0]["text"], "It does.");
        // Reported at 23:55 in Washington.
        assert_eq!(rows("committees")[0]["date"], "2025-05-20");
        let topics: Vec<_> = rows("subjects").iter().map(|row| row["topic_id"].clone()).collect();
        assert_eq!(topics, ["topic:congress", "topic:congress-subject"]);
    }
}
