// A controller that keeps a bed, a ConfigMap, with as many plants as its garden wants, and reports what it holds.
//
// The defect: after it has updated the bed it reads it back from its cache, which may still show the bed before the
// update. It then reports the old number, and nothing reconciles the garden again. With --mended a change of the bed
// reconciles the garden.
package main

import (
	"context"
	"strconv"

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
	wanted := strconv.FormatInt(garden.Spec.Plants, 10)
	if garden.Annotations["planted"] != wanted {
		return ctrl.Result{}, r.plant(ctx, &garden, wanted)
	}
	var bed core.ConfigMap
	if err := r.Get(ctx, client.ObjectKey{Namespace: garden.Namespace, Name: garden.Name + "-bed"}, &bed); err != nil {
		return ctrl.Result{}, err
	}
	planted, err := strconv.ParseInt(bed.Data["plants"], 10, 64)
	if err != nil || garden.Status.Planted == planted {
		return ctrl.Result{}, err
	}
	before := garden.DeepCopyObject().(*gardens.Garden)
	garden.Status.Planted = planted
	return ctrl.Result{}, client.IgnoreNotFound(r.Status().Patch(ctx, &garden, client.MergeFrom(before)))
}

// plant fills the bed, and notes in the garden that it did. The note reconciles the garden again.
func (r *reconciler) plant(ctx context.Context, garden *gardens.Garden, wanted string) error {
	bed := gardens.Bed(r, garden)
	bed.Name, bed.Data = garden.Name+"-bed", map[string]string{"plants": wanted}
	err := r.Create(ctx, bed)
	if errors.IsAlreadyExists(err) {
		err = r.Update(ctx, bed)
	}
	if err != nil {
		return err
	}
	before := garden.DeepCopyObject().(*gardens.Garden)
	garden.SetAnnotations(map[string]string{"planted": wanted})
	return client.IgnoreNotFound(r.Patch(ctx, garden, client.MergeFrom(before)))
}

func main() {
	gardens.Run(func(manager ctrl.Manager, building *builder.Builder) reconcile.Reconciler {
		if gardens.Mended {
			building.Owns(&core.ConfigMap{})
		}
		return &reconciler{manager.GetClient()}
	})
}
