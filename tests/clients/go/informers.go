package main

import (
	"context"
	"fmt"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// What an informer's handlers were told, in order.
type told chan string

func (t told) OnAdd(obj any, initial bool) {
	t <- "add " + obj.(*unstructured.Unstructured).GetName()
}

func (t told) OnUpdate(old, new any) {
	before, after := old.(*unstructured.Unstructured), new.(*unstructured.Unstructured)
	if before.GetResourceVersion() == after.GetResourceVersion() {
		t <- "resync " + after.GetName()
		return
	}
	t <- fmt.Sprintf("update %s %d", after.GetName(), size(after))
}

func (t told) OnDelete(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	t <- "delete " + obj.(*unstructured.Unstructured).GetName()
}

// Reads on until all that is expected was told; the rest (a resync, an update seen twice) does not matter.
func (t told) until(ctx context.Context, expected ...string) error {
	open := map[string]bool{}
	for _, one := range expected {
		open[one] = true
	}
	for len(open) > 0 {
		select {
		case one := <-t:
			delete(open, one)
		case <-ctx.Done():
			return fmt.Errorf("never told: %v", open)
		}
	}
	return nil
}

// An informer on a namespace that has its list; it ends with the context.
func inform(ctx context.Context, b *bench, namespace string, resync time.Duration) (told, cache.SharedIndexInformer, error) {
	made := dynamicinformer.NewFilteredDynamicInformer(b.dynamic, widgets, namespace, resync, cache.Indexers{}, nil)
	heard := make(told, 1000)
	if _, err := made.Informer().AddEventHandler(heard); err != nil {
		return nil, nil, err
	}
	go made.Informer().Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), made.Informer().HasSynced) {
		return nil, nil, fmt.Errorf("the list never came")
	}
	return heard, made.Informer(), nil
}

// What is there, what changes and what goes is told, and the store has it.
func informer(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := b.dynamic.Resource(widgets).Namespace("work")
	if _, err := objects.Create(ctx, widget("before", 1), meta.CreateOptions{}); err != nil {
		return err
	}
	heard, known, err := inform(ctx, b, "work", 0)
	if err != nil {
		return err
	}
	made, err := objects.Create(ctx, widget("after", 1), meta.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := objects.Update(ctx, withSize(made, 2), meta.UpdateOptions{}); err != nil {
		return err
	}
	if err := heard.until(ctx, "add before", "add after", "update after 2"); err != nil {
		return err
	}
	for _, name := range []string{"before", "after"} {
		if err := objects.Delete(ctx, name, meta.DeleteOptions{}); err != nil {
			return err
		}
	}
	if err := heard.until(ctx, "delete before", "delete after"); err != nil {
		return err
	}
	if left := known.GetStore().ListKeys(); len(left) > 0 {
		return fmt.Errorf("the store still has %v", left)
	}
	return nil
}

// What is there is told again after a while.
func resync(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := b.dynamic.Resource(widgets).Namespace("work")
	if _, err := objects.Create(ctx, widget("again", 1), meta.CreateOptions{}); err != nil {
		return err
	}
	heard, _, err := inform(ctx, b, "work", time.Second)
	if err != nil {
		return err
	}
	if err := heard.until(ctx, "resync again"); err != nil {
		return err
	}
	return objects.Delete(ctx, "again", meta.DeleteOptions{})
}

// In this namespace watches end early, by a cut or with a 410: nothing may be missed all the same.
func resumed(ctx context.Context, b *bench, namespace string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := b.dynamic.Resource(widgets).Namespace(namespace)
	heard, known, err := inform(ctx, b, namespace, 0)
	if err != nil {
		return err
	}
	for number := range 8 {
		name := fmt.Sprintf("n%d", number)
		if _, err := objects.Create(ctx, widget(name, int64(number)), meta.CreateOptions{}); err != nil {
			return err
		}
		if err := heard.until(ctx, "add "+name); err != nil {
			return err
		}
	}
	if err := objects.Delete(ctx, "n0", meta.DeleteOptions{}); err != nil {
		return err
	}
	if err := heard.until(ctx, "delete n0"); err != nil {
		return err
	}
	if kept := known.GetStore().ListKeys(); len(kept) != 7 {
		return fmt.Errorf("the store has %v", kept)
	}
	return nil
}
