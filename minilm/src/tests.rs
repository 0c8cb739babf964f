//! Compares the paths with each other, byte for byte.

use crate::cpu::{MAX_ROWS, Path};
use crate::weights::{GROUP, Group, Linear, PANEL, Weights};
use crate::{FEED_FORWARD, MiniLm, POSITIONS};

static FILE: &[u8] = include_bytes!("../../assets/model/model.onnx");

/// A fixed sequence of numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

fn panel(inputs: usize, mut weight: impl FnMut() -> i8) -> Vec<Group> {
    let mut group = || Group(std::array::from_fn(|_| weight()));
    (0..inputs / GROUP).map(|_| group()).collect()
}

/// The dot products by definition.
fn expected(rows: &[u8], panel: &[Group], count: usize) -> Vec<[i32; PANEL]> {
    let inputs = panel.len() * GROUP;
    let product = |row: usize, column: usize| {
        let terms = (0..inputs).map(|input| {
            let weight = panel[input / GROUP].0[column * GROUP + input % GROUP];
            i64::from(rows[row * inputs + input]) * i64::from(weight)
        });
        i32::try_from(terms.sum::<i64>()).unwrap()
    };
    (0..count).map(|row| std::array::from_fn(|column| product(row, column))).collect()
}

fn compare(rows: &[u8], panel: &[Group], count: usize) {
    let expected = expected(rows, panel, count);
    for path in Path::available() {
        let mut sums = vec![[-1; PANEL]; count];
        path.dot_products(rows, panel, &mut sums);
        assert_eq!(sums, expected, "{} {count} rows, {} groups", path.name(), panel.len());
    }
}

/// Given bytes of every size, also the largest, whose products saturate some instructions, when
/// their dot products are computed, then every path gives exactly what is defined.
#[test]
fn dot_products_are_exact_on_every_path() {
    for count in 1..=MAX_ROWS {
        for inputs in [GROUP, 384, FEED_FORWARD] {
            for (byte, weight) in [(255, 127), (255, -128), (0, -128), (128, -1)] {
                compare(&vec![byte; count * inputs], &panel(inputs, || weight), count);
            }
        }
    }
    let mut random = Random(20_261_118);
    for _ in 0..300 {
        let (count, inputs) = (1 + random.below(MAX_ROWS), GROUP * (1 + random.below(384)));
        let rows: Vec<u8> = (0..count * inputs).map(|_| random.below(256) as u8).collect();
        let panel = panel(inputs, || random.below(256) as u8 as i8);
        compare(&rows, &panel, count);
    }
}

/// Given a linear layer, when it is arranged in panels, then no weight is lost or moved.
#[test]
fn panels_hold_every_weight_once() {
    let (inputs, outputs) = (8, 2 * PANEL);
    let weights: Vec<u8> = (0..inputs * outputs).map(|at| (at % 251) as u8).collect();
    let layer = Linear::new(inputs, outputs, &weights, vec![2.0; outputs], vec![0.0; outputs]);
    for output in 0..outputs {
        let mut sum = 0;
        for input in 0..inputs {
            let group = &layer.groups[output / PANEL * (inputs / GROUP) + input / GROUP];
            let weight = group.0[output % PANEL * GROUP + input % GROUP];
            assert_eq!(weight as u8, weights[input * outputs + output]);
            sum += i32::from(weight);
        }
        assert_eq!(layer.offsets[output], 2.0 * sum as f32);
    }
}

fn model(path: Path, layers: usize) -> MiniLm {
    let mut weights = Weights::read(FILE).unwrap();
    weights.layers.truncate(layers);
    MiniLm { weights, path }
}

fn embed(model: &MiniLm, text: &[u32]) -> Vec<u32> {
    let vector = model.embed(text, &|| false).unwrap();
    vector.into_iter().map(f32::to_bits).collect()
}

/// Given texts of every length, when they are embedded, then every path gives the same bytes. One
/// layer has every step; six, which take longer, are compared for some lengths.
#[test]
fn every_path_gives_the_same_bytes() {
    let mut random = Random(7);
    let tokens: Vec<u32> = (0..POSITIONS).map(|_| random.below(30_522) as u32).collect();
    let one: Vec<MiniLm> = Path::available().into_iter().map(|path| model(path, 1)).collect();
    // What depends on the length does so by its remainder of 6 or 16, whose common multiple is 48.
    let lengths = (0..=98).chain([127, 128, 129, 255, 256, 257, 383, 510, 511, 512]);
    for length in lengths {
        let vectors: Vec<_> = one.iter().map(|model| embed(model, &tokens[..length])).collect();
        for (model, vector) in one.iter().zip(&vectors) {
            assert!(*vector == vectors[0], "{} differs at {length} tokens", model.path.name());
        }
    }
    let six: Vec<MiniLm> = Path::available().into_iter().map(|path| model(path, 6)).collect();
    for length in [2, 3, 11, 64, 100] {
        let first = random.below(400);
        let text = &tokens[first..first + length];
        let vectors: Vec<_> = six.iter().map(|model| embed(model, text)).collect();
        assert!(vectors.iter().all(|vector| *vector == vectors[0]), "{length} tokens");
    }
}

/// Given every length up to the longest, when the fast paths embed, then they agree; and given
/// input that no tokenizer makes, then there is a vector all the same.
#[test]
fn any_tokens_have_a_vector() {
    let fast: Vec<MiniLm> = Path::available()
        .into_iter()
        .filter(|path| path.name() != "portable")
        .map(|path| model(path, 1))
        .collect();
    let tokens: Vec<u32> = (0..POSITIONS as u32).map(|at| at * 59 % 30_522).collect();
    for length in 1..=POSITIONS {
        let vectors: Vec<_> = fast.iter().map(|model| embed(model, &tokens[..length])).collect();
        assert!(vectors.windows(2).all(|pair| pair[0] == pair[1]), "{length} tokens");
    }
    let model = model(Path::fastest(), 1);
    let length = |vector: &[f32]| vector.iter().map(|n| n * n).sum::<f32>().sqrt();
    let unknown = model.embed(&[101, 30_522, u32::MAX, 102], &|| false).unwrap();
    assert!((length(&unknown) - 1.0).abs() < 1e-5);
    assert_eq!(unknown, model.embed(&[101, 100, 100, 102], &|| false).unwrap());
    let long: Vec<u32> = (0..2000).map(|at| at % 1000 + 1000).collect();
    assert_eq!(embed(&model, &long), embed(&model, &long[..POSITIONS]));
    assert!(model.embed(&[], &|| false).unwrap().iter().all(|number| *number == 0.0));
}

/// Given a text that is abandoned, when it is embedded, then that ends before the next layer.
#[test]
fn an_abandoned_text_is_not_finished() {
    let model = model(Path::fastest(), 6);
    let asked = std::cell::Cell::new(0);
    let is_abandoned = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    assert_eq!(model.embed(&[101, 2054, 102], &is_abandoned), None);
    assert_eq!(asked.get(), 3);
}
