//! Messages as JavaScript values: an array of id, packed body, then columns or a file handle.

use js_sys::{Array, Uint8Array, Uint32Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast as _, JsValue};

use super::cause::{Cause, Failure};
use super::panel::PanelAnswer;
use super::protocol::Answer;
use super::raster::RasterAnswer;
use super::read::{release, taken};

/// A message and the buffers that change hands with it.
pub(crate) struct Packed {
    /// The message.
    pub(crate) message: Array,
    /// Buffers to transfer.
    pub(crate) transfer: Array,
}

/// A question or an answer without columns.
pub(crate) fn pack(id: u64, body: &impl Serialize) -> Packed {
    let bytes = postcard::to_allocvec(body).unwrap_or_default();
    Packed {
        message: Array::of2(&number(id), &Uint8Array::from(bytes.as_slice())),
        transfer: Array::new(),
    }
}

/// An answer with its columns.
pub(crate) fn pack_answer(id: u64, answer: &Answer) -> Packed {
    let packed = pack(id, answer);
    if let Some(raster) = raster_in(answer) {
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
    if let Some(planes) = planes(answer) {
        for plane in planes {
            let plane = Uint8Array::from(plane.as_slice());
            packed.transfer.push(&plane.buffer());
            packed.message.push(&plane);
        }
    }
    packed
}

/// An answer that hands over a file of `bytes` in columnar form.
pub(crate) fn pack_converted(id: u64, columnar: &[u8], bytes: u64) -> Packed {
    let packed = pack(id, &Answer::Converted { bytes });
    let columnar = Uint8Array::from(columnar);
    packed.transfer.push(&columnar.buffer());
    packed.message.push(&columnar);
    packed
}

fn raster_in(answer: &Answer) -> Option<&RasterAnswer> {
    match answer {
        Answer::Raster(raster) | Answer::OtherRaster(raster) => Some(raster),
        Answer::Early(answer) => raster_in(answer),
        _ => None,
    }
}

fn raster_of(answer: &mut Answer) -> Option<&mut RasterAnswer> {
    match answer {
        Answer::Raster(raster) | Answer::OtherRaster(raster) => Some(raster),
        Answer::Early(answer) => raster_of(answer),
        _ => None,
    }
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
    let body = postcard::from_bytes(&bytes(message, 1)).map_err(|it| strange(it.to_string()))?;
    Ok((crate::timeline::viewport::rounded(id), body))
}

/// An answer with its columns.
///
/// # Errors
/// Where the other end sent something else: a bug.
pub(crate) fn unpack_answer(message: &Array) -> Result<(u64, Answer), Failure> {
    let (id, mut answer) = unpack(message)?;
    if let Some(raster) = raster_of(&mut answer) {
        fill(raster, message);
    }
    match &mut answer {
        Answer::Panel(panel) => {
            if let PanelAnswer::Ports(ports) = &mut **panel {
                for (at, plane) in (2..).zip(&mut ports.planes) {
                    *plane = column(message, at);
                }
            }
        }
        Answer::Matrix(matrix) => matrix.plane = column(message, 2),
        _ => {}
    }
    Ok((id, answer))
}

fn fill(raster: &mut RasterAnswer, message: &Array) {
    raster.kinds = column(message, 2);
    if let Ok(kernels) = message.get(3).dyn_into::<Uint32Array>() {
        raster.kernels = kernels.to_vec();
        release(&kernels.buffer());
    }
    raster.busy = column(message, 4);
    raster.focused = column(message, 5);
    raster.efficiency = column(message, 6);
}

/// The planes of a picture that travel beside its answer.
fn planes(answer: &Answer) -> Option<&[Vec<u8>]> {
    match answer {
        Answer::Panel(panel) => match &**panel {
            PanelAnswer::Ports(ports) => Some(&ports.planes),
            _ => None,
        },
        Answer::Matrix(matrix) => Some(std::slice::from_ref(&matrix.plane)),
        _ => None,
    }
}

fn bytes(message: &Array, at: u32) -> Vec<u8> {
    let column = message.get(at).dyn_into::<Uint8Array>();
    column.map(|it| it.to_vec()).unwrap_or_default()
}

/// Bytes that came with a message for this end alone.
fn column(message: &Array, at: u32) -> Vec<u8> {
    let column = message.get(at).dyn_into::<Uint8Array>();
    column.map(|it| taken(&it)).unwrap_or_default()
}

/// Ids stay far below 2^53.
fn number(id: u64) -> JsValue {
    JsValue::from_f64(crate::timeline::viewport::to_float(id))
}
