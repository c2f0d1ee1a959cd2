//! Phrases and sentences that comments, messages and pages do not use. All of them were once found when the
//! project was read aloud.

use super::{all_texts, comment};

/// A phrase in small letters, and better words.
const REFUSED: [(&str, &str); 15] = [
    ("nobody", "name the actor, or use the passive"),
    ("tells whether", "returns whether"),
    ("tells how", "returns how"),
    ("is told", "is reported, is logged"),
    ("are told", "are reported, are logged"),
    ("for ever", "without limit"),
    ("where absent", "if absent, by default"),
    ("left aside", "ignored"),
    ("one and the same", "equal"),
    ("at hand", "present"),
    ("no matter", "for any"),
    ("joints to spare", "redundant joints"),
    ("see-through", "transparent"),
    ("slip of the", "mistake"),
    ("whatever the", "for any"),
];

/// First words of a sentence whose subject is a clause.
const CLAUSES: [&str; 4] = ["What", "Whatever", "Who", "Whoever"];

/// The refused phrases of a text, as whole words.
fn refused(text: &str) -> Vec<&'static str> {
    let small = text.to_lowercase();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut found = Vec::new();
    for (phrase, _) in REFUSED {
        let is_whole = |at: usize| {
            !is_word(small[..at].chars().next_back()) && !is_word(small[at + phrase.len()..].chars().next())
        };
        if small.match_indices(phrase).any(|(at, _)| is_whole(at)) {
            found.push(phrase);
        }
    }
    found
}

/// The sentences of a paragraph that start with a clause and are not questions.
fn clauses(paragraph: &str) -> Vec<&str> {
    let sentences = paragraph.split_inclusive(['.', '?', '!']).map(str::trim);
    let starts = |sentence: &&str| sentence.split(' ').next().is_some_and(|word| CLAUSES.contains(&word));
    sentences.filter(starts).filter(|sentence| !sentence.ends_with('?')).collect()
}

/// Paragraphs of comments or of a page, each with its first line.
fn paragraphs(path: &str, text: &str) -> Vec<(usize, String)> {
    let is_page = path.ends_with(".md");
    let mut found = Vec::new();
    let mut present: Option<(usize, String)> = None;
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        let fence = is_page && line.starts_with("```");
        is_code ^= fence;
        let words = if !is_page { comment(line) } else { (!is_code && !fence).then_some(line.trim()) };
        match words.filter(|words| !words.is_empty()) {
            Some(words) => {
                let (_, paragraph) = present.get_or_insert((number + 1, String::new()));
                paragraph.push_str(words.trim_start_matches("- "));
                paragraph.push(' ');
            }
            None => found.extend(present.take()),
        }
    }
    found.extend(present);
    found
}

#[test]
fn refused_phrases_are_not_used() {
    let mut wrong = Vec::new();
    for (path, text) in all_texts() {
        for (number, line) in text.lines().enumerate() {
            let read = if path.starts_with("tests/") { comment(line).unwrap_or("") } else { line };
            for phrase in refused(read) {
                let better = REFUSED.iter().find(|(known, _)| *known == phrase).map_or("", |(_, better)| better);
                wrong.push(format!("{path}:{}: write `{better}` for `{phrase}`", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// In sources, examples and pages.
#[test]
fn no_sentence_has_a_clause_as_its_subject() {
    let mut wrong = Vec::new();
    for (path, text) in all_texts().into_iter().filter(|(path, _)| !path.starts_with("tests/")) {
        for (line, paragraph) in paragraphs(&path, &text) {
            for sentence in clauses(&paragraph) {
                wrong.push(format!("{path}:{line}: start with a noun: `{sentence}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Oracle: lines written for the purpose.
#[test]
fn phrases_and_clauses_are_found() {
    assert_eq!(refused("Nobody knows, at hand or not."), ["nobody", "at hand"]);
    assert!(refused("a nobodyish grip that was retold").is_empty());
    let comments = "/// The first line. What\n/// moves is a clause.\nfn f() {}\n/// What is a question?\n";
    let found = paragraphs("src/f.rs", comments);
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(clauses(&found[0].1), ["What moves is a clause."]);
    assert!(clauses(&found[1].1).is_empty());
    let page = paragraphs("page.md", "- Whatever comes.\n```\nWhat is code.\n```\n");
    assert_eq!(clauses(&page[0].1), ["Whatever comes."]);
    assert_eq!(page.len(), 1);
}
