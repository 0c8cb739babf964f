//! Precision and recall of the citation scanner on a labelled set: `citations.tsv` holds sentences
//! around forms found in real files, half of them without a citation.

use josh::catalog::citations;
use josh::catalog::ids::Parsed;

const LABELLED: &str = include_str!("citations.tsv");

/// The ids that a text cites; "?" where it states no congress.
fn found(text: &str) -> Vec<String> {
    let shown = |cited: Parsed| match cited {
        Parsed::Id(id) => id.text,
        Parsed::AnyCongress { kind, number, .. } => format!("{kind}:?:{number}"),
    };
    citations::scan(text).into_iter().map(|citation| shown(citation.cited)).collect()
}

/// Given the labelled sentences, when each is scanned, then at least 99 % of what is found is cited
/// there, and at least 97 % of what is cited is found.
#[test]
fn the_scanner_is_precise_and_finds_nearly_everything() {
    let (mut expected_count, mut found_count, mut right) = (0, 0, 0);
    let (mut mentions, mut negatives, mut wrong) = (0, 0, Vec::new());
    for line in LABELLED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (text, labels) = line.split_once('\t').unwrap();
        let text = text.replace("\\n", "\n").replace('~', "\u{a0}");
        let expected: Vec<&str> = labels.split(' ').filter(|label| *label != "-").collect();
        mentions += 1;
        negatives += usize::from(expected.is_empty());
        let got = found(&text);
        let mut open = got.clone();
        for label in &expected {
            if let Some(at) = open.iter().position(|id| id == label) {
                open.remove(at);
                right += 1;
            }
        }
        expected_count += expected.len();
        found_count += got.len();
        if got != expected {
            wrong.push(format!("{text:?}: expected {expected:?}, found {got:?}"));
        }
    }
    let share = |of: usize| f64::from(right) / of as f64;
    let (precision, recall) = (share(found_count), share(expected_count));
    println!(
        "{mentions} mentions, {negatives} of them none: precision {precision:.4}, \
         recall {recall:.4}"
    );
    assert!(mentions >= 300 && negatives * 2 >= mentions - 30, "{mentions}, {negatives}");
    assert!(precision >= 0.99 && recall >= 0.97, "{precision} {recall}\n{}", wrong.join("\n"));
}
