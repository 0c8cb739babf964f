//! The built-in model: what its vectors are like, and beside fastembed's.

use super::*;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn texts_of_similar_meaning_have_similar_vectors() {
    let model = built_in().unwrap();
    let vector = |text: &str| model.embed_query(text, &|| false).unwrap();
    let person = vector("That is a happy person");
    assert_eq!(person.len(), 384);
    let (near, far) = (vector("That is a very happy person"), vector("Today is a sunny day"));
    assert!((cosine(&person, &near) - 0.942).abs() < 0.01, "{}", cosine(&person, &near));
    assert!((cosine(&person, &far) - 0.260).abs() < 0.02, "{}", cosine(&person, &far));
    assert!(
        Arc::ptr_eq(&person, &vector("That is a happy person")),
        "a repeated query comes from the cache"
    );
}

#[test]
fn any_text_has_a_vector() {
    let model = built_in().unwrap();
    for text in ["", " ", "\u{0}", "😀", &"word ".repeat(5000), &"x".repeat(50_000)] {
        assert_eq!(model.embed_query(text, &|| false).unwrap().len(), 384);
    }
    let abandoned = model.embed_query("a question that nobody waits for", &|| true);
    assert_eq!(abandoned.unwrap_err(), "the query was abandoned");
}

/// Texts of the kinds that Josh has, some of them hard to split.
fn passages() -> Vec<String> {
    let guides = [
        include_str!("../../README.md"),
        include_str!("../../ARCHITECTURE.md"),
        include_str!("../../assets/guides/citing.md"),
    ];
    let words: Vec<&str> = guides.iter().flat_map(|guide| guide.split_whitespace()).collect();
    let lengths = [1, 5, 9, 14, 25, 40, 60, 90, 130];
    let mut texts: Vec<String> = (0..36)
        .map(|at| words[at * 29..].iter().take(lengths[at % 9]).copied().collect::<Vec<_>>())
        .map(|words| words.join(" "))
        .collect();
    texts.extend(
        [
            "",
            "Section 1395w–4(b)(2)(A)(iii) of title 42, U.S.C., 87 Fed. Reg. 36,848–36,849",
            "日本語テキスト 한국어 😀🇺🇸 a1b2c3d4e5f6 \u{301}\u{302} ﬁ Ⅷ ½",
            "[CLS] a text that names [SEP] and [MASK] and [UNK]",
        ]
        .map(str::to_string),
    );
    texts
}

/// Given passages, when both embed them, then they read the same tokens, and the vectors are alike.
#[test]
fn vectors_are_those_of_fastembed() {
    let mut reference = GeneralModel::load(&BUILT_IN).unwrap();
    let own = BuiltIn::get().unwrap();
    let mut cosines = Vec::new();
    for text in passages() {
        assert_eq!(own.tokens(&text).unwrap(), reference.tokens(&text), "{text:?}");
        let vector = own.embed(&text, &|| false).unwrap().unwrap();
        let expected = reference.embed(&[&text]).unwrap().remove(0);
        let cosine = cosine(&vector, &expected);
        assert!(cosine >= 0.995, "{cosine} for {text:?}");
        cosines.push(cosine);
    }
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    assert!(mean >= 0.998, "{mean}");
}

/// Given the built-in model from a folder, when it is loaded, then it is known to be the built-in
/// one; caches tell its vectors from those of other code, and from those of other models.
#[test]
fn the_built_in_model_is_recognised() {
    let copy = BUILT_IN.model.to_vec();
    let files = ModelFiles { name: "a copy", model: &copy, ..BUILT_IN.clone() };
    assert!(files.are_built_in());
    assert_eq!(files.vectors_name(), BUILT_IN.vectors_name());
    assert!(files.vectors_name().ends_with(&format!("-v{}", josh_minilm::VERSION)));
    let other = ModelFiles { config: b"{}", ..BUILT_IN.clone() };
    assert!(!other.are_built_in());
    assert_eq!(other.vectors_name().len(), 16);
}
