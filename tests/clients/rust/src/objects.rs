use anyhow::{bail, ensure};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_deleted;
use kube::runtime::wait::await_condition;
use kube::{Client, Error, Resource, ResourceExt};

use crate::definition::{Widget, WidgetSpec, WidgetStatus};

pub fn widget(name: &str, size: i64) -> Widget {
    Widget::new(name, WidgetSpec { size: Some(size), color: None })
}

/// The message of a conflict; anything else is an error.
pub fn conflict<T>(answer: kube::Result<T>) -> anyhow::Result<String> {
    match answer {
        Err(Error::Api(status)) if status.code == 409 => Ok(status.message.clone()),
        Err(error) => Err(error.into()),
        Ok(_) => bail!("a conflict was expected"),
    }
}

/// Two managers want the same field: the second is refused, takes it by force, and the first learns of it.
pub async fn apply(client: &Client) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), "work");
    let (first, second) = (PatchParams::apply("first"), PatchParams::apply("second"));
    objects.patch("applied", &first, &Patch::Apply(widget("applied", 1))).await?;
    conflict(objects.patch("applied", &second, &Patch::Apply(widget("applied", 2))).await)?;
    let taken = objects.patch("applied", &second.force(), &Patch::Apply(widget("applied", 2))).await?;
    let owners: Vec<_> = taken.managed_fields().iter().filter_map(|one| one.manager.as_deref()).collect();
    ensure!(taken.spec.size == Some(2) && owners == ["second"], "{:?}, owned by {owners:?}", taken.spec);
    let message = conflict(objects.patch("applied", &first, &Patch::Apply(widget("applied", 3))).await)?;
    ensure!(message.contains(".spec.size"), "a conflict that names no field: {message}");
    Ok(())
}

/// A deleted object stays until nobody has a finalizer on it.
pub async fn finalizers(client: &Client) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), "work");
    let mut held = widget("held", 1);
    held.finalizers_mut().push("clients.example.com/held".into());
    let uid = objects.create(&PostParams::default(), &held).await?.uid().unwrap_or_default();
    objects.delete("held", &DeleteParams::default()).await?;
    let mut marked = objects.get("held").await?;
    ensure!(marked.meta().deletion_timestamp.is_some(), "nothing says that it is being deleted");
    marked.finalizers_mut().clear();
    objects.replace("held", &PostParams::default(), &marked).await?;
    await_condition(objects, "held", is_deleted(&uid)).await?;
    Ok(())
}

/// An update leaves the status, a status update leaves the rest; who is late gets a conflict and tries again.
pub async fn status(client: &Client) -> anyhow::Result<()> {
    let objects: Api<Widget> = Api::namespaced(client.clone(), "work");
    let write = PostParams::default();
    let seen = objects.create(&write, &in_phase(widget("busy", 1), "Ignored")).await?;
    ensure!(seen.status.is_none(), "a create set the status");
    let mut changed = seen.clone();
    changed.spec.size = Some(2);
    objects.replace("busy", &write, &changed).await?;
    conflict(objects.replace_status("busy", &write, &in_phase(seen, "Late")).await)?;
    loop {
        let mut now = in_phase(objects.get_status("busy").await?, "Ready");
        now.spec.size = Some(9);
        match objects.replace_status("busy", &write, &now).await {
            Err(Error::Api(status)) if status.code == 409 => continue,
            answer => {
                answer?;
                break;
            }
        };
    }
    let now = objects.get("busy").await?;
    let phase = now.status.as_ref().and_then(|status| status.phase.as_deref());
    let generation = now.meta().generation;
    ensure!(
        (phase, now.spec.size, generation) == (Some("Ready"), Some(2), Some(2)),
        "phase {phase:?}, size {:?}, generation {generation:?}",
        now.spec.size,
    );
    Ok(())
}

fn in_phase(mut of: Widget, phase: &str) -> Widget {
    of.status = Some(WidgetStatus { phase: Some(phase.into()) });
    of
}
