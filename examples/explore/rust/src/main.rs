//! A controller that fills a bed, a ConfigMap, for each garden with the soil that another ConfigMap describes.
//!
//! The defect: when the soil is not in its cache yet, it waits for a change of the garden instead of trying again. The
//! garden then has no bed, because nothing reconciles it once the soil is there. With --mended it tries again.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const AGAIN: Duration = Duration::from_millis(50);

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Garden", namespaced, status = "GardenStatus")]
struct GardenSpec {
    plants: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct GardenStatus {
    phase: Option<String>,
}

struct Context {
    client: Client,
    maps: Store<ConfigMap>,
    mended: bool,
}

async fn reconcile(garden: Arc<Garden>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let namespace = garden.namespace().unwrap_or_default();
    let Some(soil) = context.maps.get(&ObjectRef::new("soil").within(&namespace)) else {
        return Ok(if context.mended { Action::requeue(AGAIN) } else { Action::await_change() });
    };
    let mut data = soil.data.clone().unwrap_or_default();
    data.insert("plants".into(), garden.spec.plants.unwrap_or_default().to_string());
    let bed = ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-bed", garden.name_any())),
            owner_references: garden.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..Default::default()
        },
        data: Some(data),
        ..Default::default()
    };
    let params = PatchParams::apply("gardener").force();
    let beds: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
    beds.patch(&format!("{}-bed", garden.name_any()), &params, &Patch::Apply(bed)).await?;
    let gardens: Api<Garden> = Api::namespaced(context.client.clone(), &namespace);
    let planted = json!({"apiVersion": "example.com/v1", "kind": "Garden", "status": {"phase": "Planted"}});
    gardens.patch_status(&garden.name_any(), &params, &Patch::Apply(planted)).await?;
    Ok(Action::await_change())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default().await?;
    let (maps, writer) = reflector::store();
    let config = watcher::Config::default();
    let watched = watcher(Api::<ConfigMap>::all(client.clone()), config.clone()).default_backoff().reflect(writer);
    tokio::spawn(watched.for_each(|_| futures::future::ready(())));
    maps.wait_until_ready().await?;
    let context = Context { client: client.clone(), maps, mended: std::env::args().any(|one| one == "--mended") };
    Controller::new(Api::<Garden>::all(client), config)
        .run(reconcile, |_, _, _| Action::requeue(AGAIN), Arc::new(context))
        .for_each(|_| futures::future::ready(()))
        .await;
    anyhow::bail!("the controller ended")
}
