// A controller that gives each garden a bed: it adopts a ConfigMap that nobody owns, or creates one.
//
// The defect: it takes from its cache that nobody owns a bed, and adopts it with a patch that does not say which
// version it saw. It so takes a bed away from the garden that adopted it meanwhile. With --mended the patch has the
// version, and the server answers with a conflict.
package main

import (
	"context"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	if garden.DeletionTimestamp != nil || garden.Status.Bed != "" {
		return ctrl.Result{}, nil
	}
	bed, err := r.find(ctx, &garden)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := garden.DeepCopyObject().(*gardens.Garden)
	garden.Status.Bed = bed
	return ctrl.Result{}, client.IgnoreNotFound(r.Status().Patch(ctx, &garden, client.MergeFrom(before)))
}

// find returns the name of a bed that the garden owns now.
func (r *reconciler) find(ctx context.Context, garden *gardens.Garden) (string, error) {
	var beds core.ConfigMapList
	if err := r.List(ctx, &beds, client.InNamespace(garden.Namespace), client.HasLabels{"bed"}); err != nil {
		return "", err
	}
	for _, bed := range beds.Items {
		if meta.IsControlledBy(&bed, garden) {
			return bed.Name, nil
		}
	}
	for _, bed := range beds.Items {
		if meta.GetControllerOf(&bed) == nil {
			return bed.Name, r.adopt(ctx, &bed, garden)
		}
	}
	bed := gardens.Bed(r, garden)
	bed.Name, bed.Labels["bed"] = garden.Name+"-bed", "made"
	return bed.Name, client.IgnoreAlreadyExists(r.Create(ctx, bed))
}

func (r *reconciler) adopt(ctx context.Context, bed *core.ConfigMap, garden *gardens.Garden) error {
	patch := client.MergeFrom(bed.DeepCopy())
	if gardens.Mended {
		patch = client.MergeFromWithOptions(bed.DeepCopy(), client.MergeFromWithOptimisticLock{})
	}
	bed.OwnerReferences = gardens.Bed(r, garden).OwnerReferences
	return r.Patch(ctx, bed, patch)
}

func main() {
	gardens.Run(
		func(building *builder.Builder) { building.Owns(&core.ConfigMap{}) },
		func(client client.Client) reconcile.Reconciler { return &reconciler{client} },
	)
}
