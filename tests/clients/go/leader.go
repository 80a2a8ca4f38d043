package main

import (
	"context"
	"fmt"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Of two candidates one leads; when it lets go the other does, and the lease says so.
func election(ctx context.Context, b *bench) error {
	led := make(chan string, 10)
	first, stop := context.WithCancel(ctx)
	defer stop()
	second, end := context.WithCancel(ctx)
	defer end()
	done := make(chan struct{})
	go func() { candidate(b, led, "first")(first); close(done) }()
	if err := leads(ctx, led, "first"); err != nil {
		return err
	}
	go candidate(b, led, "second")(second)
	stop()
	<-done
	if err := leads(ctx, led, "second"); err != nil {
		return err
	}
	lease, err := b.core.CoordinationV1().Leases("work").Get(ctx, "leader", meta.GetOptions{})
	if err != nil {
		return err
	}
	if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		return fmt.Errorf("held by %s after %d changes", *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	return nil
}

func candidate(b *bench, led chan<- string, name string) func(context.Context) {
	return func(ctx context.Context) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  meta.ObjectMeta{Namespace: "work", Name: "leader"},
				Client:     b.core.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration:   4 * time.Second,
			RenewDeadline:   3 * time.Second,
			RetryPeriod:     200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { led <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
}

func leads(ctx context.Context, led <-chan string, name string) error {
	select {
	case found := <-led:
		if found != name {
			return fmt.Errorf("%s leads, not %s", found, name)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s never came to lead", name)
	}
}
