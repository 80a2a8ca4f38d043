package clients;

import static clients.Main.ensure;

import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Of two candidates one leads; when it lets go the other does, and the lease says so. */
class Leader {
  static void election(KubernetesClient client) {
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> second = new CompletableFuture<>();
    CompletableFuture<?> leading = candidate(client, "first", first);
    first.join();
    CompletableFuture<?> next = candidate(client, "second", second);
    ensure(!second.isDone(), "both lead");
    leading.cancel(true);
    second.join();
    LeaseSpec lease = client.leases().inNamespace("work").withName("leader").get().getSpec();
    ensure(lease.getHolderIdentity().equals("second"), "held by " + lease.getHolderIdentity());
    ensure(lease.getLeaseTransitions() >= 1, "after " + lease.getLeaseTransitions() + " changes");
    next.cancel(true);
  }

  private static CompletableFuture<?> candidate(KubernetesClient client, String name, CompletableFuture<Void> leads) {
    return client.leaderElector()
        .withConfig(new LeaderElectionConfigBuilder()
            .withName("test")
            .withLock(new LeaseLock("work", "leader", name))
            .withLeaseDuration(Duration.ofSeconds(4))
            .withRenewDeadline(Duration.ofSeconds(3))
            .withRetryPeriod(Duration.ofMillis(200))
            .withReleaseOnCancel()
            .withLeaderCallbacks(new LeaderCallbacks(() -> leads.complete(null), () -> {}, leader -> {}))
            .build())
        .build()
        .start();
  }
}
