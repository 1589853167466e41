//! Messages as JavaScript values: an array of id, JSON text, then columns or a file handle.

use js_sys::{Array, Uint8Array, Uint32Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast as _, JsValue};

use super::cause::{Cause, Failure};
use super::protocol::{Answer, RasterAnswer};

/// A message and the buffers that change hands with it.
pub(crate) struct Packed {
    /// The message.
    pub(crate) message: Array,
    /// Buffers to transfer.
    pub(crate) transfer: Array,
}

/// A question or an answer without columns.
pub(crate) fn pack(id: u64, body: &impl Serialize) -> Packed {
    let text = serde_json::to_string(body).unwrap_or_default();
    Packed {
        message: Array::of2(&number(id), &text.into()),
        transfer: Array::new(),
    }
}

/// An answer with its columns.
pub(crate) fn pack_answer(id: u64, answer: &Answer) -> Packed {
    let packed = pack(id, answer);
    if let Answer::Raster(raster) = answer {
        let kinds = Uint8Array::from(raster.kinds.as_slice());
        let kernels = Uint32Array::from(raster.kernels.as_slice());
        let bytes = [&raster.busy, &raster.focused, &raster.efficiency]
            .map(|column| Uint8Array::from(column.as_slice()));
        packed.transfer.push(&kinds.buffer());
        packed.transfer.push(&kernels.buffer());
        packed.message.push(&kinds);
        packed.message.push(&kernels);
        for column in bytes {
            packed.transfer.push(&column.buffer());
            packed.message.push(&column);
        }
    }
    packed
}

/// The id and the body of a message.
///
/// # Errors
/// Where the other end sent something else: a bug.
pub(crate) fn unpack<T: DeserializeOwned>(message: &Array) -> Result<(u64, T), Failure> {
    let strange = |what: String| Failure::new(Cause::Internal, format!("strange message: {what}"));
    let id = message
        .get(0)
        .as_f64()
        .ok_or_else(|| strange("no id".to_owned()))?;
    let text = message
        .get(1)
        .as_string()
        .ok_or_else(|| strange("no text".to_owned()))?;
    let body = serde_json::from_str(&text).map_err(|error| strange(error.to_string()))?;
    Ok((crate::timeline::viewport::rounded(id), body))
}

/// An answer with its columns.
///
/// # Errors
/// Where the other end sent something else: a bug.
pub(crate) fn unpack_answer(message: &Array) -> Result<(u64, Answer), Failure> {
    let (id, mut answer) = unpack(message)?;
    if let Answer::Raster(raster) = &mut answer {
        fill(raster, message);
    }
    Ok((id, answer))
}

fn fill(raster: &mut RasterAnswer, message: &Array) {
    let bytes = |index| {
        message
            .get(index)
            .dyn_into::<Uint8Array>()
            .map(|it| it.to_vec())
    };
    raster.kinds = bytes(2).unwrap_or_default();
    let kernels = message
        .get(3)
        .dyn_into::<Uint32Array>()
        .map(|it| it.to_vec());
    raster.kernels = kernels.unwrap_or_default();
    raster.busy = bytes(4).unwrap_or_default();
    raster.focused = bytes(5).unwrap_or_default();
    raster.efficiency = bytes(6).unwrap_or_default();
}

/// Ids stay far below 2^53.
fn number(id: u64) -> JsValue {
    JsValue::from_f64(crate::timeline::viewport::to_float(id))
}
