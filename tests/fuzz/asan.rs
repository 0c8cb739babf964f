//! Damaged graphs for usearch under AddressSanitizer (`tests/fuzz/asan`): one that our own check
//! lets pass must not make usearch read outside of it.

mod binary;
#[path = "../../src/bundle/graph.rs"]
mod graph;
mod mutate;

use mutate::Random;

const DIMENSIONS: usize = 8;
const VECTORS: usize = 60;

unsafe extern "C" {
    fn make_graph(
        vectors: *const i8,
        count: usize,
        dimensions: usize,
        out: *mut u8,
        room: usize,
    ) -> usize;
    fn walk_graph(bytes: *const u8, length: usize, query: *const i8, dimensions: usize) -> isize;
}

/// Called by `main`, which is C++: AddressSanitizer is linked by g++.
#[unsafe(no_mangle)]
extern "C" fn try_graphs(count: u64, is_checked: bool) {
    let mut random = Random::new(&[119]);
    let vectors: Vec<i8> = (0..VECTORS * DIMENSIONS).map(|_| random.next() as i8).collect();
    let mut whole = vec![0; 1 << 20];
    // SAFETY: the pointers are of vectors with these lengths.
    let length = unsafe {
        make_graph(vectors.as_ptr(), VECTORS, DIMENSIONS, whole.as_mut_ptr(), whole.len())
    };
    whole.truncate(length);
    assert_eq!(graph::check(&whole, DIMENSIONS), Ok(()), "the graph that usearch made");
    let corpus = [whole];
    let (mut passed, mut opened, mut found) = (0u64, 0u64, 0);
    for number in 0..count {
        let bytes = binary::mutated(&mut Random::new(&[119, number]), &corpus);
        if is_checked && graph::check(&bytes, DIMENSIONS).is_err() {
            continue;
        }
        passed += 1;
        // SAFETY: this is what is tried. AddressSanitizer ends the program where it is not safe.
        let walked =
            unsafe { walk_graph(bytes.as_ptr(), bytes.len(), vectors.as_ptr(), DIMENSIONS) };
        opened += u64::from(walked >= 0);
        found += walked.max(0);
    }
    println!(
        "{count} damaged graphs, {passed} passed the check, {opened} were walked, {found} found"
    );
    assert!(opened > 0);
}
