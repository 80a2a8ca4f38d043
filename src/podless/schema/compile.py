"""Compiles a schema to generated Python functions that prune, default and validate in one pass.

A function returns True if the value is valid (and is then pruned and defaulted). It returns False at the first unknown
field, wrong value or rare case. The caller then takes the slow, exact walks, which report what it is; they may walk a
value again that was partly changed, with the same result. So the generated code builds no paths and no errors.

Large parts of a schema are functions of their own (`NodeFunction`), compiled at first use, so that each compilation has
a few hundred lines. The code charges its cost at the head of its loops (runtime/meter.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from podless.codec.serializer import has_nulls
from podless.runtime.memo import fill_attribute, make_once
from podless.runtime.meter import charge, each
from podless.schema import defaulting, definition, lists
from podless.schema.emit import CALL, MAX_INLINE, NAMES, PER_STEP, UNDECIDED, StatementWriter
from podless.schema.mode import Mode, SharedParts
from podless.schema.node import Node, count_nodes, find_key, note_keys
from podless.schema.prune import META

# nodes; a larger part becomes a separate function
_INLINE_NODES = 48
# lines; a longer function calls separate functions for all its children
_MAX_LINES = 300
# properties; a larger object is walked by the fields that it has
_WIDE_PROPERTIES = 12
# defaults, and required fields, of a wide object for which inline code is written; more use a loop
_MAX_INLINE_FIELDS = 24
# bytes of a default, with its inner defaults, that is written as a literal
_LITERAL_BYTES = 512
# steps on the meter: for a line of code, which takes as long to compile as walking 50 items, and for a property
_LINE_STEPS, _FIELD_STEPS = 50, 4
# parts that are compiled in advance for work off the loop; it compiles others for itself and drops them
_MAX_PARTS = 2000
_MAX_DEPTH = 24
_MAX_LOOPS = 6

Walk = Callable[[Any], bool]


class NodeFunction:
    """The function of one node in one mode; `run` is that function, compiled at its first call.

    It returns whether the value is valid, and False also if only the exact walks can decide.

    Each part is compiled into its own names and published by one assignment. So threads may use and compile it at the
    same time; in the worst case it is compiled twice. Tables and names refer to parts, not to their functions, and
    never change.
    """

    __slots__ = ("_mode", "_node", "_parts", "run")

    run: Walk

    def __init__(self, node: Node, mode: Mode, parts: SharedParts) -> None:
        self._node, self._mode, self._parts = node, mode, parts
        self.run = self._compile_and_run

    @property
    def is_compiled(self) -> bool:
        """Whether the function is compiled."""
        return self.run != self._compile_and_run

    def compile_all(self) -> None:
        """Compile this part and the parts that it can call, at most `_MAX_PARTS`, the nearest first."""
        todo: deque[NodeFunction] = deque([self])
        visited = {id(_ACCEPT_ALL)}
        while todo and len(visited) <= _MAX_PARTS:
            function = todo.popleft()
            if id(function) in visited:
                continue
            visited.add(id(function))
            run = function.run if function.is_compiled else function._load_function()
            assert isinstance(run, FunctionType)
            if run is _ACCEPT_ALL.run:
                continue
            charge(len(run.__globals__))
            for name, value in run.__globals__.items():
                if isinstance(value, NodeFunction):
                    todo.append(value)
                elif value.__class__ is dict and name != "__builtins__":  # parts of a wide object
                    todo.extend(value.values())
                elif value.__class__ is tuple:  # alternatives
                    todo.extend(value)

    def _compile_and_run(self, value: Any) -> bool:
        return self._load_function()(value)

    def _load_function(self) -> Walk:
        return fill_attribute(self, "run", self._compile_function)

    def _compile_function(self) -> Walk:
        return self._write_function(self._node, self._mode)

    def _write_function(self, node: Node, mode: Mode) -> Walk:
        writer = FunctionWriter(self._parts)
        # the exact walks would drop such nulls if they finish what this walk has begun; metadata changes after a check
        if mode.root and mode.fill and (has_dropped_nulls(node) or (mode.check and writer.reads_metadata(node))):
            writer.put_line("return False")
        else:
            writer.write_slot(node, "v", mode, ["return False"] if mode.fill else None)
        head = writer.list_first_lines(mode)
        charge((len(head) + len(writer.lines)) * _LINE_STEPS)
        body = "\n".join([*head, *writer.lines]) or " pass"
        names = writer.names
        exec(compile(f"def walk(v):\n{body}\n return True\n", "<schema>", "exec"), names)
        # the function does not call itself; keeping it here would make a reference cycle
        result: FunctionType = names.pop("walk")
        self._parts.count_part(result)
        return result


class PropertyFunction(NodeFunction):
    """The part of a declared property, which is compiled when a value has the property."""

    __slots__ = ("_name",)

    def __init__(self, parent: Node, name: str, mode: Mode, parts: SharedParts) -> None:
        super().__init__(parent, mode, parts)
        self._name = name

    def _compile_function(self) -> Walk:
        charge(_LINE_STEPS)
        node = self._node.find_child(self._name)
        assert node is not None
        writer = FunctionWriter(self._parts)
        if writer.needs_no_code(node, self._mode) and not writer.replaces_null(node, self._mode):
            return _ACCEPT_ALL.run
        if not make_key(node):
            return self._write_function(node, self._mode)
        shared = writer.find_function(node, self._mode)  # the same function for equal properties
        return shared.run if shared.is_compiled else shared._load_function()


class FunctionWriter(StatementWriter):
    """Writes the lines of one function."""

    def __init__(self, parts: SharedParts) -> None:
        super().__init__(dict(NAMES))
        self.parts = parts

    def find_function(self, node: Node, mode: Mode) -> NodeFunction:
        """Return the part for a node; nodes with equal keys share one."""
        charge(_LINE_STEPS)
        function = NodeFunction(node, mode, self.parts)
        key = make_key(node)
        return make_once(self.parts, (mode, key), lambda: function) if key else function

    def write_slot(self, node: Node, var: str, mode: Mode, null: list[str] | None) -> None:
        """Write the code for a value. null: the lines for a null; None: as the schema says."""
        if null is None:
            null = self.list_null_lines(node, mode)
        kinds = self.list_classes(node, mode)
        after = mode.check and self.has_logic(node)
        if after and len(kinds) > 1:
            with self.block(f"if {var} is None:"):
                self.put_lines(null)
            with self.block("else:"):
                self.write_chain(node, var, mode, kinds, None)
            return
        self.write_chain(node, var, mode, kinds, null)

    def list_null_lines(self, node: Node, mode: Mode) -> list[str]:
        """Return the lines for a null that stays in place."""
        wrong = (node.types and not node.nullable) or node.raw.get("enum")
        return ["return False"] if mode.check and wrong else ["pass"]

    def write_chain(self, node: Node, var: str, mode: Mode, kinds: dict[str, bool], null: list[str] | None) -> None:
        """Write a branch for each allowed class of value, and reject all other classes."""
        word = "if"
        if not mode.check and (idle := self.list_idle_classes(node, mode)):
            self.put_line(f"if {' or '.join(f'{var}.__class__ is {name}' for name in idle)}: pass")
            word = "elif"
        for kind, allowed in kinds.items():
            if not allowed:
                continue
            with self.block(f"{word} {self.test_class(var, kind)}:"):
                self.write_branch(node, var, mode, kind, null is not None)
            word = "elif"
        refused = mode.check and not kinds.get("any") and null == ["return False"]
        if null is not None and not refused:
            with self.block(f"{word} {var} is None:"):
                self.put_lines(null)
            word = "elif"
        if kinds.get("any"):
            pass
        elif word == "if":
            self.put_line("return False")
        elif mode.check:
            self.put_line("else: return False")
        elif mode.prune:
            self.put_line(f"elif {var}.__class__ in CONTAINERS: return False")
        if null is None and mode.check:
            self.write_logic(node, var, mode, "")

    def write_branch(self, node: Node, var: str, mode: Mode, kind: str, logic: bool) -> None:
        """Write the code for a value of one class."""
        if kind == "dict":
            self.write_object(node, var, mode)
        elif kind == "list":
            self.write_list(node, var, mode)
        elif kind != "any" and mode.check:
            self.write_scalar(node, var, kind)
        if logic and mode.check:
            self.write_logic(node, var, mode, kind)

    def write_child(self, node: Node, var: str, mode: Mode, null: list[str]) -> None:
        """Write the code for a child value: inline if it is small, else a call."""
        fits_inline = len(self.lines) < _MAX_LINES and self.depth < _MAX_DEPTH and self.loops < _MAX_LOOPS
        if fits_inline and count_nodes(node.raw, _INLINE_NODES) <= _INLINE_NODES:
            self.write_slot(node, var, mode, null)
            return
        self.weight += CALL
        name = self.add_constant("f", self.find_function(node, mode))
        with self.block(f"if {var} is None:"):
            self.put_lines(null)
        self.put_line(f"elif not {name}.run({var}): return False")

    def write_object(self, node: Node, var: str, mode: Mode) -> None:
        """Write the body for an object."""
        keep = mode.keep or node.preserve
        child_mode = replace(mode, keep=False, root=False)
        names = list(node.properties)
        resource = node.embedded or mode.root
        if len(names) > _WIDE_PROPERTIES:
            self.write_wide(node, var, mode, keep)
        else:
            if mode.prune and not keep and not node.has_additional:
                known = frozenset(names) | (META if resource else frozenset())
                self.write_failure(f"not {var}.keys() <= {self.add_constant('K', known)}" if known else var)
            required = frozenset(node.raw.get("required") or () if mode.check else ())
            for name in names:
                self.write_property(node, name, var, self.choose_mode(mode, node, name, child_mode), name in required)
        if node.has_additional:
            self.write_additional(node, var, child_mode, resource)
        if mode.check:
            self.write_sizes(node, var)
        if node.embedded and not mode.nested and not mode.root and (mode.prune or mode.check):
            self.write_failure(f"not resource({var})")

    def choose_mode(self, mode: Mode, node: Node, name: str, child_mode: Mode) -> Mode:
        """Return the mode of a property: apiVersion, kind and metadata of a resource are not pruned here."""
        if name not in META:
            return child_mode
        if mode.root:
            return Mode(check=mode.check)
        return replace(child_mode, prune=False) if node.embedded else child_mode

    def write_property(self, node: Node, name: str, var: str, mode: Mode, required: bool) -> None:
        """Write the code for one declared property of an object."""
        child = node.find_child(name)
        assert child is not None
        key = repr(name)
        if self.needs_no_code(child, mode) and not self.replaces_null(child, mode):
            if required:
                self.write_failure(f"{key} not in {var}")
            return
        filled = self.emit_default(child, mode, len(name))
        null = self.list_null_lines(child, mode)
        if mode.fill and not child.nullable:
            null = [f"{var}[{key}] = {filled}"] if filled else [f"del {var}[{key}]"]
            if not filled and required:
                null = ["return False"]
        item = self.make_name()
        with self.block(f"if {key} in {var}:"):
            self.put_line(f"{item} = {var}[{key}]")
            self.write_child(child, item, mode, null)
        if required and not filled:
            self.put_line("else: return False")
        elif filled:
            self.put_line(f"else: {var}[{key}] = {filled}")

    def emit_default(self, child: Node, mode: Mode, name: int = 0) -> str:
        """Return the expression of a child's default with all inner defaults; "" for none.

        name: characters of the name that it is filled in under.
        """
        if not mode.fill or not child.has_default:
            return ""
        try:
            value, size = defaulting.expand_default(child, _LITERAL_BYTES)
        except defaulting.DefaultsTooLarge:  # its copies count their own bytes
            self.weight += CALL
            expanded = defaulting.ExpandedDefault(child, self.parts)
            return f"{self.add_constant('D', expanded.copy_valid if mode.check else expanded.copy)}()"
        if mode.check and not defaulting.is_valid(value, child):
            return UNDECIDED
        self.default_bytes += size + name
        return "(not 1)" if value is False else repr(value)

    def write_wide(self, node: Node, var: str, mode: Mode, keep: bool) -> None:
        """Write the code for an object with many properties: it looks up the part for each field of the object."""
        child_mode = replace(mode, keep=False, root=False)
        table: dict[str, NodeFunction] = {}
        for name in node.properties:
            charge(_FIELD_STEPS)
            table[name] = PropertyFunction(node, name, self.choose_mode(mode, node, name, child_mode), self.parts)
        if node.embedded or mode.root:
            for name in META - table.keys():
                table[name] = _ACCEPT_ALL
        functions, key, item, run = self.add_constant("T", table), self.make_name(), self.make_name(), self.make_name()
        # a variable, because the interpreter loads a slot faster than it looks up a method
        self.put_line(f"if len({var}) > {_WIDE_PROPERTIES}: charge(len({var}) * {CALL // PER_STEP})")
        with self.block(f"for {key}, {item} in {var}.items():"):
            if keep or node.has_additional:
                self.put_line(f"{run} = {functions}.get({key}, {self.add_constant('R', _ACCEPT_ALL)}).run")
            else:  # undeclared fields are rare, and a try without exception costs nothing
                self.put_line(f"try: {run} = {functions}[{key}].run")
                self.put_line(f"except KeyError: {'return False' if mode.prune else 'continue'}")
            self.write_failure(f"not {run}({item})", CALL)
        if mode.fill and len(node.defaulted) > _MAX_INLINE_FIELDS:
            names = self.add_constant("K", frozenset(name for name, _ in each(node.defaulted)))
            decided = not mode.check or all(
                defaulting.has_valid_default(child, _LITERAL_BYTES) for _, child in each(node.defaulted)
            )
            filled = f"add({var}, {self.add_constant('M', node)})" if decided else UNDECIDED
            self.put_line(f"if not {names} <= {var}.keys(): {filled}")
        elif mode.fill:
            for name, child in node.defaulted:
                filled = self.emit_default(child, self.choose_mode(mode, node, name, child_mode), len(name))
                if filled:
                    self.put_line(f"if {name!r} not in {var}: {var}[{name!r}] = {filled}")
        properties = node.properties
        required = [name for name in node.raw.get("required") or () if mode.check and name in properties]
        self.write_required(required, var)

    def write_additional(self, node: Node, var: str, mode: Mode, resource: bool) -> None:
        """Write the code for undeclared fields, by additionalProperties."""
        child = node.additional
        declared = frozenset(node.properties)
        if child is None:
            if node.closed and mode.check:
                self.write_failure(f"not {var}.keys() <= {self.add_constant('K', declared)}" if declared else var)
            elif mode.prune:
                # no part for these fields: if they contain objects or lists, the slow walk prunes them
                skip = self.add_constant("K", declared | (META if resource else frozenset()))
                self.write_failure(f"has_unknown({var}, {skip})")
            return
        if self.needs_no_code(child, mode) and not self.replaces_null(child, mode):
            return
        null = self.list_null_lines(child, mode)
        key, item = self.make_name(), self.make_name()
        idle = self.list_idle_classes(child, mode) if not declared else ()
        with self.loop(var, f"for {key}, {item} in {var}.items():", idle, f"{var}.values()"):
            if mode.fill and not child.nullable:
                filled = self.emit_default(child, mode)
                null = [f"{var}[{key}] = {filled}"] if filled else ["return False"]
            if declared:
                self.put_line(f"if {key} in {self.add_constant('K', declared)}: continue")
            self.write_child(child, item, mode, null)

    def write_list(self, node: Node, var: str, mode: Mode) -> None:
        """Write the body for a list."""
        raw = node.raw
        if mode.check:
            if raw.get("maxItems") is not None:
                self.write_failure(f"len({var}) > {int(raw['maxItems'])}")
            if raw.get("minItems"):
                self.write_failure(f"len({var}) < {int(raw['minItems'])}")
        self.write_items(node, var, mode)
        if not mode.check:
            return
        # after the items, because defaults can make items equal
        if raw.get("uniqueItems"):
            self.write_failure(f"not different({var})")
        if not mode.nested and node.list_type == "set":
            self.write_failure(f"len({var}) > 1 and not unique({var})")
        if not mode.nested and node.list_type == "map":
            # the type, if declared, rejects a single item that is no object
            only_objects = node.items is not None and node.items.types == ("object",)
            guard = f"len({var}) > 1 and " if only_objects else ""
            distinct = self.add_constant("N", lists.make_distinct_check(node.list_keys))
            self.write_failure(f"{guard}not {distinct}({var})")

    def write_items(self, node: Node, var: str, mode: Mode) -> None:
        """Write the loop over the items of a list."""
        child = node.items
        keep = mode.keep or node.preserve
        if child is None:
            if mode.prune and not keep:
                self.write_failure(f"holds_containers({var})")
            return
        child_mode = replace(mode, keep=keep, root=False)
        fills = child_mode.fill and child.has_default and not child.nullable
        if self.needs_no_code(child, child_mode) and not fills:
            return
        item, index = self.make_name(), self.make_name()
        head = f"for {index}, {item} in enumerate({var}):" if fills else f"for {item} in {var}:"
        with self.loop(var, head, self.list_idle_classes(child, child_mode), var):
            null = self.list_null_lines(child, child_mode)
            if fills:
                null = [f"{var}[{index}] = {self.emit_default(child, child_mode)}"]
            self.write_child(child, item, child_mode, null)

    def write_logic(self, node: Node, var: str, mode: Mode, kind: str) -> None:
        """Write the checks of enum, allOf, anyOf, oneOf and not for a value that is not null.

        kind: its class if known.
        """
        self.write_enum(node, var, kind)
        if self.is_plain_int_or_string(node, kind):
            return
        nested = Mode(check=True, nested=True)

        def test_branch(branch: Node) -> str:
            simple = self.test_fields(branch, var, kind)
            self.weight += 1 if simple else CALL
            return simple or f"{self.add_constant('f', self.find_function(branch, nested))}.run({var})"

        def add_functions(branches: Sequence[Node]) -> str:
            return self.add_constant("A", tuple(self.find_function(branch, nested) for branch in each(branches)))

        branches = [branch for branch in node.list_branches("allOf") if not self.needs_no_code(branch, nested)]
        if len(branches) > MAX_INLINE:
            self.write_failure(f"not every({add_functions(branches)}, {var})")
        else:
            for branch in branches:
                self.write_failure(f"not {test_branch(branch)}")
        any_of = node.list_branches("anyOf")
        if len(any_of) > MAX_INLINE:
            self.write_failure(f"not holds({add_functions(any_of)}, {var}, 1)")
        elif any_of:
            self.write_failure(f"not ({' or '.join(map(test_branch, any_of))})")
        one_of = node.list_branches("oneOf")
        if len(one_of) > MAX_INLINE:
            self.write_failure(f"holds({add_functions(one_of)}, {var}, 2) != 1")
        elif one_of:
            self.write_failure(f"{' + '.join(map(test_branch, one_of))} != 1")
        if (forbidden := node.not_node) is not None:
            self.write_failure(test_branch(forbidden))


class _AcceptAll(NodeFunction):
    """The part of a node without any rule."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Node({}), Mode(), SharedParts())
        self.run = lambda value: True


_ACCEPT_ALL = _AcceptAll()


def make_key(node: Node) -> bytes:
    """Return the key of a node, made now if objects have the node by default: such nodes are all compiled at once."""
    if node.has_default and node.defaulted:
        note_keys(node)
    return find_key(node)


def has_dropped_nulls(node: Node) -> bool:
    """Return whether any default in a schema holds a null that the schema drops elsewhere."""
    if not has_nulls(node.raw):
        return False
    raws = (raw for raw in definition.walk_nodes(node.raw) if isinstance(raw.get("default"), dict | list))
    return any(has_nulls(raw["default"]) and defaulting.holds_dropped_null(Node(raw)) for raw in raws)
