//! The description of the interface against the routes, and against real answers.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::{Method, StatusCode};
use serde_json::Value;
use server::Config;
use server::http::{ClientLimits, HostPolicy, OPENAPI, routes};
use server::store::Store;

use crate::support::{Host, profile, sha};

fn description() -> Value {
    serde_json::from_str(OPENAPI).expect("JSON")
}

#[test]
fn every_route_is_described_and_every_description_is_a_route() {
    let description = description();
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().expect("paths").iter();
    let methods = ["get", "head", "put", "post", "delete"];
    let described: BTreeMap<String, BTreeSet<String>> = paths
        .map(|(path, item)| {
            let item = item.as_object().expect("a path item");
            let found = item.keys().filter(|key| methods.contains(&key.as_str()));
            (path.clone(), found.cloned().collect())
        })
        .collect();
    let routes = routes().into_iter().map(|(path, methods)| {
        let methods = methods.into_iter().map(str::to_owned).collect();
        (path.to_owned(), methods)
    });
    assert_eq!(described, routes.collect());
}

#[tokio::test]
async fn every_described_method_is_routed_and_no_other() {
    let host = Host::new();
    for (path, methods) in routes() {
        let path = address(path, None);
        for method in [Method::GET, Method::PUT, Method::POST, Method::DELETE] {
            let listed = methods.contains(&method.as_str().to_lowercase().as_str());
            let answer = host.call(method.clone(), &path, &[]).await;
            let routed = answer.status != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(routed, listed, "{method} {path}: {}", answer.status);
        }
    }
}

/// An address of the route, with names that mean something or all the same.
fn address(path: &str, name: Option<&str>) -> String {
    let zeros = "0".repeat(if path.contains("sha256") { 64 } else { 32 });
    let names = ["{sha256}", "{id}", "{upload}"];
    let path = names.iter().fold(path.to_owned(), |path, it| {
        path.replace(it, name.unwrap_or(&zeros))
    });
    path.replace("{number}", name.unwrap_or("0"))
}

/// A request that is to fail, and the status that it is to fail with.
struct Bad {
    name: Option<&'static str>,
    query: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
    status: StatusCode,
}

impl Bad {
    fn new(status: StatusCode) -> Self {
        Self {
            name: None,
            query: "",
            headers: Vec::new(),
            body: String::new(),
            status,
        }
    }

    fn all(path: &str, method: &Method) -> Vec<Self> {
        let evil = vec![("host", "evil.example")];
        let mut all = vec![Self {
            headers: evil,
            ..Self::new(StatusCode::MISDIRECTED_REQUEST)
        }];
        if path.contains('{') {
            for name in ["%ff", "x"] {
                all.push(Self {
                    name: Some(name),
                    headers: vec![
                        ("content-type", "application/json"),
                        ("authorization", "Bearer x"),
                    ],
                    body: "{}".to_owned(),
                    ..Self::new(StatusCode::BAD_REQUEST)
                });
            }
        }
        let query = match (method.as_str(), path) {
            ("GET", "/api/compare" | "/api/publications") => "?limit=x&q=%ff",
            ("PUT", "/api/artifacts/{sha256}") => "?days=many",
            _ => "",
        };
        all.extend((!query.is_empty()).then(|| Self {
            query,
            ..Self::new(StatusCode::BAD_REQUEST)
        }));
        if *method == Method::POST {
            let json = vec![("content-type", "application/json")];
            let said = |status, body: &str| Self {
                headers: json.clone(),
                body: body.to_owned(),
                ..Self::new(status)
            };
            all.push(Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE));
            all.push(said(StatusCode::PAYLOAD_TOO_LARGE, &" ".repeat(70_000)));
            all.push(said(StatusCode::BAD_REQUEST, "{"));
            all.push(said(StatusCode::BAD_REQUEST, "{\"colour\": 1}"));
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            all.push(Self {
                headers: vec![("origin", "https://evil.example")],
                ..Self::new(StatusCode::FORBIDDEN)
            });
        }
        all
    }

    async fn send(self, host: &Host, method: &Method, path: &str) -> crate::support::Answer {
        let address = format!("{}{}", address(path, self.name), self.query);
        let mut request = axum::http::Request::builder()
            .method(method.clone())
            .uri(address);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request.body(self.body.into()).expect("a request");
        host.send(request).await.expect(self.status)
    }
}

#[tokio::test]
async fn every_failure_is_described_and_has_the_described_form() {
    let description = description();
    let host = Host::new();
    let mut config = Config::loopback(Store::in_memory());
    config.hosts = HostPolicy::Any;
    config.clients = ClientLimits {
        requests_per_second: std::num::NonZeroU32::new(1),
        ..ClientLimits::default()
    };
    let busy = Host::of(config);
    for _ in 0..20 {
        busy.get("/health", &[]).await;
    }
    let mut seen = BTreeSet::new();
    for (path, methods) in routes() {
        for name in methods.iter().filter(|it| **it != "head") {
            let method: Method = name.to_uppercase().parse().expect("a method");
            let responses = &description["paths"][path][*name]["responses"];
            let mut answers = Vec::new();
            for bad in Bad::all(path, &method) {
                answers.push(bad.send(&host, &method, path).await);
            }
            let late = Bad::new(StatusCode::TOO_MANY_REQUESTS);
            answers.push(late.send(&busy, &method, path).await);
            for answer in answers {
                let status = answer.status.as_u16();
                seen.insert(status);
                let described = &responses[status.to_string()]["$ref"];
                assert_eq!(
                    described, "#/components/responses/Failure",
                    "{name} {path} {status}"
                );
                assert_eq!(answer.header("content-type"), "application/json");
                fits(&description, "Failure", &answer.json());
            }
        }
        let other = host.call(Method::PATCH, &address(path, None), &[]).await;
        let other = other.expect(StatusCode::METHOD_NOT_ALLOWED);
        fits(&description, "Failure", &other.json());
        assert_ne!(other.header("allow"), "");
    }
    assert_eq!(seen, BTreeSet::from([400, 403, 413, 415, 421, 429]));
}

#[test]
fn references_lead_somewhere_and_operations_are_whole() {
    let description = description();
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 10);
    for reference in found {
        let path = reference.trim_start_matches('#');
        assert!(
            description.pointer(path).is_some(),
            "{reference} leads nowhere"
        );
    }
    for (path, item) in description["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            if method == "parameters" {
                continue;
            }
            let named = operation["operationId"].is_string() && operation["summary"].is_string();
            assert!(named, "{method} {path} has no operationId or summary");
            assert!(
                operation["responses"].is_object(),
                "{method} {path} has no responses"
            );
        }
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|it| references(it, found));
        }
        Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

/// Fields of an answer against a schema of the description: all known, all required ones there.
fn fits(description: &Value, schema: &str, answer: &Value) {
    let schema = &description["components"]["schemas"][schema];
    let answer = answer.as_object().expect("an object");
    let known = schema["properties"].as_object().expect("properties");
    for (name, value) in answer {
        let property = known
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not described"));
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let types = &property["type"];
        let listed = types
            .as_array()
            .is_some_and(|it| it.iter().any(|it| it == kind));
        assert!(
            types == kind || listed,
            "{name} is a {kind}, described as {types}"
        );
    }
    for name in schema["required"].as_array().expect("required") {
        let name = name.as_str().expect("a name");
        assert!(answer.contains_key(name), "{name} is required");
    }
}

#[tokio::test]
async fn answers_have_the_fields_that_are_described() {
    let description = description();
    let host = Host::new();
    let bytes = profile(1);
    let made = host
        .put(&sha(&bytes), bytes)
        .await
        .expect(StatusCode::CREATED);
    fits(&description, "Published", &made.json());
    let list = host.get("/api/publications", &[]).await.json();
    fits(&description, "List", &list);
    fits(&description, "Publication", &list["publications"][0]);
    let one = host
        .get(&format!("/api/publications/{}", made.field("id")), &[])
        .await;
    fits(&description, "Publication", &one.json());
    let upload = format!("/api/uploads/{}", "0".repeat(32));
    fits(&description, "Parts", &host.get(&upload, &[]).await.json());
    for path in ["/api/publications/x", "/api/artifacts/x", "/api/nothing"] {
        fits(&description, "Failure", &host.get(path, &[]).await.json());
    }
    for path in ["/health", "/ready"] {
        let answer = host.get(path, &[]).await.expect(StatusCode::OK);
        fits(&description, "Status", &answer.json());
    }
    assert_eq!(host.get("/api/openapi.json", &[]).await.json(), description);
}

#[tokio::test]
async fn metrics_count_requests_by_route_and_hold_no_private_id() {
    let host = Host::new();
    let bytes = profile(1);
    let made = host
        .put(
            &format!("{}?visibility=private", sha(&bytes)),
            bytes.clone(),
        )
        .await;
    let id = made.expect(StatusCode::CREATED).field("id");
    let path = format!("/api/publications/{id}/content");
    for _ in 0..3 {
        host.get(&path, &[]).await.expect(StatusCode::OK);
    }
    let text = host.get("/metrics", &[]).await.expect(StatusCode::OK);
    let text = text.text();
    let counted = "ipu_stack_requests_total{method=\"GET\",\
        route=\"/api/publications/{id}/content\",status=\"200\"} 3";
    assert!(text.contains(counted), "{text}");
    assert!(text.contains("ipu_stack_publications_total 1"), "{text}");
    assert!(!text.contains(&id) && text.ends_with("# EOF\n"), "{text}");
}
