//! From a request to an answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::{Request, Response, StatusCode};
use tokio::time::timeout;

use crate::body::{self, Answer};
use crate::error::{ApiError, ApiResult};
use crate::key::ApiKey;
use crate::limits::Limits;
use crate::log::{Answered, Log};
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::page;
use crate::router::Route;
use crate::routes::{classify, distance, embeddings, models, similarity};
use crate::served::Current;
use crate::work::Work;

const JSON: &str = "application/json";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Sent with every answer. Answers of the API are not to be kept or shown by a browser as
/// anything else than they are; no other site may read them (there is no CORS).
const SECURITY: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

pub(crate) struct Service {
    pub limits: Limits,
    pub key: RwLock<Option<ApiKey>>,
    /// Whether the name of the host must be one of this machine's own: another would mean
    /// that a page of some web site has been led here (DNS rebinding).
    pub local_only: bool,
    pub current: Arc<Current>,
    pub work: Arc<Work>,
    pub memory: Memory,
    pub metrics: Arc<Metrics>,
    pub log: Log,
    pub start: Instant,
    pub is_ending: AtomicBool,
    pub instance: u64,
    pub next_id: AtomicU64,
}

/// What an answer consists of.
struct Content {
    bytes: bytes::Bytes,
    content_type: &'static str,
    policy: &'static str,
}

impl Content {
    fn json(bytes: impl Into<bytes::Bytes>) -> Self {
        Content {
            bytes: bytes.into(),
            content_type: JSON,
            policy: "default-src 'none'; frame-ancestors 'none'",
        }
    }
}

impl Service {
    pub async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Answer>, Infallible> {
        let start = Instant::now();
        let id = self.request_id(&request);
        let route = Route::of(request.uri().path());
        let method = request.method().clone();
        let answer = match timeout(self.limits.request_time, self.answer(route, request)).await {
            Ok(answer) => answer,
            Err(_) => {
                let seconds = self.limits.request_time.as_secs_f64();
                let message = format!("the request took more than {seconds} seconds");
                Err(match route.takes_body() {
                    true => ApiError::unavailable(message).code("timeout").closing(),
                    false => ApiError::unavailable(message),
                })
            }
        };
        let (status, content) = match &answer {
            Ok(content) => (
                StatusCode::OK,
                Content {
                    bytes: content.bytes.clone(),
                    ..*content
                },
            ),
            Err(error) => (error.status, Content::json(error.body())),
        };
        let took = start.elapsed();
        let error = answer.as_ref().err();
        self.metrics.request(route, status.as_u16(), took);
        self.log.request(&Answered {
            id: &id,
            method: method.as_str(),
            route: route.name(),
            status: status.as_u16(),
            took,
            n_bytes: content.bytes.len(),
            error: error.map(|error| error.message.as_str()),
        });
        Ok(self.response(status, content, error, &id))
    }

    fn response(
        &self,
        status: StatusCode,
        content: Content,
        error: Option<&ApiError>,
        id: &str,
    ) -> Response<Answer> {
        let mut response = Response::new(Answer::new(content.bytes, &self.memory));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        for (name, value) in SECURITY {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(
            "content-security-policy",
            HeaderValue::from_static(content.policy),
        );
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.content_type));
        let is_page = content.content_type != JSON;
        let keep = if is_page { "no-cache" } else { "no-store" };
        headers.insert("cache-control", HeaderValue::from_static(keep));
        if let Ok(id) = HeaderValue::from_str(id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(error) = error {
            if let Some(seconds) = error.retry_after {
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            if let Some(allow) = error.allow {
                headers.insert(ALLOW, HeaderValue::from_static(allow));
            }
            if error.status == StatusCode::UNAUTHORIZED {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            if error.closes {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
        }
        response
    }

    async fn answer(&self, route: Route, request: Request<Incoming>) -> ApiResult<Content> {
        self.check_host(&request)?;
        route.check(request.method(), request.uri().path())?;
        if !route.is_open() {
            self.check_key(&request)?;
        }
        let path = request.uri().path().to_owned();
        if !route.takes_body() {
            return self.look_up(route, &path);
        }
        check_content_type(&request)?;
        let (parts, incoming) = request.into_parts();
        let body = body::read(
            &parts.headers,
            incoming,
            self.limits.body_bytes,
            &self.memory,
        )
        .await?;
        let work = &self.work;
        let answer = match route {
            Route::Embeddings => work.embed(body, embeddings::read).await,
            Route::Similarity => work.embed(body, similarity::read).await,
            Route::Distance => work.run(body, distance::answer).await,
            Route::Classify => work.run(body, classify::answer).await,
            _ => Err(ApiError::internal("a route without an answer")),
        };
        answer.map(Content::json)
    }

    /// What needs no work.
    fn look_up(&self, route: Route, path: &str) -> ApiResult<Content> {
        match route {
            Route::Health => Ok(Content::json("{\"status\":\"ok\"}")),
            Route::Ready if self.is_ending.load(Relaxed) => {
                Err(ApiError::unavailable("the service is ending"))
            }
            Route::Ready => {
                self.current.get()?;
                Ok(Content::json("{\"status\":\"ready\"}"))
            }
            Route::Models => Ok(Content::json(
                models::list(&*self.current.get()?).to_string(),
            )),
            Route::Model => {
                let name = path.trim_start_matches("/v1/models/");
                let model = models::one(&*self.current.get()?, name)?;
                Ok(Content::json(model.to_string()))
            }
            Route::Metrics => {
                let (queue, memory) = (self.work.unanswered(), self.memory.in_use());
                let mut page =
                    Content::json(self.metrics.render(queue, memory, self.start.elapsed()));
                page.content_type = "text/plain; version=0.0.4; charset=utf-8";
                Ok(page)
            }
            Route::OpenApi => Ok(Content::json(page::OPENAPI)),
            _ => {
                let file =
                    page::file(path).ok_or_else(|| ApiError::internal("a page without a file"))?;
                Ok(Content {
                    bytes: file.content,
                    content_type: file.content_type,
                    policy: page::POLICY,
                })
            }
        }
    }

    fn check_key(&self, request: &Request<Incoming>) -> ApiResult<()> {
        let key = self.key.read().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = key.as_ref() else {
            return Ok(());
        };
        let given = request
            .headers()
            .get(AUTHORIZATION)
            .map(HeaderValue::as_bytes);
        let given = given.and_then(|given| {
            let (scheme, key) = given.split_at_checked(7)?;
            scheme
                .eq_ignore_ascii_case(b"bearer ")
                .then_some(key.trim_ascii())
        });
        let message = match given {
            Some(given) if key.is(given) => return Ok(()),
            Some(_) => "the API key is wrong",
            None => "an API key is needed: send the header `Authorization: Bearer KEY`",
        };
        let error = ApiError::invalid(message).code("invalid_api_key");
        Err(error.status(StatusCode::UNAUTHORIZED))
    }

    fn check_host(&self, request: &Request<Incoming>) -> ApiResult<()> {
        if !self.local_only {
            return Ok(());
        }
        let host = request
            .headers()
            .get(HOST)
            .and_then(|host| host.to_str().ok());
        let name = host.map(|host| match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        });
        let is_local = name.is_none_or(|name| {
            let bare = name.trim_matches(['[', ']']);
            let address = bare.parse::<std::net::IpAddr>();
            name.eq_ignore_ascii_case("localhost")
                || address.is_ok_and(|address| address.is_loopback())
        });
        if is_local {
            return Ok(());
        }
        let message = "this service without an API key answers to localhost alone; \
                       other names need --api-key-file or --no-api-key";
        Err(ApiError::invalid(message).status(StatusCode::MISDIRECTED_REQUEST))
    }

    /// The client's own id if it is a plain one, or else a new one.
    fn request_id(&self, request: &Request<Incoming>) -> String {
        let given = request
            .headers()
            .get(REQUEST_ID)
            .and_then(|id| id.to_str().ok());
        let is_plain = |id: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !id.is_empty() && id.len() <= 64 && id.bytes().all(plain)
        };
        match given.filter(is_plain) {
            Some(id) => id.to_owned(),
            None => {
                let number = self.next_id.fetch_add(1, Relaxed);
                format!("req-{:016x}-{number:x}", self.instance)
            }
        }
    }
}

/// JSON is asked for by name: a form of another web site cannot send it unasked.
fn check_content_type(request: &Request<Incoming>) -> ApiResult<()> {
    let given = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = given.and_then(|kind| kind.split(';').next()).map(str::trim);
    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case(JSON)) {
        return Ok(());
    }
    let message = "the body must be JSON: send the header `Content-Type: application/json`";
    let error = ApiError::invalid(message).closing();
    Err(error.status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
}
