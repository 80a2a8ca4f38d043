"""Structs from .fields files: what a line says, when it is read, and what is wrong with it."""

from __future__ import annotations

import pathlib
import threading

import pytest

from podless.runtime import memo
from podless.structs import gotypes
from podless.structs.gotypes import ListOf, MapOf, String
from podless.structs.structfiles import FieldsError, StructFile, find_home, homes_of, load_file, load_struct
from podless.structs.structs import TYPE_META, Field, Struct

FILE = """# demo/v1

enum v1.Colour{Green,Red}
enum v1.Empty{,Full}

# Things.

kind Thing  # A thing, with more.
  1  metadata  meta/v1.ObjectMeta
  # a comment # with a mark
  2  spec      ThingSpec           required  # What is wanted.

struct ThingSpec atomic union=type:left,right
   1  type     v1.Colour                                      always default=Red
   2  colours  []v1.Colour                                    set
   3  left     *v1.Size{Big,very small}                       optional fill="7"
   4  right    *int32                                         fill=8
   5  parts    []Part                                         map=name,kind patch=merge,retainKeys merge=name
   6  amounts  v1.Amounts=map[string]quantity
   7  shared   map[v1.Key]v1.Extra=[]string                   granular  # Shared things.
  10  any      Any
   0  on       bool                                           default=false fill=[]
   8  part     *Part                                          inline
  -   name                                                    # The thing's own name.

struct Part recursive  # A part.
  1  name   string      # The name.
  2  kind   types.UID
  3  more   []Part      # More parts.

type Any  # A part, or true.
  object  Part
  bool    bool
  else    a part or a bool expected


text Words  # Words.
  -  two words  # Two of them.
"""


def make(folder: pathlib.Path, text: str = FILE) -> StructFile:
    (folder / "demo").mkdir(exist_ok=True)
    (folder / "demo" / "v1.fields").write_text(text)
    return StructFile("demo/v1", folder)


@pytest.fixture
def file(tmp_path: pathlib.Path) -> StructFile:
    return make(tmp_path)


def field(file: StructFile, name: str) -> Field:
    return next(entry for entry in file.get_struct("ThingSpec").declared_fields if entry.name == name)


def test_a_file_can_replace_structs_of_another_one(tmp_path: pathlib.Path, file: StructFile) -> None:
    part = "struct Part  # Other.\n  1  size  int32  # Its size.\n"
    (tmp_path / "demo" / "v0.fields").write_text(f"like demo/v1\n\n{part}")
    like = StructFile("demo/v0", tmp_path)
    assert like.described_names == file.described_names
    assert (like.get_struct("Thing").go, like.get_struct("Thing").home) == ("v0.Thing", "demo/v0")
    assert [field.name for field in like.get_struct("Part").declared_fields] == ["size"]
    assert (like.read_texts("Part")[""], like.read_texts("Thing")) == ("Other.", file.read_texts("Thing"))


def test_a_kind_begins_with_what_the_envelope_has(file: StructFile) -> None:
    thing = file.get_struct("Thing")
    assert (thing.name, thing.go, thing.home, thing.atomic, thing.union) == (
        "Thing",
        "v1.Thing",
        "demo/v1",
        False,
        None,
    )
    assert thing.declared_fields[:2] == TYPE_META
    assert all(part is known for part, known in zip(thing.declared_fields, TYPE_META, strict=False))
    assert [field.name for field in thing.declared_fields] == ["kind", "apiVersion", "metadata", "spec"]
    assert thing.declared_fields[2].type is load_struct("meta/v1", "ObjectMeta")
    assert thing.declared_fields[3].type is file.get_struct("ThingSpec")


def test_a_line_says_all_of_a_field(file: StructFile) -> None:
    spec = file.get_struct("ThingSpec")
    assert (spec.atomic, spec.union) == (True, ("type", ("left", "right")))
    one = field(file, "type")
    assert isinstance(one.type, String)
    assert (one.type.go, one.type.enum) == ("v1.Colour", ("Green", "Red"))
    assert (one.number, one.pointer, one.always, one.required, one.default, one.fill) == (
        1,
        False,
        True,
        None,
        "Red",
        None,
    )
    left, right = field(file, "left"), field(file, "right")
    assert isinstance(left.type, String)
    assert left.type.enum == ("Big", "very small")
    assert (left.pointer, left.required, left.fill, right.fill) == (True, False, "7", 8)
    parts = field(file, "parts")
    assert (parts.keys, parts.patch, parts.merge) == (("name", "kind"), "merge,retainKeys", "name")
    assert (field(file, "colours").keys, field(file, "shared").atomic, field(file, "part").inline) == ((), False, True)
    assert (field(file, "on").number, field(file, "on").default, field(file, "on").fill) == (0, False, [])


def test_types_have_the_names_that_go_has(file: StructFile) -> None:
    colours, amounts, shared = (field(file, name).type for name in ("colours", "amounts", "shared"))
    assert isinstance(colours, ListOf)
    assert colours.go == "[]v1.Colour"
    assert colours.item is field(file, "type").type
    assert isinstance(amounts, MapOf)
    assert (amounts.go, amounts.item) == ("v1.Amounts", gotypes.QUANTITY)
    assert isinstance(shared, MapOf)
    assert (shared.go, shared.item.go) == ("map[v1.Key]v1.Extra", "v1.Extra")


def test_common_types_are_one_object_in_all_files() -> None:
    options, meta = (
        load_struct("core/v1", "PodExecOptions").decode_plan,
        load_struct("meta/v1", "ObjectMeta").decode_plan,
    )
    assert options["command"][0] is meta["finalizers"][0] is gotypes.STRINGS
    assert options["tty"][0] is gotypes.BOOL
    assert (meta["uid"][0], meta["labels"][0]) == (gotypes.UID, gotypes.STRING_MAP)


def test_a_type_reads_itself_by_its_forms(file: StructFile) -> None:
    kind = field(file, "any").type
    assert isinstance(kind, gotypes.Union)
    assert (kind.go, kind.rejection) == ("v1.Any", "a part or a bool expected")
    assert kind.forms == {dict: file.get_struct("Part"), bool: None}


def test_a_struct_may_contain_itself(file: StructFile) -> None:
    part = file.get_struct("Part")
    more = part.declared_fields[2].type
    assert isinstance(more, ListOf)
    assert more.item is part
    assert (part.recursive, file.get_struct("Thing").recursive) == (True, False)


def test_texts_are_those_of_the_lines(file: StructFile) -> None:
    assert file.read_texts("Thing") == {"": "A thing, with more.", "spec": "What is wanted."}
    assert file.read_texts("ThingSpec") == {
        "name": "The thing's own name.",
        "more": "More parts.",
        "shared": "Shared things.",
    }
    assert file.read_texts("Any") == {"": "A part, or true."}
    assert file.read_texts("Words") == {"": "Words.", "two words": "Two of them."}
    assert file.read_texts("Nothing") == {}


def test_fields_are_parsed_when_they_are_needed(tmp_path: pathlib.Path) -> None:
    file = make(tmp_path, FILE.replace("2  kind   types.UID", "2  kind"))
    assert file.get_struct("Thing").declared_fields
    assert file.get_struct("Part").go == "v1.Part"
    with pytest.raises(FieldsError):
        file.get_struct("Part").declared_fields  # noqa: B018


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("2  kind   types.UID", "2  kind", "28: this is no `number name type options # text`"),
        ("2  kind   types.UID", "2  kind   string  olways", "28: kind: a field has no option 'olways'"),
        ("2  kind   types.UID", "2  kind   string  default", "28: kind: a field has no option 'default'"),
        ("2  kind   types.UID", "2  kind   string  fill=1 fill=2", "28: kind: 'fill=2' sets fill again"),
        ("2  kind   types.UID", "2  kind   Thong", "28: kind: {path}: there is no struct Thong"),
        ("2  kind   types.UID", "2  kind   v1.Alias=string", "28: kind: string cannot have a name of its own in Go"),
        ("2  kind   types.UID", "2  kind   nowhere/v1.Thing", "28: kind: {folder}/nowhere/v1.fields: No such file"),
        ("struct Part recursive", "struct Part round", "26: Part: a struct has no option 'round'"),
        ("text Words", "struct Part", "37: Part is there twice"),
        ("text Words", "words Words", "37: a block begins with struct, kind, type, text, enum or like, and a name"),
        ("enum v1.Empty{,Full}", "enum v1.Empty", "4: this is no `enum v1.Name{{value,value}}`"),
    ],
)
def test_an_error_names_file_and_line(tmp_path: pathlib.Path, old: str, new: str, error: str) -> None:
    with pytest.raises(FieldsError) as raised:
        make(tmp_path, FILE.replace(old, new)).get_struct("Part").declared_fields  # noqa: B018
    path = tmp_path / "demo" / "v1.fields"
    text = str(raised.value).replace(str(load_file("core/v1")._path.parent.parent), "FOLDER")
    assert text.startswith(f"{path}:{error.format(path=path, folder='FOLDER')}")


def test_a_file_that_has_changed_is_refused(file: StructFile, tmp_path: pathlib.Path) -> None:
    make(tmp_path, "# One more line.\n" + FILE)
    with pytest.raises(FieldsError, match="has changed since podless began to use it: restart podless"):
        file.get_struct("Part").declared_fields  # noqa: B018


def test_a_form_that_is_none_is_an_error(tmp_path: pathlib.Path) -> None:
    file = make(tmp_path, FILE.replace("  bool    bool", "  number  int32"))
    with pytest.raises(FieldsError, match=r"v1\.fields:33: 'number' is no form of a value"):
        file.get_struct("ThingSpec").declared_fields  # noqa: B018


def test_a_struct_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FieldsError, match=r"core/v1\.fields: there is no struct Pood"):
        load_struct("core/v1", "Pood")
    with pytest.raises(FieldsError, match="there is no such group-version"):
        load_struct("core/v7", "Pod")


def test_a_struct_is_one_object_whichever_thread_asks_first() -> None:
    found: list[Struct] = []

    def work() -> None:
        memo.begin_work()
        found.append(load_struct("node/v1", "Scheduling"))
        assert found[0].declared_fields

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0] is load_struct("node/v1", "Scheduling")


def test_work_off_the_loop_keeps_the_fields_that_it_parses_to_itself(file: StructFile) -> None:
    part = file.get_struct("Part")
    with memo.draft_values() as draft:
        made = part.declared_fields
        assert part.declared_fields is made
        assert "parts" not in vars(part)
    draft.publish_values()
    assert part.declared_fields is made


def test_files_are_found_by_group() -> None:
    assert find_home("rbac.authorization.k8s.io", "v1") == "rbac/v1"
    assert find_home("", "v1") == "core/v1"
    assert homes_of("autoscaling") == ("autoscaling/v1", "autoscaling/v2")
    assert homes_of("example.com") == ()
