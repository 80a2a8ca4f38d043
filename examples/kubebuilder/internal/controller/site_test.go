package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	webv1 "example.com/site-operator/api/v1"
)

var _ = Describe("a site", func() {
	var (
		site *webv1.Site
		key  client.ObjectKey
	)

	BeforeEach(func(ctx SpecContext) {
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sites-"}}
		Expect(k8s.Create(ctx, space)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(k8s.Delete(ctx, space)).To(Succeed()) })
		site = &webv1.Site{
			ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "docs"},
			Spec:       webv1.SiteSpec{Pages: map[string]string{"index.html": "hello"}},
		}
		key = client.ObjectKeyFromObject(site)
	})

	published := func(ctx SpecContext) func() bool {
		return func() bool {
			if k8s.Get(ctx, key, site) != nil {
				return false
			}
			said := meta.FindStatusCondition(site.Status.Conditions, webv1.Published)
			return said != nil && said.Status == metav1.ConditionTrue && said.ObservedGeneration == site.Generation
		}
	}

	gone := func(ctx SpecContext, key client.ObjectKey, obj client.Object) func() bool {
		return func() bool { return errors.IsNotFound(k8s.Get(ctx, key, obj)) }
	}

	It("is published, and owns what serves it", func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Expect(site.Spec.Host).To(Equal("docs.example.com"), "the webhook fills it in")
		Eventually(published(ctx)).Should(BeTrue())
		Expect(site.Status.Pages).To(BeEquivalentTo(1))

		pages, deployment := &corev1.ConfigMap{}, &appsv1.Deployment{}
		Expect(k8s.Get(ctx, key, pages)).To(Succeed())
		Expect(k8s.Get(ctx, key, deployment)).To(Succeed())
		Expect(pages.Data).To(Equal(site.Spec.Pages))
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(1))
		for _, owned := range []client.Object{pages, deployment} {
			Expect(metav1.IsControlledBy(owned, site)).To(BeTrue())
		}
	})

	It("follows its spec, and mends what others change", func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())

		patch := client.MergeFrom(site.DeepCopyObject().(*webv1.Site))
		site.Spec.Pages["news.html"] = "none"
		Expect(k8s.Patch(ctx, site, patch)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())
		Expect(site.Status.Pages).To(BeEquivalentTo(2))

		pages := &corev1.ConfigMap{}
		Expect(k8s.Get(ctx, key, pages)).To(Succeed())
		pages.Data = nil
		Expect(k8s.Update(ctx, pages)).To(Succeed())
		Eventually(func() map[string]string {
			again := &corev1.ConfigMap{}
			_ = k8s.Get(ctx, key, again)
			return again.Data
		}).Should(HaveLen(2))
		Expect(k8s.Delete(ctx, pages)).To(Succeed())
		Eventually(func() error { return k8s.Get(ctx, key, &corev1.ConfigMap{}) }).Should(Succeed())
	})

	It("is off the directory before it goes", func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())
		Expect(controllerutil.ContainsFinalizer(site, Listed)).To(BeTrue())
		directory, where := &corev1.ConfigMap{}, client.ObjectKey{Namespace: site.Namespace, Name: Directory}
		Expect(k8s.Get(ctx, where, directory)).To(Succeed())
		Expect(directory.Data).To(HaveKeyWithValue("docs", "docs.example.com"))

		Expect(k8s.Delete(ctx, site)).To(Succeed())
		Eventually(gone(ctx, key, site)).Should(BeTrue())
		listed := &corev1.ConfigMap{}
		Expect(k8s.Get(ctx, where, listed)).To(Succeed())
		Expect(listed.Data).To(BeEmpty())
	})

	It("takes what it owns along", Label("garbage"), func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())
		Expect(k8s.Delete(ctx, site)).To(Succeed())
		Eventually(gone(ctx, key, &corev1.ConfigMap{})).Should(BeTrue())
		Eventually(gone(ctx, key, &appsv1.Deployment{})).Should(BeTrue())
	})

	It("goes with its namespace", Label("garbage"), func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: site.Namespace}}
		Expect(k8s.Delete(ctx, space)).To(Succeed())
		Eventually(gone(ctx, client.ObjectKeyFromObject(space), space)).Should(BeTrue())
		Expect(k8s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: site.Namespace}})).To(Succeed())
	})

	It("is refused without an index", func(ctx SpecContext) {
		site.Spec.Pages = map[string]string{"news.html": "none"}
		Expect(k8s.Create(ctx, site)).To(MatchError(ContainSubstring("site docs has no index.html")))
	})

	It("keeps its host", func(ctx SpecContext) {
		Expect(k8s.Create(ctx, site)).To(Succeed())
		Eventually(published(ctx)).Should(BeTrue())
		site.Spec.Host = "other.example.com"
		Expect(k8s.Update(ctx, site)).To(MatchError(ContainSubstring("a site keeps its host")))
	})
})
