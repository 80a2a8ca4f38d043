package clients;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The definition is installed and waited for; so are the namespaces of the later steps. */
class Definition {
  static void install(KubernetesClient client) {
    for (String name : List.of("work", "cut", "expired")) {
      client.resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build()).create();
    }
    var made = client.resource(definition());
    made.create();
    made.waitUntilCondition(Definition::established, 30, TimeUnit.SECONDS);
  }

  private static boolean established(CustomResourceDefinition found) {
    return found != null
        && found.getStatus() != null
        && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True"));
  }

  private static CustomResourceDefinition definition() {
    JSONSchemaProps spec = object(Map.of("size", ofType("integer"), "color", ofType("string")));
    JSONSchemaProps status = object(Map.of("phase", ofType("string")));
    return new CustomResourceDefinitionBuilder()
        .withNewMetadata().withName("widgets.clients.example.com").endMetadata()
        .withNewSpec()
        .withGroup("clients.example.com")
        .withScope("Namespaced")
        .withNewNames().withPlural("widgets").withKind("Widget").endNames()
        .addNewVersion()
        .withName("v1")
        .withServed(true)
        .withStorage(true)
        .withNewSchema().withOpenAPIV3Schema(object(Map.of("spec", spec, "status", status))).endSchema()
        .withNewSubresources().withNewStatus().endStatus().endSubresources()
        .endVersion()
        .endSpec()
        .build();
  }

  private static JSONSchemaProps object(Map<String, JSONSchemaProps> fields) {
    return new JSONSchemaPropsBuilder().withType("object").withProperties(fields).build();
  }

  private static JSONSchemaProps ofType(String type) {
    return new JSONSchemaPropsBuilder().withType(type).build();
  }
}
