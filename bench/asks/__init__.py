"""The requests that `bench worst` sends."""
