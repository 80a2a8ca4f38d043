use anyhow::ensure;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};

use crate::definition::TICK;

/// One who wants the lease. kube-rs itself has no leader election.
struct Candidate<'a> {
    leases: &'a Api<Lease>,
    name: &'a str,
}

impl Candidate<'_> {
    /// Takes the lease where nobody holds it or it is its own; whether it leads then. Who is overtaken does not.
    async fn tries(&self) -> kube::Result<bool> {
        let written = match self.leases.get_opt("leader").await? {
            None => self.leases.create(&PostParams::default(), &self.held(Lease::default())).await,
            Some(now) if holder(&now).is_none_or(|holder| holder == self.name) => {
                self.leases.replace("leader", &PostParams::default(), &self.held(now)).await
            }
            Some(_) => return Ok(false),
        };
        match written {
            Err(Error::Api(status)) if status.code == 409 => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Lets go of the lease.
    async fn releases(&self) -> kube::Result<()> {
        let mut now = self.leases.get("leader").await?;
        now.spec.get_or_insert_default().holder_identity = None;
        self.leases.replace("leader", &PostParams::default(), &now).await.map(|_| ())
    }

    fn held(&self, now: Lease) -> Lease {
        let before = now.spec.unwrap_or_default();
        let changed = before.holder_identity.as_deref() != Some(self.name);
        Lease {
            metadata: ObjectMeta { name: Some("leader".into()), ..now.metadata },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.name.into()),
                lease_duration_seconds: Some(15),
                lease_transitions: Some(before.lease_transitions.unwrap_or(-1) + i32::from(changed)),
                renew_time: Some(MicroTime(k8s_openapi::jiff::Timestamp::now())),
                ..before
            }),
        }
    }
}

fn holder(of: &Lease) -> Option<&str> {
    of.spec.as_ref()?.holder_identity.as_deref().filter(|name| !name.is_empty())
}

/// Of two candidates who try at once one leads; when it lets go the other does, and the lease says so.
pub async fn election(client: &Client) -> anyhow::Result<()> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "work");
    let (first, second) = (Candidate { leases: &leases, name: "first" }, Candidate { leases: &leases, name: "second" });
    let (one, other) = tokio::try_join!(first.tries(), second.tries())?;
    ensure!(one != other, "first leads: {one}, second leads: {other}");
    let (leader, next) = if one { (&first, &second) } else { (&second, &first) };
    ensure!(!next.tries().await? && leader.tries().await?, "{} does not lead on", leader.name);
    leader.releases().await?;
    while !next.tries().await? {
        tokio::time::sleep(TICK).await;
    }
    let spec = leases.get("leader").await?.spec.unwrap_or_default();
    ensure!(
        spec.holder_identity.as_deref() == Some(next.name) && spec.lease_transitions == Some(1),
        "held by {:?} after {:?} changes",
        spec.holder_identity,
        spec.lease_transitions,
    );
    Ok(())
}
