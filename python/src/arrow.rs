//! Arrow columns through the C data interface, without copies.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array, make_array};
use arrow_array::{LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use rayon::prelude::*;
use wordmover::Document;

use crate::model::Model;
use crate::pool::run;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A column of embeddings on its way to whoever asks by `__arrow_c_array__`.
#[pyclass(frozen, module = "wordmover._native")]
pub struct ArrowColumn(ArrayRef);

#[pymethods]
impl ArrowColumn {
    #[pyo3(signature = (requested_schema=None) -> "tuple[object, object]")]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface lets a producer give the type it has.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(damaged)?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        let array = PyCapsule::new_with_value(py, array, ARRAY)?;
        PyTuple::new(py, [schema, array])
    }
}

/// Embeds a column of texts; missing texts have missing embeddings.
#[pyfunction]
#[pyo3(signature = (model, column: "object", *, progress=None))]
pub fn embed_column(
    model: &Bound<'_, Model>,
    column: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<ArrowColumn> {
    let py = column.py();
    let texts = Texts::import(column)?;
    let model = model.get().0.clone();
    let n_features = model.n_features();
    let (values, texts) = run(py, progress, move |monitor| {
        let document = |index| match texts.get(index) {
            Some(text) => model.document(&model.word_counts(text)),
            None => Document::default(),
        };
        let n_texts = texts.array().len();
        let documents: Vec<Document> = (0..n_texts).into_par_iter().map(document).collect();
        let mut out = vec![0.0; n_texts * n_features];
        model.embed_into(&documents, &mut out, &mut |done| {
            monitor.advance(done.distances)
        })?;
        Ok((out, texts))
    })?;
    let item = Arc::new(Field::new_list_field(DataType::Float32, false));
    let width =
        i32::try_from(n_features).map_err(|_| PyValueError::new_err("too many features"))?;
    let values = Arc::new(Float32Array::from(values));
    let missing = texts.array().nulls().cloned();
    let list = FixedSizeListArray::try_new(item, width, values, missing).map_err(damaged)?;
    Ok(ArrowColumn(Arc::new(list)))
}

/// A column of strings of any of Arrow's three layouts.
enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Texts {
    fn import(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsules = column.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
        let schema = schema
            .pointer_checked(Some(SCHEMA))?
            .cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold these structures (the PyCapsule interface
        // of Arrow), valid as long as the capsules, which outlive this call. The array is
        // moved out and marked as released in its place, so it is released once.
        let data = unsafe {
            let array = FFI_ArrowArray::from_raw(array.as_ptr());
            from_ffi(array, schema.as_ref())
        };
        let data = data.map_err(damaged)?;
        Ok(match data.data_type() {
            DataType::Utf8 => Texts::Small(data.into()),
            DataType::LargeUtf8 => Texts::Large(data.into()),
            DataType::Utf8View => Texts::View(data.into()),
            DataType::Null => {
                let n = make_array(data).len();
                Texts::Small(StringArray::new_null(n))
            }
            other => {
                let message = format!("expected a column of strings, found one of {other}");
                return Err(PyTypeError::new_err(message));
            }
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Texts::Small(texts) => texts,
            Texts::Large(texts) => texts,
            Texts::View(texts) => texts,
        }
    }

    fn get(&self, index: usize) -> Option<&str> {
        if self.array().is_null(index) {
            return None;
        }
        Some(match self {
            Texts::Small(texts) => texts.value(index),
            Texts::Large(texts) => texts.value(index),
            Texts::View(texts) => texts.value(index),
        })
    }
}

fn damaged(error: arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be used: {error}"))
}
