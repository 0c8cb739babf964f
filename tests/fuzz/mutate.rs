//! A seeded random number generator and random mutations of bytes. The tests of data-build's
//! readers use it as well, so nothing here refers to this crate.

/// SplitMix64: short, and the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seeds: &[u64]) -> Random {
        let mut random = Random(0);
        for seed in seeds {
            random.0 ^= seed;
            random.0 = random.next();
        }
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A random range within this length; short ranges are more likely.
    fn part(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let longest = if self.one_in(4) { length - from } else { (length - from).min(8) };
        from..from + self.below(longest + 1)
    }
}

/// Longer inputs would find nothing that shorter ones do not.
const MAX_LENGTH: usize = 64 * 1024;

/// Byte sequences that break text parsers: invalid and incomplete UTF-8, invisible characters,
/// characters whose length changes with their case.
const NASTY: &[&[u8]] = &[
    b"\xff",
    b"\xc3",
    b"\xe2\x80",
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\0",
    b"\r\n",
    b"\x1b[2J",
    b"\x7f",
    "\u{2013}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{301}".as_bytes(),
    "\u{130}".as_bytes(),
    "\u{212a}".as_bytes(),
    "\u{1e9e}".as_bytes(),
    "\u{3000}".as_bytes(),
    "\u{661}\u{662}".as_bytes(),
    "\u{ff11}".as_bytes(),
    "“".as_bytes(),
    "気候".as_bytes(),
    "👩‍⚖️".as_bytes(),
];

/// Numbers at the limits of every type that they may be parsed into.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "00",
    "127",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "1e309",
    "-0.0",
    "NaN",
    "1.5",
    "0x10",
    "+1",
];

/// A mutation of one input of the corpus. `words` are strings with a meaning for the target.
pub fn bytes(random: &mut Random, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut out = random.of(corpus).clone();
    // Mostly one or two changes: an input with a single mistake gets furthest.
    let times = 1 + random.below(3) * random.below(3);
    for _ in 0..times {
        mutate_once(random, &mut out, corpus, words);
        out.truncate(MAX_LENGTH);
    }
    out
}

fn mutate_once(random: &mut Random, out: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let at = random.below(out.len() + 1);
    let insert = |out: &mut Vec<u8>, new: &[u8]| drop(out.splice(at..at, new.iter().copied()));
    match random.below(13) {
        0 => {
            if let Some(byte) = out.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = out.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
        2 => insert(out, &random.next().to_le_bytes()[..1 + random.below(8)]),
        3 => insert(out, &[b' ' + random.below(95) as u8]),
        4 => drop(out.drain(random.part(out.len()))),
        5 => {
            let other = random.of(corpus);
            out.truncate(at);
            out.extend_from_slice(&other[random.below(other.len() + 1)..]);
        }
        6 => {
            let other = random.of(corpus);
            insert(out, &other[random.part(other.len())]);
        }
        7 if !words.is_empty() => insert(out, random.pick(words).as_bytes()),
        8 => {
            let part = out[random.part(out.len())].to_vec();
            // Now and then very many times, to expose quadratic time.
            let times = if random.one_in(20) { 4_000 } else { 1 + random.below(4) };
            insert(out, &part.repeat(times.min(MAX_LENGTH / part.len().max(1))));
        }
        9 => insert(out, random.pick(NASTY)),
        10 => {
            // Replaces an existing number.
            let from = out[at..].iter().position(u8::is_ascii_digit).map_or(at, |more| at + more);
            let to = from + out[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            out.splice(from..to, random.pick(NUMBERS).bytes());
        }
        11 => {
            let part = random.part(out.len());
            for byte in &mut out[part] {
                *byte = if random.one_in(2) {
                    byte.to_ascii_uppercase()
                } else {
                    byte.to_ascii_lowercase()
                };
            }
        }
        _ => out.truncate(at),
    }
}
