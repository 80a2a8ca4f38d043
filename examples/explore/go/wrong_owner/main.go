// A controller that adopts beds: ConfigMaps with the label garden=NAME that nobody owns get the garden as their owner.
//
// The defect: it takes the garden from its cache. If the garden is deleted already, the bed gets an owner that does not
// exist, and the garbage collector deletes a bed that the user has made. With --mended it asks the server for the
// garden before it adopts, as the controllers of Kubernetes do.
package main

import (
	"context"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"podless/explore/gardens"
)

type reconciler struct {
	client.Client
	server client.Reader
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var garden gardens.Garden
	if err := r.Get(ctx, request.NamespacedName, &garden); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var beds core.ConfigMapList
	if err := r.List(ctx, &beds, client.InNamespace(garden.Namespace), client.MatchingLabels{"garden": garden.Name}); err != nil {
		return ctrl.Result{}, err
	}
	for _, bed := range beds.Items {
		if meta.GetControllerOf(&bed) == nil {
			if err := r.adopt(ctx, &bed, &garden); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
		}
	}
	return ctrl.Result{}, nil
}

func (r *reconciler) adopt(ctx context.Context, bed *core.ConfigMap, garden *gardens.Garden) error {
	if gardens.Mended {
		var present gardens.Garden
		if err := r.server.Get(ctx, client.ObjectKeyFromObject(garden), &present); err != nil {
			return err
		}
		if present.UID != garden.UID || present.DeletionTimestamp != nil {
			return nil
		}
	}
	patch := client.MergeFrom(bed.DeepCopy())
	bed.OwnerReferences = gardens.Bed(r, garden).OwnerReferences
	return r.Patch(ctx, bed, patch)
}

// findGarden returns the garden whose name a bed has as a label.
func findGarden(_ context.Context, bed client.Object) []reconcile.Request {
	name := types.NamespacedName{Namespace: bed.GetNamespace(), Name: bed.GetLabels()["garden"]}
	return []reconcile.Request{{NamespacedName: name}}
}

func main() {
	gardens.Run(func(manager ctrl.Manager, building *builder.Builder) reconcile.Reconciler {
		building.Watches(&core.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(findGarden))
		return &reconciler{manager.GetClient(), manager.GetAPIReader()}
	})
}
