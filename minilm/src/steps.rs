//! The steps of the forward pass, written once for all machines, over sixteen numbers at a time.
//! Each number is computed in the same order on every machine, and no multiplication is fused with
//! an addition, so that the results are the same bytes everywhere.
//!
//! Everything is inlined into entry points, each of which is compiled for one kind of machine. So
//! there are loops here in place of iterators with closures, which may not be inlined, and single
//! instructions would then become calls.

use crate::cpu::{Cpu, LANES, Lanes, MAX_ROWS};
use crate::weights::{GROUP, Linear, Norm, PANEL, Weights};
use crate::{FEED_FORWARD, HEAD, HEADS, HIDDEN, UNKNOWN_TOKEN};

/// Rows of 8-bit numbers, each with its scale and minimum.
struct Quantised {
    numbers: Vec<u8>,
    ranges: Vec<(f32, f32)>,
}

/// The whole pass over a text. Each row is a token.
#[inline(always)]
pub fn forward<C: Cpu>(
    cpu: C,
    weights: &Weights,
    text: &[u32],
    is_abandoned: &dyn Fn() -> bool,
) -> Option<Vec<f32>> {
    let rows = text.len();
    let mut states = vec![0.0; rows * HIDDEN];
    let mut change = vec![0.0; rows * HIDDEN];
    let mut wide = vec![0.0; rows * FEED_FORWARD];
    let mut quantised =
        Quantised { numbers: vec![0; rows * FEED_FORWARD], ranges: vec![(0.0, 0.0); rows] };
    let mut heads = Heads::new(rows);

    for ((position, token), state) in text.iter().enumerate().zip(states.chunks_exact_mut(HIDDEN)) {
        look_up(cpu, weights, position, *token, state);
        normalise(cpu, state, &weights.input_norm);
    }
    for layer in &weights.layers {
        if is_abandoned() {
            return None;
        }
        quantise(cpu, &states, HIDDEN, &mut quantised);
        multiply(cpu, &quantised, &layer.attention, &mut wide);
        attend(cpu, &wide[..rows * 3 * HIDDEN], &mut heads, &mut change);
        quantise(cpu, &change, HIDDEN, &mut quantised);
        multiply(cpu, &quantised, &layer.attention_output, &mut change);
        add_and_normalise(cpu, &mut states, &change, &layer.attention_norm);
        quantise(cpu, &states, HIDDEN, &mut quantised);
        multiply(cpu, &quantised, &layer.widen, &mut wide);
        for number in lanes_mut(&mut wide) {
            gelu(cpu, C::Lanes::load(cpu, number)).store(cpu, number);
        }
        quantise(cpu, &wide, FEED_FORWARD, &mut quantised);
        multiply(cpu, &quantised, &layer.narrow, &mut change);
        add_and_normalise(cpu, &mut states, &change, &layer.output_norm);
    }
    Some(pool(cpu, &states))
}

#[inline(always)]
fn lanes(numbers: &[f32]) -> &[[f32; LANES]] {
    numbers.as_chunks().0
}

#[inline(always)]
fn lanes_mut(numbers: &mut [f32]) -> &mut [[f32; LANES]] {
    numbers.as_chunks_mut().0
}

/// The input of the first layer: the vectors of a token and of its position.
#[inline(always)]
fn look_up<C: Cpu>(cpu: C, weights: &Weights, position: usize, token: u32, state: &mut [f32]) {
    let known = (token as usize) < weights.word_scales.len();
    let token = if known { token } else { UNKNOWN_TOKEN } as usize;
    let scale = splat(cpu, weights.word_scales[token]);
    let word = weights.words[token * HIDDEN..][..HIDDEN].as_chunks::<LANES>().0;
    let place = lanes(&weights.positions[position * HIDDEN..][..HIDDEN]);
    for ((state, word), place) in lanes_mut(state).iter_mut().zip(word).zip(place) {
        let word = word.map(|byte| i32::from(byte.cast_signed()));
        let word = C::Lanes::from_integers(cpu, &word).mul(cpu, scale);
        word.add(cpu, C::Lanes::load(cpu, place)).store(cpu, state);
    }
}

/// Adds a step's result to each state.
#[inline(always)]
fn add_and_normalise<C: Cpu>(cpu: C, states: &mut [f32], change: &[f32], norm: &Norm) {
    for (state, change) in lanes_mut(states).iter_mut().zip(lanes(change)) {
        C::Lanes::load(cpu, state).add(cpu, C::Lanes::load(cpu, change)).store(cpu, state);
    }
    for state in states.chunks_exact_mut(HIDDEN) {
        normalise(cpu, state, norm);
    }
}

#[inline(always)]
fn normalise<C: Cpu>(cpu: C, state: &mut [f32], norm: &Norm) {
    let mut sum = splat(cpu, 0.0);
    for numbers in lanes(state) {
        sum = sum.add(cpu, C::Lanes::load(cpu, numbers));
    }
    let mean = splat(cpu, sum.sum(cpu) / HIDDEN as f32);
    let mut squares = splat(cpu, 0.0);
    for numbers in lanes_mut(state) {
        let number = C::Lanes::load(cpu, numbers).sub(cpu, mean);
        squares = squares.add(cpu, number.mul(cpu, number));
        number.store(cpu, numbers);
    }
    let variance = squares.sum(cpu) / HIDDEN as f32;
    let factor = splat(cpu, 1.0 / (variance + 1e-12).sqrt());
    let weights = lanes(&norm.factors).iter().zip(lanes(&norm.biases));
    for (numbers, (weight, bias)) in lanes_mut(state).iter_mut().zip(weights) {
        let number = C::Lanes::load(cpu, numbers).mul(cpu, factor);
        let number = number.mul(cpu, C::Lanes::load(cpu, weight));
        number.add(cpu, C::Lanes::load(cpu, bias)).store(cpu, numbers);
    }
}

/// Rounds each row to 8 bits between its minimum and its maximum.
#[inline(always)]
fn quantise<C: Cpu>(cpu: C, numbers: &[f32], width: usize, to: &mut Quantised) {
    let rows = numbers.chunks_exact(width).zip(to.numbers.chunks_exact_mut(width));
    for ((row, bytes), range) in rows.zip(&mut to.ranges) {
        let (mut least, mut most) = (splat(cpu, f32::MAX), splat(cpu, f32::MIN));
        for number in lanes(row) {
            let number = C::Lanes::load(cpu, number);
            (least, most) = (least.min(cpu, number), most.max(cpu, number));
        }
        let (least, most) = (least.least(cpu), most.most(cpu));
        // A row of equal numbers has no width, and any scale fits.
        let scale = ((most - least) / 255.0).max(1e-12);
        *range = (scale, least);
        let (least, inverse) = (splat(cpu, least), splat(cpu, 1.0 / scale));
        for (number, bytes) in lanes(row).iter().zip(bytes.as_chunks_mut().0) {
            let number = C::Lanes::load(cpu, number).sub(cpu, least).mul(cpu, inverse);
            number.store_bytes(cpu, bytes);
        }
    }
}

/// A linear layer.
#[inline(always)]
fn multiply<C: Cpu>(cpu: C, from: &Quantised, layer: &Linear, to: &mut [f32]) {
    let Linear { inputs, outputs, .. } = *layer;
    let rows = from.ranges.len();
    for (panel, groups) in layer.groups.chunks_exact(inputs / GROUP).enumerate() {
        let columns = panel * PANEL..(panel + 1) * PANEL;
        let scales = lanes(&layer.scales[columns.clone()]);
        let offsets = lanes(&layer.offsets[columns.clone()]);
        let biases = lanes(&layer.biases[columns.clone()]);
        for first in (0..rows).step_by(MAX_ROWS) {
            let count = MAX_ROWS.min(rows - first);
            let bytes = &from.numbers[first * inputs..(first + count) * inputs];
            let mut sums = [[0; PANEL]; MAX_ROWS];
            cpu.dot_products(bytes, groups, &mut sums[..count]);
            for (row, sums) in (first..).zip(&sums[..count]) {
                let (scale, least) = from.ranges[row];
                let (scale, least) = (splat(cpu, scale), splat(cpu, least));
                let out = lanes_mut(&mut to[row * outputs..][columns.clone()]);
                for (part, sums) in sums.as_chunks().0.iter().enumerate() {
                    let offset = C::Lanes::load(cpu, &offsets[part]).mul(cpu, least);
                    let base = offset.add(cpu, C::Lanes::load(cpu, &biases[part]));
                    let sum = C::Lanes::from_integers(cpu, sums).mul(cpu, scale);
                    let sum = sum.mul(cpu, C::Lanes::load(cpu, &scales[part]));
                    sum.add(cpu, base).store(cpu, &mut out[part]);
                }
            }
        }
    }
}

/// What attention needs of one head, in the order in which it is read.
struct Heads {
    /// For every sixteen keys, their first number, then their second …
    keys: Vec<[f32; LANES]>,
    /// The first half of each value, then the second half of each.
    values: Vec<[f32; LANES]>,
    /// For some queries, their products with all keys.
    scores: Vec<[f32; LANES]>,
}

impl Heads {
    fn new(rows: usize) -> Heads {
        let blocks = rows.div_ceil(LANES);
        Heads {
            keys: vec![[0.0; LANES]; blocks * HEAD],
            values: vec![[0.0; LANES]; 2 * rows],
            scores: vec![[0.0; LANES]; MAX_ROWS * blocks],
        }
    }
}

/// Self-attention. Each row of the input is a query, a key and a value.
#[inline(always)]
fn attend<C: Cpu>(cpu: C, inputs: &[f32], heads: &mut Heads, to: &mut [f32]) {
    let rows: &[[f32; 3 * HIDDEN]] = inputs.as_chunks().0;
    for head in 0..HEADS {
        let at = head * HEAD;
        for (block, keys) in rows.chunks(LANES).zip(heads.keys.chunks_exact_mut(HEAD)) {
            for (lane, row) in block.iter().enumerate() {
                let key = &row[HIDDEN + at..][..HEAD];
                keys.iter_mut().zip(key).for_each(|(numbers, number)| numbers[lane] = *number);
            }
        }
        let (left, right) = heads.values.split_at_mut(rows.len());
        for ((left, right), row) in left.iter_mut().zip(right).zip(rows) {
            let value = lanes(&row[2 * HIDDEN + at..][..HEAD]);
            (*left, *right) = (value[0], value[1]);
        }
        for (queries, to) in rows.chunks(MAX_ROWS).zip(to.chunks_mut(MAX_ROWS * HIDDEN)) {
            match queries.len() {
                1 => attend_from::<C, 1>(cpu, queries, at, heads, to),
                2 => attend_from::<C, 2>(cpu, queries, at, heads, to),
                3 => attend_from::<C, 3>(cpu, queries, at, heads, to),
                4 => attend_from::<C, 4>(cpu, queries, at, heads, to),
                5 => attend_from::<C, 5>(cpu, queries, at, heads, to),
                _ => attend_from::<C, MAX_ROWS>(cpu, queries, at, heads, to),
            }
        }
    }
}

/// The results of some queries for one head, whose numbers begin at `at` in each row.
#[inline(always)]
fn attend_from<C: Cpu, const R: usize>(
    cpu: C,
    queries: &[[f32; 3 * HIDDEN]],
    at: usize,
    heads: &mut Heads,
    to: &mut [f32],
) {
    let Some(queries) = queries.first_chunk::<R>() else { return };
    let Heads { keys, values, scores } = heads;
    let (blocks, count) = (keys.len() / HEAD, values.len() / 2);
    let queries = queries.each_ref().map(|row| &row[at..at + HEAD]);
    for (block, keys) in keys.chunks_exact(HEAD).enumerate() {
        for (row, score) in weighted_sums(cpu, queries, keys).into_iter().enumerate() {
            score.store(cpu, &mut scores[row * blocks + block]);
        }
    }
    let mut inverses = [0.0; R];
    for (scores, inverse) in scores.chunks_exact_mut(blocks).zip(&mut inverses) {
        *inverse = 1.0 / softmax(cpu, scores, count);
    }
    let mut rows = scores.chunks_exact(blocks);
    let weights = inverses.map(|_| &rows.next().unwrap_or_default().as_flattened()[..count]);
    let (left, right) = values.split_at(count);
    for (half, values) in [left, right].into_iter().enumerate() {
        let sums = weighted_sums(cpu, weights, values).into_iter().zip(inverses);
        for ((sum, inverse), to) in sums.zip(to.chunks_exact_mut(HIDDEN)) {
            let to = &mut lanes_mut(&mut to[at..at + HEAD])[half];
            sum.mul(cpu, splat(cpu, inverse)).store(cpu, to);
        }
    }
}

/// The sum of some vectors, weighted in `R` ways.
#[inline(always)]
fn weighted_sums<C: Cpu, const R: usize>(
    cpu: C,
    weights: [&[f32]; R],
    vectors: &[[f32; LANES]],
) -> [C::Lanes; R] {
    let mut weights = weights;
    for weights in &mut weights {
        *weights = &weights[..vectors.len()];
    }
    let mut sums = [splat(cpu, 0.0); R];
    for (at, vector) in vectors.iter().enumerate() {
        let vector = C::Lanes::load(cpu, vector);
        for (sum, weights) in sums.iter_mut().zip(weights) {
            let weight = splat(cpu, weights[at]);
            *sum = sum.add(cpu, weight.mul(cpu, vector));
        }
    }
    sums
}

/// Turns the first `count` scores into weights, and returns the sum of these.
#[inline(always)]
fn softmax<C: Cpu>(cpu: C, scores: &mut [[f32; LANES]], count: usize) -> f32 {
    // What fills up the last sixteen has no weight.
    scores.as_flattened_mut()[count..].fill(-1e30);
    let mut most = splat(cpu, f32::MIN);
    for scores in scores.iter() {
        most = most.max(cpu, C::Lanes::load(cpu, scores));
    }
    let most = splat(cpu, most.most(cpu));
    let mut sum = splat(cpu, 0.0);
    for scores in scores {
        let weight = exp(cpu, C::Lanes::load(cpu, scores).sub(cpu, most));
        sum = sum.add(cpu, weight);
        weight.store(cpu, scores);
    }
    sum.sum(cpu)
}

/// The mean direction of a text's states, with length 1.
#[inline(always)]
fn pool<C: Cpu>(cpu: C, states: &[f32]) -> Vec<f32> {
    let mut pooled = vec![0.0; HIDDEN];
    for state in states.chunks_exact(HIDDEN) {
        for (sum, state) in lanes_mut(&mut pooled).iter_mut().zip(lanes(state)) {
            C::Lanes::load(cpu, sum).add(cpu, C::Lanes::load(cpu, state)).store(cpu, sum);
        }
    }
    let mut squares = splat(cpu, 0.0);
    for sum in lanes(&pooled) {
        let sum = C::Lanes::load(cpu, sum);
        squares = squares.add(cpu, sum.mul(cpu, sum));
    }
    let length = squares.sum(cpu).sqrt().max(1e-12);
    pooled.iter_mut().for_each(|number| *number /= length);
    pooled
}

/// e to the power of numbers that are at most 0; those below -87 count as -87.
#[inline(always)]
fn exp<C: Cpu>(cpu: C, x: C::Lanes) -> C::Lanes {
    let power = x.max(cpu, splat(cpu, -87.0)).mul(cpu, splat(cpu, std::f32::consts::LOG2_E));
    let (whole, two_to_whole) = power.round(cpu);
    let rest = power.sub(cpu, whole);
    // 2 to a power between -0.5 and 0.5, by its Taylor series: relative error below 3e-6.
    let series = [9.618_129e-3, 5.550_411e-2, 2.402_265e-1, std::f32::consts::LN_2, 1.0];
    polynomial(cpu, rest, 1.333_355_8e-3, series).mul(cpu, two_to_whole)
}

/// The activation function: `x · (1 + erf(x / √2)) / 2`, with erf by Abramowitz and Stegun, 7.1.26,
/// whose error is below 1.5e-7.
#[inline(always)]
fn gelu<C: Cpu>(cpu: C, x: C::Lanes) -> C::Lanes {
    let (zero, one) = (splat(cpu, 0.0), splat(cpu, 1.0));
    let z = x.mul(cpu, splat(cpu, std::f32::consts::FRAC_1_SQRT_2));
    let size = z.max(cpu, zero.sub(cpu, z));
    let t = one.div(cpu, size.mul(cpu, splat(cpu, 0.327_591_1)).add(cpu, one));
    let series = [-1.453_152, 1.421_413_8, -0.284_496_72, 0.254_829_6, 0.0];
    let sum = polynomial(cpu, t, 1.061_405_4, series);
    let tail = sum.mul(cpu, exp(cpu, zero.sub(cpu, z.mul(cpu, z))));
    // Half of x times 1 - erf(|z|): what is missing from x where it is positive, and the result
    // where it is negative.
    let half = x.mul(cpu, splat(cpu, 0.5)).mul(cpu, tail);
    x.max(cpu, zero).sub(cpu, half.max(cpu, zero.sub(cpu, half)))
}

/// The polynomial in `x` with these coefficients, those of the highest powers first.
#[inline(always)]
fn polynomial<C: Cpu, const N: usize>(
    cpu: C,
    x: C::Lanes,
    first: f32,
    others: [f32; N],
) -> C::Lanes {
    let mut sum = splat(cpu, first);
    for next in others {
        sum = sum.mul(cpu, x).add(cpu, splat(cpu, next));
    }
    sum
}

#[inline(always)]
fn splat<C: Cpu>(cpu: C, number: f32) -> C::Lanes {
    C::Lanes::splat(cpu, number)
}
