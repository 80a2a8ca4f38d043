// A controller that gives each garden a bed, a ConfigMap with a generated name.
//
// The defect: it asks its cache whether there is a bed. Its own create is not in the cache yet when the garden is
// reconciled again, so it creates a second bed. With --mended the bed is named after the garden, and a second create
// fails with AlreadyExists.
package main

import (
	"context"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"podless/explore/gardens"
)

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var garden gardens.Garden
	if err := r.Get(ctx, request.NamespacedName, &garden); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if garden.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	var beds core.ConfigMapList
	if err := r.List(ctx, &beds, client.InNamespace(garden.Namespace), client.MatchingLabels{"garden": garden.Name}); err != nil {
		return ctrl.Result{}, err
	}
	if len(beds.Items) == 0 {
		bed := gardens.Bed(r, &garden)
		bed.GenerateName = garden.Name + "-bed-"
		if gardens.Mended {
			bed.Name = garden.Name + "-bed"
		}
		if err := r.Create(ctx, bed); err != nil && !(gardens.Mended && errors.IsAlreadyExists(err)) {
			return ctrl.Result{}, err
		}
	}
	if garden.Status.Planted == garden.Spec.Plants {
		return ctrl.Result{}, nil
	}
	before := garden.DeepCopyObject().(*gardens.Garden)
	garden.Status.Planted = garden.Spec.Plants
	return ctrl.Result{}, client.IgnoreNotFound(r.Status().Patch(ctx, &garden, client.MergeFrom(before)))
}

func main() {
	gardens.Run(func(manager ctrl.Manager, building *builder.Builder) reconcile.Reconciler {
		building.Owns(&core.ConfigMap{})
		return &reconciler{manager.GetClient()}
	})
}
