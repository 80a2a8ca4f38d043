// Package webhook sets defaults of sites, and rejects sites that cannot be served.
package webhook

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	webv1 "example.com/site-operator/api/v1"
)

// Setup registers both webhooks with the manager.
func Setup(manager ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(manager, &webv1.Site{}).
		WithDefaulter(defaulter{}).
		WithValidator(validator{}).
		Complete()
}

type defaulter struct{}

// Default sets the host name of a site without one.
func (defaulter) Default(_ context.Context, site *webv1.Site) error {
	if site.Spec.Host == "" {
		site.Spec.Host = site.Name + ".example.com"
	}
	return nil
}

type validator struct{}

func (validator) ValidateCreate(_ context.Context, site *webv1.Site) (admission.Warnings, error) {
	return nil, check(site)
}

func (validator) ValidateUpdate(_ context.Context, _, site *webv1.Site) (admission.Warnings, error) {
	return nil, check(site)
}

func (validator) ValidateDelete(context.Context, *webv1.Site) (admission.Warnings, error) {
	return nil, nil
}

func check(site *webv1.Site) error {
	if _, found := site.Spec.Pages["index.html"]; !found {
		return fmt.Errorf("site %s has no index.html", site.Name)
	}
	return nil
}
