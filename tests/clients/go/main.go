// The steps that every client in this folder's neighbours takes, with client-go and controller-runtime.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var widgets = schema.GroupVersionResource{Group: "clients.example.com", Version: "v1", Resource: "widgets"}

// What a step works with.
type bench struct {
	config  *rest.Config
	core    kubernetes.Interface
	crds    apiextensions.Interface
	dynamic dynamic.Interface
}

var steps = []struct {
	name string
	take func(context.Context, *bench) error
}{
	{"definition", definition},
	{"informer", informer},
	{"resync", resync},
	{"apply", apply},
	{"finalizers", finalizers},
	{"status", status},
	{"watch-cut", func(ctx context.Context, b *bench) error { return resumed(ctx, b, "cut") }},
	{"watch-expired", func(ctx context.Context, b *bench) error { return resumed(ctx, b, "expired") }},
	{"leader-election", election},
	{"controller", controller},
}

func main() {
	b, err := connect()
	if err != nil {
		fmt.Println("FAILED connect:", err)
		os.Exit(1)
	}
	failed := false
	for _, step := range steps {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := step.take(ctx, b); err != nil {
			fmt.Printf("FAILED %s: %v\n", step.name, err)
			failed = true
		} else {
			fmt.Println("ok", step.name)
		}
		cancel()
	}
	if failed {
		os.Exit(1)
	}
}

func connect() (*bench, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	b := &bench{config: config}
	if b.core, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if b.crds, err = apiextensions.NewForConfig(config); err != nil {
		return nil, err
	}
	b.dynamic, err = dynamic.NewForConfig(config)
	return b, err
}
