package controller

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/client-go/kubernetes/scheme"
	restclient "k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	servers "sigs.k8s.io/controller-runtime/pkg/webhook"

	webv1 "example.com/site-operator/api/v1"
	"example.com/site-operator/internal/webhook"
)

var (
	environment *envtest.Environment
	k8s         client.Client
	cancel      context.CancelFunc
)

func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	RunSpecs(t, "sites")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
	Expect(webv1.AddToScheme(scheme.Scheme)).To(Succeed())
	config := filepath.Join("..", "..", "config")
	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(config, "crd")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join(config, "webhook")}},
	}
	began := time.Now()
	rest, err := environment.Start()
	Expect(err).NotTo(HaveOccurred())
	if os.Getenv("SHOW_TIMES") != "" {
		AddReportEntry("start", time.Since(began).String())
	}
	DeferCleanup(func() {
		cancel()
		Expect(environment.Stop()).To(Succeed())
	})

	hooks := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(rest, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: servers.NewServer(servers.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	sites := &SiteReconciler{Client: manager.GetClient(), Live: manager.GetAPIReader()}
	Expect(sites.SetupWithManager(manager)).To(Succeed())
	Expect(webhook.Setup(manager)).To(Succeed())

	var ctx context.Context
	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		defer GinkgoRecover()
		Expect(manager.Start(ctx)).To(Succeed())
	}()
	Eventually(func() error { return manager.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed())
	own := restclient.CopyConfig(rest)
	own.UserAgent = "podless-test" // requests of the suite itself never fail
	k8s, err = client.New(own, client.Options{})
	Expect(err).NotTo(HaveOccurred())
})
