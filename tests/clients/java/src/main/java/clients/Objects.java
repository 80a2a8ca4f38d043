package clients;

import static clients.Main.ensure;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Steps that write single objects. */
class Objects {
  private final NonNamespaceOperation<Widget, KubernetesResourceList<Widget>, Resource<Widget>> widgets;

  Objects(KubernetesClient client) {
    widgets = client.resources(Widget.class).inNamespace("work");
  }

  /** The message of a conflict; anything else is an error. */
  private static String conflict(Runnable call) {
    try {
      call.run();
    } catch (KubernetesClientException error) {
      if (error.getCode() == 409) {
        return error.getMessage();
      }
      throw error;
    }
    throw new IllegalStateException("a conflict was expected");
  }

  private Widget applied(String manager, int size, boolean force) {
    PatchContext as = new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(manager)
        .withForce(force)
        .build();
    return widgets.resource(Widget.of("applied", size)).patch(as);
  }

  /** Two managers want the same field: the second is refused, takes it by force, and the first learns of it. */
  void apply() {
    applied("first", 1, false);
    conflict(() -> applied("second", 2, false));
    Widget taken = applied("second", 2, true);
    List<String> owners = taken.getMetadata().getManagedFields().stream()
        .map(ManagedFieldsEntry::getManager)
        .collect(Collectors.toList());
    ensure(taken.getSpec().size == 2 && owners.equals(List.of("second")), taken.getSpec().size + " owned by " + owners);
    String message = conflict(() -> applied("first", 3, false));
    ensure(message.contains(".spec.size"), "a conflict that names no field: " + message);
  }

  /** A deleted object stays until nobody has a finalizer on it. */
  void finalizers() {
    Widget held = Widget.of("held", 1);
    held.addFinalizer("clients.example.com/held");
    Resource<Widget> there = widgets.withName("held");
    widgets.resource(held).create();
    there.delete();
    ensure(there.get().isMarkedForDeletion(), "nothing says that it is being deleted");
    there.edit(now -> {
      now.removeFinalizer("clients.example.com/held");
      return now;
    });
    there.waitUntilCondition(now -> now == null, 20, TimeUnit.SECONDS);
  }

  /** An update leaves the status, a status update leaves the rest; who is late gets a conflict and tries again. */
  void status() {
    Widget seen = widgets.resource(Widget.of("busy", 1).in("Ignored")).create();
    ensure(seen.getStatus() == null || seen.getStatus().phase == null, "a create set the status");
    Widget changed = Serialization.clone(seen).sized(2);
    widgets.resource(changed).update();
    conflict(() -> widgets.resource(seen.in("Late")).updateStatus());
    for (boolean written = false; !written; ) {
      Widget now = widgets.withName("busy").get().in("Ready").sized(9);
      try {
        widgets.resource(now).updateStatus();
        written = true;
      } catch (KubernetesClientException error) {
        if (error.getCode() != 409) {
          throw error;
        }
      }
    }
    Widget now = widgets.withName("busy").get();
    String shown = now.getStatus().phase + " " + now.getSpec().size + " " + now.getMetadata().getGeneration();
    ensure(shown.equals("Ready 2 2"), "phase, size and generation are " + shown);
  }
}
