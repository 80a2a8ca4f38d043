package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

func widget(name string, size int64) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	made.SetAPIVersion(widgets.GroupVersion().String())
	made.SetKind("Widget")
	made.SetName(name)
	return made
}

func size(of *unstructured.Unstructured) int64 {
	found, _, _ := unstructured.NestedInt64(of.Object, "spec", "size")
	return found
}

// Two managers want the same field: the second is refused, takes it by force, and the first learns of it.
func apply(ctx context.Context, b *bench) error {
	objects := b.dynamic.Resource(widgets).Namespace("work")
	as := func(manager string, force bool) meta.ApplyOptions {
		return meta.ApplyOptions{FieldManager: manager, Force: force}
	}
	if _, err := objects.Apply(ctx, "applied", widget("applied", 1), as("first", false)); err != nil {
		return err
	}
	if _, err := objects.Apply(ctx, "applied", widget("applied", 2), as("second", false)); !errors.IsConflict(err) {
		return fmt.Errorf("a conflict was expected, not %v", err)
	}
	taken, err := objects.Apply(ctx, "applied", widget("applied", 2), as("second", true))
	if err != nil {
		return err
	}
	if owners := taken.GetManagedFields(); size(taken) != 2 || len(owners) != 1 || owners[0].Manager != "second" {
		return fmt.Errorf("size %d, owned by %v", size(taken), owners)
	}
	_, err = objects.Apply(ctx, "applied", widget("applied", 3), as("first", false))
	if !errors.HasStatusCause(err, meta.CauseTypeFieldManagerConflict) {
		return fmt.Errorf("a conflict that names the field was expected, not %v", err)
	}
	return nil
}

// A deleted object stays until nobody has a finalizer on it.
func finalizers(ctx context.Context, b *bench) error {
	objects := b.dynamic.Resource(widgets).Namespace("work")
	held := widget("held", 1)
	held.SetFinalizers([]string{"clients.example.com/held"})
	if _, err := objects.Create(ctx, held, meta.CreateOptions{}); err != nil {
		return err
	}
	if err := objects.Delete(ctx, "held", meta.DeleteOptions{}); err != nil {
		return err
	}
	marked, err := objects.Get(ctx, "held", meta.GetOptions{})
	if err != nil {
		return err
	}
	if marked.GetDeletionTimestamp() == nil {
		return fmt.Errorf("nothing says that it is being deleted")
	}
	marked.SetFinalizers(nil)
	if _, err := objects.Update(ctx, marked, meta.UpdateOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, tick, true, func(ctx context.Context) (bool, error) {
		_, err := objects.Get(ctx, "held", meta.GetOptions{})
		return errors.IsNotFound(err), nil
	})
}

// An update leaves the status, a status update leaves the rest; who is late gets a conflict and tries again.
func status(ctx context.Context, b *bench) error {
	objects := b.dynamic.Resource(widgets).Namespace("work")
	seen, err := objects.Create(ctx, withPhase(widget("busy", 1), "Ignored"), meta.CreateOptions{})
	if err != nil {
		return err
	}
	if phase(seen) != "" {
		return fmt.Errorf("a create set the status")
	}
	late := seen.DeepCopy()
	if _, err := objects.Update(ctx, withSize(seen, 2), meta.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := objects.UpdateStatus(ctx, withPhase(late, "Late"), meta.UpdateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("a conflict was expected, not %v", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := objects.Get(ctx, "busy", meta.GetOptions{})
		if err == nil {
			_, err = objects.UpdateStatus(ctx, withSize(withPhase(now, "Ready"), 9), meta.UpdateOptions{})
		}
		return err
	})
	if err != nil {
		return err
	}
	now, err := objects.Get(ctx, "busy", meta.GetOptions{})
	if err == nil && (phase(now) != "Ready" || size(now) != 2 || now.GetGeneration() != 2) {
		err = fmt.Errorf("phase %q, size %d, generation %d", phase(now), size(now), now.GetGeneration())
	}
	return err
}

func withPhase(of *unstructured.Unstructured, phase string) *unstructured.Unstructured {
	_ = unstructured.SetNestedField(of.Object, phase, "status", "phase")
	return of
}

func withSize(of *unstructured.Unstructured, size int64) *unstructured.Unstructured {
	_ = unstructured.SetNestedField(of.Object, size, "spec", "size")
	return of
}

func phase(of *unstructured.Unstructured) string {
	found, _, _ := unstructured.NestedString(of.Object, "status", "phase")
	return found
}
