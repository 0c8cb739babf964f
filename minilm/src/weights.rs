//! The weights of the model, as its ONNX file holds them, arranged for the kernels: 8-bit
//! numbers with a scale for each output.

use crate::onnx::{Element, Tensor, constants};
use crate::{FEED_FORWARD, HEAD, HIDDEN, LAYERS, POSITIONS, VOCABULARY};

/// Outputs of a panel, the columns that a kernel computes at once.
pub const PANEL: usize = 64;

/// Inputs whose products with 8-bit weights are summed by one instruction.
pub const GROUP: usize = 4;

/// The weights of four inputs for the 64 outputs of a panel, output by output.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Group(pub [i8; PANEL * GROUP]);

/// A linear layer: `scale · (inputs · weights) + bias`.
pub struct Linear {
    pub inputs: usize,
    pub outputs: usize,
    /// Panel by panel, each with `inputs / 4` groups.
    pub groups: Vec<Group>,
    pub scales: Vec<f32>,
    /// The sum of each output's weights times its scale: what the smallest input value, which is 0
    /// in 8 bits, adds to the output.
    pub offsets: Vec<f32>,
    pub biases: Vec<f32>,
}

/// Factors and biases of a layer normalisation.
pub struct Norm {
    pub factors: Vec<f32>,
    pub biases: Vec<f32>,
}

pub struct Layer {
    /// Queries, keys and values, side by side.
    pub attention: Linear,
    pub attention_output: Linear,
    pub attention_norm: Norm,
    pub widen: Linear,
    pub narrow: Linear,
    pub output_norm: Norm,
}

pub struct Weights {
    /// `VOCABULARY` rows of 8-bit numbers, in the file.
    pub words: &'static [u8],
    pub word_scales: Vec<f32>,
    /// `POSITIONS` rows, with the vector of the only token type added.
    pub positions: Vec<f32>,
    pub input_norm: Norm,
    pub layers: Vec<Layer>,
}

impl Weights {
    /// Reads the file that `export_minilm_onnx.py` wrote.
    pub fn read(file: &'static [u8]) -> Result<Weights, String> {
        let mut tensors = Tensors { rest: constants(file)?.into_iter() };
        let mut positions = tensors.floats(&[POSITIONS, HIDDEN])?;
        let types = tensors.floats(&[2, HIDDEN])?;
        for row in positions.chunks_exact_mut(HIDDEN) {
            row.iter_mut().zip(&types).for_each(|(position, kind)| *position += kind);
        }
        let words = tensors.next(&[VOCABULARY, HIDDEN], Element::I8)?;
        let word_scales = tensors.floats(&[VOCABULARY, 1])?;
        let input_norm = tensors.norm()?;
        let layers = (0..LAYERS).map(|_| tensors.layer()).collect::<Result<_, _>>()?;
        Ok(Weights { words, word_scales, positions, input_norm, layers })
    }
}

/// The tensors in the order of the file. Constants of the arithmetic, which are smaller than any
/// weights, are skipped.
struct Tensors {
    rest: std::vec::IntoIter<Tensor<'static>>,
}

impl Tensors {
    fn next(&mut self, shape: &[usize], element: Element) -> Result<&'static [u8], String> {
        let is_weights = |t: &Tensor| t.shape.iter().product::<usize>() >= HIDDEN;
        let tensor = self.rest.find(is_weights).ok_or("the model lacks weights")?;
        let size = if element == Element::F32 { 4 } else { 1 };
        let is_expected = tensor.shape == shape
            && tensor.element == element
            && tensor.bytes.len() == shape.iter().product::<usize>() * size;
        match is_expected {
            true => Ok(tensor.bytes),
            false => Err(format!("the model has weights {:?} for {shape:?}", tensor.shape)),
        }
    }

    fn floats(&mut self, shape: &[usize]) -> Result<Vec<f32>, String> {
        let (numbers, _) = self.next(shape, Element::F32)?.as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn norm(&mut self) -> Result<Norm, String> {
        Ok(Norm { factors: self.floats(&[HIDDEN])?, biases: self.floats(&[HIDDEN])? })
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Result<Linear, String> {
        let weights = self.next(&[inputs, outputs], Element::I8)?;
        let scales = self.floats(&[1, outputs])?;
        let biases = self.floats(&[outputs])?;
        Ok(Linear::new(inputs, outputs, weights, scales, biases))
    }

    fn layer(&mut self) -> Result<Layer, String> {
        let mut query = self.linear(HIDDEN, HIDDEN)?;
        // Attention divides the products of queries and keys by the root of a head's size.
        query.scale(1.0 / (HEAD as f32).sqrt());
        let (key, value) = (self.linear(HIDDEN, HIDDEN)?, self.linear(HIDDEN, HIDDEN)?);
        Ok(Layer {
            attention: query.beside(key).beside(value),
            attention_output: self.linear(HIDDEN, HIDDEN)?,
            attention_norm: self.norm()?,
            widen: self.linear(HIDDEN, FEED_FORWARD)?,
            narrow: self.linear(FEED_FORWARD, HIDDEN)?,
            output_norm: self.norm()?,
        })
    }
}

impl Linear {
    /// `weights` has a row for each input.
    pub fn new(
        inputs: usize,
        outputs: usize,
        weights: &[u8],
        scales: Vec<f32>,
        biases: Vec<f32>,
    ) -> Linear {
        let mut groups = Vec::with_capacity(outputs / PANEL * (inputs / GROUP));
        let mut sums = vec![0i32; outputs];
        for panel in (0..outputs).step_by(PANEL) {
            let sums = &mut sums[panel..panel + PANEL];
            for rows in weights.chunks_exact(outputs * GROUP) {
                let mut group = Group([0; PANEL * GROUP]);
                for (input, row) in rows.chunks_exact(outputs).enumerate() {
                    for (output, weight) in row[panel..panel + PANEL].iter().enumerate() {
                        let weight = weight.cast_signed();
                        group.0[output * GROUP + input] = weight;
                        sums[output] += i32::from(weight);
                    }
                }
                groups.push(group);
            }
        }
        let offsets = sums.iter().zip(&scales).map(|(sum, scale)| *sum as f32 * scale).collect();
        Linear { inputs, outputs, groups, scales, offsets, biases }
    }

    fn scale(&mut self, factor: f32) {
        let numbers = [&mut self.scales, &mut self.offsets, &mut self.biases];
        numbers.into_iter().flatten().for_each(|number| *number *= factor);
    }

    /// Both layers as one, for the same inputs.
    fn beside(mut self, other: Linear) -> Linear {
        self.outputs += other.outputs;
        self.groups.extend(other.groups);
        self.scales.extend(other.scales);
        self.offsets.extend(other.offsets);
        self.biases.extend(other.biases);
        self
    }
}
