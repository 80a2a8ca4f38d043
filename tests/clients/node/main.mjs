// The steps that every client in this folder's neighbours takes, with @kubernetes/client-node.
import { once, EventEmitter } from "node:events";
import { setTimeout as rest } from "node:timers/promises";
import * as k8s from "@kubernetes/client-node";

const GROUP = "clients.example.com";
const TICK = 20; // ms
const place = (namespace) => ({ group: GROUP, version: "v1", namespace, plural: "widgets" });

const config = new k8s.KubeConfig();
config.loadFromDefault();
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const core = config.makeApiClient(k8s.CoreV1Api);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);

const widget = (name, size, namespace = "work") => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Widget",
  metadata: { name, namespace },
  spec: { size },
});

function ensure(holds, what) {
  if (!holds) throw new Error(what);
}

// The answer of a refusal with a code; anything else is an error.
async function refused(code, call) {
  try {
    await call;
  } catch (error) {
    if (error.code === code) return error;
    throw error;
  }
  throw new Error(`a ${code} was expected`);
}

// The definition is installed and waited for; so are the namespaces of the later steps.
async function definition() {
  for (const name of ["work", "cut", "expired"]) await core.createNamespace({ body: { metadata: { name } } });
  const object = (properties) => ({ type: "object", properties });
  const openAPIV3Schema = object({
    spec: object({ size: { type: "integer" }, color: { type: "string" } }),
    status: object({ phase: { type: "string" } }),
  });
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } };
  const name = `widgets.${GROUP}`;
  await definitions.createCustomResourceDefinition({
    body: {
      metadata: { name },
      spec: { group: GROUP, scope: "Namespaced", names: { plural: "widgets", kind: "Widget" }, versions: [version] },
    },
  });
  for (;;) {
    const found = await definitions.readCustomResourceDefinition({ name });
    const conditions = found.status?.conditions ?? [];
    if (conditions.some((one) => one.type === "Established" && one.status === "True")) return;
    await rest(TICK);
  }
}

// An informer that starts again after errors, as its documentation has it, and what it told, in order.
class Heard extends EventEmitter {
  constructor(namespace) {
    super();
    this.told = new Set();
    const list = () => custom.listNamespacedCustomObject(place(namespace));
    const path = `/apis/${GROUP}/v1/namespaces/${namespace}/widgets`;
    this.informer = k8s.makeInformer(config, path, list);
    const tell = (event) => {
      this.told.add(event);
      this.emit("told");
    };
    this.informer.on("add", (one) => tell(`add ${one.metadata.name}`));
    this.informer.on("update", (one) => tell(`update ${one.metadata.name} ${one.spec.size}`));
    this.informer.on("delete", (one) => tell(`delete ${one.metadata.name}`));
    this.informer.on("error", () => setTimeout(() => this.stopped || this.informer.start(), TICK));
  }

  async until(event) {
    while (!this.told.has(event)) await once(this, "told");
  }

  async stop() {
    this.stopped = true;
    await this.informer.stop();
  }
}

// What is there, what changes and what goes is told, and the informer has it.
async function informer() {
  await objects.create(widget("before", 1));
  const heard = new Heard("work");
  await heard.informer.start();
  await heard.until("add before");
  const made = await objects.create(widget("after", 1));
  await heard.until("add after");
  await objects.replace({ ...made, spec: { size: 2 } });
  await heard.until("update after 2");
  for (const name of ["before", "after"]) {
    await objects.delete(widget(name));
    await heard.until(`delete ${name}`);
  }
  ensure(heard.informer.list().length === 0, "the informer still has objects");
  await heard.stop();
}

// Two managers want the same field: the second is refused, takes it by force, and the first learns of it.
async function apply() {
  const as = (manager, size, force = false) =>
    objects.patch(widget("applied", size), undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
  await as("first", 1);
  await refused(409, as("second", 2));
  const taken = await as("second", 2, true);
  const owners = taken.metadata.managedFields.map((one) => one.manager);
  ensure(taken.spec.size === 2 && owners.join() === "second", `size ${taken.spec.size}, owned by ${owners}`);
  const told = await refused(409, as("first", 3));
  ensure(told.body.includes(".spec.size"), `a conflict that names no field: ${told.body}`);
}

// A deleted object stays until nobody has a finalizer on it.
async function finalizers() {
  const held = widget("held", 1);
  held.metadata.finalizers = [`${GROUP}/held`];
  await objects.create(held);
  await objects.delete(held);
  const marked = await objects.read(held);
  ensure(marked.metadata.deletionTimestamp, "nothing says that it is being deleted");
  await objects.replace({ ...marked, metadata: { ...marked.metadata, finalizers: [] } });
  await refused(404, objects.read(held));
}

// An update leaves the status, a status update leaves the rest; who is late gets a conflict and tries again.
async function status() {
  const writes = (body) =>
    custom.replaceNamespacedCustomObjectStatus({ ...place("work"), name: "busy", body });
  const inPhase = (one, phase) => ({ ...one, status: { phase } });
  const seen = await objects.create(inPhase(widget("busy", 1), "Ignored"));
  ensure(seen.status === undefined, "a create set the status");
  await objects.replace({ ...seen, spec: { size: 2 } });
  await refused(409, writes(inPhase(seen, "Late")));
  for (;;) {
    const now = await objects.read(seen);
    try {
      await writes({ ...inPhase(now, "Ready"), spec: { size: 9 } });
      break;
    } catch (error) {
      if (error.code !== 409) throw error;
    }
  }
  const now = await objects.read(seen);
  const shown = [now.status?.phase, now.spec.size, now.metadata.generation];
  ensure(shown.join() === "Ready,2,2", `phase, size and generation are ${shown}`);
}

// In this namespace watches end early, by a cut or with a 410: nothing may be missed all the same.
async function resumed(namespace) {
  const heard = new Heard(namespace);
  await heard.informer.start();
  for (let number = 0; number < 8; number++) {
    await objects.create(widget(`n${number}`, number, namespace));
    await heard.until(`add n${number}`);
  }
  await objects.delete(widget("n0", 0, namespace));
  await heard.until("delete n0");
  ensure(heard.informer.list().length === 7, `the informer has ${heard.informer.list().length} objects`);
  await heard.stop();
}

const steps = {
  definition,
  informer,
  resync: "its informers have none",
  apply,
  finalizers,
  status,
  "watch-cut": () => resumed("cut"),
  "watch-expired": () => resumed("expired"),
  "leader-election": "it has none",
  controller: "it has none",
};

let failed = false;
for (const [name, step] of Object.entries(steps)) {
  if (typeof step === "string") {
    console.log(`none ${name}: ${step}`);
    continue;
  }
  const limit = rest(30_000).then(() => ensure(false, "it took more than 30 seconds"));
  try {
    await Promise.race([step(), limit]);
    console.log(`ok ${name}`);
  } catch (error) {
    failed = true;
    console.log(`FAILED ${name}: ${error.message.replaceAll("\n", " ")}`);
  }
}
process.exit(failed ? 1 : 0);
