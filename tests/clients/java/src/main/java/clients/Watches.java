package clients;

import static clients.Main.ensure;

import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Steps that follow what changes. */
class Watches {
  private final KubernetesClient client;

  Watches(KubernetesClient client) {
    this.client = client;
  }

  private NonNamespaceOperation<Widget, KubernetesResourceList<Widget>, Resource<Widget>> widgets(String namespace) {
    return client.resources(Widget.class).inNamespace(namespace);
  }

  /** What an informer's handlers were told. */
  private static class Heard implements ResourceEventHandler<Widget> {
    private final Set<String> told = new HashSet<>();

    private synchronized void tell(String event) {
      told.add(event);
      notifyAll();
    }

    synchronized void until(String event) throws InterruptedException {
      while (!told.contains(event)) {
        wait();
      }
    }

    @Override
    public void onAdd(Widget one) {
      tell("add " + one.getMetadata().getName());
    }

    @Override
    public void onUpdate(Widget old, Widget now) {
      boolean same = old.getMetadata().getResourceVersion().equals(now.getMetadata().getResourceVersion());
      tell((same ? "resync " : "update ") + now.getMetadata().getName() + " " + now.getSpec().size);
    }

    @Override
    public void onDelete(Widget one, boolean unknown) {
      tell("delete " + one.getMetadata().getName());
    }
  }

  /** What is there, what changes and what goes is told, and the store has it. */
  void informer() throws InterruptedException {
    var widgets = widgets("work");
    widgets.resource(Widget.of("before", 1)).create();
    Heard heard = new Heard();
    try (SharedIndexInformer<Widget> known = widgets.inform(heard)) {
      heard.until("add before");
      widgets.resource(Widget.of("after", 1)).create();
      heard.until("add after");
      widgets.withName("after").edit(now -> now.sized(2));
      heard.until("update after 2");
      for (String name : List.of("before", "after")) {
        widgets.withName(name).delete();
        heard.until("delete " + name);
      }
      ensure(known.getStore().list().isEmpty(), "the store still has objects");
    }
  }

  /** What is there is told again after a while. */
  void resync() throws InterruptedException {
    var widgets = widgets("work");
    widgets.resource(Widget.of("again", 1)).create();
    Heard heard = new Heard();
    try (SharedIndexInformer<Widget> known = widgets.inform(heard, 1000)) {
      heard.until("resync again 1");
    }
    widgets.withName("again").delete();
  }

  /** In this namespace watches end early, by a cut or with a 410: nothing may be missed all the same. */
  void resumed(String namespace) throws InterruptedException {
    var widgets = widgets(namespace);
    Heard heard = new Heard();
    try (SharedIndexInformer<Widget> known = widgets.inform(heard)) {
      for (int number = 0; number < 8; number++) {
        widgets.resource(Widget.of("n" + number, number)).create();
        heard.until("add n" + number);
      }
      widgets.withName("n0").delete();
      heard.until("delete n0");
      ensure(known.getStore().list().size() == 7, "the store has " + known.getStore().listKeys());
    }
  }
}
