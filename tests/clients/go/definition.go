package main

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const tick = 20 * time.Millisecond

// The definition is installed and waited for; so are the namespaces of the later steps.
func definition(ctx context.Context, b *bench) error {
	for _, name := range []string{"work", "cut", "expired"} {
		namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}}
		if _, err := b.core.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{}); err != nil {
			return err
		}
	}
	crds := b.crds.ApiextensionsV1().CustomResourceDefinitions()
	made, err := crds.Create(ctx, crd(), meta.CreateOptions{})
	if err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, tick, true, func(ctx context.Context) (bool, error) {
		found, err := crds.Get(ctx, made.Name, meta.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range found.Status.Conditions {
			if condition.Type == v1.Established && condition.Status == v1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}

func crd() *v1.CustomResourceDefinition {
	object := func(fields map[string]v1.JSONSchemaProps) v1.JSONSchemaProps {
		return v1.JSONSchemaProps{Type: "object", Properties: fields}
	}
	shape := object(map[string]v1.JSONSchemaProps{
		"spec":   object(map[string]v1.JSONSchemaProps{"size": {Type: "integer"}, "color": {Type: "string"}}),
		"status": object(map[string]v1.JSONSchemaProps{"phase": {Type: "string"}}),
	})
	return &v1.CustomResourceDefinition{
		ObjectMeta: meta.ObjectMeta{Name: widgets.Resource + "." + widgets.Group},
		Spec: v1.CustomResourceDefinitionSpec{
			Group: widgets.Group,
			Scope: v1.NamespaceScoped,
			Names: v1.CustomResourceDefinitionNames{Plural: widgets.Resource, Kind: "Widget"},
			Versions: []v1.CustomResourceDefinitionVersion{{
				Name:         widgets.Version,
				Served:       true,
				Storage:      true,
				Schema:       &v1.CustomResourceValidation{OpenAPIV3Schema: &shape},
				Subresources: &v1.CustomResourceSubresources{Status: &v1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
