"""What the answers share: the shop as Python values, and how a question is asked.

A question stands beside the plain code that answers it. The code knows nothing of Bailiwick: it reads shop.json with
lists, dicts, decimal, datetime and zoneinfo. What the language leaves open in other systems is decided as
docs/query-language.md and docs/pipelines.md do: null and missing are the same; null stands first; text compares by its
bytes; every order is total, ties in the order that was there before, which begins as that of the key; the ids of
records, and dates inside of lists and objects, are text.
"""

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

UTC, OSLO, NEW_YORK, KOLKATA = timezone.utc, ZoneInfo("Europe/Oslo"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kolkata")


def instant(s):
    return datetime.fromisoformat(s.replace("Z", "+00:00"))


def load():
    read = {"date": instant, "day": date.fromisoformat, "double": float, "decimal": lambda v: Decimal(str(v))}
    with open(Path(__file__).with_name("shop.json"), encoding="utf-8") as f:
        shop = json.load(f, parse_float=Decimal)
    out = {}
    for t in shop["tables"]:
        out[t["name"]] = [
            {c["name"]: read.get(c["type"], lambda v: v)(v) if v is not None else None for c, v in zip(t["columns"], row)} for row in t["rows"]]
    return out


SHOP = load()
CUSTOMERS, PRODUCTS, ORDERS, ITEMS = SHOP["customers"], SHOP["products"], SHOP["orders"], SHOP["order_items"]
EMPLOYEES, ISSUES, EVENTS = SHOP["employees"], SHOP["issues"], SHOP["events"]
CUSTOMER, PRODUCT, ORDER, EMPLOYEE = ({r["id"]: r for r in t} for t in (CUSTOMERS, PRODUCTS, ORDERS, EMPLOYEES))
ISSUES.sort(key=lambda r: r["id"])  # as its key, which is text, is ordered


# Order and equality

def rank(v):
    """The place of a value in the order: null, numbers, text, objects, lists, booleans, dates."""
    if v is None:
        return (0,)
    if isinstance(v, bool):
        return (6, v)
    if isinstance(v, (int, float, Decimal)):
        return (1, Fraction(v))
    if isinstance(v, str):
        return (2, v.encode())
    if isinstance(v, dict):
        return (3, json.dumps(v, sort_keys=True, default=str))
    if isinstance(v, list):
        return (4, tuple(rank(e) for e in v))
    if isinstance(v, datetime):
        return (7, v)
    if isinstance(v, date):
        return (7, datetime(v.year, v.month, v.day, tzinfo=UTC))
    if isinstance(v, tuple):
        return tuple(rank(e) for e in v)
    raise TypeError(v)


def ordered(rows, *keys):
    """Rows by keys, which are functions, or ("-", function) for descending. Ties stay as they are."""
    rows = list(rows)
    for k in reversed(keys):
        if isinstance(k, tuple):
            rows.sort(key=lambda r: rank(k[1](r)), reverse=True)
        else:
            rows.sort(key=lambda r: rank(k(r)))
    return rows


def desc(k):
    return ("-", k)


def groups(rows, key):
    """The rows by the value of key, in its order: a list of (key, rows)."""
    found = {}
    for r in rows:
        k = key(r)
        found.setdefault(rank(k), (k, []))[1].append(r)
    return [found[k] for k in sorted(found)]


def distinct(values):
    """The distinct values in their order."""
    return [k for k, _ in groups(values, lambda v: v)]


def apart(rows, key):
    """The rows, whose numbers under key must differ by more than doubles may be off: their order is asked for."""
    numbers = sorted(r[key] for r in rows)
    assert all(b - a > Decimal("0.001") for a, b in zip(numbers, numbers[1:])), numbers
    return rows


def there(values):
    return [v for v in values if v is not None]


# Values

def ratio(a, b):
    """a / b as a double, from exact numbers; None where b is 0 or either is missing."""
    if a is None or b is None or b == 0:
        return None
    return float(Fraction(a) / Fraction(b))


def mean(values):
    values = there(values)
    return ratio(sum(Fraction(v) for v in values), len(values)) if values else None


def deviation(values, less=0):
    values = [Fraction(v) for v in there(values)]
    if len(values) <= less:
        return None
    m = sum(values) / len(values)
    square = sum((v - m) ** 2 for v in values) / (len(values) - less)
    return float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def least(values):
    return min(there(values), key=rank, default=None)


def most(values):
    return max(there(values), key=rank, default=None)


def half_away(x, places=0):
    """x rounded to so many places; halves go away from zero."""
    scaled = abs(Fraction(x)) * 10**places
    whole = int(scaled + Fraction(1, 2))
    return Decimal(whole if x >= 0 else -whole).scaleb(-places)


def member(v, *path):
    """What a path leads to through objects."""
    for p in path:
        v = v.get(p) if isinstance(v, dict) else None
    return v


def is_number(v):
    return isinstance(v, (int, float, Decimal)) and not isinstance(v, bool)


def lower(s):
    """The letters A to Z alone."""
    return None if s is None else "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in s)


def upper(s):
    return None if s is None else "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in s)


def called(key, records, value):
    """Returns a group by a pointer, with the name of the record that it leads to."""
    out = {"key": ident(key), "value": value}
    if records.get(key, {}).get("name"):
        out["label"] = records[key]["name"]
    return out


def ident(v):
    """An id as it leaves."""
    return None if v is None else str(v)


def day_start(t, zone):
    """The instant at which the calendar day of t began in zone."""
    local = t.astimezone(zone)
    return datetime(local.year, local.month, local.day, tzinfo=zone).astimezone(UTC)


def iso(t):
    """An instant as it leaves: in UTC, with the digits of the second that are not 0."""
    t = t.astimezone(UTC)
    s = t.strftime("%Y-%m-%dT%H:%M:%S")
    if t.microsecond:
        s += (".%06d" % t.microsecond).rstrip("0")
    return s + "Z"


def iso_week(t):
    y, w, _ = t.isocalendar()
    return "%04d-W%02d" % (y, w)


def millis(later, earlier):
    if later is None or earlier is None:
        return None
    d = later - earlier
    return d.days * 86400000 + d.seconds * 1000 + d.microseconds // 1000


def revenue(item):
    return item["quantity"] * item["unit_price"]


# Questions

QUESTIONS = []


def ask(question, tool, arguments, approximate=False, refused_by=()):
    """Asks tool; the function that it stands on gives the members of the answer that count. Numbers must be the same
    to the last digit, or within 1e-9 of their size where approximate. refused_by are databases that can't do it."""

    def asked(answer):
        QUESTIONS.append((question, tool, arguments.strip(), approximate, refused_by, answer()))
        return answer

    return asked


def aggregate(question, class_name, pipeline, approximate=False, refused_by=()):
    """Asks aggregate; the function gives the records."""

    def asked(answer):
        arguments = '{"class_name": "%s", "pipeline": %s}' % (class_name, pipeline.strip())
        QUESTIONS.append((question, "aggregate", arguments, approximate, refused_by, {"results": answer()}))
        return answer

    return asked


def text(v):
    """v as JSON, numbers exact."""
    if v is None or isinstance(v, (bool, str)):
        return json.dumps(v, ensure_ascii=False)
    if isinstance(v, Decimal):
        return format(v, "f")
    if isinstance(v, float):
        return repr(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, datetime):
        return json.dumps(iso(v))
    if isinstance(v, date):
        return json.dumps(v.isoformat())
    if isinstance(v, dict):
        return "{" + ", ".join(json.dumps(k, ensure_ascii=False) + ": " + text(e) for k, e in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(text(e) for e in v) + "]"
    raise TypeError(type(v))


def write(path):
    """Writes the questions, one record of an answer a line."""
    out, seen = [], set()
    for question, tool, arguments, approximate, refused_by, answer in QUESTIONS:
        if question in seen:
            raise ValueError("asked twice: " + question)
        seen.add(question)
        json.loads(arguments)
        parts = []
        for name, v in answer.items():
            t = text(v)
            if isinstance(v, list) and len(t) > 100:
                t = "[\n      " + ",\n      ".join(text(e) for e in v) + "]"
            parts.append(json.dumps(name) + ": " + t)
        lines = [l.strip() for l in arguments.splitlines()]
        more = '\n   "approximate": true,' if approximate else ""
        more += '\n   "refused_by": %s,' % json.dumps(refused_by) if refused_by else ""
        out.append('  {"question": %s,\n   "tool": "%s",\n   "arguments": %s,%s\n   "answer": {%s}}' % (
            json.dumps(question, ensure_ascii=False), tool, "\n     ".join(lines), more, ",\n    ".join(parts)))
    Path(path).write_text("[\n" + ",\n".join(out) + "\n]\n", encoding="utf-8")
