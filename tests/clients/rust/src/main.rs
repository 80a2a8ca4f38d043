//! The steps that every client in this folder's neighbours takes, with kube-rs.

mod definition;
mod leader;
mod objects;
mod watches;

use std::time::Duration;

use kube::Client;

/// Runs one step and tells of it; whether it went well.
async fn take(name: &str, step: impl Future<Output = anyhow::Result<()>>) -> bool {
    let taken = tokio::time::timeout(Duration::from_secs(30), step).await;
    match taken.unwrap_or_else(|_| Err(anyhow::anyhow!("it took more than 30 seconds"))) {
        Ok(()) => println!("ok {name}"),
        Err(error) => {
            println!("FAILED {name}: {error:#}");
            return false;
        }
    }
    true
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default().await?;
    let results = [
        take("definition", definition::install(&client)).await,
        take("informer", watches::informer(&client)).await,
        take("apply", objects::apply(&client)).await,
        take("finalizers", objects::finalizers(&client)).await,
        take("status", objects::status(&client)).await,
        take("watch-cut", watches::resumed(&client, "cut")).await,
        take("watch-expired", watches::resumed(&client, "expired")).await,
        take("leader-election", leader::election(&client)).await,
        take("controller", watches::controller(&client)).await,
    ];
    println!("none resync: its watchers have none; a controller asks to be called again");
    std::process::exit(i32::from(results.contains(&false)))
}
