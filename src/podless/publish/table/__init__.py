"""Tables and PartialObjectMetadata: the output of kubectl get, and objects without their contents.

A version's columns are compiled once into a TableLayout. A row is made from a decoded object; if the client wants the
whole object, it is added as bytes. Source: meta.k8s.io/v1 Table and the recorded tables.
"""

from podless.publish.table.layout import AGED, SCALE, TableLayout, custom_layout, table_layout
from podless.publish.table.partial import make_partial
from podless.publish.table.rows import SHARED, AgeFiller, Row, encode_table, frame_table, make_row
from podless.publish.table.whole import INCLUDED, check_include, make_table

__all__ = [
    "AGED",
    "INCLUDED",
    "SCALE",
    "SHARED",
    "AgeFiller",
    "Row",
    "TableLayout",
    "check_include",
    "custom_layout",
    "encode_table",
    "frame_table",
    "make_partial",
    "make_row",
    "make_table",
    "table_layout",
]
