"""The compiled walk: a schema becomes generated Python functions that prune, default and validate in one pass.

A function returns True when the value is in order (and is then pruned and defaulted), and False as soon as anything
else is found: an unknown field, a wrong value, a rare case. The caller then takes the slow, exact walks, which say
what it is; walking a value again that was begun here leads to the same result. So the generated code builds no paths
and no errors.

Big parts of a schema are functions of their own (`Part`), compiled when a value first gets there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any

from podless.meta.meter import charge
from podless.meta.offloop import fill, once
from podless.schema import check, default, embedded, lists
from podless.schema.emit import Values, literal
from podless.schema.mode import Mode
from podless.schema.node import Node, copy, leaf, weigh
from podless.schema.prune import META

# a part with more nodes than this becomes a function of its own
_INLINE = 48
# an object with more properties than this is walked by the fields it has
_WIDE = 12
# items of one list or object that are not charged: most have fewer, and all together are no more than a body has
_FREE = 64
# steps that a line of code costs: it takes as long to compile as that many items to walk
_LINE = 50
_DEPTH = 24
_LOOPS = 6


_BOXES = frozenset((dict, list))


def _boxes(items: list[Any]) -> bool:
    """Whether there are objects or lists among the items."""
    charge(len(items))
    return any(item.__class__ in _BOXES for item in items)


def _hides(value: dict[str, Any], known: frozenset[str]) -> bool:
    """Whether an object has fields that are not known, with something in them that may have to be pruned."""
    charge(len(value))
    return any(item.__class__ in _BOXES and item and key not in known for key, item in value.items())


# what the code of every part can name
_NAMES: dict[str, Any] = {
    "BOXES": _BOXES,
    "boxes": _boxes,
    "hides": _hides,
    "unique": lists.unique,
    "resource": embedded.clean,
    "inf": float("inf"),
    "different": lambda items: not lists.repeated(items, exact=True),
    "charge": charge,
}

Walk = Callable[[Any], bool]
# the parts for simple values, by what they check
Leaves = dict[tuple[Mode, bytes], "Part"]


class Part:
    """The function of one node in one mode; `run` is that function, compiled when it is first called.

    Each part is compiled into names of its own and becomes visible by one assignment, so that threads may use and
    compile it at the same time: in the worst case it is compiled twice. Tables and names refer to parts, not to their
    functions, and never change.
    """

    __slots__ = ("_leaves", "_mode", "_node", "run")

    run: Walk

    def __init__(self, node: Node, mode: Mode, leaves: Leaves) -> None:
        self._node, self._mode, self._leaves = node, mode, leaves
        self.run = self._compile_and_run

    def __call__(self, value: Any) -> bool:
        """Whether the value is in order; False also where the exact walks have to say."""
        return self.run(value)

    @property
    def is_compiled(self) -> bool:
        """Whether the function is there already."""
        return self.run != self._compile_and_run

    def complete(self) -> None:
        """Compile this part, and all that it can come to."""
        todo: list[Part] = [self]
        done = {id(_ANYTHING)}
        while todo:
            part = todo.pop()
            if id(part) in done:
                continue
            done.add(id(part))
            run = part.run if part.is_compiled else part._compiled()
            assert isinstance(run, FunctionType)
            for name, value in run.__globals__.items():
                if isinstance(value, Part):
                    todo.append(value)
                elif value.__class__ is dict and name != "__builtins__":  # of a wide object
                    todo.extend(value.values())

    def _compile_and_run(self, value: Any) -> bool:
        return self._compiled()(value)

    def _compiled(self) -> Walk:
        return fill(self, "run", self._compile)

    def _compile(self) -> Walk:
        writer = Writer(self._leaves)
        writer.slot(self._node, "v", 1, self._mode, ["return False"] if self._mode.fill else None)
        charge(len(writer.lines) * _LINE)
        body = "\n".join(writer.lines) if writer.lines else " pass"
        names = writer.names
        exec(compile(f"def walk(v):\n{body}\n return True\n", "<schema>", "exec"), names)
        made: Walk = names.pop("walk")  # which the function does not need itself: no circle for the collector
        return made


class Writer(Values):
    """Writes the lines of one function."""

    def __init__(self, leaves: Leaves) -> None:
        super().__init__()
        self.leaves = leaves
        self.names = dict(_NAMES)
        self.loops = 0

    def constant(self, prefix: str, value: Any) -> str:
        """A name for a value."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def part(self, node: Node, mode: Mode) -> Part:
        """The part for a node, which simple values of one form share."""
        found = Part(node, mode, self.leaves)
        says = leaf(node)
        return once(self.leaves, (mode, says), lambda: found) if says else found

    def put(self, indent: int, text: str) -> None:
        """One line."""
        self.lines.append(" " * indent + text)

    def block(self, indent: int, head: str, body: Callable[[int], None]) -> None:
        """A compound statement; an empty body becomes pass."""
        self.put(indent, head)
        before = len(self.lines)
        body(indent + 1)
        if len(self.lines) == before:
            self.put(indent + 1, "pass")

    def charge(self, indent: int, var: str) -> None:
        """Charge for a loop over a list or an object, where that costs less than the loop."""
        self.put(indent, f"if len({var}) > {_FREE}: charge(len({var}))")

    def fail(self, indent: int, condition: str) -> None:
        """Give up if the condition holds."""
        self.put(indent, f"if {condition}: return False")

    def slot(self, node: Node, var: str, indent: int, mode: Mode, null: list[str] | None) -> None:
        """The code for a value; null: what to do if it is null, or None to let the schema decide."""
        if null is None:
            null = self.null(node, mode)
        kinds = self.kinds(node, mode)
        after = mode.check and self.has_logic(node)
        if after and len(kinds) > 1:
            self.block(indent, f"if {var} is None:", lambda inner: self.puts(inner, null))
            self.block(indent, "else:", lambda inner: self.chain(node, var, inner, mode, kinds, None))
            return
        self.chain(node, var, indent, mode, kinds, null)

    def puts(self, indent: int, lines: list[str] | None) -> None:
        """Several lines."""
        for line in lines or ():
            self.put(indent, line)

    def null(self, node: Node, mode: Mode) -> list[str]:
        """What to do with a null that stays where it is."""
        wrong = (node.types and not node.nullable) or node.raw.get("enum")
        return ["return False"] if mode.check and wrong else ["pass"]

    def chain(
        self, node: Node, var: str, indent: int, mode: Mode, kinds: dict[str, bool], null: list[str] | None
    ) -> None:
        """One branch for each class of value that is allowed; the rest is refused."""
        word = "if"
        for kind, allowed in kinds.items():
            if not allowed:
                continue
            self.block(
                indent,
                f"{word} {self.test(var, kind)}:",
                lambda inner, kind=kind: self.branch(node, var, inner, mode, kind, null is not None),  # type: ignore[misc]
            )
            word = "elif"
        refused = mode.check and not kinds.get("any") and null == ["return False"]
        if null is not None and not refused:
            self.block(indent, f"{word} {var} is None:", lambda inner: self.puts(inner, null))
            word = "elif"
        if kinds.get("any"):
            pass
        elif word == "if":
            self.put(indent, "return False")
        elif mode.check:
            self.put(indent, "else: return False")
        elif mode.prune:
            self.block(indent, f"elif {var}.__class__ in BOXES:", lambda inner: self.put(inner, "return False"))
        if null is None and mode.check:
            self.logic(node, var, indent, mode, "")

    def branch(self, node: Node, var: str, indent: int, mode: Mode, kind: str, logic: bool) -> None:
        """The code for a value of one class."""
        if kind == "dict":
            self.object(node, var, indent, mode)
        elif kind == "list":
            self.list(node, var, indent, mode)
        elif kind != "any" and mode.check:
            self.scalar(node, var, indent, kind)
        if logic and mode.check:
            self.logic(node, var, indent, mode, kind)

    def child(self, node: Node, var: str, indent: int, mode: Mode, null: list[str]) -> None:
        """A value below another: inline when small, else a call."""
        if indent < _DEPTH and self.loops < _LOOPS and weigh(node.raw, _INLINE) <= _INLINE:
            self.slot(node, var, indent, mode, null)
            return
        name = self.constant("f", self.part(node, mode))
        self.block(indent, f"if {var} is None:", lambda inner: self.puts(inner, null))
        self.put(indent, f"elif not {name}.run({var}): return False")

    def object(self, node: Node, var: str, indent: int, mode: Mode) -> None:
        """The body for an object."""
        keep = mode.keep or node.preserve
        inner = replace(mode, keep=False, root=False)
        names = list(node.properties)
        resource = node.embedded or mode.root
        if len(names) > _WIDE:
            self.wide(node, var, indent, mode, keep)
        else:
            if mode.prune and not keep and not node.extra:
                known = frozenset(names) | (META if resource else frozenset())
                self.fail(indent, f"not {var}.keys() <= {self.constant('K', known)}" if known else var)
            for name in names:
                self.property(node, name, var, indent, self.meta(mode, node, name, inner))
        if node.extra:
            self.additional(node, var, indent, inner, resource)
        if mode.check:
            self.sizes(node, var, indent)
        if node.embedded and not mode.nested and not mode.root and (mode.prune or mode.check):
            self.fail(indent, f"not resource({var})")

    def meta(self, mode: Mode, node: Node, name: str, inner: Mode) -> Mode:
        """The mode of a property: apiVersion, kind and metadata of a resource are not pruned here."""
        if name not in META:
            return inner
        if mode.root:
            return Mode(check=mode.check)
        return replace(inner, prune=False) if node.embedded else inner

    def property(self, node: Node, name: str, var: str, indent: int, mode: Mode) -> None:
        """One declared property of an object."""
        child = node.child(name)
        assert child is not None
        key = literal(name)
        required = mode.check and name in (node.raw.get("required") or ())
        if self.idle(child, mode) and not self.fills(child, mode):
            if required:
                self.fail(indent, f"{key} not in {var}")
            return
        filled = self.filled(child, mode)
        null = self.null(child, mode)
        if mode.fill and not child.nullable:
            null = [f"{var}[{key}] = {filled}"] if filled else [f"del {var}[{key}]"]
            if not filled and required:
                null = ["return False"]
            if filled == "False":
                null = ["return False"]
        item = self.fresh()

        def body(inner: int) -> None:
            self.put(inner, f"{item} = {var}[{key}]")
            self.child(child, item, inner, mode, null)

        self.block(indent, f"if {key} in {var}:", body)
        if filled == "False" or (required and not filled):
            self.put(indent, "else: return False")
        elif filled:
            self.put(indent, f"else: {var}[{key}] = {filled}")

    def filled(self, child: Node, mode: Mode) -> str:
        """The expression of a child's default with all inner defaults; "" for none, "False" when it is not valid."""
        if not mode.fill or not child.has_default:
            return ""
        value = copy(default.given(child))
        default.fill(value, child)
        if mode.check and (check.validate(value, child) or lists.validate(value, child)):
            return "False"
        if value is False:
            return "(not 1)"
        return literal(value)

    def wide(self, node: Node, var: str, indent: int, mode: Mode, keep: bool) -> None:
        """An object with many properties: each field that it has is looked up."""
        inner = replace(mode, keep=False, root=False)
        table: dict[str, Part] = {}
        for name, child in node.children():
            own = self.meta(mode, node, name, inner)
            if self.idle(child, own) and not self.fills(child, own):
                table[name] = _ANYTHING
                continue
            table[name] = self.part(child, own)
        if node.embedded or mode.root:
            for name in META - table.keys():
                table[name] = _ANYTHING
        parts, key, item, run = self.constant("T", table), self.fresh(), self.fresh(), self.fresh()
        self.charge(indent, var)
        self.put(indent, f"for {key}, {item} in {var}.items():")
        # `run` becomes a variable: the interpreter finds an attribute faster than a method
        if keep or node.extra:
            self.put(indent + 1, f"{run} = {parts}.get({key}, {self.constant('R', _ANYTHING)}).run")
        else:  # what is not declared is rare, so that an exception costs nothing
            self.put(indent + 1, f"try: {run} = {parts}[{key}].run")
            self.put(indent + 1, f"except KeyError: {'return False' if mode.prune else 'continue'}")
        self.fail(indent + 1, f"not {run}({item})")
        for name, child in node.children():
            filled = self.filled(child, self.meta(mode, node, name, inner))
            if filled == "False":
                self.fail(indent, f"{literal(name)} not in {var}")
            elif filled:
                self.put(indent, f"if {literal(name)} not in {var}: {var}[{literal(name)}] = {filled}")
            elif mode.check and name in (node.raw.get("required") or ()):
                self.fail(indent, f"{literal(name)} not in {var}")

    def additional(self, node: Node, var: str, indent: int, mode: Mode, resource: bool) -> None:
        """The fields that are not declared, by additionalProperties."""
        child = node.additional
        known = frozenset(node.properties)
        if child is None:
            if node.closed and mode.check:
                self.fail(indent, f"not {var}.keys() <= {self.constant('K', known)}" if known else var)
            elif mode.prune:
                # nothing is declared below: what is an object or a list is for the slow walk
                skip = self.constant("K", known | (META if resource else frozenset()))
                self.fail(indent, f"hides({var}, {skip})")
            return
        if self.idle(child, mode) and not self.fills(child, mode):
            return
        null = self.null(child, mode)
        key, item = self.fresh(), self.fresh()
        if mode.fill and not child.nullable:
            filled = self.filled(child, mode)
            null = [f"{var}[{key}] = {filled}"] if filled and filled != "False" else ["return False"]

        def body(inner: int) -> None:
            if known:
                self.put(inner, f"if {key} in {self.constant('K', known)}: continue")
            self.child(child, item, inner, mode, null)

        self.loops += 1
        self.charge(indent, var)
        self.block(indent, f"for {key}, {item} in {var}.items():", body)
        self.loops -= 1

    def list(self, node: Node, var: str, indent: int, mode: Mode) -> None:
        """The body for a list."""
        raw = node.raw
        if mode.check:
            if raw.get("maxItems") is not None:
                self.fail(indent, f"len({var}) > {int(raw['maxItems'])}")
            if raw.get("minItems"):
                self.fail(indent, f"len({var}) < {int(raw['minItems'])}")
        self.items(node, var, indent, mode)
        if not mode.check:
            return
        # only now, for defaults may make items equal
        if raw.get("uniqueItems"):
            self.fail(indent, f"not different({var})")
        if not mode.nested and node.list_type == "set":
            self.fail(indent, f"len({var}) > 1 and not unique({var})")
        if not mode.nested and node.list_type == "map":
            # a single item that is no object is refused by its type, if it has one
            typed = node.items is not None and node.items.types == ("object",)
            several = f"len({var}) > 1 and " if typed else ""
            self.fail(indent, f"{several}not {self.constant('N', lists.distinct(node.list_keys))}({var})")

    def items(self, node: Node, var: str, indent: int, mode: Mode) -> None:
        """The loop over a list's items."""
        child = node.items
        keep = mode.keep or node.preserve
        if child is None:
            if mode.prune and not keep:
                self.fail(indent, f"boxes({var})")
            return
        inner_mode = replace(mode, keep=keep, root=False)
        filled = self.filled(child, inner_mode) if not child.nullable else ""
        if self.idle(child, inner_mode) and not filled:
            return
        item, place = self.fresh(), self.fresh()
        null = self.null(child, inner_mode)
        head = f"for {item} in {var}:"
        if filled:
            head = f"for {place}, {item} in enumerate({var}):"
            null = ["return False"] if filled == "False" else [f"{var}[{place}] = {filled}"]
        self.loops += 1
        self.charge(indent, var)
        self.block(indent, head, lambda inner: self.child(child, item, inner, inner_mode, null))
        self.loops -= 1

    def logic(self, node: Node, var: str, indent: int, mode: Mode, kind: str) -> None:
        """enum, allOf, anyOf, oneOf and not, for a value that is not null; kind: its class if known."""
        self.enum(node, var, indent, kind)
        if self.either(node, kind):
            return
        nested = Mode(check=True, nested=True)

        def test(part: Node) -> str:
            return self.simple(part, var, kind) or f"{self.constant('f', self.part(part, nested))}.run({var})"

        for part in node.branches("allOf"):
            if not self.idle(part, nested):
                self.fail(indent, f"not {test(part)}")
        branches = node.branches("anyOf")
        if branches:
            self.fail(indent, f"not ({' or '.join(map(test, branches))})")
        branches = node.branches("oneOf")
        if branches:
            self.fail(indent, f"{' + '.join(map(test, branches))} != 1")
        refused = node.refused
        if refused is not None:
            self.fail(indent, test(refused))


class _Anything(Part):
    """Stands for a part that has nothing to say."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Node({}), Mode(), {})
        self.run = lambda value: True


_ANYTHING = _Anything()
