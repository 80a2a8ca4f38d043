"""Estimates the cost of compiling a pattern from its text, because RE2 holds the GIL while it compiles.

For most patterns the cost grows with the length. But RE2 expands a{0,3} to (a(a(a)?)?)?, and n nested optional items
cost n². A Unicode class costs as much as a page of text, and a repeated item costs its repetitions.
"""

from __future__ import annotations

import re

from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

_TOKEN = compile_late(
    r"""
    (?P<quoted>\\Q(?:[^\\]|\\(?!E))*+(?:\\E)?)
  | (?P<unicode>\\[pP](?:\{\^?\w{0,40}\}|.))
  | (?P<code>\\x\{[0-9a-fA-F]{0,10}\}|\\x..|\\[0-7]{1,3}|\\C)
  | (?P<set>\\[dDsSwW])
  | (?P<edge>\\[bBAzZ]|[\^$])
  | (?P<escape>\\.)
  | (?P<class>\[\^?\]?(?:[^\]\\\[]|\\.|\[:\^?\w{0,12}:\]|\[)*+\])
  | (?P<flags>\(\?[a-zA-Z-]{0,10}\))
  | (?P<open>\((?:\?(?:[a-zA-Z-]{0,10}:|P?<))?)
  | (?P<close>\))
  | (?P<or>\|)
  | (?P<times>(?:[*+?]|\{(?P<least>\d{1,5})(?:,(?P<most>\d{0,5}))?\})\??)
  | (?P<any>\.)
  | (?P<text>[^\\\[\]{}()*+?.|^$]++)
  | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_FOLDED = compile_late(r"\(\?[a-zA-Z]{0,10}i")

# nanoseconds, measured on a machine that is some years old
_CHARACTER, _FOLDED_CHARACTER, _TIMES = 120, 2800, 500
_ANY_CHARACTER, _SET, _WIDE_SET = 4000, 4000, 10_000
_CLASS, _CLASS_CHARACTER, _RANGE, _NEGATED = 1500, 150, 5000, 6000
# less than half of the real cost, because patterns such as \p{L}{1,255} are common and must be allowed
_UNICODE = 360_000
_EXTRA_CLASS, _MAX_CLASSES = 40_000, 3  # cost of each Unicode class within one set beyond the third
_SQUARE = 6  # factor for the square of the number of consecutive optional items
_SIZES = {"any": _ANY_CHARACTER, "edge": _CHARACTER, "escape": _CHARACTER, "code": _CHARACTER, "rest": _CHARACTER}
MAX_PRICE = 30_000_000.0  # maximum nanoseconds for one pattern: no other request is served meanwhile


class _Sequence:
    """A sequence of items within brackets. depth: nesting of optional items.

    cost: of all items before the last. item, last_depth: cost and depth of the last item. run: number of consecutive
    optional items up to it. last: its text, "" for a choice (a|b). split: whether the sequence is a choice.
    """

    __slots__ = ("cost", "depth", "item", "last", "last_depth", "run", "split")

    def __init__(self) -> None:
        self.cost = self.item = 0.0
        self.depth = self.last_depth = self.run = 0
        self.last = ""
        self.split = False

    def add_item(self, text: str, cost: float, depth: int = 0) -> None:
        """Add an item, which ends a run of optional items that it cannot overlap."""
        if self.run and not _can_merge(self.last, text):
            self.end()
        self.cost += self.item
        self.depth = max(self.depth, self.last_depth)
        self.item, self.last_depth, self.last = cost, depth, text

    def enclose_sequence(self, branch: _Sequence) -> None:
        """Add a sequence in brackets. Only brackets around a choice change the result."""
        run, branch.run = (0, branch.run) if branch.split else (branch.run, 0)
        self.add_item("" if branch.split else branch.last, *branch.close())
        self.run += run

    def end(self) -> None:
        """End a run of optional items."""
        self.cost += _SQUARE * self.run * self.run
        self.run = 0

    def repeat_item(self, minimum: int, maximum: int) -> None:
        """Repeat the last item."""
        self.item = (self.item + _TIMES) * max(maximum, minimum, 1)
        self.run += max(maximum - minimum, 0)
        self.last_depth += maximum > minimum

    def close(self) -> tuple[float, int]:
        """End the sequence. Return its cost and depth."""
        self.end()
        return self.cost + self.item, max(self.depth, self.last_depth)


def _can_merge(first: str, second: str) -> bool:
    """Return whether RE2 can merge two items. Different single characters, for example, cannot be merged."""
    if not first or not second:
        return False
    if len(first) > len(second):
        first, second = second, first
    if len(first) > 1 or first == ".":
        return True
    if len(second) == 1:
        return first.casefold() == second.casefold()
    if second[0] == "\\":
        return second[1] in "xC01234567"
    return "\\" in second or "^" in second or not second[1:-1].casefold().replace("-", "").strip(first.casefold())


def price_pattern(pattern: str) -> float:
    """Return the estimated nanoseconds to compile a pattern.

    For an invalid pattern, or one far above `MAX_PRICE`, this is the cost of its beginning.
    """
    letter = _FOLDED_CHARACTER if _FOLDED.search(pattern) else _CHARACTER
    levels = [_Sequence()]
    spent = 0.0  # cost of all open sequences
    for token in _TOKEN.finditer(each(pattern)):
        group, text = token.lastgroup, token[0]
        branch = levels[-1]
        if group == "text":
            if len(text) > 1:
                branch.add_item(text[0], letter * len(text.encode(errors="replace")))
                if text.casefold() != text[0].casefold() * len(text):
                    branch.end()
            branch.add_item(text[-1], letter)
        elif group == "times":
            branch.repeat_item(*_parse_repeat(text, token["least"], token["most"]))
        elif group == "open":
            levels.append(_Sequence())
        elif group == "close" and len(levels) > 1:
            levels.pop()
            levels[-1].enclose_sequence(branch)
        elif group == "or":
            cost, depth = branch.close()
            levels[-1] = _Sequence()
            levels[-1].cost, levels[-1].depth, levels[-1].split = cost, depth, True
        elif text == "[":
            break  # unclosed, so the pattern is invalid
        elif group not in ("flags", "close"):
            item = text[1] if group == "escape" and not text[1].isalnum() else text  # without the backslash
            branch.add_item(item, _estimate_item(str(group), text, letter))
        if branch.cost + branch.item + _SQUARE * branch.run * branch.run > MAX_PRICE:
            break
    depth = 0
    for branch in levels:
        cost, branch_depth = branch.close()
        spent, depth = spent + cost, max(depth, branch_depth)
    return spent + _SQUARE * depth * depth


_ATOM = (
    r"\\[pP](?:\{\^?\w{1,40}\}|[A-Z])|\\[dDsSwW]|\[\^?\]?(?:[^\]\\\[]|\\.|\[:\^?\w{0,12}:\]|\[)*+\]"
    r"|[^\\\[\](){}|*+?^$]"
)
_COUNTED = compile_late(
    rf"\^(?P<before>(?:{_ATOM})*+)\{{(?P<least>\d{{1,4}})(?P<more>,(?P<most>\d{{1,4}})?)?\}}(?P<after>(?:{_ATOM})*+)\$",
    re.DOTALL,
)
_ATOMS = compile_late(_ATOM, re.DOTALL)
_REPEATED = 1000  # RE2's maximum repetition count


def count_pattern(pattern: str) -> tuple[str, int, int | None] | None:
    """Return a cheaper pattern, with the minimum and maximum length of the matched text; None if there is none.

    If each class of the pattern matches one character, and only one class is repeated, as in ^[a-z]{1,255}$, the length
    of the text shows the number of repetitions.
    """
    match = _COUNTED.fullmatch(pattern)
    if match is None or not match["before"]:
        return None
    minimum = int(match["least"])
    maximum = int(match["most"]) if match["most"] else None if match["more"] else minimum
    if minimum > _REPEATED or (maximum or 0) > _REPEATED or (maximum is not None and maximum < minimum):
        return None
    other_atoms = sum(1 for _ in _ATOMS.finditer(each(match["before"]))) - 1
    other_atoms += sum(1 for _ in _ATOMS.finditer(each(match["after"])))
    text = f"^{match['before']}*{match['after']}$"
    return text, other_atoms + minimum, None if maximum is None else other_atoms + maximum


def _parse_repeat(text: str, minimum: str | None, maximum: str | None) -> tuple[int, int]:
    if minimum is None:
        return {"?": (0, 1), "*": (1, 1), "+": (2, 2)}[text[0]]
    low = int(minimum)
    return (low, int(maximum)) if maximum else (low, low) if maximum is None else (low + 1, low + 1)


def _estimate_item(token: str, text: str, character_cost: float) -> float:
    if token == "unicode":
        return _UNICODE
    if token == "set":
        return _SET if text[1].islower() else _WIDE_SET
    if token == "class":
        classes = text.count("\\p") + text.count("\\P")
        unicode_cost = (_UNICODE if classes else 0) + _EXTRA_CLASS * max(classes - _MAX_CLASSES, 0)
        negated = _NEGATED if text[1] == "^" or any(escape in text for escape in ("\\W", "\\D", "\\S", ":^")) else 0
        ranges = text.count("\\") + len(text.encode(errors="replace")) - len(text)
        return _CLASS + _CLASS_CHARACTER * len(text) + _RANGE * ranges + unicode_cost + negated
    if token == "quoted":
        return character_cost * len(text)
    return max(_SIZES[token], character_cost)
