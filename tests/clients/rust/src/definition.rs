use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a poll rests.
pub const TICK: Duration = Duration::from_millis(20);

#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "clients.example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus", derive = "Default")]
pub struct WidgetSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct WidgetStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// The definition is installed and waited for; so are the namespaces of the later steps.
pub async fn install(client: &Client) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in ["work", "cut", "expired"] {
        let metadata = ObjectMeta { name: Some(name.into()), ..Default::default() };
        namespaces.create(&PostParams::default(), &Namespace { metadata, ..Default::default() }).await?;
    }
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Widget::crd()).await?;
    await_condition(definitions, Widget::crd_name(), conditions::is_crd_established()).await?;
    Ok(())
}
