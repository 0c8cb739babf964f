//! Reads the constant tensors of an ONNX file, in the order of the file. It reads protobuf just far
//! enough for that; graphs are none of its business.

/// A constant tensor. Its numbers are little-endian bytes within the file.
#[derive(Debug)]
pub struct Tensor<'a> {
    pub shape: Vec<usize>,
    pub element: Element,
    pub bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    F32,
    I8,
    Other,
}

/// Numbers of fields, from `onnx.proto`.
const MODEL_GRAPH: u64 = 7;
const GRAPH_INITIALIZER: u64 = 5;
const TENSOR_DIMS: u64 = 1;
const TENSOR_TYPE: u64 = 2;
const TENSOR_RAW_DATA: u64 = 9;

/// The constant tensors of a model.
pub fn constants(file: &[u8]) -> Result<Vec<Tensor<'_>>, String> {
    let parse = || {
        let mut tensors = Vec::new();
        for graph in messages(file, MODEL_GRAPH) {
            for initializer in messages(graph?, GRAPH_INITIALIZER) {
                tensors.push(tensor(initializer?)?);
            }
        }
        Some(tensors)
    };
    parse().ok_or_else(|| "the model is no ONNX file, or it is damaged".into())
}

fn tensor(message: &[u8]) -> Option<Tensor<'_>> {
    let mut tensor = Tensor { shape: Vec::new(), element: Element::Other, bytes: &[] };
    for field in (Fields { rest: message }) {
        match field? {
            (TENSOR_DIMS, Value::Number(size)) => tensor.shape.push(usize::try_from(size).ok()?),
            (TENSOR_DIMS, Value::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    tensor.shape.push(usize::try_from(varint(&mut packed)?).ok()?);
                }
            }
            (TENSOR_TYPE, Value::Number(1)) => tensor.element = Element::F32,
            (TENSOR_TYPE, Value::Number(3)) => tensor.element = Element::I8,
            (TENSOR_RAW_DATA, Value::Bytes(bytes)) => tensor.bytes = bytes,
            _ => {}
        }
    }
    Some(tensor)
}

/// The embedded messages of one field; `None` where the bytes are no message.
fn messages(message: &[u8], number: u64) -> impl Iterator<Item = Option<&[u8]>> {
    (Fields { rest: message }).filter_map(move |field| match field {
        Some((found, Value::Bytes(bytes))) if found == number => Some(Some(bytes)),
        Some(_) => None,
        None => Some(None),
    })
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message. After damage, which is an item `None`, there are no more.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = varint(&mut self.rest)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.rest)?),
            1 => Value::Bytes(self.take(8)?),
            2 => {
                let length = varint(&mut self.rest)?;
                Value::Bytes(self.take(usize::try_from(length).ok()?)?)
            }
            5 => Value::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_keep_their_order_shapes_and_bytes() {
        // A tensor of two bytes, one of a float with packed dimensions, and fields to skip.
        let a = [0x08, 1, 0x08, 2, 0x10, 3, 0x42, 1, b'q', 0x4a, 2, 0xff, 7];
        let b = [0x0a, 1, 1, 0x10, 1, 0x4a, 4, 0, 0, 128, 63];
        let mut graph = vec![0x12, 3, b'a', b'b', b'c'];
        for tensor in [&a[..], &b[..]] {
            graph.extend([0x2a, tensor.len() as u8]);
            graph.extend(tensor);
        }
        let mut file = vec![0x08, 8, 0x3a, graph.len() as u8];
        file.extend(&graph);
        let tensors = constants(&file).unwrap();
        assert_eq!(tensors.len(), 2);
        assert_eq!((&tensors[0].shape[..], tensors[0].element), (&[1, 2][..], Element::I8));
        assert_eq!(tensors[0].bytes, [0xff, 7]);
        assert_eq!((&tensors[1].shape[..], tensors[1].element), (&[1][..], Element::F32));
        for length in 1..file.len() {
            assert!(constants(&file[..length]).map_or(true, |t| t.len() < 2), "{length}");
        }
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        assert!(constants(b"no model at all").is_err());
        assert!(constants(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(constants(&[0xff; 64]).is_err());
        assert!(constants(&[]).is_ok_and(|tensors| tensors.is_empty()));
    }
}
