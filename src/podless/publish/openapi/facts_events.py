"""What is published of events in their own group; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import EVENTS, Fact

FACTS: dict[str, Fact] = {
    EVENTS + "Event": Fact(
        "Event is a report of an event somewhere in the cluster. It generally denotes some state change in the system. Events have a limited retention time and triggers and messages may evolve with time.  Event consumers should not rely on the timing of an event with a given Reason reflecting a consistent underlying trigger, or the continued existence of events with that Reason.  Events should be treated as informative, best-effort, supplemental data.",
        ("eventTime",),
        {
            "metadata": "metadata is the standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "eventTime": "eventTime is the time when this Event was first observed. It is required.",
            "series": "series is data about the Event series this event represents or nil if it's a singleton Event.",
            "reportingController": "reportingController is the name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`. This field cannot be empty for new Events.",
            "reportingInstance": "reportingInstance is the ID of the controller instance, e.g. `kubelet-xyzf`. This field cannot be empty for new Events and it can have at most 128 characters.",
            "action": "action is what action was taken/failed regarding to the regarding object. It is machine-readable. This field cannot be empty for new Events and it can have at most 128 characters.",
            "reason": "reason is why the action was taken. It is human-readable. This field cannot be empty for new Events and it can have at most 128 characters.",
            "regarding": "regarding contains the object this Event is about. In most cases it's an Object reporting controller implements, e.g. ReplicaSetController implements ReplicaSets and this event is emitted because it acts on some changes in a ReplicaSet object.",
            "related": "related is the optional secondary object for more complex actions. E.g. when regarding object triggers a creation or deletion of related object.",
            "note": "note is a human-readable description of the status of this operation. Maximal length of the note is 1kB, but libraries should be prepared to handle values up to 64kB.",
            "type": "type is the type of this event (Normal, Warning), new types could be added in the future. It is machine-readable. This field cannot be empty for new Events.",
            "deprecatedSource": "deprecatedSource is the deprecated field assuring backward compatibility with core.v1 Event type.",
            "deprecatedFirstTimestamp": "deprecatedFirstTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type.",
            "deprecatedLastTimestamp": "deprecatedLastTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type.",
            "deprecatedCount": "deprecatedCount is the deprecated field assuring backward compatibility with core.v1 Event type.",
        },
    ),
    EVENTS + "EventList": Fact(
        "EventList is a list of Event objects.",
        ("items",),
        {
            "metadata": "metadata is the standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "items": "items is a list of schema objects.",
        },
    ),
    EVENTS + "EventSeries": Fact(
        'EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some time. How often to update the EventSeries is up to the event reporters. The default event reporter in "k8s.io/client-go/tools/events/event_broadcaster.go" shows how this struct is updated on heartbeats and can guide customized reporter implementations.',
        ("count", "lastObservedTime"),
        {
            "count": "count is the number of occurrences in this series up to the last heartbeat time.",
            "lastObservedTime": "lastObservedTime is the time when last Event from the series was seen before last heartbeat.",
        },
    ),
}
