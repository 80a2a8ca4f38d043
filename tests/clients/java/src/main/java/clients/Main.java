package clients;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The steps that every client in this folder's neighbours takes, with fabric8's client. */
public class Main {
  interface Step {
    void take() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    boolean failed = false;
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      for (Map.Entry<String, Step> step : steps(client).entrySet()) {
        failed |= !take(step.getKey(), step.getValue());
      }
    }
    System.out.println("none controller: it has none");
    System.exit(failed ? 1 : 0);
  }

  private static Map<String, Step> steps(KubernetesClient client) {
    Objects objects = new Objects(client);
    Watches watches = new Watches(client);
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("definition", () -> Definition.install(client));
    steps.put("informer", watches::informer);
    steps.put("resync", watches::resync);
    steps.put("apply", objects::apply);
    steps.put("finalizers", objects::finalizers);
    steps.put("status", objects::status);
    steps.put("watch-cut", () -> watches.resumed("cut"));
    steps.put("watch-expired", () -> watches.resumed("expired"));
    steps.put("leader-election", () -> Leader.election(client));
    return steps;
  }

  /** Runs one step and tells of it; whether it went well. */
  private static boolean take(String name, Step step) throws InterruptedException {
    CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> {
      try {
        step.take();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    });
    try {
      taken.get(30, TimeUnit.SECONDS);
      System.out.println("ok " + name);
      return true;
    } catch (TimeoutException error) {
      System.out.println("FAILED " + name + ": it took more than 30 seconds");
    } catch (ExecutionException error) {
      Throwable cause = error.getCause().getCause() == null ? error.getCause() : error.getCause().getCause();
      System.out.println("FAILED " + name + ": " + String.valueOf(cause).replace("\n", " "));
    }
    return false;
  }

  static void ensure(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
