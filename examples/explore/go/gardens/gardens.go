// Package gardens has what the controllers in the folders beside it share: the kind Garden, and how they are started.
package gardens

import (
	"os"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Mended says whether the correct form of a controller was asked for.
var Mended = slices.Contains(os.Args, "--mended")

// Garden is the object of which the controllers take care.
type Garden struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitempty"`
	Spec            Spec   `json:"spec,omitempty"`
	Status          Status `json:"status,omitempty"`
}

// Spec is what the user wants.
type Spec struct {
	Plants int64  `json:"plants,omitempty"`
	Color  string `json:"color,omitempty"`
}

// Status is what the controllers say.
type Status struct {
	Planted int64  `json:"planted,omitempty"`
	Bed     string `json:"bed,omitempty"`
	Phase   string `json:"phase,omitempty"`
}

// GardenList is the answer to a list.
type GardenList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitempty"`
	Items         []Garden `json:"items"`
}

// DeepCopyObject returns a copy.
func (g *Garden) DeepCopyObject() runtime.Object {
	copied := *g
	g.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject returns a copy.
func (l *GardenList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Garden, len(l.Items))
	for number := range l.Items {
		copied.Items[number] = *l.Items[number].DeepCopyObject().(*Garden)
	}
	return &copied
}

// Bed returns a ConfigMap that belongs to a garden.
func Bed(client client.Client, garden *Garden) *core.ConfigMap {
	bed := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{
		Namespace: garden.Namespace,
		Labels:    map[string]string{"garden": garden.Name},
	}}
	if err := ctrl.SetControllerReference(garden, bed, client.Scheme()); err != nil {
		panic(err)
	}
	return bed
}

// Run starts a controller of gardens and does not return. configure says what else the controller watches.
func Run(configure func(ctrl.Manager, *builder.Builder) reconcile.Reconciler) {
	log.SetLogger(zap.New())
	known := runtime.NewScheme()
	must(scheme.AddToScheme(known))
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	known.AddKnownTypes(version, &Garden{}, &GardenList{})
	meta.AddToGroupVersion(known, version)
	lease, renew, retry := 3*time.Second, 2*time.Second, 500*time.Millisecond
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                  known,
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          slices.Contains(os.Args, "--leader-elect"),
		LeaderElectionID:        "gardens",
		LeaderElectionNamespace: "default",
		LeaseDuration:           &lease,
		RenewDeadline:           &renew,
		RetryPeriod:             &retry,
	})
	must(err)
	building := ctrl.NewControllerManagedBy(manager).For(&Garden{})
	must(building.Complete(configure(manager, building)))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		log.Log.Error(err, "the controller ends")
		os.Exit(1)
	}
}
