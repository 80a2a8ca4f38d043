// Package controller reconciles sites.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	webv1 "example.com/site-operator/api/v1"
)

const (
	// Listed is the finalizer of a site while the directory of its namespace lists it.
	Listed = "web.example.com/listed"
	// Directory is the ConfigMap that lists the sites of a namespace with their host names.
	Directory = "directory"

	label = "web.example.com/site"
	image = "nginx:1.29"
)

// SiteReconciler keeps a ConfigMap with the pages of each site, and a Deployment that serves them.
type SiteReconciler struct {
	client.Client
	// Live reads from the API server: the cache may lack an object that exists.
	Live client.Reader
}

// SetupWithManager registers the reconciler with the manager.
func (r *SiteReconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&webv1.Site{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Complete(r)
}

// Reconcile makes the objects of a site match its spec.
func (r *SiteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &webv1.Site{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, site)
	}
	if controllerutil.AddFinalizer(site, Listed) {
		if err := r.Update(ctx, site); err != nil {
			return ctrl.Result{}, err
		}
	}
	for _, step := range []func(context.Context, *webv1.Site) error{r.list, r.pages, r.deployment, r.report} {
		if err := step(ctx, site); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// release removes a site from the directory, and then its finalizer.
func (r *SiteReconciler) release(ctx context.Context, site *webv1.Site) error {
	if !controllerutil.ContainsFinalizer(site, Listed) {
		return nil
	}
	directory := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: site.Namespace, Name: Directory}, directory)
	if err == nil {
		delete(directory.Data, site.Name)
		err = r.Update(ctx, directory)
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	controllerutil.RemoveFinalizer(site, Listed)
	return r.Update(ctx, site)
}

// list adds a site to the directory.
func (r *SiteReconciler) list(ctx context.Context, site *webv1.Site) error {
	directory := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: Directory}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, directory, func() error {
		if directory.Data == nil {
			directory.Data = map[string]string{}
		}
		directory.Data[site.Name] = site.Spec.Host
		return nil
	})
	return err
}

func (r *SiteReconciler) pages(ctx context.Context, site *webv1.Site) error {
	pages := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, pages, func() error {
		pages.Data = site.Spec.Pages
		return controllerutil.SetControllerReference(site, pages, r.Scheme())
	})
	return err
}

func (r *SiteReconciler) deployment(ctx context.Context, site *webv1.Site) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{label: site.Name}
		deployment.Spec.Replicas = site.Spec.Replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		pod := &deployment.Spec.Template.Spec
		if len(pod.Containers) == 0 { // keep the fields that the server sets
			pod.Containers = []corev1.Container{{Name: "server"}}
			pod.Volumes = []corev1.Volume{{Name: "pages", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: site.Name}},
			}}}
		}
		pod.Containers[0].Image = image
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "pages", MountPath: "/usr/share/nginx/html"}}
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	})
	return err
}

// report writes the status if it has changed.
func (r *SiteReconciler) report(ctx context.Context, site *webv1.Site) error {
	before := site.Status.DeepCopy()
	site.Status.Pages = int32(len(site.Spec.Pages))
	site.Status.ObservedGeneration = site.Generation
	meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: webv1.Published, Status: metav1.ConditionTrue, Reason: "Made", ObservedGeneration: site.Generation,
	})
	if equality.Semantic.DeepEqual(before, &site.Status) {
		return nil
	}
	return r.Status().Update(ctx, site)
}
