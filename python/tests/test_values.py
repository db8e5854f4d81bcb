"""Which values can be given back, and as what."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import importlib.util
import json
import typing
import unittest
import uuid
from typing import Any, NewType, Optional, Union

from mcptest._values import UnkeptError, Values

Order = NewType("Order", int)
UTC = datetime.timezone.utc
HERE = datetime.timezone(datetime.timedelta(hours=2))


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Line:
    name: str
    price: decimal.Decimal
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Receipt:
    order: int
    on: Optional[datetime.date]
    lines: list[Line] = dataclasses.field(default_factory=list)
    total: float = dataclasses.field(init=False, default=0.0)


@dataclasses.dataclass
class Doubled:
    value: int

    def __post_init__(self) -> None:
        self.value *= 2


class Named(typing.NamedTuple):
    order: int


class Row(typing.TypedDict):
    order: int


class Text(str):
    pass


RECEIPT = Receipt(7, datetime.date(2026, 1, 2), [Line("pen", decimal.Decimal("1.50"))])
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, 600, UTC)


def played(wanted: Any, value: Any) -> Any:
    """What is given back for a value, past the wire."""
    values = Values(wanted)
    return values.read(json.loads(json.dumps(values.write(value))))


class Kept(unittest.TestCase):
    def test_they_come_back_as_they_were(self) -> None:
        for wanted, value in (
            (Any, None),
            (Any, "text\nwith \u00fc \U0001f600"),
            (Any, 0.1 + 0.2),
            (Any, 2**64 - 1),
            (Any, -(2**63)),
            (Any, True),
            (Any, {"a": [1, 2.5, None, {"b": "c"}]}),
            (int, 7),
            (int, "not found"),
            (Receipt, "not found"),
            (Receipt, None),
            (Receipt, RECEIPT),
            (Receipt, {"error": "not found"}),
            (Optional[Receipt], RECEIPT),
            (Optional[Receipt], None),
            (list[Receipt], [RECEIPT, RECEIPT]),
            (typing.Iterable[Receipt], []),
            (typing.Sequence[Receipt], [RECEIPT]),
            (dict[str, Receipt], {"a": RECEIPT}),
            (dict[str, list[Optional[Receipt]]], {"a": [None, RECEIPT]}),
            (Union[Line, Receipt], RECEIPT),
            (Union[Receipt, str], "refused"),
            (Union[int, str], "7"),
            (Union[datetime.date, str], "soon"),
            (tuple[int, Line], (7, RECEIPT.lines[0])),
            (tuple[Line, ...], (RECEIPT.lines[0],) * 3),
            (tuple, (1, "a")),
            (Row, {"order": 7}),
            (Order, 7),
            (bytes, b"\x00\xff"),
            (datetime.date, datetime.date(2026, 1, 2)),
            (datetime.time, datetime.time(3, 4, 5)),
            (datetime.datetime, MOMENT),
            (datetime.datetime, MOMENT.astimezone(HERE)),
            (datetime.datetime, MOMENT.replace(tzinfo=None)),
            (decimal.Decimal, decimal.Decimal("18.00")),
            (uuid.UUID, uuid.UUID(int=7)),
            (Colour, Colour.RED),
            (Level, Level.HIGH),
            (typing.Literal["a", "b"], "a"),
            (typing.TypeVar("T"), [1]),
        ):
            with self.subTest(wanted=wanted, value=value):
                back = played(wanted, value)
                self.assertEqual(back, value)
                self.assertIs(type(back), type(value))

    def test_names_of_types(self) -> None:
        named = getattr(typing, "TypeAliasType", lambda _, kind: kind)  # `type` statements came with Python 3.12.
        self.assertEqual(played(named("Receipts", list[Receipt]), [RECEIPT]), [RECEIPT])

    def test_a_tuple_counts_as_a_list(self) -> None:
        self.assertEqual(played(Any, (1, (2,))), [1, [2]])
        self.assertEqual(played(list[Any], (1, 2)), [1, 2])

    def test_moments_are_written_as_rfc_3339(self) -> None:
        write = Values(datetime.datetime).write
        self.assertEqual(write(MOMENT), "2026-01-02T03:04:05.000600Z")
        self.assertEqual(write(MOMENT.astimezone(HERE)), "2026-01-02T05:04:05.000600+02:00")

    def test_own_codecs(self) -> None:
        values = Values(Any, lambda value: sorted(value), set)
        self.assertEqual(values.write({2, 1}), [1, 2])
        self.assertEqual(values.read([1, 2]), {1, 2})
        for encoder, decoder, why in (
            (sorted, list, "a `set` would come back as a `list`"),
            (lambda value: value, set, "a `set` has no form as JSON"),
            (lambda value: len(value), lambda size: set(range(size + 1)), "another content"),
            (lambda value: 1 // 0, set, "ZeroDivisionError"),
            (sorted, lambda value: 1 // 0, "ZeroDivisionError"),
        ):
            with self.assertRaisesRegex(UnkeptError, why):
                Values(Any, encoder, decoder).write({2, 1})


class Unkept(unittest.TestCase):
    def test_they_would_be_another(self) -> None:
        circle: list[Any] = []
        circle.append(circle)
        for wanted, value, why in (
            (Any, RECEIPT, "a `Receipt` would come back as a `dict`"),
            (Line, RECEIPT, "a `Receipt` would come back as a `dict`: the annotation is .*Line"),
            (Receipt, {"order": 7, "on": None}, "a `dict` would come back as a `Receipt`"),
            (Any, [RECEIPT], "a `list` would come back with"),
            (list, [RECEIPT], "a `list` would come back with"),
            (Any, [b"a"], "a `list` would come back with"),
            (Any, {"at": MOMENT}, "a `dict` would come back with"),
            (Any, MOMENT, "a `datetime` would come back as a `str`"),
            (datetime.date, MOMENT, "a `datetime` would come back"),
            (Union[str, datetime.date], datetime.date(2026, 1, 2), "a `date` would come back as a `str`"),
            (Union[datetime.date, str], "2026-01-02", "a `str` would come back as a `date`"),
            (Doubled, Doubled(1), "a `Doubled` would come back with another content"),
            (Named, Named(7), "a `Named` would come back as a `list`"),
            (Any, Text("a"), "a `Text` would come back as a `str`"),
            (Any, Level.HIGH, "a `Level` would come back as an `int`: the tool needs a return annotation"),
            (Any, {1: "a"}, "a `dict` with keys that are no texts has no form as JSON"),
            (Any, {1}, "a `set` has no form as JSON"),
            (Any, open, "has no form as JSON"),
            (Any, object(), "an `object` has no form as JSON"),
            (Any, float("nan"), "`nan` or `inf` has no form as JSON"),
            (Any, 2**64, "a number of more than 64 bits has no form as JSON"),
            (Any, 10**5000, "a number of more than 64 bits"),
            (Any, 1j, "a `complex`"),
            (Any, "\ud800", "UnicodeEncodeError"),
            (Any, circle, "nested more than 100 deep"),
        ):
            with self.subTest(wanted=wanted, value=str(type(value))), self.assertRaisesRegex(UnkeptError, why):
                Values(wanted).write(value)


class Told(unittest.TestCase):
    """Of a call that an older recording has, only the text is known that the model was told."""

    def test_the_text_is_what_the_annotation_wants(self) -> None:
        for wanted, text, value in (
            (Any, "7", "7"),
            (str, "7", "7"),
            (int, "7", 7),
            (float, "7", 7),
            (bool, "true", True),
            (type(None), "None", None),
            (Optional[int], "null", None),
            (Optional[str], "[1]", "[1]"),
            (list[int], "[1, 2]", [1, 2]),
            (dict, '{"a": 1}', {"a": 1}),
            (Line, '{"name": "pen", "price": "1.50"}', RECEIPT.lines[0]),
            (datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
            (Colour, "red", Colour.RED),
            (Line, {"name": "pen", "price": "1.50"}, RECEIPT.lines[0]),
        ):
            with self.subTest(wanted=wanted, text=text):
                self.assertEqual(Values(wanted).read(text, told=True), value)

    def test_it_is_no_such_value(self) -> None:
        for wanted, text in (
            (int, "seven"),
            (Line, "a pen"),
            (Values, "a value"),
            (Line, "{}"),
            (datetime.date, "soon"),
            (list, "none"),
        ):
            with self.subTest(wanted=wanted), self.assertRaises((ValueError, TypeError)):
                Values(wanted).read(text, told=True)


class Answered(unittest.TestCase):
    """What a suite answers is such a value, or an error."""

    def test_it_is_one(self) -> None:
        for wanted, data, value in (
            (Any, None, None),
            (object, [1], [1]),
            (type(None), None, None),
            (Optional[int], None, None),
            (str, "7", "7"),
            (typing.Literal["a", "b"], "b", "b"),
            (Line, {"name": "pen", "price": "1.50"}, RECEIPT.lines[0]),
        ):
            with self.subTest(wanted=wanted, data=data):
                self.assertEqual(Values(wanted).read(data, is_answer=True), value)

    def test_it_is_none(self) -> None:
        for wanted, data in (
            (int, "7"),
            (str, 7),
            (str, None),
            (list[int], None),
            (Line, "a pen"),
            (dict, "a pen"),
            (Union[int, bool], "7"),
            (typing.Literal["a", "b"], "c"),
        ):
            with self.subTest(wanted=wanted, data=data), self.assertRaises((ValueError, TypeError)):
                Values(wanted).read(data, is_answer=True)


@unittest.skipUnless(importlib.util.find_spec("pydantic"), "pydantic is not installed")
class Models(unittest.TestCase):
    def test_models_by_the_annotation(self) -> None:
        import pydantic

        class Item(pydantic.BaseModel):
            name: str
            on: datetime.datetime = MOMENT

        class Basket(pydantic.BaseModel):
            items: list[Item] = pydantic.Field(alias="theItems")

        class More(Item):
            more: int = 1

        class Secret(pydantic.BaseModel):
            hidden: str = pydantic.Field(default="", exclude=True)

        @pydantic.dataclasses.dataclass
        class Part:
            item: Item

        item = Item(name="pen")
        for wanted, value in (
            (Item, item),
            (Basket, Basket(theItems=[item])),
            (list[Item], [item]),
            (Optional[Item], None),
            (Union[Basket, Item], item),
            (Part, Part(item)),
            (pydantic.RootModel[list[int]], pydantic.RootModel[list[int]]([1])),
        ):
            with self.subTest(wanted=wanted):
                self.assertEqual(played(wanted, value), value)
        for wanted, value in (
            (Any, item),
            (Item, More(name="a")),
            (Basket, Basket.model_construct(items=[More(name="a")])),
            (Secret, Secret(hidden="x")),
        ):
            with self.subTest(unkept=wanted), self.assertRaises(UnkeptError):
                Values(wanted).write(value)


if __name__ == "__main__":
    unittest.main()
