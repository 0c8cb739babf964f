//! Lists of APIs: unordered, incomplete, and in pages that are the files.

use super::support::*;

const LIST: &str = "/api.congress.gov/v3/nomination/119";

fn nominations(server: &Server, folder: &Folder) -> Ran {
    let mut command = command(server, folder, &["--sources", "nominations"]);
    ran(&command.env("CONGRESS_API_KEY", "k").output().expect("the fetcher runs"))
}

/// A page of the list with these numbers, of 3 items.
fn list_page(numbers: &[u32], next: bool) -> Reply {
    let items: Vec<serde_json::Value> = numbers
        .iter()
        .map(|number| {
            let url = format!("https://api.congress.gov/v3/nomination/119/{number}?format=json");
            serde_json::json!({"url": url, "updateDate": "2025-01-09"})
        })
        .collect();
    let mut pagination = serde_json::json!({"count": 3});
    if next {
        pagination["next"] = "https://api.congress.gov/v3/nomination/119?offset=2".into();
    }
    ok(serde_json::json!({"nominations": items, "pagination": pagination}).to_string())
}

fn routes(walks: Vec<[Reply; 2]>) -> Vec<(&'static str, Route)> {
    let replies: Vec<Reply> = walks.into_iter().flatten().collect();
    let mut routes: Vec<(&'static str, Route)> = vec![(LIST, one_by_one(replies))];
    for number in 1..=3 {
        let path = &*format!("{LIST}/{number}").leak();
        routes.push((path, always(ok(format!(r#"{{"nomination": {{"number": {number}}}}}"#)))));
    }
    routes
}

/// Given pages in no order, so that one item is on both and another on none, when they are listed,
/// then they are asked for again until there are as many items as the API states.
#[test]
fn a_list_in_no_order_is_asked_for_again() {
    let server = Server::start(routes(vec![
        [list_page(&[3, 1], true), list_page(&[1], false)],
        [list_page(&[1, 2], true), list_page(&[3], false)],
    ]));
    let folder = Folder::new();
    let run = nominations(&server, &folder);
    assert!(run.success, "{}", run.text);
    let names = [1, 2, 3].map(|n| format!("nominations/119/nomination-119-{n}.json"));
    assert_eq!(folder.files(), names);
    let lists = server.targets().iter().filter(|t| !t.contains("119/")).count();
    assert_eq!(lists, 4, "{:?}", server.targets());
}

/// Given a list that never has as many items as the API states, when it is fetched, then what there
/// is is kept, and the difference is a failure.
#[test]
fn a_list_that_stays_incomplete_is_a_failure() {
    let server = Server::start(routes(vec![[list_page(&[1, 2], true), list_page(&[2], false)]; 3]));
    let folder = Folder::new();
    let run = nominations(&server, &folder);
    assert!(!run.success && run.text.contains("found 2 of 3 items"), "{}", run.text);
    assert_eq!(counts(&run, "nominations"), [2, 0, 0, 1]);
}

const FILINGS: [&str; 4] = ["--sources", "lda-filings", "--until", "2025-01-03"];

/// Given pages with fewer records than the API states, when a day is fetched, then that is a
/// failure, and the next run asks again.
#[test]
fn pages_with_too_few_records_are_a_failure() {
    let few = r#"{"count": 2, "next": null, "results": [{"filing_uuid": "a"}]}"#;
    let server = Server::start(vec![("/lda.gov/api/v1/filings/", always(ok(few)))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &FILINGS);
    assert!(!run.success && run.text.contains("found 1 of 2 records"), "{}", run.text);
    let both = few.replace("[{", r#"[{"filing_uuid": "b"}, {"#);
    server.serve(vec![("/lda.gov/api/v1/filings/", always(ok(both)))]);
    assert!(fetch(&server, &folder, &FILINGS).success);
    assert_eq!(server.seen().len(), 1);
}

/// Given an answer with status 200 that is no page of the list, then it is not stored.
#[test]
fn an_answer_without_the_list_is_not_stored() {
    for (body, said) in
        [(r#"{"error": "sorry"}"#, "no list \"/results\""), ("<html>Sorry</html>", "not JSON")]
    {
        let server = Server::start(vec![("/lda.gov/api/v1/filings/", always(ok(body)))]);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &FILINGS);
        assert!(!run.success && run.text.contains(said), "{}", run.text);
        assert_eq!(folder.files(), [""; 0]);
    }
}

/// Given the Register's API, when days are fetched, then each is asked for by itself, with the
/// fields that its records have, and its pages are followed.
#[test]
fn register_documents_are_asked_for_by_day() {
    let number =
        |number: &str| format!(r#"{{"document_number": "{number}", "significant": true}}"#);
    let next = "https://www.federalregister.gov/api/v1/documents?format=json&page=2";
    let first = format!(
        r#"{{"count": 2, "total_pages": 2, "next_page_url": "{next}", "results": [{}]}}"#,
        number("2025-00001")
    );
    let second = format!(r#"{{"count": 2, "results": [{}]}}"#, number("2025-00002"));
    let days: Route = Box::new(move |request, _| match request.target.contains("2025-01-03") {
        true => ok(first.clone()),
        false => ok(r#"{"count": 0}"#),
    });
    let server = Server::start(vec![
        ("/www.govinfo.gov/bulkdata/json/FR/2025/01", always(bulk(&[]))),
        ("/www.federalregister.gov/api/v1/documents.json", days),
        ("/www.federalregister.gov/api/v1/documents", always(ok(second))),
    ]);
    let folder = Folder::new();
    let args = ["--sources", "federal-register", "--until", "2025-01-04"];
    let run = fetch(&server, &folder, &args);
    assert!(run.success, "{}", run.text);
    let asked = server.targets().into_iter().find(|t| t.contains("is%5D=2025-01-03"));
    assert!(asked.is_some_and(|t| t.contains("fields%5B%5D=significant")));
    let names = ["2025-01-03-p1", "2025-01-03-p2", "2025-01-04-p1"]
        .map(|name| format!("federal-register/api/2025/{name}.json"));
    assert_eq!(folder.files(), names);
    assert!(folder.read(&names[0]).contains(r#""significant":true"#));
    assert_eq!(folder.read(&names[2]), r#"{"count":0,"results":[]}"#, "as of other days");
}

/// Given a list of statements, when it is fetched, then it is kept, with the PDFs of the statements
/// since the first day; a page instead of a PDF is not.
#[test]
fn statements_come_with_their_pdfs() {
    let row = |date: &str, name: &str| {
        format!(
            "- bills: [hr12]\n  date_issued: '{date}'\n  date_fetched: '{date}T18:00:00'\n  \
             file: statements/47-Trump/119/{name}.pdf\n"
        )
    };
    let list = [
        row("2025-01-09", "2025-01-09_hr12,hr13"),
        row("2025-01-10", "2025-01-10_hr14"),
        row("2024-12-09", "2024-12-09_hr1"),
    ];
    let pdfs = SAP_LISTS.replace("/archive", "/statements/47-Trump/119");
    let mut routes: Vec<(&str, Route)> = Vec::new();
    for name in ["40-Reagan", "41-Bush", "42-Clinton", "43-Bush", "44-Obama", "45-Trump"] {
        routes.push((&*format!("{SAP_LISTS}/{name}.yaml").leak(), always(ok("[]\n"))));
    }
    routes.push((&*format!("{SAP_LISTS}/46-Biden.yaml").leak(), always(ok("[]\n"))));
    routes.push((&*format!("{SAP_LISTS}/47-Trump.yaml").leak(), always(ok(list.concat()))));
    let pdf = (&*format!("{pdfs}/2025-01-09_hr12,hr13.pdf").leak(), always(ok("%PDF-1.7 words")));
    routes.push(pdf);
    routes.push((&*format!("{pdfs}/2025-01-10_hr14.pdf").leak(), always(page("Not here"))));
    let server = Server::start(routes);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &["--sources", "saps"]);
    assert!(!run.success && run.text.contains("a web page instead of pdf"), "{}", run.text);
    assert_eq!(counts(&run, "saps"), [9, 0, 0, 1]);
    assert!(folder.files().contains(&"saps/pdf/2025-01-09_hr12,hr13.pdf".to_string()));
    assert!(server.targets().iter().all(|t| !t.contains("2024-12-09")));
    server.serve(vec![]);
}

/// Given a page whose links have gone, when it is fetched, then that is a failure, and not an empty
/// list.
#[test]
fn a_page_without_links_is_a_failure() {
    let quarters = "/www.house.gov/the-house-explained/open-government/statement-of-disbursements";
    let csv = r#"<a href="/sites/default/files/2025-05/JAN-MAR-2025-DETAIL.csv">CSV</a>
        <a href="/sites/default/files/2025-03/OCT-DEC-2024-DETAIL.csv">CSV</a>"#;
    let archive = &*format!("{quarters}/archive").leak();
    let server = Server::start(vec![
        (quarters, always(ok(csv))),
        (archive, always(page("We moved"))),
        (
            "/www.house.gov/sites/default/files/2025-05/JAN-MAR-2025-DETAIL.csv",
            always(ok("ORGANIZATION,PROGRAM\n")),
        ),
    ]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &["--sources", "staff-directories"]);
    assert!(!run.success && run.text.contains("no links to files on the page"), "{}", run.text);
    let stored = "staff-directories/house-disbursements/JAN-MAR-2025-DETAIL.csv";
    assert_eq!(folder.files(), [stored], "not the years before");
}
