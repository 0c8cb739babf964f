//! Section 5: search by words, by meaning and by both, filtered before scoring.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::mcp::structured;
use crate::support::{SAMPLE, Server, sample, segment};

/// Every result of a search, following the cursors.
fn all(query: &str) -> (Vec<Value>, u64) {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let answer = SAMPLE.get(&format!("/v1/search?{query}&limit=7{cursor}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let page = answer.json();
        found.extend(page["results"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (found, page["total"].as_u64().unwrap()),
        }
    }
}

fn ids(results: &[Value]) -> Vec<String> {
    results.iter().map(|r| r["id"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_search_finds_cites_and_marks() {
    let answer =
        SAMPLE.get("/v1/search?q=detain+immigrants+charged+with+theft&mode=lexical").json();
    let best = &answer["results"][0];
    assert!(
        ids(answer["results"].as_array().unwrap())[..5]
            .iter()
            .any(|id| id == "s:119:5" || id == "hr:119:29"),
        "{answer}"
    );
    assert!(best["snippet"].as_str().unwrap().contains("<mark>"));
    assert!(
        best["url"].as_str().unwrap().starts_with("https://")
            && best["citation"]["text"].is_string()
    );
    assert_eq!((&best["ranks"]["lexical"], &best["ranks"]["semantic"]), (&1.into(), &Value::Null));
    assert!(best["score"].as_f64().unwrap() > 0.0 && answer.get("degraded").is_none());
    for result in answer["results"].as_array().unwrap() {
        assert_eq!(
            SAMPLE.get(&format!("/v1/fetch/{}", segment(result["id"].as_str().unwrap()))).status,
            200
        );
    }
}

/// Given words that no text has, when asked by meaning, then what they mean is found; by words it
/// is not.
#[test]
fn meaning_is_found_though_the_words_differ() {
    for (question, ids_of) in [
        (
            "undocumented foreigners arrested for shoplifting",
            &["s:119:5", "hr:119:29", "pl:119:1"][..],
        ),
        ("revenge porn and deepfakes", &["s:119:146", "hr:119:633", "pl:119:12"]),
        (
            "rules for dollar-backed cryptocurrency tokens",
            &["s:119:1582", "s:119:394", "pl:119:27"],
        ),
    ] {
        for mode in ["semantic", "hybrid"] {
            let (found, _) = all(&format!("q={}&mode={mode}", segment(question)));
            let place = ids(&found).iter().position(|id| ids_of.contains(&id.as_str()));
            assert!(place.is_some_and(|at| at < 5), "{question} ({mode}): {:?}", &ids(&found)[..5]);
        }
    }
}

#[test]
fn every_result_shows_its_passage_with_the_match_marked() {
    for mode in ["semantic", "hybrid", "lexical"] {
        let answer =
            SAMPLE.get(&format!("/v1/search?q=clean+drinking+water&mode={mode}&limit=50")).json();
        for result in answer["results"].as_array().unwrap() {
            let snippet = result["snippet"].as_str().unwrap();
            let (opened, closed) =
                (snippet.matches("<mark>").count(), snippet.matches("</mark>").count());
            assert!(opened == closed && opened > 0, "{mode}: {snippet}");
            assert!(result["section"].is_string() && result["heading"].is_string());
        }
    }
}

/// Given a question without an identifier, when both halves rank it, then the score is the sum of
/// reciprocal ranks, k = 60.
#[test]
fn hybrid_is_reciprocal_rank_fusion_of_the_halves() {
    let question =
        "q=border+security+and+immigration&source=crs-reports,federal-register,gao-reports";
    let words = all(&format!("{question}&mode=lexical")).0;
    let mut meaning = all(&format!("{question}&mode=semantic")).0;
    // What is far from the question is no result of a search that looks for words, too.
    meaning.retain(|result| result["score"].as_f64().unwrap() >= 0.2);
    // A rank counts the more, the further its record stands above the 100th of its half.
    let share = |half: &[Value], rank: Option<u64>| {
        let score = |at: usize| half[at]["score"].as_f64().unwrap();
        let (best, floor) = (score(0), score(half.len().min(100) - 1));
        let height = |rank: u64| (score(rank as usize - 1) - floor) / (best - floor);
        let height = |rank: u64| if best > floor { height(rank).clamp(0.0, 1.0) } else { 1.0 };
        rank.map_or(0.0, |rank| (1.0 + 4.0 * height(rank)) / (60.0 + rank as f64))
    };
    let (by_words, by_meaning) = (words, meaning);
    let (words, meaning) = (ids(&by_words), ids(&by_meaning));
    let (fused, total) = all(&format!("{question}&mode=hybrid"));
    let place =
        |list: &[String], id: &str| list.iter().position(|i| i == id).map(|at| at as u64 + 1);
    for result in &fused {
        let id = result["id"].as_str().unwrap();
        let (lexical, semantic) = (place(&words, id), place(&meaning, id));
        assert_eq!(
            (result["ranks"]["lexical"].as_u64(), result["ranks"]["semantic"].as_u64()),
            (lexical, semantic),
            "{id}"
        );
        let expected = share(&by_words, lexical) + share(&by_meaning, semantic);
        assert!((result["score"].as_f64().unwrap() - expected).abs() < 1e-5, "{result}");
    }
    let either: BTreeSet<&String> = words.iter().chain(&meaning).collect();
    assert_eq!((total as usize, fused.len()), (either.len(), either.len()));
}

#[test]
fn following_cursors_gives_each_result_once_in_order() {
    for mode in ["hybrid", "lexical", "semantic"] {
        let (found, total) = all(&format!("q=act&mode={mode}"));
        assert_eq!(found.len() as u64, total);
        assert_eq!(ids(&found).into_iter().collect::<BTreeSet<_>>().len(), found.len());
        let scores: Vec<f64> = found.iter().map(|r| r["score"].as_f64().unwrap()).collect();
        assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{mode}");
        assert!(total > 20, "{mode}: {total}");
    }
}

/// Given any filter, when the same question is asked with and without it, then the filtered
/// results are exactly those of the unfiltered ones that the filtered list holds: a filter never
/// hides a result that exists, nor lets one through.
#[test]
fn filters_narrow_and_never_hide() {
    for (question, mode) in [
        ("tax", "lexical"),
        ("health+care", "semantic"),
        ("border+security", "lexical"),
        ("report+to+congress", "semantic"),
    ] {
        let (unfiltered, _) = all(&format!("q={question}&mode={mode}"));
        for (source, filter) in [
            ("bills", "congress=118"),
            ("bills", "status=enacted&since=2025-02-01"),
            ("bills", "policy_area=Immigration"),
            ("bills", "sponsor_party=R&cosponsor_count.lt=20"),
            ("federal-register", "type=rule,proposed_rule"),
            ("presidential-documents", "type=executive_order"),
            ("congressional-record", "chamber=senate&until=2025-02"),
            ("crs-reports", "bill_ids=hr:119:1"),
        ] {
            let listed: BTreeSet<String> =
                ids(&SAMPLE.all(&format!("/v1/{source}?{filter}&fields=id"), 100))
                    .into_iter()
                    .collect();
            let expected: Vec<String> =
                ids(&unfiltered).into_iter().filter(|id| listed.contains(id)).collect();
            let (filtered, total) =
                all(&format!("q={question}&mode={mode}&source={source}&{filter}"));
            assert_eq!(ids(&filtered), expected, "{question} {source} {filter}");
            assert_eq!(total, expected.len() as u64);
        }
    }
}

#[test]
fn dates_apply_to_every_source_and_a_field_only_to_those_that_have_it() {
    let (found, _) = all("q=act&since=2025-06-01");
    assert!(!found.is_empty() && found.iter().all(|r| r["date"].as_str().unwrap() >= "2025-06-01"));
    let (found, _) = all("q=act&sponsor_party=D&mode=lexical");
    let sources: BTreeSet<&str> = found.iter().map(|r| r["source"].as_str().unwrap()).collect();
    assert!(
        sources.iter().all(|s| ["bills", "amendments"].contains(s)) && !sources.is_empty(),
        "{sources:?}"
    );
    assert_eq!(SAMPLE.get("/v1/search?q=act&nothing=1").code(), "invalid_parameter");
}

#[test]
fn words_phrases_exclusions_and_titles() {
    let count = |query: &str| all(&format!("q={}&mode=lexical", segment(query))).1;
    let (words, phrase) =
        (count("government accountability"), count("\"government accountability\""));
    assert!(phrase >= 1 && phrase < words, "{phrase} of {words}");
    assert!(count("immigration -theft") < count("immigration"));
    assert_eq!(count("immigration -immigration"), 0);
    assert!(count("title:tax") < count("tax") && count("title:tax") > 0);
    assert_eq!(count("taxes"), count("TAX"), "stems and case");
}

#[test]
fn an_identifier_comes_first_in_hybrid() {
    for (written, id) in [
        ("H.R. 1", "hr:119:1"),
        ("P.L. 119-21", "pl:119:21"),
        ("40 CFR 122.26", "cfr:40:122.26"),
        ("eo:14110", "eo:14110"),
    ] {
        let answer = SAMPLE.get(&format!("/v1/search?q={}", segment(written))).json();
        assert_eq!(answer["results"][0]["id"], id, "{written}");
        let asked = format!("what does {written} say about water?");
        let answer = SAMPLE.get(&format!("/v1/search?q={}", segment(&asked))).json();
        assert_eq!(answer["results"][0]["id"], id, "{asked}");
    }
    // Two of them: in the order of the question. One outside of the filter: not at all.
    let both = SAMPLE.get("/v1/search?q=compare+S.+5+with+H.R.+1").json();
    assert_eq!(
        (&both["results"][0]["id"], &both["results"][1]["id"]),
        (&"s:119:5".into(), &"hr:119:1".into())
    );
    let (filtered, _) = all("q=H.R.+1&source=bills&congress=118");
    assert!(!ids(&filtered).contains(&"hr:119:1".to_string()));
}

#[test]
fn a_source_without_vectors_degrades_only_its_own_part() {
    let degraded =
        |query: &str| SAMPLE.get(&format!("/v1/search?q=water&{query}")).json()["degraded"].clone();
    let saps = degraded("source=saps");
    assert_eq!(
        (&saps["mode"], &saps["sources"]),
        (&"lexical".into(), &serde_json::json!(["saps"]))
    );
    assert!(saps["reason"].as_str().is_some_and(|r| !r.is_empty()));
    assert_eq!(degraded("source=saps,bills")["sources"], serde_json::json!(["saps"]));
    assert_eq!(degraded("source=bills"), Value::Null);
    assert_eq!(degraded("source=saps&mode=lexical"), Value::Null);
    let mixed = SAMPLE.get("/v1/search?q=veto+of+the+bill&source=saps,bills&limit=100").json();
    let has = |source: &str, half: &str| {
        mixed["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["source"] == source && r["ranks"][half].is_u64())
    };
    assert!(has("saps", "lexical") && !has("saps", "semantic") && has("bills", "semantic"));
    let refused = SAMPLE.get("/v1/search?q=water&mode=semantic&source=saps");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (400, "source_not_searchable_semantically")
    );
    let valid = refused.json()["error"]["hint"]["valid_sources"].clone();
    assert!(
        valid.as_array().unwrap().len() == 11 && !valid.to_string().contains("saps"),
        "{valid}"
    );
}

#[test]
fn registries_are_not_searched_as_text() {
    let refused = SAMPLE.get("/v1/search?q=markey&source=bills,legislators");
    assert_eq!((refused.status, refused.code().as_str()), (400, "source_not_searchable"));
    assert_eq!(refused.json()["error"]["hint"]["use_tool"], "resolve_entity");
    let (found, _) = all("q=senate+committee");
    let registries =
        ["legislators", "committees", "roll-call-votes", "hearings", "nominations", "lda-filings"];
    assert!(found.iter().all(|r| !registries.contains(&r["source"].as_str().unwrap())));
}

#[test]
fn malformed_questions_degrade_to_words() {
    let search = |question: &str, mode: &str| {
        let answer = SAMPLE.get(&format!("/v1/search?q={}&mode={mode}", segment(question)));
        assert_eq!(answer.status, 200, "{question} {mode}: {}", answer.text());
        answer.json()
    };
    // What has words is those words.
    for (question, words) in [
        ("\"drinking water", "drinking water"),
        ("((water", "water"),
        ("water -\"x", "water x"),
        ("-\"x", "x"),
        ("AND OR NOT", "and or not"),
        ("😀 tax", "tax"),
        ("water \"\"", "water"),
    ] {
        let found = search(question, "lexical");
        assert_ne!(found["total"], 0, "{question}");
        let expected = search(words, "lexical");
        assert_eq!(found["total"], expected["total"], "{question}");
        let ids = |found: &Value| {
            let results = found["results"].as_array().unwrap().iter();
            results.map(|result| result["id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&found), ids(&expected), "{question}");
    }
    // What has none finds nothing by words, and is no error.
    for question in ["title:", "-", "--", "((", "*", "?", "\\", "\"\"", "😀"] {
        let found = search(question, "lexical");
        assert_eq!(found["total"], 0, "{question}");
        assert!(found["meta"]["empty"]["reason"].is_string(), "{question}: {found}");
    }
    for question in ["\"unclosed", "a:b:c", "~1 tax^2", "-", "*", "\"\""] {
        search(question, "hybrid");
        search(question, "semantic");
    }
    assert_eq!(SAMPLE.get("/v1/search?q=tax%00").code(), "invalid_parameter");
    assert_eq!(SAMPLE.get("/v1/search").json()["error"]["field"], "q");
    assert_eq!(SAMPLE.get("/v1/search?q=+").code(), "invalid_parameter");
    assert_eq!(
        SAMPLE.get(&format!("/v1/search?q={}", "a".repeat(3000))).code(),
        "invalid_parameter"
    );
    assert_eq!(SAMPLE.get("/v1/search?q=tax&mode=magic").code(), "invalid_parameter");
    assert_eq!(SAMPLE.get("/v1/search?q=tax&cursor=x").code(), "invalid_cursor");
}

#[test]
fn nothing_found_is_explained() {
    let none = SAMPLE.get("/v1/search?q=xyzzyplugh&source=bills&mode=lexical").json();
    assert_eq!(none["total"], 0);
    assert_eq!(none["meta"]["empty"]["sources"][0]["source"], "bills");
    let misspelt = SAMPLE.get("/v1/search?q=imigration+secruity&mode=lexical").json();
    let meant = &misspelt["meta"]["empty"]["did_you_mean"];
    assert_eq!(
        (&meant["imigration"], &meant["secruity"]),
        (&"immigration".into(), &"security".into())
    );
    let filtered = SAMPLE.get("/v1/search?q=tax&source=bills&until=1950&congress=119").json();
    let why = &filtered["meta"]["empty"];
    assert_eq!((&why["searched"], why["filters"].as_array().unwrap().len()), (&0.into(), 2));
    assert_eq!(
        (&why["filters"][0]["filter"], &why["filters"][0]["leaves"]),
        (&"until=1950".into(), &0.into())
    );
    assert!(
        why["filters"][0]["results_without_it"].as_u64().unwrap() > 0
            && why["filters"][1]["results_without_it"] == 0
    );
}

/// Given a question with a word that no text has beside others, when it is searched for by words,
/// then the answer names it and what may have been meant, over REST and MCP and on the page, where
/// a link asks that; words that texts have, numbers and what is left out are not named.
#[test]
fn a_word_that_no_text_has_is_named() {
    let misspelt = SAMPLE.get("/v1/search?q=Imigration+expansion").json();
    assert!(misspelt["total"].as_u64().unwrap() > 0, "the other word is found");
    let expected = json!([{ "word": "imigration", "did_you_mean": "immigration" }]);
    assert_eq!(misspelt["meta"]["unknown_words"], expected);
    let asked = json!({ "query": "Imigration expansion" });
    let told = structured(&SAMPLE, "search", asked);
    assert_eq!(told["meta"]["unknown_words"], expected);
    let none = SAMPLE.get("/v1/search?q=xyzzyplugh+%22tax+xyzzyplugh%22&mode=lexical").json();
    assert_eq!(none["meta"]["unknown_words"], json!([{ "word": "xyzzyplugh" }]));
    for known in ["immigration+expansion", "119+40+CFR+122.26", "tax+-imigration", "deductions"] {
        let found = SAMPLE.get(&format!("/v1/search?q={known}&mode=lexical")).json();
        assert!(found["meta"]["unknown_words"].is_null(), "{known}: {}", found["meta"]);
    }
    let meaning = SAMPLE.get("/v1/search?q=imigration&mode=semantic").json();
    assert!(meaning["meta"]["unknown_words"].is_null());
    let page = SAMPLE.get("/search?q=Imigration+expansion&source=bills").text();
    assert!(page.contains("No text has “imigration”. Did you mean “immigration”?"), "{page}");
    let link = "/search?source=bills&amp;q=immigration+expansion";
    assert!(page.contains(link), "{page}");
}

/// Given a search that its filters leave nothing of, when its page is opened, then it says of each
/// filter what the answer says.
#[test]
fn the_page_of_an_empty_search_says_what_each_filter_leaves() {
    let path = "search?q=tax&source=bills&until=1950&congress=119";
    let answer = SAMPLE.get(&format!("/v1/{path}")).json();
    let page = SAMPLE.get(&format!("/{path}")).text();
    for filter in answer["meta"]["empty"]["filters"].as_array().unwrap() {
        let (leaves, others) = (&filter["leaves"], &filter["results_without_it"]);
        let said = format!("</code> leaves {leaves} to search, {others} found without it");
        assert!(page.contains(&said), "{said} in {page}");
    }
}

/// Given a bundle whose vectors or text index are damaged, when it is searched, then the answer
/// says so or does without, and the server goes on.
#[test]
fn damaged_search_sections_are_said_and_survived() {
    use josh::bundle::format::SectionKind;
    let folder = tempfile::tempdir().unwrap();
    for kind in [SectionKind::Vectors, SectionKind::Matrix, SectionKind::TextIndex] {
        let path = folder.path().join(format!("{kind:?}.db"));
        let (_, manifest) = josh::bundle::read_manifest(&sample()).unwrap();
        let section = manifest.section(kind).unwrap();
        let mut bytes = std::fs::read(sample()).unwrap();
        // The head of the section too: its list of files, or the graph's own header.
        let (start, length) = (section.offset as usize, section.length as usize);
        for at in (start..start + length).step_by(97) {
            bytes[at] ^= 0x5a;
        }
        std::fs::write(&path, bytes).unwrap();
        let mut server = Server::start(&["--bundle", path.to_str().unwrap()]);
        for mode in ["semantic", "hybrid", "lexical"] {
            let answer = server.get(&format!("/v1/search?q=water&mode={mode}&source=bills"));
            match (kind, mode) {
                (SectionKind::TextIndex, _) | (_, "semantic") => {
                    assert_eq!(
                        (answer.status, answer.code().as_str()),
                        (503, "bundle_unavailable"),
                        "{kind:?} {mode}"
                    )
                }
                (_, "hybrid") => {
                    assert_eq!(
                        answer.json()["degraded"]["sources"],
                        serde_json::json!(["bills"]),
                        "{kind:?}"
                    )
                }
                _ => assert_eq!(answer.status, 200, "{kind:?} {mode}: {}", answer.text()),
            }
        }
        assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
        assert!(server.is_running());
    }
}
