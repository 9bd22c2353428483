//! Which paths there are.
//!
//! A router crate would be larger than this table.

use hyper::{Method, StatusCode};

use crate::error::{ApiError, ApiResult};

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Embeddings,
    Similarity,
    Distance,
    Search,
    Classify,
    Map,
    Models,
    Model,
    Health,
    Ready,
    Metrics,
    OpenApi,
    Docs,
    Page,
    /// A path that is none of these.
    Other,
}

impl Route {
    pub const ALL: [Route; 15] = [
        Route::Embeddings,
        Route::Similarity,
        Route::Distance,
        Route::Search,
        Route::Classify,
        Route::Map,
        Route::Models,
        Route::Model,
        Route::Health,
        Route::Ready,
        Route::Metrics,
        Route::OpenApi,
        Route::Docs,
        Route::Page,
        Route::Other,
    ];

    /// The route of a path, whatever the method.
    pub fn of(path: &str) -> Route {
        match path {
            "/v1/embeddings" => Route::Embeddings,
            "/v1/similarity" => Route::Similarity,
            "/v1/distance" => Route::Distance,
            "/v1/search" => Route::Search,
            "/v1/classify" => Route::Classify,
            "/v1/map" => Route::Map,
            "/v1/models" => Route::Models,
            "/health" => Route::Health,
            "/ready" => Route::Ready,
            "/metrics" => Route::Metrics,
            "/openapi.json" => Route::OpenApi,
            "/docs" => Route::Docs,
            path if path.starts_with("/v1/models/") => Route::Model,
            path if crate::page::is_page(path) => Route::Page,
            _ => Route::Other,
        }
    }

    /// The path, as metrics and logs name it.
    pub fn name(self) -> &'static str {
        match self {
            Route::Embeddings => "/v1/embeddings",
            Route::Similarity => "/v1/similarity",
            Route::Distance => "/v1/distance",
            Route::Search => "/v1/search",
            Route::Classify => "/v1/classify",
            Route::Map => "/v1/map",
            Route::Models => "/v1/models",
            Route::Model => "/v1/models/{model}",
            Route::Health => "/health",
            Route::Ready => "/ready",
            Route::Metrics => "/metrics",
            Route::OpenApi => "/openapi.json",
            Route::Docs => "/docs",
            Route::Page => "/",
            Route::Other => "other",
        }
    }

    pub fn takes_body(self) -> bool {
        matches!(
            self,
            Route::Embeddings
                | Route::Similarity
                | Route::Distance
                | Route::Search
                | Route::Classify
        )
    }

    /// Whether everybody may ask: what probes look at, and pages without anything of the
    /// models in them.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            Route::Health
                | Route::Ready
                | Route::OpenApi
                | Route::Docs
                | Route::Page
                | Route::Other
        )
    }

    pub fn check(self, method: &Method, path: &str) -> ApiResult<()> {
        if self == Route::Other {
            let shown: String = path.chars().take(80).collect();
            let message = format!("there is no {shown}; see /docs");
            return Err(ApiError::invalid(message).status(StatusCode::NOT_FOUND));
        }
        let allowed = match self.takes_body() {
            true => "POST",
            false => "GET, HEAD",
        };
        if allowed
            .split(", ")
            .any(|allowed| allowed == method.as_str())
        {
            return Ok(());
        }
        let message = format!("{} takes {allowed}", self.name());
        let mut error = ApiError::invalid(message).status(StatusCode::METHOD_NOT_ALLOWED);
        error.allow = Some(allowed);
        Err(error)
    }
}
