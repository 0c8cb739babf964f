//! Every publisher's addresses, with the documents that are served there.

use super::documents::*;
use super::support::*;

/// Every publisher with a document or two.
pub fn publishers() -> Vec<(&'static str, Route)> {
    let folder = |name: &str| {
        let (one, other) = (
            format!(r#"{{"name": "{name}", "folder": true}}"#),
            r#"{"name": "resources", "folder": true}"#,
        );
        ok(format!(r#"{{"files": [{one}, {other}]}}"#))
    };
    let address = |path: &str| format!("https://www.govinfo.gov/bulkdata/{path}");
    let file = |path: &str| bulk(&[(&address(path), "09-Jan-2025 04:12")]);
    let packed = |path: &str, archive: &str| {
        bulk(&[(&address(path), "09-Jan-2025 04:12"), (&address(archive), "10-Jan-2025 01:00")])
    };
    let sitemap = |id: &str| {
        let entry = format!(
            "<url><loc>https://www.govinfo.gov/app/details/{id}</loc>\
            <lastmod>2025-01-22</lastmod></url>"
        );
        ok(format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entry}</urlset>"))
    };
    let items = |list: &str, path: &str| {
        let item = format!(
            r#"{{"url": "https://api.congress.gov/v3/{path}?format=json",
            "updateDate": "2025-01-21"}}"#
        );
        ok(format!(r#"{{"{list}": [{item}], "pagination": {{"count": 1}}}}"#))
    };
    let documents = r#"{"data": [{"id": "TEA-2025-0001-0001", "type": "documents",
        "attributes": {"docketId": "TEA-2025-0001", "agencyId": "TEA", "title": "Notice",
        "postedDate": "2025-01-06T05:00:00Z"}}],
        "meta": {"hasNextPage": false}}"#;
    let paged: Route = Box::new(move |request, _| match request.target.contains("2025-01-06") {
        true if request.target.contains("page%5Bnumber%5D=2") => ok(documents),
        true => ok(documents.replace("TEA-2025-0001", "TEA-2025-0002").replace("false", "true")),
        false => ok(r#"{"data": [], "meta": {"hasNextPage": false}}"#),
    });
    let docket = r#"{"data": [{"id": "TEA-2025-0001", "type": "dockets",
        "attributes": {"title": "Tea"}}],
        "meta": {"hasNextPage": false}}"#;
    let committee = "- {type: house, name: House Committee on Tea, thomas_id: HSTE}\n";
    let members = "HSTE:\n- {name: Ada Doe, party: majority, rank: 1, bioguide: D000001}\n";
    let summary = "bioguide_id,organization,description,member_name,quarter_label\n\
        D000001,2025 HON. ADA DOE,PERSONNEL COMPENSATION,Ada Doe,2025Q1\n";
    let texts = [
        ("/www.govinfo.gov/bulkdata/json/BILLSTATUS/119", folder("hr")),
        (
            "/www.govinfo.gov/bulkdata/json/BILLSTATUS/119/hr",
            packed(
                "BILLSTATUS/119/hr/BILLSTATUS-119hr12.xml",
                "BILLSTATUS/119/hr/BILLSTATUS-119-hr.zip",
            ),
        ),
        (
            "/www.govinfo.gov/bulkdata/BILLSTATUS/119/hr/BILLSTATUS-119-hr.zip",
            ok(zip_of(&[("BILLSTATUS-119hr12.xml", BILL)])),
        ),
        ("/www.govinfo.gov/bulkdata/json/BILLS/119", folder("1")),
        ("/www.govinfo.gov/bulkdata/json/BILLS/119/1", folder("hr")),
        (
            "/www.govinfo.gov/bulkdata/json/BILLS/119/1/hr",
            packed("BILLS/119/1/hr/BILLS-119hr12ih.xml", "BILLS/119/1/hr/BILLS-119-1-hr.zip"),
        ),
        (
            "/www.govinfo.gov/bulkdata/BILLS/119/1/hr/BILLS-119-1-hr.zip",
            ok(zip_of(&[("BILLS-119hr12ih.xml", BILL_TEXT)])),
        ),
        (
            "/www.govinfo.gov/bulkdata/json/PLAW/119/public",
            file("PLAW/119/public/PLAW-119publ1.xml"),
        ),
        ("/www.govinfo.gov/bulkdata/PLAW/119/public/PLAW-119publ1.xml", ok(LAW)),
        ("/www.govinfo.gov/bulkdata/json/FR/2025/01", file("FR/2025/01/FR-2025-01-03.xml")),
        ("/www.govinfo.gov/bulkdata/FR/2025/01/FR-2025-01-03.xml", ok(ISSUE)),
        ("/www.govinfo.gov/bulkdata/json/ECFR", folder("title-40")),
        ("/www.govinfo.gov/bulkdata/json/ECFR/title-40", file("ECFR/title-40/ECFR-title40.xml")),
        ("/www.govinfo.gov/bulkdata/ECFR/title-40/ECFR-title40.xml", ok(ECFR)),
        ("/www.govinfo.gov/sitemap/CRPT_2025_sitemap.xml", sitemap("CRPT-119hrpt1")),
        ("/www.govinfo.gov/content/pkg/CRPT-119hrpt1.zip", ok(report_package())),
        ("/www.govinfo.gov/sitemap/CREC_2025_sitemap.xml", sitemap("CREC-2025-01-03")),
        ("/www.govinfo.gov/content/pkg/CREC-2025-01-03.zip", ok(record_of_a_day())),
        (
            "/clerk.house.gov/evs/2025/index.asp",
            ok(r#"<A HREF="vote.asp?year=2025&rollnumber=1">1</A>"#),
        ),
        ("/clerk.house.gov/evs/2025/roll001.xml", ok(HOUSE_VOTE)),
        (
            "/www.senate.gov/legislative/LIS/roll_call_lists/vote_menu_119_1.xml",
            ok("<votes><vote><vote_number>00001</vote_number></vote></votes>"),
        ),
        (
            "/www.senate.gov/legislative/LIS/roll_call_votes/vote1191/vote_119_1_00001.xml",
            ok(SENATE_VOTE),
        ),
        ("/api.congress.gov/v3/nomination/119", items("nominations", "nomination/119/7")),
        ("/api.congress.gov/v3/nomination/119/7", ok(NOMINATION)),
        ("/api.congress.gov/v3/nomination/119/7/actions", ok(ACTIONS)),
        ("/api.congress.gov/v3/amendment/119", items("amendments", "amendment/119/samdt/8")),
        ("/api.congress.gov/v3/amendment/119/samdt/8", ok(AMENDMENT)),
        ("/api.congress.gov/v3/amendment/119/samdt/8/actions", ok(AMENDMENT_ACTIONS)),
        (
            "/api.congress.gov/v3/committee-meeting/119",
            items("committeeMeetings", "committee-meeting/119/house/117001"),
        ),
        ("/api.congress.gov/v3/committee-meeting/119/house/117001", ok(MEETING)),
        ("/api.congress.gov/v3/hearing/119", items("hearings", "hearing/119/senate/58064")),
        ("/api.congress.gov/v3/hearing/119/senate/58064", ok(HEARING)),
        ("/api.congress.gov/v3/crsreport", items("CRSReports", "crsreport/R48000")),
        ("/api.congress.gov/v3/crsreport/R48000", ok(CRS_REPORT)),
        ("/api.regulations.gov/v4/dockets", ok(docket)),
        ("/lda.gov/api/v1/filings/", ok(FILINGS)),
        ("/www.gao.gov/rss/reports.xml", ok(GAO_FEED)),
        (
            "/www.house.gov/the-house-explained/open-government/statement-of-disbursements",
            ok(r#"<a href="/sites/default/files/2025-05/jan-mar.csv">CSV</a>"#),
        ),
        (
            "/www.house.gov/the-house-explained/open-government/statement-of-disbursements/archive",
            ok(r#"<a href="/sites/default/files/2025-05/jan-mar.csv">CSV</a>
                <a href="/sites/default/files/2019-05/JAN-MAR-2019-DETAIL.csv">CSV</a>"#),
        ),
        ("/www.house.gov/sites/default/files/2025-05/jan-mar.csv", ok(PAYMENTS)),
    ];
    let raw = [
        ("unitedstates/congress-legislators/main/legislators-current.yaml", PEOPLE),
        ("unitedstates/congress-legislators/main/legislators-historical.yaml", PAST_PEOPLE),
        ("unitedstates/congress-legislators/main/legislators-district-offices.yaml", "[]\n"),
        ("unitedstates/congress-legislators/main/committees-current.yaml", committee),
        ("unitedstates/congress-legislators/main/committees-historical.yaml", "[]\n"),
        ("unitedstates/congress-legislators/main/committee-membership-current.yaml", members),
        ("dwillis/house-expenditures/HEAD/output/2025Q1-summary.csv", summary),
        (
            "osma/annif-us-congress-bills/HEAD/policy_area.csv",
            "uri,label_en\nhttps://x/policy-area#1,Health\n",
        ),
        (
            "osma/annif-us-congress-bills/HEAD/legislative_subjects.csv",
            "uri,label_en\nhttps://x/terms#1,Tea\n",
        ),
        (
            "govtrack/govtrack.us-web/HEAD/bill/crsnet.xml",
            "<liv><top-term value='Drinks'><term value='Tea'/></top-term></liv>",
        ),
    ];
    let mut routes: Vec<(&str, Route)> =
        texts.into_iter().map(|(path, reply)| (path, always(reply))).collect();
    // Leaked, that is kept as long as the test runs.
    routes.extend(raw.map(|(path, text)| {
        (&*format!("/raw.githubusercontent.com/{path}").leak(), always(ok(text)))
    }));
    for name in [
        "40-Reagan",
        "41-Bush",
        "42-Clinton",
        "43-Bush",
        "44-Obama",
        "45-Trump",
        "46-Biden",
        "47-Trump",
    ] {
        routes.push((&*format!("{SAP_LISTS}/{name}.yaml").leak(), always(ok(STATEMENTS))));
    }
    routes.push((
        "/www.federalregister.gov/api/v1/documents.json",
        Box::new(|request, _| match &request.target {
            target if target.contains("PRESDOCU") => ok(ORDERS),
            target if target.contains("2025-01-03") => ok(REGISTER_DOCUMENTS),
            _ => ok(r#"{"description": "Documents", "count": 0}"#),
        }),
    ));
    routes.push(("/api.regulations.gov/v4/documents", paged));
    routes.push((
        "/api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/debt_to_penny",
        Box::new(|request, _| {
            let second = request.target.contains("page%5Bnumber%5D=2");
            ok(fiscal_data("tot_pub_debt_out_amt", if second { "07" } else { "06" }, 2))
        }),
    ));
    for (name, column) in
        [("debt_outstanding", "debt_outstanding_amt"), ("avg_interest_rates", "exchange_rate")]
    {
        let path = format!(
            "/api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/{name}"
        );
        routes.push((&*path.leak(), always(ok(fiscal_data(column, "06", 1)))));
    }
    routes.extend(super::statistics::bank(1));
    routes
}

/// A page with one row, the first of so many.
fn fiscal_data(column: &str, day: &str, pages: u64) -> String {
    serde_json::json!({
        "data": [{ "record_date": format!("2005-12-{day}"), column: "8122710788511.92" }],
        "meta": { "count": 1, "total-count": pages, "total-pages": pages },
        "links": { "next": "&page%5Bnumber%5D=2&page%5Bsize%5D=1" },
    })
    .to_string()
}
