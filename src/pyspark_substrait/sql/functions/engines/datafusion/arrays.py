"""DataFusion's functions that make a list of others, or look into one."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    String,
    Type,
    VarChar,
    concrete,
)
from pyspark_substrait.sql.compiler.types import MATCH_SETTINGS, field_name, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import any_null, raised
from pyspark_substrait.sql.functions.engines.datafusion.calls import bounded_int
from pyspark_substrait.sql.functions.engines.datafusion.texts import PLAIN_NUMBER, text_of_moment
from pyspark_substrait.sql.functions.sizes import MOST_ELEMENTS
from pyspark_substrait.sql.functions.strings.string_expressions import quoted_pattern
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS", "depth"]


def depth(type: Type) -> int:
    """How many lists there are in each other."""
    found = concrete(type)
    return 1 + depth(found.type) if isinstance(found, List) else 0


def _element(type: Type) -> Type:
    found = concrete(type)
    assert isinstance(found, List)
    return concrete(found.type)


def _empty(type: Type) -> str:
    return f"CAST(array() AS {spark_type(type)})"


# with elements more or less ------------------------------------------------------------------------------------------


def concatenated(call: Call) -> str:
    if len(call.operands) == 1:
        return call.sql(0)
    lists = [operand.sql for operand in call.operands]
    nothing = " AND ".join(f"{one} IS NULL" for one in lists)
    return Atom(f"if({nothing}, NULL, concat({', '.join(f'coalesce({one}, {_empty(call.output)})' for one in lists)}))")


def _places(list: str, element: str) -> str:
    """The places, counted from 0, of the elements that are a value, or are null as the value is."""
    return f"filter(transform({list}, (x, i) -> if(x <=> {element}, i, -1)), i -> i >= 0)"


def _first(places: str, count: str) -> str:
    return f"slice({places}, 1, {bounded_int(count, 0, MOST_ELEMENTS)})"


def removed(call: Call) -> str:
    """``array_remove`` or ``array_remove_n``."""
    fields = {"l": call.sql(0), "e": call.sql(1), "n": call.sql(2) if len(call.operands) > 2 else "1"}
    places = _first(_places("v.l", "v.e"), "v.n")
    kept = let("w", {"l": "v.l", "p": places}, "filter(w.l, (x, i) -> NOT array_contains(w.p, i))")
    return let("v", fields, f"if({any_null('v.l', 'v.e', 'v.n')}, NULL, {kept})")


def replaced(call: Call) -> str:
    """``array_replace`` or ``array_replace_n``."""
    fields = {"l": call.sql(0), "e": call.sql(1), "t": call.sql(2), "n": call.sql(3) if len(call.operands) > 3 else "1"}
    places = _first(_places("v.l", "v.e"), "v.n")
    changed = "transform(w.l, (x, i) -> if(array_contains(w.p, i), w.t, x))"
    made = let("w", {"l": "v.l", "t": "v.t", "p": places}, changed)
    return let("v", fields, f"if({any_null('v.l', 'v.n')}, NULL, {made})")


def resized(call: Call) -> str:
    fill = call.sql(2) if len(call.operands) > 2 else "NULL"
    fields = {"l": call.sql(0), "n": call.sql(1), "f": f"CAST({fill} AS {spark_type(_element(call.output))})"}
    many = f"CAST(least(v.n, {MOST_ELEMENTS}) AS INT)"
    missing = f"array_repeat(v.f, greatest({many} - array_size(v.l), 0))"
    found = f"WHEN v.n < 0 THEN {raised(call, 'the number is negative')} ELSE slice(concat(v.l, {missing}), 1, {many})"
    return let("v", fields, f"CASE WHEN {any_null('v.l', 'v.n')} THEN NULL {found} END")


# parts ---------------------------------------------------------------------------------------------------------------


def _bound(number: str, low: str, high: str) -> str:
    """A position counted from one, or from the end if it is negative, and not beyond the bounds."""
    return bounded_int(f"if({number} < 0, {number} + s.n + 1, {number})", low, high)


def sliced(call: Call) -> str:
    step = call.sql(3) if len(call.operands) > 3 else "1L"
    fields = {"l": call.sql(0), "f": call.sql(1), "t": call.sql(2), "s": step}
    sizes = {"l": "v.l", "n": "CAST(array_size(v.l) AS BIGINT)", "f": "v.f", "t": "v.t", "s": "v.s"}
    ends = {"l": "s.l", "n": "s.n", "s": "s.s", "f": _bound("s.f", "1", "s.n + 1"), "t": _bound("s.t", "0", "s.n")}
    upward = "WHEN p.s = 1 THEN slice(p.l, p.f, p.t - p.f + 1)"
    picked = "transform(sequence(p.f, p.t, CAST(p.s AS INT)), i -> p.l[i - 1])"
    beyond = "p.n = 0 OR p.f > p.n OR p.t < 1 OR (p.s > 0 AND p.f > p.t) OR (p.s < 0 AND p.f < p.t)"
    nothing = f"WHEN {beyond} THEN {_empty(call.output)}"
    one = "WHEN abs(p.s) >= p.n THEN array(p.l[p.f - 1])"
    found = let("s", sizes, let("p", ends, f"CASE {nothing} {upward} {one} ELSE {picked} END"))
    wrong = f"WHEN v.s = 0 THEN {raised(call, 'the step is 0')}"
    nulls = any_null("v.l", "v.f", "v.t", "v.s")
    return let("v", fields, f"CASE WHEN {nulls} THEN NULL {wrong} ELSE {found} END")


def has(test: str, of_nothing: str) -> Callable[[Call], str]:
    """``array_has_all`` or ``array_has_any``, which look for nothing even in a null."""

    def body(call: Call) -> str:
        list, elements = call.sql(0), call.sql(1)
        if call.operands[1].is_null or elements.startswith("CAST(array() AS"):
            return Atom(of_nothing)
        return Atom(f"if({list} IS NULL, NULL, {test}({elements}, y -> exists({list}, x -> x <=> y)))")

    return body


def position(call: Call) -> str:
    if len(call.operands) == 2:
        found = f"array_position(transform({call.sql(0)}, x -> x <=> {call.sql(1)}), true)"
        return Atom(f"nullif({found}, 0L)")
    fields = {"l": call.sql(0), "e": call.sql(1), "s": call.sql(2)}
    rest = "slice(v.l, CAST(v.s AS INT), array_size(v.l))"
    found = f"nullif(array_position(transform({rest}, x -> x <=> v.e), true), 0L) + v.s - 1L"
    wrong = f"v.s < 1 OR v.s > array_size(v.l) + 1 THEN {raised(call, 'the start is out of bounds')}"
    return let("v", fields, f"CASE WHEN {any_null('v.l', 'v.s')} THEN NULL WHEN {wrong} ELSE {found} END")


def length(call: Call) -> str:
    if len(call.operands) == 1:
        return Atom(f"CAST(array_size({call.sql(0)}) AS BIGINT)")
    wanted = call.operands[1].literal
    if call.operands[1].is_null:
        return Atom("CAST(NULL AS BIGINT)")
    if not isinstance(wanted, int):
        cases = [f"WHEN {level} THEN {_length_at(call, level)}" for level in range(1, depth(call.type(0)) + 1)]
        return f"CASE {call.sql(1)} {' '.join(cases)} END"
    return _length_at(call, wanted)


def _length_at(call: Call, wanted: int) -> str:
    if not 1 <= wanted <= depth(call.type(0)):
        return Atom("CAST(NULL AS BIGINT)")
    inner = call.sql(0)
    for _ in range(wanted - 1):
        inner = Atom(f"try_element_at({inner}, 1)")
    return Atom(f"if({call.sql(0)} IS NULL, NULL, CAST(coalesce(array_size({inner}), 0) AS BIGINT))")


def cardinality(call: Call) -> str:
    inner = call.sql(0)
    for _ in range(depth(call.type(0)) - 1):
        inner = flattened_text(inner)
    return Atom(f"CAST(array_size({inner}) AS BIGINT)")


def flattened_text(lists: str) -> Atom:
    return Atom(f"flatten(filter({lists}, x -> x IS NOT NULL))")


def dimensions(call: Call) -> str:
    """The number of elements, and of the first element in each level; a list without one in the middle is an error."""
    sizes, inner = [f"array_size({call.sql(0)})"], call.sql(0)
    levels = depth(call.type(0))
    for level in range(2, levels + 1):
        inner = Atom(f"element_at({inner}, 1)")
        size = f"coalesce(array_size({inner}), 0)"
        missing = "CAST(raise_error('array_dims: a list in the middle has no elements') AS INT)"
        sizes.append(size if level == levels else f"if({size} = 0, {missing}, {size})")
    listed = ", ".join(f"CAST({size} AS BIGINT)" for size in sizes)
    return Atom(f"if({sizes[0]} > 0, array({listed}), NULL)")


# orders and texts ----------------------------------------------------------------------------------------------------


def ordered(call: Call) -> str:
    words = [operand.sql.value for operand in call.operands[1:]]
    if None in words:
        return Atom(f"CAST(NULL AS {spark_type(call.output)})")
    order, nulls = [*(str(word).upper() for word in words), *("ASC", "NULLS FIRST")[len(words) :]]
    if order not in ("ASC", "DESC") or nulls not in ("NULLS FIRST", "NULLS LAST"):
        raise UnsupportedPlanError(f"array_sort with `{order}` and `{nulls}`", hint="ASC or DESC, NULLS FIRST or LAST")
    known = f"sort_array(filter(v, x -> x IS NOT NULL), {'true' if order == 'ASC' else 'false'})"
    unknown = "filter(v, x -> x IS NULL)"
    parts = f"{unknown}, {known}" if nulls == "NULLS FIRST" else f"{known}, {unknown}"
    return f"transform(array({call.sql(0)}), v -> concat({parts}))[0]"


#: what DataFusion and Spark write alike
_WITH_SAME_TEXT = (String, VarChar, Boolean, I8, I16, I32, I64, Decimal, Date)


def to_text(call: Call) -> str:
    texts, element = call.sql(0), concrete(call.type(0))
    while isinstance(_element(element), List):
        texts, element = flattened_text(texts), _element(element)
    text = "CAST(x AS STRING)"
    match _element(element):
        case FP32() | FP64():
            text = PLAIN_NUMBER
        case PrecisionTimestamp() | PrecisionTime() as moment:
            text = text_of_moment(Atom("x"), moment, call.spark)
        case other if not isinstance(other, _WITH_SAME_TEXT):
            raise UnsupportedPlanError(f"array_to_string of {other}, which DataFusion writes in another form")
    texts = Atom(f"transform({texts}, x -> {text})")
    if len(call.operands) == 2 or call.operands[2].is_null:
        return Atom(f"array_join({texts}, {call.sql(1)})")
    with_nulls = f"array_join({texts}, {call.sql(1)}, {call.sql(2)})"
    return Atom(f"if({call.sql(2)} IS NULL, array_join({texts}, {call.sql(1)}), {with_nulls})")


def split(call: Call) -> str:
    text, delimiter = call.sql(0), call.sql(1)
    single = f"filter(split({text}, ''), x -> x <> '')"
    empty = f"array({text})"
    parts = f"split({text}, {quoted_pattern(delimiter, call.operands[1].literal)}, -1)"
    found = (
        f"CASE WHEN {text} IS NULL THEN NULL WHEN {text} = '' THEN {_empty(call.output)} "
        f"WHEN {delimiter} IS NULL THEN {single} WHEN {delimiter} = '' THEN {empty} ELSE {parts} END"
    )
    return found if len(call.operands) == 2 else Atom(f"transform({found}, x -> if(x = {call.sql(2)}, NULL, x))")


# vectors -------------------------------------------------------------------------------------------------------------


def _folded(list: str, start: str, step: str) -> str:
    return f"aggregate({list}, {start}, (a, x) -> {step})"


def folded(start: str, step: str, *, mean: bool = False) -> Callable[[Call], str]:
    """A sum or a product of the elements that aren't null."""

    def body(call: Call) -> str:
        total = _folded("v", start, step) + (" / array_size(v)" if mean else "")
        known = f"filter({call.sql(0)}, x -> x IS NOT NULL)"
        return f"transform(array({known}), v -> if(array_size(v) = 0, NULL, {total}))[0]"

    return body


def of_pairs(text: str, *, nulls: bool = False) -> Callable[[Call], str]:
    """A value computed of two vectors, v.x and v.y, of the same length; null if an element is, unless ``nulls``."""

    def body(call: Call) -> str:
        unknown = "" if nulls else "OR exists(v.x, x -> x IS NULL) OR exists(v.y, x -> x IS NULL)"
        wrong = f"array_size(v.x) <> array_size(v.y) THEN {raised(call, 'the lists have different lengths')}"
        missing = f"v.x IS NULL OR v.y IS NULL THEN NULL WHEN {wrong}"
        found = f"CASE WHEN {missing} WHEN false {unknown} THEN NULL ELSE {text} END"
        return let("v", {"x": call.sql(0), "y": call.sql(1)}, found)

    return body


def _dot(x: str, y: str) -> str:
    return _folded(f"zip_with({x}, {y}, (x, y) -> x * y)", "0D", "a + x")


#: that of nothing is -0.0
_DISTANCE = f"sqrt({_folded('zip_with(v.x, v.y, (x, y) -> (x - y) * (x - y))', '-0D', 'a + x')})"
_NORMS = {"d": _dot("v.x", "v.y"), "l": _dot("v.x", "v.x"), "r": _dot("v.y", "v.y")}
_COSINE = let("n", _NORMS, "if(n.l = 0D OR n.r = 0D, NULL, 1D - n.d / (sqrt(n.l) * sqrt(n.r)))")


def normalized(call: Call) -> str:
    norm = let("v", {"l": call.sql(0)}, f"named_struct('l', v.l, 'n', sqrt({_dot('v.l', 'v.l')}))")
    unknown = "n.n = 0D AND array_size(n.l) > 0 OR n.l IS NULL OR exists(n.l, x -> x IS NULL)"
    return f"transform(array({norm}), n -> if({unknown}, NULL, transform(n.l, x -> x / n.n)))[0]"


def zipped(call: Call) -> str:
    made = concrete(call.output)
    assert isinstance(made, List)
    lists = [
        f"coalesce({operand.sql}, {_empty(operand.type)})" for operand in call.operands if operand.type is not None
    ]
    nothing = " AND ".join(f"{operand.sql} IS NULL" for operand in call.operands)
    fields = ", ".join(f"'{field_name(position)}', e.`{position}`" for position in range(len(lists)))
    return Atom(f"if({nothing}, NULL, transform(arrays_zip({', '.join(lists)}), e -> named_struct({fields})))")


_MOVED = Foreign.MOVED

ROWS = (
    row(
        "array_append",
        lambda call: Atom(f"array_append(coalesce({call.sql(0)}, {_empty(call.output)}), {call.sql(1)})"),
    ),
    row(
        "array_prepend",
        lambda call: Atom(f"array_prepend(coalesce({call.sql(1)}, {_empty(call.output)}), {call.sql(0)})"),
    ),
    row("array_concat", concatenated),
    row("array_has", "if({element} IS NULL, NULL, exists({list}, x -> x <=> {element}))", settings=MATCH_SETTINGS),
    row("array_has_all", has("forall", "true"), settings=MATCH_SETTINGS),
    row("array_has_any", has("exists", "false"), settings=MATCH_SETTINGS),
    row("array_position", position),
    row(
        "array_positions",
        lambda call: Atom(f"transform({_places(call.sql(0), call.sql(1))}, i -> CAST(i + 1 AS BIGINT))"),
    ),
    row("array_remove", removed),
    row("array_remove_n", removed),
    row("array_remove_all", "if({element} IS NULL, NULL, filter({list}, x -> NOT x <=> {element}))"),
    row("array_replace", replaced),
    row("array_replace_n", replaced),
    row("array_replace_all", "transform({list}, x -> if(x <=> {element}, {instead}, x))"),
    row("array_slice", sliced, foreign=_MOVED),
    row("array_sort", ordered, foreign=Foreign.ORDERED),
    row("array_distinct", "array_distinct({list})"),
    row("array_union", "array_union({left}, {right})"),
    row("array_intersect", "array_intersect({left}, {right})"),
    row("array_except", "array_except({left}, {right})"),
    row("array_min", "array_min({list})", foreign=Foreign.ORDERED),
    row("array_max", "array_max({list})", foreign=Foreign.ORDERED),
    row(
        "array_repeat",
        lambda call: Atom(f"array_repeat({call.sql(0)}, {bounded_int(call.sql(1), 0, MOST_ELEMENTS)})"),
        foreign=_MOVED,
    ),
    row("array_resize", resized),
    row("array_reverse", "reverse({list})", foreign=_MOVED),
    row("array_pop_back", "slice({list}, 1, greatest(array_size({list}) - 1, 0))", foreign=_MOVED),
    row("array_pop_front", "slice({list}, 2, array_size({list}))", foreign=_MOVED),
    row("array_to_string", to_text, foreign=_MOVED),
    row("flatten", lambda call: flattened_text(call.sql(0)), foreign=_MOVED),
    row("array_ndims", lambda call: Atom(f"if({call.sql(0)} IS NULL, NULL, {depth(call.type(0))}L)"), foreign=_MOVED),
    row("array_first", "try_element_at(filter({0}, {1}), 1)", foreign=_MOVED, settings=MATCH_SETTINGS),
    row("array_dims", dimensions, foreign=_MOVED),
    row("empty", "array_size({list}) = 0", foreign=_MOVED),
    row("array_any_value", "try_element_at(filter({list}, x -> x IS NOT NULL), 1)", foreign=_MOVED),
    row("array_compact", "filter({list}, x -> x IS NOT NULL)", foreign=_MOVED),
    row("array_length", length, foreign=_MOVED),
    row("cardinality", cardinality, foreign=_MOVED),
    row("string_to_array", split),
    row("array_sum", folded("0D", "a + x")),
    row("array_avg", folded("0D", "a + x", mean=True)),
    row("array_product", folded("1D", "a * x")),
    row("array_scale", "if({factor} IS NULL, NULL, transform({list}, x -> x * {factor}))"),
    row("array_add", of_pairs("zip_with(v.x, v.y, (x, y) -> x + y)", nulls=True)),
    row("array_subtract", of_pairs("zip_with(v.x, v.y, (x, y) -> x - y)", nulls=True)),
    row("array_normalize", normalized, settings=MATCH_SETTINGS),
    row("array_distance", of_pairs(_DISTANCE), settings=MATCH_SETTINGS),
    row("inner_product", of_pairs(_dot("v.x", "v.y")), settings=MATCH_SETTINGS),
    row("cosine_distance", of_pairs(_COSINE), settings=MATCH_SETTINGS),
    row("arrays_zip", zipped, foreign=_MOVED),
)
