use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Error as Finalizing, Event as Step, finalizer};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, Resource, ResourceExt};
use serde_json::json;

use crate::definition::{TICK, Widget};
use crate::objects::widget;

type Found = watcher::Result<watcher::Event<Widget>>;

/// Reads on until an event is what is waited for. The watcher itself gets over errors, after a rest.
async fn until(events: &mut (impl Stream<Item = Found> + Unpin), wanted: impl Fn(&watcher::Event<Widget>) -> bool) {
    while let Some(event) = events.next().await {
        if event.is_ok_and(|event| wanted(&event)) {
            return;
        }
    }
}

fn shown(event: &watcher::Event<Widget>, name: &str, size: i64) -> bool {
    use watcher::Event::{Apply, InitApply};
    matches!(event, Apply(one) | InitApply(one) if one.name_any() == name && one.spec.size == Some(size))
}

/// What is there, what changes and what goes is told, and the store has it.
pub async fn informer(client: &Client) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), "work");
    let write = PostParams::default();
    objects.create(&write, &widget("before", 1)).await?;
    let (store, writer) = reflector::store();
    let mut events = watcher(objects.clone(), watcher::Config::default()).default_backoff().reflect(writer).boxed();
    until(&mut events, |event| shown(event, "before", 1)).await;
    until(&mut events, |event| matches!(event, watcher::Event::InitDone)).await;
    let mut made = objects.create(&write, &widget("after", 1)).await?;
    until(&mut events, |event| shown(event, "after", 1)).await;
    made.spec.size = Some(2);
    objects.replace("after", &write, &made).await?;
    until(&mut events, |event| shown(event, "after", 2)).await;
    for name in ["before", "after"] {
        objects.delete(name, &DeleteParams::default()).await?;
        until(&mut events, |event| matches!(event, watcher::Event::Delete(one) if one.name_any() == name)).await;
    }
    ensure!(store.is_empty(), "the store still has {} objects", store.len());
    Ok(())
}

/// In this namespace watches end early, by a cut or with a 410: nothing may be missed all the same.
pub async fn resumed(client: &Client, namespace: &str) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), namespace);
    let (store, writer) = reflector::store();
    let mut events = watcher(objects.clone(), watcher::Config::default()).default_backoff().reflect(writer).boxed();
    until(&mut events, |event| matches!(event, watcher::Event::InitDone)).await;
    for number in 0..8 {
        let name = format!("n{number}");
        objects.create(&PostParams::default(), &widget(&name, number)).await?;
        until(&mut events, |event| shown(event, &name, number)).await;
    }
    objects.delete("n0", &DeleteParams::default()).await?;
    while store.len() != 7 {
        events.next().await.context("the watcher ended")?.ok();
    }
    Ok(())
}

const MARK: &str = "clients.example.com/reconciled";

type Failed = Finalizing<kube::Error>;

/// Gives every widget a config map of its own and says so in its status; runs again after a while (the resync).
async fn reconcile(found: Arc<Widget>, client: Arc<Client>) -> Result<Action, Failed> {
    let namespace = found.namespace().unwrap_or_default();
    let objects: Api<Widget> = Api::namespaced(client.as_ref().clone(), &namespace);
    let configs: Api<ConfigMap> = Api::namespaced(client.as_ref().clone(), &namespace);
    finalizer(&objects, MARK, found, |step| async {
        let Step::Apply(found) = step else { return Ok(Action::await_change()) };
        let name = found.name_any();
        let params = PatchParams::apply("reconciler").force();
        let config = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                owner_references: found.controller_owner_ref(&()).map(|owner| vec![owner]),
                ..Default::default()
            },
            data: Some([("size".into(), found.spec.size.unwrap_or_default().to_string())].into()),
            ..Default::default()
        };
        configs.patch(&name, &params, &Patch::Apply(config)).await?;
        objects.patch_status(&name, &params, &Patch::Apply(ready())).await?;
        Ok(Action::requeue(Duration::from_secs(1)))
    })
    .await
}

fn ready() -> serde_json::Value {
    json!({"apiVersion": Widget::api_version(&()), "kind": Widget::kind(&()), "status": {"phase": "Ready"}})
}

/// A controller makes what its objects own, makes it again when it is gone, finalizes, and leaves garbage behind.
pub async fn controller(client: &Client) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), "work");
    let configs: Api<ConfigMap> = Api::namespaced(client.clone(), "work");
    let running = Controller::new(objects.clone(), watcher::Config::default())
        .owns(configs.clone(), watcher::Config::default())
        .run(reconcile, |_, _: &Failed, _| Action::requeue(TICK), Arc::new(client.clone()))
        .for_each(|_| futures::future::ready(()));
    tokio::select! {
        () = running => anyhow::bail!("the controller ended"),
        done = reconciled(&objects, &configs) => done,
    }
}

async fn reconciled(objects: &Api<Widget>, configs: &Api<ConfigMap>) -> anyhow::Result<()> {
    let name = "reconciled";
    objects.create(&PostParams::default(), &widget(name, 4)).await?;
    while objects.get(name).await?.status.and_then(|status| status.phase).as_deref() != Some("Ready") {
        tokio::time::sleep(TICK).await;
    }
    let config = configs.get(name).await?;
    ensure!(config.data.as_ref().is_some_and(|data| data["size"] == "4"), "the config map has {:?}", config.data);
    configs.delete(name, &DeleteParams::default()).await?;
    while configs.get_opt(name).await?.is_none_or(|now| now.uid() == config.uid()) {
        tokio::time::sleep(TICK).await;
    }
    objects.delete(name, &DeleteParams::default()).await?;
    while objects.get_opt(name).await?.is_some() || configs.get_opt(name).await?.is_some() {
        tokio::time::sleep(TICK).await;
    }
    Ok(())
}
