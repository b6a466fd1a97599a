"""Removed function keys: the key that replaces each ``name:signature``, and the edits that calls need.

Keys are looked up in the standard extensions only; a user's own extension keeps its keys.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Append", "Drop", "Edit", "KeyChange", "MoveOptions", "option_names", "upgrade_key"]


@dataclass(frozen=True, slots=True)
class MoveOptions:
    """Move optional enum arguments to options (0.20): pairs of the argument's position and the option's name."""

    options: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Append:
    """Append a literal argument: its type, ``i8``, ``i64`` or ``string``, and its value."""

    kind: str
    value: int | str


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove an argument; negative positions count from the end."""

    position: int


Edit = MoveOptions | Append | Drop


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key's successor, the extension it moved to (None: it stayed), and the edits of its calls."""

    key: str
    stem: str | None
    edits: tuple[Edit, ...]


_ROUNDING = ("rounding",)
_FP = ("rounding", "on_domain_error")
_LOG = ("rounding", "on_domain_error", "on_log_zero")
_DIVIDE_FP = ("rounding", "on_domain_error", "on_division_by_zero")
_REGEXP = ("case_sensitivity", "multiline", "dotall")

# The optional enum arguments of releases 0.8 to 0.19, in their order.
_FUNCTIONS_BY_OPTIONS: dict[tuple[str, ...], str] = {
    ("overflow",): "abs add avg count divide factorial modulus multiply negate power product subtract sum",
    _ROUNDING: "asinh atan corr cos cosh exp median quantile sin sinh tan tanh",
    _FP: "acos acosh asin atan2 atanh sqrt",
    _LOG: "ln log10 log1p log2 logb",
    ("rounding", "distribution"): "std_dev variance",
    ("char_set",): "capitalize lower swapcase title upper",
    ("case_sensitivity",): "contains count_substring ends_with like replace starts_with strpos",
    _REGEXP: "regex_string_split regexp_string_split regexp_count_substring regexp_match_substring regexp_replace "
    "regexp_strpos",
    ("padding",): "center",
    ("nan_equality",): "index_in",
}
_OPTIONS = {name: options for options, names in _FUNCTIONS_BY_OPTIONS.items() for name in names.split()}
_ROUNDED_FLOATS = {"add", "subtract", "multiply", "product"}

_TYPES = {"ts": "pts", "tstz": "ptstz", "time": "pt"}
_UTC = Append("string", "UTC")
_MICROSECONDS = Append("i8", 6)

# one step each; the lookup is repeated until the key no longer changes
_KEYS: dict[str, tuple[str, tuple[Edit, ...]]] = {
    "not:bool_bool": ("not:bool", ()),
    "and_not:bool": ("and_not:bool_bool", ()),
    "concat:str_str": ("concat:str", ()),
    "concat:vchar_vchar": ("concat:vchar", ()),
    "add:ptstz_iyear": ("add:ptstz_iyear_str", (_UTC,)),
    "subtract:ptstz_iyear": ("subtract:ptstz_iyear_str", (_UTC,)),
    "extract:req_ptstz": ("extract:req_ptstz_str", (_UTC,)),
    "regexp_match_substring:str_str_i64_i64": ("regexp_match_substring:str_str_i64_i64_i64", (Append("i64", 0),)),
    "regexp_match_substring:vchar_vchar_i64_i64": (
        "regexp_match_substring:vchar_vchar_i64_i64_i64",
        (Append("i64", 0),),
    ),
    "is_closed:geometry": ("is_closed:u!geometry", ()),
    "repeat:vchar_i64_i64": ("repeat:vchar_i64", (Drop(1),)),
    "assume_timezone:date_str": ("assume_timezone:date_str_i8", (_MICROSECONDS,)),
    "strptime_time:str_str": ("strptime_time:str_str_i8", (_MICROSECONDS,)),
    "strptime_timestamp:str_str": ("strptime_timestamp:str_str_i8", (_MICROSECONDS,)),
    "strptime_timestamp:str_str_str": ("strptime_timestamp:str_str_str_i8", (_MICROSECONDS,)),
    "round_calendar:date_req_req_req_i64_date": ("round_calendar:date_req_req_req_i64", (Drop(-1),)),
    "round_calendar:pt_req_req_req_i64_pt": ("round_calendar:pt_req_req_req_i64", (Drop(-1),)),
}
_NAMES = {"regex_string_split": "regexp_string_split"}
_MOVED = {f"{name}:{kind}" for name in ("min", "max") for kind in ("pts", "ptstz")}


def option_names(name: str, operands: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The optional enum arguments that the function ``name`` had before 0.20, for operands of these types."""
    names = _OPTIONS.get(name, ())
    if operands and operands[0] in ("fp32", "fp64"):
        if name in _ROUNDED_FLOATS:
            return _ROUNDING
        if name == "divide":
            return _DIVIDE_FP
    return names


def upgrade_key(stem: str | None, key: str) -> KeyChange | None:
    """Return the current key for a function key of a standard extension; None if it is unchanged.

    Args:
        stem: the extension's file name without suffix; None when the plan doesn't name one.
        key: the declared name, with or without signature.
    """
    name, colon, signature = key.partition(":")
    parts = signature.split("_") if signature else []
    edits: list[Edit] = []
    optional = [position for position, part in enumerate(parts) if part.rstrip("?") == "opt"]
    if optional:
        operands = tuple(part for part in parts if part not in ("opt", "req"))
        names = option_names(name, operands)
        if len(names) < len(optional):
            return None
        edits.append(MoveOptions(tuple(zip(optional, names, strict=False))))
        parts = [part for position, part in enumerate(parts) if position not in optional]
    parts = [_TYPES.get(part, part) for part in parts]
    new = f"{_NAMES.get(name, name)}{colon}{'_'.join(parts)}"
    while new in _KEYS:
        new, more = _KEYS[new]
        edits.extend(more)
    moved = "functions_datetime" if new in _MOVED and stem == "functions_arithmetic" else None
    if new == key and moved is None:
        return None
    return KeyChange(key=new, stem=moved, edits=tuple(edits))
