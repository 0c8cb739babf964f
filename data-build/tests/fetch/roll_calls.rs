//! Roll calls: an index that is gone, answers for votes that do not exist, and corrections.

use time::{Duration, OffsetDateTime};

use super::documents::{HOUSE_VOTE, SENATE_VOTE};
use super::support::*;

const CLERK: &str = "/clerk.house.gov/evs";
const SENATE: &str = "/www.senate.gov/legislative/LIS";
const VOTES: [&str; 2] = ["--sources", "roll-call-votes"];

fn house_vote(number: usize) -> String {
    HOUSE_VOTE.replace("<rollcall-num>1<", &format!("<rollcall-num>{number}<"))
}

/// The Clerk's answer for a vote that does not exist.
fn no_such_vote() -> Reply {
    ok("<xml>Error sanitizing file \"roll.xml\". Please try again.</xml>")
        .with("Content-Type", "text/xml")
}

/// The Clerk without an index: votes by number, and the answer for others.
fn votes_without_index(numbers: &[usize]) -> Vec<(&'static str, Route)> {
    let mut routes: Vec<(&'static str, Route)> = Vec::new();
    for number in 1..=20 {
        let reply = match numbers.contains(&number) {
            true => ok(house_vote(number)).with("ETag", "\"one\""),
            false => no_such_vote(),
        };
        routes.push((&*format!("{CLERK}/2025/roll{number:03}.xml").leak(), always(reply)));
    }
    let menu = &*format!("{SENATE}/roll_call_lists/vote_menu_119_1.xml").leak();
    routes.push((menu, always(ok("<votes><vote><vote_number>00001</vote_number></vote></votes>"))));
    let vote = &*format!("{SENATE}/roll_call_votes/vote1191/vote_119_1_00001.xml").leak();
    routes.push((vote, always(ok(SENATE_VOTE))));
    routes
}

fn house_files(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|n| format!("roll-call-votes/house/2025/roll{n:03}.xml")).collect()
}

fn stored_house_files(folder: &Folder) -> Vec<String> {
    folder.files().into_iter().filter(|file| file.contains("/house/")).collect()
}

/// Given a year without an index, when its votes are fetched, then they are found by their numbers,
/// the answers for votes that do not exist are not stored, and the next run asks only for further
/// ones.
#[test]
fn without_an_index_votes_are_found_by_their_numbers() {
    let server = Server::start(votes_without_index(&[1, 2, 3]));
    let folder = Folder::new();
    let run = fetch(&server, &folder, &VOTES);
    assert!(run.success, "{}", run.text);
    assert!(run.text.contains("the files are found by their numbers instead"), "{}", run.text);
    assert_eq!(counts(&run, "roll-call-votes"), [4, 0, 0, 0]);
    assert_eq!(stored_house_files(&folder), house_files(&[1, 2, 3]));

    server.serve(votes_without_index(&[1, 2, 3, 4]));
    let run = fetch(&server, &folder, &VOTES);
    assert_eq!(counts(&run, "roll-call-votes"), [1, 0, 4, 0]);
    let asked: Vec<String> =
        server.targets().into_iter().filter(|target| target.contains("/roll0")).collect();
    assert_eq!(asked, [4, 5, 6, 7, 8, 9].map(|n| format!("{CLERK}/2025/roll{n:03}.xml")));
}

/// Given a vote that is missing below others, when they are fetched without an index, then that is
/// a failure, and the others are kept.
#[test]
fn a_missing_vote_below_others_is_a_failure() {
    let server = Server::start(votes_without_index(&[1, 3]));
    let folder = Folder::new();
    let run = fetch(&server, &folder, &VOTES);
    assert!(!run.success && run.text.contains("number [2] missing"), "{}", run.text);
    assert_eq!(stored_house_files(&folder), house_files(&[1, 3]));
}

/// Given a Senate that redirects what is missing to a page with status 200, when a finished year is
/// fetched, then nothing is stored, and that there is nothing is a failure.
#[test]
fn a_page_is_no_vote() {
    let mut routes = votes_without_index(&[1]);
    let gone = "/www.senate.gov/legislative/roll-call-vote-not-available.htm";
    let away = || always(status(302).with("Location", gone));
    routes.retain(|(path, _)| !path.starts_with(SENATE));
    routes.push((&*format!("{SENATE}/roll_call_lists/vote_menu_119_1.xml").leak(), away()));
    for number in 1..=6 {
        let vote = format!("{SENATE}/roll_call_votes/vote1191/vote_119_1_{number:05}.xml");
        routes.push((&*vote.leak(), away()));
    }
    routes.push((gone, always(page("This vote is not available."))));
    let server = Server::start(routes);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &VOTES);
    assert!(!run.success && run.text.contains("neither an index nor files"), "{}", run.text);
    assert_eq!(folder.files(), house_files(&[1]));
}

/// Given votes of today and of two weeks ago, when they are fetched again, then only the first is
/// asked for: it may still be corrected.
#[test]
fn a_vote_is_asked_for_again_for_a_week() {
    let today = OffsetDateTime::now_utc().date();
    let year = today.year();
    let vote = |number: usize, days: i64| {
        // Never in the year before, where these votes are not.
        let day = (today - Duration::days(days)).max(today.replace_ordinal(1).expect("a day"));
        let month = &day.month().to_string()[..3];
        let date = format!("<action-date>{}-{month}-{}<", day.day(), day.year());
        ok(house_vote(number).replace("<action-date>15-Jan-2025<", &date)).with("ETag", "\"one\"")
    };
    let paths = [1, 2].map(|number| &*format!("{CLERK}/{year}/roll{number:03}.xml").leak());
    let index = &*format!("{CLERK}/{year}/index.asp").leak();
    let serve = |corrected: Reply| -> Vec<(&'static str, Route)> {
        vec![
            (index, always(ok(format!("vote.asp?year={year}&rollnumber=2")))),
            (paths[0], always(vote(1, 14))),
            (paths[1], always(corrected)),
        ]
    };
    let server = Server::start(serve(vote(2, 0)));
    let folder = Folder::new();
    let (first, last) = (today.to_string(), today.to_string());
    let args = [&VOTES[..], &["--since", &first, "--until", &last]].concat();
    fetch(&server, &folder, &args);
    let corrected = vote(2, 0).body;
    let corrected = String::from_utf8_lossy(&corrected).replace("Passed", "Failed");
    server.serve(serve(ok(corrected)));
    let run = fetch(&server, &folder, &args);
    assert_eq!(counts(&run, "roll-call-votes")[1], 1, "{}", run.text);
    let asked: Vec<String> =
        server.targets().into_iter().filter(|target| target.contains("/roll0")).collect();
    // Early in January, the vote of two weeks ago is one of this week.
    let both = today.ordinal() <= 8;
    assert_eq!(asked.len(), if both { 2 } else { 1 }, "{asked:?}");
    assert!(folder.read(&format!("roll-call-votes/house/{year}/roll002.xml")).contains("Failed"));
}
