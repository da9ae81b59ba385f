"""Writes shop.json: the shop and its tracker that the hundred questions are asked of.

    python3 generate.py

Standard library alone, and the same bytes each time. The data is small and nasty on purpose: ties, nulls, duplicate
records, a circle of referrals, instants around midnight, the change of clocks and new year, names in several scripts,
lists that are empty, null or hold nulls, and whole numbers that no double holds.
"""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path


class Dice:
    """A generator of pseudo-random numbers that no version of Python changes."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def pick(self, *of):
        return of[self.below(len(of))]


dice = Dice(20250330)


class Exact(float):
    """A decimal: written with the two digits behind the point that it has."""

    def __repr__(self):
        return "%.2f" % self


def iso(t):
    """An instant in ISO 8601, with milliseconds only where there are some."""
    s = t.strftime("%Y-%m-%dT%H:%M:%S")
    if t.microsecond:
        s += ".%03d" % (t.microsecond // 1000)
    return s + "Z"


# Instants where calendars disagree: the ends of years and weeks, the change of clocks in Oslo and New York.
EDGES = [
    "2024-12-29T23:59:59Z", "2024-12-30T00:00:00Z", "2024-12-30T23:30:00Z", "2024-12-31T23:00:00Z", "2024-12-31T23:59:59.999Z",
    "2025-01-01T00:00:00Z", "2025-01-01T04:59:59Z", "2025-01-01T05:00:00Z", "2025-01-05T22:59:59Z", "2025-01-05T23:00:00Z",
    "2025-01-06T00:00:00Z", "2025-02-28T23:30:00Z", "2025-03-01T00:00:00Z", "2025-03-09T06:59:59Z", "2025-03-09T07:00:00Z",
    "2025-03-09T04:30:00Z", "2025-03-10T03:30:00Z", "2025-03-10T04:30:00Z", "2025-03-29T23:30:00Z", "2025-03-30T00:59:59Z",
    "2025-03-30T01:00:00Z", "2025-03-30T21:59:59Z", "2025-03-30T22:00:00Z", "2025-03-31T22:00:00Z", "2025-10-25T22:00:00Z",
    "2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z", "2025-10-26T22:59:59Z", "2025-10-26T23:00:00Z", "2025-11-02T04:30:00Z",
    "2025-11-02T05:30:00Z", "2025-11-02T06:30:00Z", "2025-11-03T04:59:59Z", "2025-11-03T05:00:00Z", "2025-12-28T23:30:00Z",
    "2025-12-29T00:00:00Z", "2025-12-31T22:59:59Z", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z", "2026-01-04T23:59:59.500Z",
]

GIVEN = ["Åse", "Bjørn", "Zoë", "李雷", "Ana", "ana", "Łukasz", "O'Neil", "Mia", "Ida", "Noor", "Émile", "Émile", "Søren", "Yuki", "Ümit"]


def customers():
    rows = []
    referrer = {4: 1, 5: 1, 6: 4, 7: 6, 8: 7, 9: 7, 11: 12, 12: 13, 13: 11, 14: 14, 15: 8, 18: 2, 20: 15, 21: 15, 25: 20, 30: 2, 31: 30, 33: 13}
    for n in range(1, 37):
        country = dice.pick("NO", "NO", "NO", "SE", "SE", "US", "US", "US", "JP", "no", None)
        day = datetime(2024, 11, 1) + timedelta(days=dice.below(420))
        if n in (3, 17, 29):
            day = [datetime(2024, 12, 31), datetime(2025, 1, 1), datetime(2025, 2, 28)][n % 3]
        signed = None if n in (10, 22) else day.strftime("%Y-%m-%d")
        vip = dice.pick(True, False, False, None)
        rows.append([n, GIVEN[n % len(GIVEN)] + ("" if n <= len(GIVEN) else " %d" % (n // len(GIVEN))), country, signed, vip, referrer.get(n)])
    return rows


def products():
    names = ["Kaffe ☕", "kaffe ☕", "Smørbrød", "Smørebrød", "Crème brûlée", "寿司", "Tea", "Tea ", "T-shirt \"XL\"", "100% wool_scarf", "Æbleskiver",
             "Naïve\\Mug", "Poster", "Lamp", "Chair", "Table", "Rug", "Clock", "Vase", "Bowl", "Knife", "Fork", "Spoon", "Gift card", "Mystery box", "🎁 Wrap"]
    category = ["drink", "drink", "food", "food", "food", "food", "drink", "drink", "wear", "wear", "food", "home", None, "home", "home", "home",
                "home", "home", "home", "home", "kitchen", "kitchen", "kitchen", None, None, "Home"]
    price = [4.10, 4.10, 12.30, 12.35, 9.99, 21.00, 3.05, 3.05, 19.95, 49.00, 7.77, 11.10, 15.00, 89.90, 149.00, 499.00, 249.50, 35.35, 20.00, 20.00,
             9.90, 2.20, 2.20, 50.00, 0.01, 0.00]
    tags = [["hot", "sale"], ["hot"], ["fresh", "fish", "sale"], [], None, ["fish", "raw"], ["hot", "hot", "leaf"], ["leaf", None], ["cotton"], ["wool", "sale", "new"],
            ["sweet", "new"], ["new"], [], ["light"], ["wood"], ["wood", "sale"], ["wool"], None, ["glass", "sale"], ["glass", "new", "sale"],
            ["steel"], ["steel"], ["steel", "Sale"], None, ["new", "sale", "secret"], ["paper", ""]]
    attributes = [{"size": "S", "origin": {"country": "CO", "year": 2024}}, {"size": "S", "origin": {"country": "ET"}}, {"size": 2, "allergens": ["wheat", "fish"]},
                  {"size": "2", "allergens": []}, {"size": None, "allergens": ["milk", "egg"]}, {"size": 12, "origin": {"country": "JP", "year": 2025}}, {}, None,
                  {"size": "XL", "color": "red"}, {"size": "L", "color": "Red", "dims": {"w": 30, "h": 180}}, {"size": 7, "allergens": ["wheat", "milk"]}, {"color": "blue", "dims": {"w": 8, "h": 9.5}},
                  {"dims": {"w": 50, "h": 70}}, {"color": "white", "dims": {"w": 20, "h": 45}}, {"dims": {"w": 45, "h": 90}, "color": "oak"}, {"dims": {"w": 180, "h": 75}, "color": "oak"},
                  {"dims": {"w": 200, "h": 300}, "color": "grey"}, {"dims": {"w": 30, "h": None}}, {"color": "blue"}, {"color": "blue", "dims": {"w": 15, "h": 7}},
                  {"size": "M"}, {"size": "M"}, {"size": "S"}, {"size": True}, {"serial": 9007199254740993}, {"color": "rød"}]
    weight = [0.5, 0.5, 0.25, 0.25, 0.3, 0.4, 0.1, None, 0.2, 0.15, None, 0.45, 0.05, 2.5, 7.25, 31.0, 12.0, 0.0, 1.5, 0.75, 0.125, 0.06, 0.06, None, 1e-3, 0.0]
    return [[n + 1, names[n], category[n], Exact(price[n]), tags[n], attributes[n], weight[n]] for n in range(len(names))]


def orders():
    edges = [datetime.fromisoformat(e.replace("Z", "+00:00")) for e in EDGES]
    rows = []
    for n in range(1, 161):
        customer = None if dice.below(15) == 0 else 1 + dice.below(30)  # customers 31 to 36 have ordered nothing
        if n <= len(edges):
            placed = edges[n - 1]
        else:
            placed = datetime(2024, 12, 27, tzinfo=timezone.utc) + timedelta(seconds=dice.below(375 * 86400))
        if n % 23 == 0:
            placed = datetime(2025, 6, 15, 12, 0, 0, tzinfo=timezone.utc)  # ties
        status = dice.pick("delivered", "delivered", "delivered", "shipped", "shipped", "open", "cancelled", "Cancelled", "returned")
        shipped = None
        if status in ("delivered", "shipped", "returned"):
            shipped = placed + timedelta(seconds=dice.pick(0, 3600, 86399, 86400, 5400, 200000, 604800, 1209601))
        discount = dice.pick(None, None, None, 0.0, 0.25, 0.5, 0.75, 5.25, 10.0, 100.5)
        coupon = dice.pick(None, None, None, None, "SAVE10", "save10", "SAVE10 ", "ÅRET", "year-2025", "")
        rows.append([n, customer, status, iso(placed), iso(shipped) if shipped else None, discount, coupon])
    return rows


def order_items(products):
    rows, n = [], 0
    for order in range(1, 161):
        if order % 13 == 0:
            continue  # an order of nothing
        for _ in range(1 + dice.below(4)):
            n += 1
            p = products[dice.below(25)]  # the last one is never sold
            price = dice.pick(p[3], p[3], p[3], Exact(round(float(p[3]) * 0.9, 2)))
            rows.append([n, order, p[0], dice.pick(1, 1, 1, 2, 3, 5, 12), price])
    return rows


def employees():
    boss = {2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 7, 9: 8, 10: 9, 11: 4, 12: 4, 15: 14}
    title = ["CEO", "CTO", "COO", "Lead", "Developer", "Developer", "Manager", "Lead", "Agent", "Trainee", "Developer", "developer", None, "Owner", "Temp", "Temp"]
    salary = [250000, 180000, 180000, 120000, 95000, 95001, 110000, 90000, 52000, 30000, 99999, None, 45000, 0, 20000, 20000]
    names = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ivy", "Jo", "Kai", "Lea", "Max", "Nia", "Oz", "Pia"]
    return [[n + 1, names[n], title[n], boss.get(n + 1), salary[n], "20%02d-%02d-%02d" % (10 + n % 14, 1 + n * 5 % 12, 1 + n * 7 % 28)] for n in range(16)]


def issues():
    rows = []
    for n in range(1, 91):
        project = dice.pick("WEB", "WEB", "API", "APP", "ops")
        status = dice.pick("open", "open", "doing", "done", "done", "done", "wontfix")
        opened = datetime(2025, 1, 1, tzinfo=timezone.utc) + timedelta(minutes=dice.below(364 * 1440))
        if n % 11 == 0:
            opened = datetime(2025, 3, 30, 0, 30, tzinfo=timezone.utc) + timedelta(hours=n // 11)
        closed = None
        if status in ("done", "wontfix"):
            closed = opened + timedelta(minutes=dice.pick(1, 59, 60, 90, 1439, 1440, 1441, 2880, 10080, 43200, 100000))
        labels = dice.pick(None, [], ["bug"], ["bug"], ["bug", "ui"], ["ui", "bug"], ["feature"], ["feature", "ui", "later"], ["bug", "bug", "crash"], ["ünïcode", "bug"])
        rows.append(["%s-%d" % (project, n), project, status, dice.pick(1, 1, 2, 2, 2, 3, 4, 5, None), None if dice.below(6) == 0 else 1 + dice.below(13),
                     dice.pick(None, None, 0, 1, 2, 3, 3, 5, 8, 13, 21), iso(opened), iso(closed) if closed else None, labels])
    return rows


def events():
    """A class without a key, with duplicate records."""
    rows = []
    payloads = [None, {}, {"amount": 10}, {"amount": 10.5}, {"amount": "10"}, {"amount": None}, {"amount": True}, {"amount": [1, 2]}, {"ref": 9007199254740993, "amount": 1},
                {"ref": 9007199254740992, "amount": 2}, {"ref": "9007199254740993"}, [1, "a", None, {"x": 1}], "text", 42, True, {"user": {"id": 7, "roles": ["a", "b"]}},
                {"user": {"id": "7", "roles": []}}, {"user": None}, {"amount": -3}, {"at": "2025-03-30T01:30:00Z"}]
    big = [9007199254740993, 9007199254740992, -9223372036854775807, 9223372036854775807, 0, 1, -1, None]
    for n in range(60):
        kind = dice.pick("click", "click", "click", "view", "view", "buy", "Buy", None)
        at = None if dice.below(9) == 0 else iso(datetime(2025, 3, 29, 20, tzinfo=timezone.utc) + timedelta(minutes=30 * dice.below(40)))
        row = [kind, at, big[dice.below(len(big))], payloads[n % len(payloads)]]
        rows.append(row)
        if n % 10 == 9:
            rows.append(list(row))
            rows.append(list(row))
    return rows


def table(name, columns, key, foreign, rows):
    return {"name": name, "columns": [{"name": n, "type": t} for n, t in (c.split() for c in columns)], "key": key,
            "foreign": [{"field": f, "class": c, "key": k} for f, c, k in foreign], "rows": rows}


def main():
    goods = products()
    tables = [
        table("customers", ["id integer", "name text", "country text", "signed_up day", "vip boolean", "referrer_id integer"], ["id"],
              [("referrer_id", "customers", "id")], customers()),
        table("products", ["id integer", "name text", "category text", "price decimal", "tags json", "attributes json", "weight double"], ["id"], [], goods),
        table("orders", ["id integer", "customer_id integer", "status text", "placed_at date", "shipped_at date", "discount double", "coupon text"], ["id"],
              [("customer_id", "customers", "id")], orders()),
        table("order_items", ["id integer", "order_id integer", "product_id integer", "quantity integer", "unit_price decimal"], ["id"],
              [("order_id", "orders", "id"), ("product_id", "products", "id")], order_items(goods)),
        table("employees", ["id integer", "name text", "title text", "manager_id integer", "salary integer", "hired_on day"], ["id"],
              [("manager_id", "employees", "id")], employees()),
        table("issues", ["id text", "project text", "status text", "priority integer", "assignee_id integer", "estimate integer", "opened_at date",
                         "closed_at date", "labels json"], ["id"], [("assignee_id", "employees", "id")], issues()),
        table("events", ["kind text", "at date", "n integer", "payload json"], [], [], events()),
    ]
    out = []
    for t in tables:
        rows = ",\n    ".join(dump(r) for r in t.pop("rows"))
        head = json.dumps(t, ensure_ascii=False)
        out.append("  " + head[:-1] + ', "rows": [\n    ' + rows + "\n  ]}")
    Path(__file__).with_name("shop.json").write_text('{"tables": [\n' + ",\n".join(out) + "\n]}\n", encoding="utf-8")


def dump(v):
    """JSON, with decimals as they are written."""
    if isinstance(v, Exact):
        return repr(v)
    if isinstance(v, list):
        return "[" + ", ".join(dump(e) for e in v) + "]"
    return json.dumps(v, ensure_ascii=False)


main()
