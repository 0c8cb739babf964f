//! The paths for machines with AVX-512 and its 8-bit dot products (VNNI), and for those with AVX2.
//! All `unsafe` of the embedding is here.
//!
//! A value of [`Avx512`] or [`Avx2`] exists only where these instructions were detected: having one
//! is the proof that they may be used. Memory is read and written only through references to arrays
//! of the size of a register.

use std::arch::x86_64::*;

use crate::cpu::{Cpu, LANES, Lanes, MAX_ROWS, ROUND};
use crate::steps;
use crate::weights::{GROUP, Group, PANEL, Weights};

/// The proof that the machine has AVX-512 with VNNI.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    pub fn detect() -> Option<Avx512> {
        let is_there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        is_there.then_some(Avx512(()))
    }

    /// The forward pass, compiled for these instructions.
    pub fn forward(
        self,
        weights: &Weights,
        text: &[u32],
        is_abandoned: &dyn Fn() -> bool,
    ) -> Option<Vec<f32>> {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
        fn compiled(
            cpu: Avx512,
            weights: &Weights,
            text: &[u32],
            is_abandoned: &dyn Fn() -> bool,
        ) -> Option<Vec<f32>> {
            steps::forward(cpu, weights, text, is_abandoned)
        }
        // SAFETY: an `Avx512` exists only where all of these features were detected.
        unsafe { compiled(self, weights, text, is_abandoned) }
    }
}

/// The proof that the machine has AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }

    /// The forward pass, compiled for these instructions.
    pub fn forward(
        self,
        weights: &Weights,
        text: &[u32],
        is_abandoned: &dyn Fn() -> bool,
    ) -> Option<Vec<f32>> {
        #[target_feature(enable = "avx2")]
        fn compiled(
            cpu: Avx2,
            weights: &Weights,
            text: &[u32],
            is_abandoned: &dyn Fn() -> bool,
        ) -> Option<Vec<f32>> {
            steps::forward(cpu, weights, text, is_abandoned)
        }
        // SAFETY: an `Avx2` exists only where AVX2 was detected.
        unsafe { compiled(self, weights, text, is_abandoned) }
    }
}

/// The groups of each row.
#[inline(always)]
fn rows_of<const R: usize>(rows: &[u8], length: usize) -> [&[[u8; GROUP]]; R] {
    let mut found: [&[[u8; GROUP]]; R] = [&[]; R];
    for (found, row) in found.iter_mut().zip(rows.as_chunks::<GROUP>().0.chunks_exact(length)) {
        *found = row;
    }
    assert!(found.iter().all(|row| row.len() == length), "a row is missing");
    found
}

impl Cpu for Avx512 {
    type Lanes = __m512;

    #[inline(always)]
    fn dot_products(self, rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]) {
        // SAFETY: an `Avx512` exists only where the features were detected.
        unsafe {
            match sums.len() {
                1 => dot_avx512::<1>(rows, panel, sums),
                2 => dot_avx512::<2>(rows, panel, sums),
                3 => dot_avx512::<3>(rows, panel, sums),
                4 => dot_avx512::<4>(rows, panel, sums),
                5 => dot_avx512::<5>(rows, panel, sums),
                _ => dot_avx512::<MAX_ROWS>(rows, panel, sums),
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn dot_avx512<const R: usize>(rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]) {
    let rows = rows_of::<R>(rows, panel.len());
    let mut totals = [[_mm512_setzero_si512(); 4]; R];
    for (at, group) in panel.iter().enumerate() {
        let mut weights = [_mm512_setzero_si512(); 4];
        for (weights, bytes) in weights.iter_mut().zip(group.0.as_chunks::<64>().0) {
            // SAFETY: reads the 64 bytes of the array, at any address.
            *weights = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        }
        for (totals, row) in totals.iter_mut().zip(rows) {
            let inputs = _mm512_set1_epi32(i32::from_le_bytes(row[at]));
            for (total, weights) in totals.iter_mut().zip(weights) {
                // Four products in 32 bits: 1,536 of them stay below 50 million.
                *total = _mm512_dpbusd_epi32(*total, inputs, weights);
            }
        }
    }
    for (sums, totals) in sums.iter_mut().zip(totals) {
        for (sums, total) in sums.as_chunks_mut::<16>().0.iter_mut().zip(totals) {
            // SAFETY: writes the 64 bytes of the array, at any address.
            unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), total) };
        }
    }
}

impl Cpu for Avx2 {
    type Lanes = [__m256; 2];

    #[inline(always)]
    fn dot_products(self, rows: &[u8], panel: &[Group], sums: &mut [[i32; PANEL]]) {
        // There are half as many registers as with AVX-512: three rows at a time.
        let rows = rows.chunks(3 * panel.len() * GROUP);
        for (rows, sums) in rows.zip(sums.chunks_mut(3)) {
            for quarter in 0..4 {
                // SAFETY: an `Avx2` exists only where AVX2 was detected.
                unsafe {
                    match sums.len() {
                        1 => dot_avx2::<1>(rows, panel, quarter, sums),
                        2 => dot_avx2::<2>(rows, panel, quarter, sums),
                        _ => dot_avx2::<3>(rows, panel, quarter, sums),
                    }
                }
            }
        }
    }
}

/// The dot products with a quarter of a panel's columns.
#[target_feature(enable = "avx2")]
fn dot_avx2<const R: usize>(
    rows: &[u8],
    panel: &[Group],
    quarter: usize,
    sums: &mut [[i32; PANEL]],
) {
    let rows = rows_of::<R>(rows, panel.len());
    let mut totals = [[_mm256_setzero_si256(); 4]; R];
    for (at, group) in panel.iter().enumerate() {
        let mut inputs = [_mm256_setzero_si256(); R];
        for (inputs, row) in inputs.iter_mut().zip(rows) {
            *inputs = _mm256_cvtepu8_epi16(_mm_set1_epi32(i32::from_le_bytes(row[at])));
        }
        let bytes = group.0.as_chunks::<64>().0[quarter].as_chunks::<16>().0;
        for (part, bytes) in bytes.iter().enumerate() {
            // SAFETY: reads the 16 bytes of the array, at any address.
            let weights = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
            let weights = _mm256_cvtepi8_epi16(weights);
            for (totals, inputs) in totals.iter_mut().zip(inputs) {
                // In 16 bits, because the instruction for 8 bits saturates.
                let products = _mm256_madd_epi16(inputs, weights);
                totals[part] = _mm256_add_epi32(totals[part], products);
            }
        }
    }
    for (sums, totals) in sums.iter_mut().zip(totals) {
        let sums = &mut sums.as_chunks_mut::<16>().0[quarter];
        for (sums, totals) in sums.as_chunks_mut::<8>().0.iter_mut().zip(totals.as_chunks::<2>().0)
        {
            // Each column has two neighbouring totals.
            let sum = _mm256_hadd_epi32(totals[0], totals[1]);
            let sum = _mm256_permute4x64_epi64::<0b11_01_10_00>(sum);
            // SAFETY: writes the 32 bytes of the array, at any address.
            unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
        }
    }
}

/// Operations that are one instruction for each register.
macro_rules! avx512_operations {
    ($($name:ident = $instruction:ident),* $(,)?) => {$(
        #[inline(always)]
        fn $name(self, _: Avx512, other: Self) -> Self {
            // SAFETY: the `Avx512` proves that the machine has the instruction.
            unsafe { $instruction(self, other) }
        }
    )*};
}

impl Lanes<Avx512> for __m512 {
    avx512_operations!(
        add = _mm512_add_ps,
        sub = _mm512_sub_ps,
        mul = _mm512_mul_ps,
        div = _mm512_div_ps,
        min = _mm512_min_ps,
        max = _mm512_max_ps,
    );
    #[inline(always)]
    fn splat(_: Avx512, number: f32) -> Self {
        // SAFETY: the `Avx512` proves that the machine has the instruction.
        unsafe { _mm512_set1_ps(number) }
    }
    #[inline(always)]
    fn load(_: Avx512, from: &[f32; LANES]) -> Self {
        // SAFETY: as above; reads the 64 bytes of the array, at any address.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, _: Avx512, to: &mut [f32; LANES]) {
        // SAFETY: as above; writes the 64 bytes of the array, at any address.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self) }
    }
    #[inline(always)]
    fn from_integers(_: Avx512, from: &[i32; LANES]) -> Self {
        // SAFETY: as above; reads the 64 bytes of the array, at any address.
        unsafe { _mm512_cvtepi32_ps(_mm512_loadu_si512(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn round(self, cpu: Avx512) -> (Self, Self) {
        let round = Self::splat(cpu, ROUND);
        let shifted = self.add(cpu, round);
        // SAFETY: the `Avx512` proves that the machine has the instructions.
        let power = unsafe {
            let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
            _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(127 << 23)))
        };
        (shifted.sub(cpu, round), power)
    }
    #[inline(always)]
    fn store_bytes(self, cpu: Avx512, to: &mut [u8; LANES]) {
        let shifted = self.add(cpu, Self::splat(cpu, ROUND));
        // SAFETY: as above; writes the 16 bytes of the array, at any address.
        unsafe {
            let bytes = _mm512_cvtepi32_epi8(_mm512_castps_si512(shifted));
            _mm_storeu_si128(to.as_mut_ptr().cast(), bytes);
        }
    }
}

/// Operations that are one instruction for each register.
macro_rules! avx2_operations {
    ($($name:ident = $instruction:ident),* $(,)?) => {$(
        #[inline(always)]
        fn $name(self, _: Avx2, other: Self) -> Self {
            let ([a, b], [c, d]) = (self, other);
            // SAFETY: the `Avx2` proves that the machine has the instruction.
            unsafe { [$instruction(a, c), $instruction(b, d)] }
        }
    )*};
}

impl Lanes<Avx2> for [__m256; 2] {
    avx2_operations!(
        add = _mm256_add_ps,
        sub = _mm256_sub_ps,
        mul = _mm256_mul_ps,
        div = _mm256_div_ps,
        min = _mm256_min_ps,
        max = _mm256_max_ps,
    );
    #[inline(always)]
    fn splat(_: Avx2, number: f32) -> Self {
        // SAFETY: the `Avx2` proves that the machine has the instruction.
        [unsafe { _mm256_set1_ps(number) }; 2]
    }
    #[inline(always)]
    fn load(_: Avx2, from: &[f32; LANES]) -> Self {
        let [a, b] = halves(from);
        // SAFETY: as above; reads the 32 bytes of each array, at any address.
        unsafe { [_mm256_loadu_ps(a.as_ptr()), _mm256_loadu_ps(b.as_ptr())] }
    }
    #[inline(always)]
    fn store(self, _: Avx2, to: &mut [f32; LANES]) {
        for (half, to) in self.into_iter().zip(to.as_chunks_mut::<8>().0) {
            // SAFETY: as above; writes the 32 bytes of the array, at any address.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), half) };
        }
    }
    #[inline(always)]
    fn from_integers(_: Avx2, from: &[i32; LANES]) -> Self {
        let [a, b] = halves(from);
        // SAFETY: as above; reads the 32 bytes of each array, at any address.
        unsafe {
            let (a, b) =
                (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()));
            [_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)]
        }
    }
    #[inline(always)]
    fn round(self, cpu: Avx2) -> (Self, Self) {
        let round = Self::splat(cpu, ROUND);
        let shifted = self.add(cpu, round);
        let [a, b] = shifted;
        // SAFETY: the `Avx2` proves that the machine has the instructions.
        let power = unsafe {
            let one = _mm256_set1_epi32(127 << 23);
            let (a, b) = (_mm256_castps_si256(a), _mm256_castps_si256(b));
            let (a, b) = (_mm256_slli_epi32::<23>(a), _mm256_slli_epi32::<23>(b));
            let (a, b) = (_mm256_add_epi32(a, one), _mm256_add_epi32(b, one));
            [_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)]
        };
        (shifted.sub(cpu, round), power)
    }
    #[inline(always)]
    fn store_bytes(self, cpu: Avx2, to: &mut [u8; LANES]) {
        let [a, b] = self.add(cpu, Self::splat(cpu, ROUND));
        // SAFETY: as above; writes the 16 bytes of the array, at any address.
        unsafe {
            let byte = _mm256_set1_epi32(0xff);
            let a = _mm256_and_si256(_mm256_castps_si256(a), byte);
            let b = _mm256_and_si256(_mm256_castps_si256(b), byte);
            // Packing works within each half of a register; the permutation restores the order.
            let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(a, b));
            let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_packus_epi16(low, high));
        }
    }
}

#[inline(always)]
fn halves<T>(numbers: &[T; LANES]) -> [&[T; 8]; 2] {
    let halves = numbers.as_chunks::<8>().0;
    [&halves[0], &halves[1]]
}
