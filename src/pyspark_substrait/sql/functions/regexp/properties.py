r"""Unicode properties by the names that ICU knows: ``\p{L}``, ``\p{Script=Greek}``, ``[:alpha:]``."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from functools import cache, lru_cache

from pyspark_substrait.sql.functions.regexp.folding import Case, variants
from pyspark_substrait.sql.functions.regexp.sets import (
    ANYTHING,
    Characters,
    CharacterSet,
    Complement,
    Property,
    Union,
    of,
)

__all__ = ["DIGITS", "LINE_ENDS", "SPACES", "SPACES_IN_LINE", "WORD", "named", "property_set"]

LINE_ENDS = of(((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029)))
DIGITS = Property(r"\p{Nd}")
SPACES = Property(r"\p{IsWhite_Space}")
SPACES_IN_LINE = Union((of(((9, 9),)), Property(r"\p{Zs}")))
WORD = Property(r"\p{IsAlphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}")

_CATEGORIES = """
    C:Other Cc:Control Cc:cntrl Cf:Format Cn:Unassigned Co:Private_Use Cs:Surrogate
    L:Letter LC:Cased_Letter Ll:Lowercase_Letter Lm:Modifier_Letter Lo:Other_Letter Lt:Titlecase_Letter
    Lu:Uppercase_Letter M:Mark M:Combining_Mark Mc:Spacing_Mark Me:Enclosing_Mark Mn:Nonspacing_Mark
    N:Number Nd:Decimal_Number Nd:digit Nl:Letter_Number No:Other_Number
    P:Punctuation P:punct Pc:Connector_Punctuation Pd:Dash_Punctuation Pe:Close_Punctuation Pf:Final_Punctuation
    Pi:Initial_Punctuation Po:Other_Punctuation Ps:Open_Punctuation
    S:Symbol Sc:Currency_Symbol Sk:Modifier_Symbol Sm:Math_Symbol So:Other_Symbol
    Z:Separator Zl:Line_Separator Zp:Paragraph_Separator Zs:Space_Separator
"""
_SCRIPTS = """
    Adlm:Adlam Ahom:Ahom Hluw:Anatolian_Hieroglyphs Arab:Arabic Armn:Armenian Avst:Avestan Bali:Balinese Bamu:Bamum
    Bass:Bassa_Vah Batk:Batak Beng:Bengali Bhks:Bhaiksuki Bopo:Bopomofo Brah:Brahmi Brai:Braille Bugi:Buginese
    Buhd:Buhid Cans:Canadian_Aboriginal Cari:Carian Aghb:Caucasian_Albanian Cakm:Chakma Cham:Cham Cher:Cherokee
    Chrs:Chorasmian Zyyy:Common Copt:Coptic Xsux:Cuneiform Cprt:Cypriot Cpmn:Cypro_Minoan Cyrl:Cyrillic Dsrt:Deseret
    Deva:Devanagari Diak:Dives_Akuru Dogr:Dogra Dupl:Duployan Egyp:Egyptian_Hieroglyphs Elba:Elbasan Elym:Elymaic
    Ethi:Ethiopic Gara:Garay Geor:Georgian Glag:Glagolitic Goth:Gothic Gran:Grantha Grek:Greek Gujr:Gujarati
    Gong:Gunjala_Gondi Guru:Gurmukhi Gukh:Gurung_Khema Hani:Han Hang:Hangul Rohg:Hanifi_Rohingya Hano:Hanunoo
    Hatr:Hatran Hebr:Hebrew Hira:Hiragana Armi:Imperial_Aramaic Zinh:Inherited Phli:Inscriptional_Pahlavi
    Prti:Inscriptional_Parthian Java:Javanese Kthi:Kaithi Knda:Kannada Kana:Katakana Kawi:Kawi Kali:Kayah_Li
    Khar:Kharoshthi Kits:Khitan_Small_Script Khmr:Khmer Khoj:Khojki Sind:Khudawadi Krai:Kirat_Rai Laoo:Lao
    Latn:Latin Lepc:Lepcha Limb:Limbu Lina:Linear_A Linb:Linear_B Lisu:Lisu Lyci:Lycian Lydi:Lydian Mahj:Mahajani
    Maka:Makasar Mlym:Malayalam Mand:Mandaic Mani:Manichaean Marc:Marchen Gonm:Masaram_Gondi Medf:Medefaidrin
    Mtei:Meetei_Mayek Fix:Mende_Kikakui Merc:Meroitic_Cursive Mero:Meroitic_Hieroglyphs Miao:Miao Modi:Modi
    Mong:Mongolian Mroo:Mro Mult:Multani Mymr:Myanmar Nbat:Nabataean Nagm:Nag_Mundari Nand:Nandinagari Newa:Newa
    Talu:New_Tai_Lue Nkoo:Nko Nshu:Nushu Hmnp:Nyiakeng_Puachue_Hmong Ogam:Ogham Hung:Old_Hungarian Ital:Old_Italic
    Narb:Old_North_Arabian Perm:Old_Permic Xpeo:Old_Persian Sogo:Old_Sogdian Sarb:Old_South_Arabian Orkh:Old_Turkic
    Ougr:Old_Uyghur Olck:Ol_Chiki Onao:Ol_Onal Orya:Oriya Osge:Osage Osma:Osmanya Hmng:Pahawh_Hmong Palm:Palmyrene
    Pauc:Pau_Cin_Hau Phag:Phags_Pa Phnx:Phoenician Phlp:Psalter_Pahlavi Rjng:Rejang Runr:Runic Samr:Samaritan
    Saur:Saurashtra Shrd:Sharada Shaw:Shavian Sidd:Siddham Sgnw:Signwriting Sinh:Sinhala Sogd:Sogdian
    Sora:Sora_Sompeng Soyo:Soyombo Sund:Sundanese Sunu:Sunuwar Sylo:Syloti_Nagri Syrc:Syriac Tglg:Tagalog
    Tagb:Tagbanwa Tale:Tai_Le Lana:Tai_Tham Tavt:Tai_Viet Takr:Takri Taml:Tamil Tnsa:Tangsa Tang:Tangut Telu:Telugu
    Thaa:Thaana Thai:Thai Tibt:Tibetan Tfng:Tifinagh Tirh:Tirhuta Todr:Todhri Toto:Toto Tutg:Tulu_Tigalari
    Ugar:Ugaritic Zzzz:Unknown Vaii:Vai Vith:Vithkuqi Wcho:Wancho Wara:Warang_Citi Yezi:Yezidi Yiii:Yi
    Zanb:Zanabazar_Square
"""


def named(name: str) -> str | None:
    """The character with a Unicode name."""
    try:
        found = unicodedata.lookup(name)
    except KeyError:
        return None
    return found if len(found) == 1 else None


@lru_cache(1024)
def property_set(text: str) -> CharacterSet | None:
    """Return the characters with a property: ``name`` or ``name=value``, in any case, with or without blanks and
    underscores.

    None for a property that Java doesn't have.
    """
    name, equal, value = text.partition("=")
    key = _plain(name)
    if not equal:
        return _without_value(key, name)
    match key:
        case "gc" | "generalcategory":
            return _category(_plain(value))
        case "sc" | "script":
            return _script(_plain(value))
        case "blk" | "block":
            return _block(value)
        case "nv" | "numericvalue":
            return _numbers(value)
        case _:
            return None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _without_value(key: str, name: str) -> CharacterSet | None:
    found = _named_sets().get(_ALIASES.get(key, key)) or _category(key) or _script(key)
    if found is None and key.startswith("is"):
        return _script(key[2:])
    if found is None and key.startswith("in"):
        return _block(name.strip()[2:])
    return found


_ALIASES = {
    "ahex": "asciihexdigit",
    "all": "any",
    "alpha": "alphabetic",
    "hex": "hexdigit",
    "ideo": "ideographic",
    "joinc": "joincontrol",
    "lower": "lowercase",
    "nchar": "noncharactercodepoint",
    "space": "whitespace",
    "upper": "uppercase",
    "wspace": "whitespace",
}


_ASCII_HEX = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
_HEX_DIGITS = of((*_ASCII_HEX, (0xFF10, 0xFF19), (0xFF21, 0xFF26), (0xFF41, 0xFF46)))


@cache
def _named_sets() -> dict[str, CharacterSet]:
    """Return the binary properties, with the classes of POSIX as UTS 18 defines them."""
    visible = Complement(Property(r"\p{IsWhite_Space}\p{Cc}\p{Cs}\p{Cn}"))
    return {
        "alnum": Property(r"\p{IsAlphabetic}\p{Nd}"),
        "alphabetic": Property(r"\p{IsAlphabetic}"),
        "any": ANYTHING,
        "ascii": of(((0, 127),)),
        "asciihexdigit": of(_ASCII_HEX),
        "assigned": Complement(Property(r"\p{Cn}")),
        "blank": SPACES_IN_LINE,
        "graph": visible,
        # Java treats all decimal digits as hexadecimal
        "hexdigit": _HEX_DIGITS,
        "ideographic": Property(r"\p{IsIdeographic}"),
        "joincontrol": of(((0x200C, 0x200D),)),
        "lowercase": _case_property("IsLowercase", str.islower),
        "noncharactercodepoint": Property(r"\p{IsNoncharacter_Code_Point}"),
        "print": Union((visible, Property(r"\p{Zs}"))),
        "uppercase": _case_property("IsUppercase", str.isupper),
        "whitespace": SPACES,
        "word": WORD,
        "xdigit": Union((_HEX_DIGITS, DIGITS)),
    }


def _case_property(java: str, member: Callable[[str], bool]) -> Property:
    return Property(f"\\p{{{java}}}", _variants_outside(member))


def _variants_outside(member: Callable[[str], bool]) -> Characters:
    """Return the case variants, without the property, of characters with the property."""
    return of(
        (point, point)
        for point, equal in variants(Case.UNICODE).items()
        if not member(chr(point)) and any(member(chr(other)) for other in equal)
    )


@cache
def _categories() -> dict[str, str]:
    pairs = (item.split(":") for item in _CATEGORIES.split())
    return {_plain(name): short for short, long in pairs for name in (short, long)}


def _category(key: str) -> Property | None:
    short = _categories().get(key)
    return None if short is None else _category_set(short)


@cache
def _category_set(short: str) -> Property:
    inside = ("Lu", "Ll", "Lt") if short == "LC" else (short,)
    return Property(
        f"\\p{{{short}}}", _variants_outside(lambda character: unicodedata.category(character).startswith(inside))
    )


@cache
def _scripts() -> dict[str, str]:
    pairs = (item.split(":") for item in _SCRIPTS.split())
    return {_plain(name): code for code, long in pairs for name in (code, long)}


def _script(key: str) -> Property | None:
    code = _scripts().get(key)
    # the micro sign, and an iota that stands below other letters, have case variants of another script
    few = {"Grek": (0xB5, 0x345), "Zyyy": (0x39C, 0x3BC), "Zinh": (0x399, 0x3B9, 0x1FBE)}
    return None if code is None else Property(f"\\p{{sc={code}}}", of((point, point) for point in few.get(code, ())))


def _block(name: str) -> Property | None:
    java = re.sub(r"[\s-]+", "_", name.strip(" _")).upper()
    return Property(f"\\p{{blk={java}}}", None) if re.fullmatch(r"[A-Z]\w*", java, re.ASCII) else None


def _numbers(value: str) -> Characters | None:
    """Return the characters with a numeric value, like ``9`` or ``1/2``; by Python's version of Unicode."""
    found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)(?:/(\d+))?\s*", value, re.ASCII)
    if found is None or (found[2] is not None and not float(found[2])):
        return None
    number = float(found[1]) / float(found[2] or 1)
    return of((point, point) for point in _numeric_points().get(number, ()))


@cache
def _numeric_points() -> dict[float, list[int]]:
    """Return the code points for each numeric value."""
    points: defaultdict[float, list[int]] = defaultdict(list)
    for point in range(sys.maxunicode + 1):
        if (number := unicodedata.numeric(chr(point), None)) is not None:
            points[number].append(point)
    return dict(points)
