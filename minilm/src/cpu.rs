//! What differs between machines: how sixteen numbers are added or multiplied at once, and the dot
//! products of 8-bit numbers. Here is the path for any machine; `x86` has the others.
//!
//! Every path gives the same bytes; `tests.rs` compares them.

use crate::steps;
use crate::weights::{GROUP, Group, PANEL, Weights};
#[cfg(target_arch = "x86_64")]
use crate::x86;

/// Numbers in [`Lanes`].
pub const LANES: usize = 16;

/// Rows whose dot products are computed together: as many as the registers hold.
pub const MAX_ROWS: usize = 6;

/// Adding this rounds a number of moderate size to an integer, which is then in the low bits.
pub const ROUND: f32 = 12_582_912.0;

/// A kind of machine.
pub trait Cpu: Copy {
    type Lanes: Lanes<Self>;

    /// The dot products of at most [`MAX_ROWS`] rows, one after the other in `rows`, with the 64
    /// columns of a panel. There is one array of sums for each row.
    fn dot_products(self, rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]);
}

/// Sixteen numbers. Every operation is that of the standard on each of them.
pub trait Lanes<C: Copy>: Copy {
    fn splat(cpu: C, number: f32) -> Self;
    fn load(cpu: C, from: &[f32; LANES]) -> Self;
    fn store(self, cpu: C, to: &mut [f32; LANES]);
    fn from_integers(cpu: C, from: &[i32; LANES]) -> Self;
    fn add(self, cpu: C, other: Self) -> Self;
    fn sub(self, cpu: C, other: Self) -> Self;
    fn mul(self, cpu: C, other: Self) -> Self;
    fn div(self, cpu: C, other: Self) -> Self;
    /// The other number where one is no number, as in `max`.
    fn min(self, cpu: C, other: Self) -> Self;
    fn max(self, cpu: C, other: Self) -> Self;
    /// The nearest integers of numbers from -126 to 127, and 2 to their powers.
    fn round(self, cpu: C) -> (Self, Self);
    /// Rounds numbers from 0 to 255 to bytes.
    fn store_bytes(self, cpu: C, to: &mut [u8; LANES]);

    #[inline(always)]
    fn sum(self, cpu: C) -> f32 {
        self.fold(cpu, |a, b| a + b)
    }

    #[inline(always)]
    fn least(self, cpu: C) -> f32 {
        self.fold(cpu, f32::min)
    }

    #[inline(always)]
    fn most(self, cpu: C) -> f32 {
        self.fold(cpu, f32::max)
    }

    /// Combines the numbers in a fixed order.
    #[inline(always)]
    fn fold(self, cpu: C, combine: impl Fn(f32, f32) -> f32) -> f32 {
        let mut numbers = [0.0; LANES];
        self.store(cpu, &mut numbers);
        for half in [8, 4, 2, 1] {
            for at in 0..half {
                numbers[at] = combine(numbers[at], numbers[at + half]);
            }
        }
        numbers[0]
    }
}

/// A way to compute, out of those that this machine has.
#[derive(Clone, Copy, Debug)]
pub enum Path {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    Portable(Portable),
}

impl Path {
    /// The paths that this machine has, the fastest one first.
    pub fn available() -> Vec<Path> {
        let portable = Path::Portable(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = x86::Avx512::detect().map(Path::Avx512);
            let avx2 = x86::Avx2::detect().map(Path::Avx2);
            avx512.into_iter().chain(avx2).chain([portable]).collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![portable]
    }

    pub fn fastest() -> Path {
        Path::available().first().copied().unwrap_or(Path::Portable(Portable))
    }

    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(_) => "avx512-vnni",
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(_) => "avx2",
            Path::Portable(_) => "portable",
        }
    }

    /// Runs the forward pass, compiled for this path.
    pub(crate) fn forward(
        self,
        weights: &Weights,
        text: &[u32],
        is_abandoned: &dyn Fn() -> bool,
    ) -> Option<Vec<f32>> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(cpu) => cpu.forward(weights, text, is_abandoned),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(cpu) => cpu.forward(weights, text, is_abandoned),
            Path::Portable(cpu) => steps::forward(cpu, weights, text, is_abandoned),
        }
    }

    /// The dot products alone, to compare the paths.
    #[cfg(test)]
    pub(crate) fn dot_products(self, rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(cpu) => cpu.dot_products(rows, panel, sums),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(cpu) => cpu.dot_products(rows, panel, sums),
            Path::Portable(cpu) => cpu.dot_products(rows, panel, sums),
        }
    }
}

/// Any machine.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Cpu for Portable {
    type Lanes = [f32; LANES];

    #[inline(always)]
    fn dot_products(self, rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]) {
        let rows = rows.chunks_exact(panel.len() * GROUP);
        for (row, sums) in rows.zip(sums) {
            let mut totals = [0; PANEL];
            for (inputs, group) in row.as_chunks::<GROUP>().0.iter().zip(panel) {
                // Products of two bytes fit into 16 bits, and two of them into 32.
                let [a, b, c, d] = inputs.map(i16::from);
                for (total, weights) in totals.iter_mut().zip(group.0.as_chunks::<GROUP>().0) {
                    let [e, f, g, h] = weights.map(i16::from);
                    let product = |a: i16, b: i16| i32::from(a) * i32::from(b);
                    *total += product(a, e) + product(b, f) + product(c, g) + product(d, h);
                }
            }
            *sums = totals;
        }
    }
}

#[inline(always)]
fn zip_with(a: [f32; LANES], b: [f32; LANES], combine: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    std::array::from_fn(|at| combine(a[at], b[at]))
}

impl Lanes<Portable> for [f32; LANES] {
    #[inline(always)]
    fn splat(_: Portable, number: f32) -> Self {
        [number; LANES]
    }
    #[inline(always)]
    fn load(_: Portable, from: &[f32; LANES]) -> Self {
        *from
    }
    #[inline(always)]
    fn store(self, _: Portable, to: &mut [f32; LANES]) {
        *to = self;
    }
    #[inline(always)]
    fn from_integers(_: Portable, from: &[i32; LANES]) -> Self {
        from.map(|number| number as f32)
    }
    #[inline(always)]
    fn add(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| a / b)
    }
    #[inline(always)]
    fn min(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, _: Portable, other: Self) -> Self {
        zip_with(self, other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn round(self, _: Portable) -> (Self, Self) {
        let shifted = self.map(|number| number + ROUND);
        // The exponent of a number begins at bit 23 and is 127 for 1.
        let power = |number: f32| f32::from_bits((number.to_bits() << 23).wrapping_add(127 << 23));
        (shifted.map(|number| number - ROUND), shifted.map(power))
    }
    #[inline(always)]
    fn store_bytes(self, _: Portable, to: &mut [u8; LANES]) {
        *to = self.map(|number| (number + ROUND).to_bits() as u8);
    }
}
