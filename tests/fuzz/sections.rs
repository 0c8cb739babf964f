//! Fuzzes the sections that are read in place from the memory map. Whatever their bytes are,
//! reading them gives something or nothing, within bounds, and takes no time or memory that the
//! section's length does not explain. Without a key nothing has checked their hashes.

use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use josh::bundle::columns::{self, Columns, OrdBits};
use josh::bundle::links::Links;
use josh::bundle::links_writer;
use josh::bundle::names::{self, Names};
use josh::bundle::vectors::{self, Vector, Vectors};
use josh::bundle::{Records, RecordsWriter, SharedMap};
use josh::catalog;
use serde_json::json;

use crate::binary;
use crate::mutate::Random;
use crate::target::{MANY, Target};

/// A folder whose files are in memory, where there is one.
pub fn memory() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() { shared } else { std::env::temp_dir() }
}

fn map(bytes: &[u8]) -> SharedMap {
    let mut file = tempfile::tempfile_in(memory()).unwrap();
    file.write_all(bytes).unwrap();
    SharedMap::of(&file).unwrap()
}

fn target(name: &'static str, section: Vec<u8>) -> Target<'static> {
    Target { name, count: MANY, corpus: vec![section], mutate: &binary::mutated }
}

/// The file that a builder writes.
fn written(write: impl FnOnce(&Path, &Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    write(&folder.path().join("parts"), &out);
    std::fs::read(out).unwrap()
}

pub fn records() -> Target<'static> {
    let mut writer = RecordsWriter::new(Cursor::new(Vec::new())).unwrap();
    for id in ["hr:119:1", "hr:119:2", "s:119:5"] {
        writer.push(id, &format!("{{\"id\":\"{id}\"}}"), "{}").unwrap();
    }
    target("records", writer.finish().unwrap().into_inner())
}

pub fn read_records(input: &[u8]) {
    let Ok(records) = Records::read(input) else { return };
    for number in (0..8).chain([usize::MAX / 8, usize::MAX]) {
        if let Some(entry) = records.by_number(number) {
            assert_eq!(records.id(number), Some(entry.id));
        }
    }
    for id in ["hr:119:1", "s:119:5", "", "none"] {
        assert!(records.by_id(id).is_none_or(|(_, entry)| entry.id == id));
    }
}

pub fn links() -> Target<'static> {
    let section = written(|folder, out| {
        let builder = links_writer::Builder::new(folder.to_path_buf()).unwrap();
        let mut rows = builder.rows("bills", "actions", 3, vec!["a"]);
        // Few rows are lines, many are blocks.
        for (parent, count) in [(0, 2), (2, 30)] {
            (0..count).for_each(|n| rows.add(parent, Some(&format!("{{\"a\":{n}}}"))).unwrap());
        }
        rows.finish().unwrap();
        builder.add_records("bills", "votes", 3, &[(0, 4), (0, 7), (2, 1)]).unwrap();
        builder.finish(out).unwrap();
    });
    target("links", section)
}

pub fn read_links(input: &[u8]) {
    let Ok(links) = Links::open(map(input), 0..input.len()) else { return };
    for ord in (0..5).chain([usize::MAX / 4, usize::MAX - 1]) {
        for sub in ["actions", "votes"] {
            let rows = links.rows("bills", sub, ord);
            for places in [0..20, 15..40, 0..usize::MAX] {
                let _ = rows.json(places);
            }
            let found: usize = rows.all().iter().flatten().map(|block| block.rows).sum();
            assert!(found <= rows.range.len());
            assert!(links.records("bills", sub, ord).len() * 4 <= input.len());
        }
    }
}

pub fn names() -> Target<'static> {
    let section = written(|folder, out| {
        let mut builder = names::Builder::default();
        builder.add("legislators", 0, "name", "Edward Markley");
        builder.add("legislators", 1, "nickname", "Ed Markley");
        builder.add("committees", 2, "name", "Ways and Means");
        builder.finish(folder, out).unwrap();
    });
    target("names", section)
}

pub fn read_names(input: &[u8]) {
    let Ok(names) = Names::open(map(input), 0..input.len()) else { return };
    let wanted = names::trigrams(&["markley".into(), "ways".into()]);
    for source in ["legislators", "committees", "none"] {
        let own = names.of_source(source);
        for name in own.clone().take(50) {
            let _ = (names.text_length(name), names.kind(name));
            assert!(names.text(name).len() <= input.len());
            assert!(names.records(name).count() * 4 <= input.len());
        }
        for (name, shared) in names.sharing(source, &wanted, 1) {
            assert!(own.contains(&name) && shared > 0);
        }
    }
    let _ = names.text(u32::MAX);
}

pub fn columns() -> Target<'static> {
    let section = written(|folder, out| {
        let builder = columns::Builder::new(folder.to_path_buf()).unwrap();
        let source = catalog::source("bills").unwrap();
        let mut bills = builder.source(source);
        for n in 0..40 {
            let status = if n % 3 == 0 { "enacted" } else { "Introduced" };
            let record = json!({ "congress": 119 - n % 2, "status": status, "is_law": n % 3 == 0,
                "introduced_date": "2025-01-03", "title": format!("Bill {n}"),
                "cosponsors": ["M000133", "S000033"], "subjects": ["Water", "Air"] });
            bills.add(record.as_object().unwrap());
        }
        bills.finish().unwrap();
        builder.finish(out).unwrap();
    });
    target("columns", section)
}

pub fn read_columns(input: &[u8]) {
    let Ok(columns) = Columns::open(map(input), 0..input.len()) else { return };
    let source = catalog::source("bills").unwrap();
    for field in source.columns() {
        let Some(column) = columns.column(&source.table(), field.name) else { continue };
        assert!(column.records as usize <= input.len() && column.values as usize <= input.len());
        let mut found = OrdBits::new(column.records);
        for ord in (0..column.records.min(50)).chain([column.records, u32::MAX]) {
            let _ = (column.code(ord), column.number_of(ord));
            assert!(column.list(ord).count() <= input.len());
        }
        let ends = [column.text_codes("enacted"), column.number_codes(119)];
        if !column.is_list {
            let within = column.ords_within(&ends[1]);
            assert!(within.iter().all(|ord| ord < column.records));
        }
        let codes = ends.into_iter().flat_map(|Range { start, end }| [start, end]);
        let codes = codes.chain(column.folded_codes("enacted").into_iter().take(9));
        for code in codes.chain(0..column.values.min(50)).chain([u32::MAX]) {
            let _ = (column.text(code), column.folded(code), column.number(code));
            let ords = column.ords(code);
            assert!(ords.iter().count() <= input.len() * 8);
            found.add(ords);
            let _ = column.count(code);
        }
        assert!(found.len() <= input.len() as u64 * 64);
    }
    let _ = (columns.title("bills", 0), columns.title("bills", usize::MAX - 1));
}

const DIMENSIONS: usize = 8;
const VECTORS: usize = 60;

/// A matrix and the graph over it.
static BUILT: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (matrix, graph) = (folder.path().join("matrix.out"), folder.path().join("graph.out"));
    let mut builder = vectors::Builder::new(&folder.path().join("parts"), DIMENSIONS).unwrap();
    let mut random = Random::new(&[119]);
    for _ in 0..VECTORS {
        let numbers = random.next().to_le_bytes().map(|byte| f32::from(byte as i8));
        builder.push(Some(&Vector::of(&numbers))).unwrap();
    }
    builder.finish(&matrix, &graph, 1, |_| ()).unwrap();
    (std::fs::read(matrix).unwrap(), std::fs::read(graph).unwrap())
});

pub fn vectors() -> Target<'static> {
    target("vectors", BUILT.1.clone())
}

/// The graph is damaged; what is found in it must be in the matrix.
pub fn read_vectors(input: &[u8]) {
    let matrix = &BUILT.0;
    let map = map(&[matrix, input].concat());
    let graph = matrix.len()..matrix.len() + input.len();
    let Ok(vectors) = Vectors::open(map, 0..matrix.len(), graph) else { return };
    let query = Vector::of(&[1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0]);
    for allowed in [None, Some(&(|passage: u32| passage.is_multiple_of(2)) as &dyn Fn(u32) -> bool)]
    {
        let found = vectors.walk(&query, 5, allowed);
        assert!(found.iter().all(|near| (near.passage as usize) < VECTORS));
    }
}

#[test]
fn damaged_records_are_missing_or_the_right_ones() {
    records().run(read_records);
}

#[test]
fn damaged_links_stay_within_the_section() {
    links().run(read_links);
}

#[test]
fn damaged_names_stay_within_the_section() {
    names().run(read_names);
}

#[test]
fn damaged_columns_stay_within_the_section() {
    columns().run(read_columns);
}

#[test]
fn a_damaged_graph_is_refused_or_walked_within_bounds() {
    vectors().run(read_vectors);
}
