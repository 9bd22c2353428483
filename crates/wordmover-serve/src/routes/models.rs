//! `GET /v1/models`, and what is known of the model beside its name.

use serde_json::{Value, json};

use crate::error::{ApiError, ApiResult};
use crate::served::Served;

pub(crate) fn list(served: &Served) -> Value {
    json!({ "object": "list", "data": [describe(served)] })
}

/// `name` as it stands in the path.
pub(crate) fn one(served: &Served, name: &str) -> ApiResult<Value> {
    if name != served.name {
        served.check_name(Some(name))?;
        return Err(ApiError::internal("a name that is and is not the model's"));
    }
    Ok(describe(served))
}

fn describe(served: &Served) -> Value {
    let embedding = &served.embedding;
    json!({
        "id": served.name,
        "object": "model",
        "created": served.loaded,
        "owned_by": "wordmover",
        "dimensions": embedding.n_features(),
        "gamma": embedding.gamma(),
        "vectors": embedding.documents().vectors().name(),
        "classes": served.classifier.as_ref().map(|classifier| classifier.classes()),
        "index": Value::Null,
    })
}
