package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type Widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitempty"`
	Spec            struct {
		Size int64 `json:"size,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status,omitempty"`
}

type WidgetList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitempty"`
	Items         []Widget `json:"items"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Widget, len(l.Items))
	for number := range l.Items {
		copied.Items[number] = *l.Items[number].DeepCopyObject().(*Widget)
	}
	return &copied
}

const mark = "clients.example.com/reconciled"

// Gives every widget a config map of its own, and says so in its status.
type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var found Widget
	if err := r.Get(ctx, request.NamespacedName, &found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if found.DeletionTimestamp != nil {
		controllerutil.RemoveFinalizer(&found, mark)
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, &found))
	}
	if controllerutil.AddFinalizer(&found, mark) {
		if err := r.Update(ctx, &found); err != nil {
			return ctrl.Result{}, err
		}
	}
	config := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: found.Namespace, Name: found.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = map[string]string{"size": fmt.Sprint(found.Spec.Size)}
		return controllerutil.SetControllerReference(&found, config, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	before := found.DeepCopyObject().(*Widget)
	found.Status.Phase = "Ready"
	return ctrl.Result{}, r.Status().Patch(ctx, &found, client.MergeFrom(before))
}

// A manager that leads runs a reconciler, which makes what it owns, finalizes, and leaves garbage behind.
func controller(ctx context.Context, b *bench) error {
	log.SetLogger(logr.Discard())
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		return err
	}
	known.AddKnownTypes(widgets.GroupVersion(), &Widget{}, &WidgetList{})
	meta.AddToGroupVersion(known, widgets.GroupVersion())
	manager, err := ctrl.NewManager(b.config, ctrl.Options{
		Scheme:                        known,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "controller",
		LeaderElectionNamespace:       "work",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	own := &reconciler{manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(&Widget{}).Owns(&core.ConfigMap{}).Complete(own); err != nil {
		return err
	}
	managing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managing) }()
	err = reconciled(ctx, manager.GetAPIReader(), manager.GetClient())
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

func reconciled(ctx context.Context, reader client.Reader, writer client.Client) error {
	made := &Widget{ObjectMeta: meta.ObjectMeta{Namespace: "work", Name: "reconciled"}}
	made.Spec.Size = 4
	if err := writer.Create(ctx, made); err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(made)
	var config core.ConfigMap
	err := until(ctx, "the status", func() bool {
		return reader.Get(ctx, key, made) == nil && made.Status.Phase == "Ready"
	})
	if err != nil {
		return err
	}
	if err := reader.Get(ctx, key, &config); err != nil || config.Data["size"] != "4" {
		return fmt.Errorf("the config map has %v: %v", config.Data, err)
	}
	if err := writer.Delete(ctx, &config); err != nil { // what is owned is made again
		return err
	}
	first := config.UID
	err = until(ctx, "the config map", func() bool {
		return reader.Get(ctx, key, &config) == nil && config.UID != first
	})
	if err != nil {
		return err
	}
	if err := writer.Delete(ctx, made); err != nil {
		return err
	}
	return until(ctx, "the end", func() bool {
		return errors.IsNotFound(reader.Get(ctx, key, made)) && errors.IsNotFound(reader.Get(ctx, key, &config))
	})
}

func until(ctx context.Context, what string, reached func() bool) error {
	err := wait.PollUntilContextCancel(ctx, tick, true, func(context.Context) (bool, error) { return reached(), nil })
	if err != nil {
		return fmt.Errorf("%s never came", what)
	}
	return nil
}
