package clients;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** The custom kind of all steps. */
@Group("clients.example.com")
@Version("v1")
public class Widget extends CustomResource<Widget.Spec, Widget.Status> implements Namespaced {
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public static class Spec {
    public Integer size;
    public String color;
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public static class Status {
    public String phase;
  }

  static Widget of(String name, int size) {
    Widget made = new Widget();
    made.setMetadata(new ObjectMetaBuilder().withName(name).build());
    made.setSpec(new Spec());
    made.getSpec().size = size;
    return made;
  }

  Widget in(String phase) {
    setStatus(new Status());
    getStatus().phase = phase;
    return this;
  }

  Widget sized(int size) {
    getSpec().size = size;
    return this;
  }
}
