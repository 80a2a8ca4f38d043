// Package v1 has the objects of the group web.example.com.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	GroupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v1"}
	builder      = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&Site{}, &SiteList{})
	AddToScheme  = builder.AddToScheme
)

// Published is the condition of a site whose objects all exist.
const Published = "Published"

// Site is a set of pages that are served under one host name.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteSpec has the pages by name, and the number of pods that serve them.
type SiteSpec struct {
	Host     string            `json:"host,omitempty"`
	Pages    map[string]string `json:"pages"`
	Replicas *int32            `json:"replicas,omitempty"`
}

// SiteStatus is the observed state.
type SiteStatus struct {
	Pages              int32              `json:"pages,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// SiteList is a list of sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}

// DeepCopyInto copies all of a site.
func (in *Site) DeepCopyInto(out *Site) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if in.Spec.Pages != nil {
		out.Spec.Pages = make(map[string]string, len(in.Spec.Pages))
		for name, text := range in.Spec.Pages {
			out.Spec.Pages[name] = text
		}
	}
	if in.Spec.Replicas != nil {
		replicas := *in.Spec.Replicas
		out.Spec.Replicas = &replicas
	}
	out.Status = *in.Status.DeepCopy()
}

// DeepCopy copies a status.
func (in *SiteStatus) DeepCopy() *SiteStatus {
	out := *in
	out.Conditions = nil
	for place := range in.Conditions {
		out.Conditions = append(out.Conditions, *in.Conditions[place].DeepCopy())
	}
	return &out
}

// DeepCopyObject copies a site.
func (in *Site) DeepCopyObject() runtime.Object {
	out := new(Site)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject copies a list of sites.
func (in *SiteList) DeepCopyObject() runtime.Object {
	out := &SiteList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for place := range in.Items {
		out.Items = append(out.Items, *in.Items[place].DeepCopyObject().(*Site))
	}
	return out
}
