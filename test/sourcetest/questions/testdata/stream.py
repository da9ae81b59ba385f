"""Events: a class without a key, with duplicates, nulls, whole numbers of 64 bits and JSON of every kind."""

from asked import *

MOST = 2**63 - 1


def fits(n):
    return n if n is not None and -MOST - 1 <= n <= MOST else None


def amount(e):
    return member(e["payload"], "amount")


@ask("How many events are there of each kind, of none as well, the most first?", "group_by", """
{"class_name": "events", "field": "kind", "operation": "count", "sort": "value_desc"}""")
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in ordered(groups(EVENTS, lambda e: e["kind"]), desc(lambda f: len(f[1])))]}


@ask("How many events have each number, to the last digit?", "group_by", """
{"class_name": "events", "field": "n", "operation": "count", "sort": "key_asc"}""")
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in groups(EVENTS, lambda e: e["n"])]}


@ask("Which numbers are beyond what a double tells apart?", "distinct", """
{"class_name": "events", "field": "n", "where": {"$or": [{"n": {"$gt": 9007199254740991}}, {"n": {"$lt": -9007199254740991}}]}}""")
def _():
    return {"values": distinct(e["n"] for e in EVENTS if e["n"] is not None and abs(e["n"]) > 9007199254740991)}


@ask("How many events carry exactly 9007199254740993?", "count_objects", '{"class_name": "events", "where": {"n": 9007199254740993}}')
def _():
    return {"count": sum(e["n"] == 9007199254740993 for e in EVENTS)}


@ask("How many events refer to 9007199254740993 in their payload, as a number?", "count_objects", '{"class_name": "events", "where": {"payload.ref": 9007199254740993}}')
def _():
    return {"count": sum(member(e["payload"], "ref") == 9007199254740993 for e in EVENTS)}


@ask("At which hours of the night of the change did events come, in UTC?", "group_by_date", """
{"class_name": "events", "field": "at", "interval": "hour", "where": {"at": {"$exists": true}}}""")
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in groups([e for e in EVENTS if e["at"]], lambda e: e["at"].strftime("%Y-%m-%d %H:00"))]}


@ask("At which hours of Oslo did events come when the clocks went forward?", "group_by_date", """
{"class_name": "events", "field": "at", "interval": "hour", "timezone": "Europe/Oslo", "where": {"at": {"$lt": "2025-03-30T04:00:00Z"}}}""")
def _():
    near = [e for e in EVENTS if e["at"] and e["at"] < instant("2025-03-30T04:00:00Z")]
    return {"groups": [{"key": k, "value": len(g)} for k, g in groups(near, lambda e: e["at"].astimezone(OSLO).strftime("%Y-%m-%d %H:00"))]}


@aggregate("What do the numbers of clicks without the largest add up to, and the least and the greatest of all?", "events", """
[{"$facet": {
   "small": [{"$match": {"n": {"$lt": 9007199254740994, "$gt": -10}}}, {"$group": {"_id": "$kind", "sum": {"$sum": "$n"}}}],
   "all": [{"$group": {"_id": null, "least": {"$min": "$n"}, "greatest": {"$max": "$n"}}}]}}]""")
def _():
    small = [e for e in EVENTS if e["n"] is not None and -10 < e["n"] < 9007199254740994]
    return [{"small": [{"_id": k, "sum": sum(e["n"] for e in g)} for k, g in groups(small, lambda e: e["kind"])],
             "all": [{"_id": None, "least": least(e["n"] for e in EVENTS), "greatest": most(e["n"] for e in EVENTS)}]}]


@aggregate("What is the sum of the greatest numbers, where it goes beyond 64 bits and where it doesn't?", "events", """
[{"$match": {"n": {"$in": [9223372036854775807, -9223372036854775807]}}}, {"$group": {"_id": {"$gt": ["$n", 0]}, "sum": {"$sum": "$n"}, "n": {"$sum": 1}}}]""")
def _():
    found = groups([e for e in EVENTS if e["n"] is not None and abs(e["n"]) == MOST], lambda e: e["n"] > 0)
    return [{"_id": k, "sum": fits(sum(e["n"] for e in g)), "n": len(g)} for k, g in found]


@aggregate("What do sums, products and remainders of each number give, null where they leave 64 bits?", "events", """
[{"$group": {"_id": "$n"}},
 {"$project": {"_id": 0, "n": "$_id", "next": {"$add": ["$_id", 1]}, "before": {"$subtract": ["$_id", 2]}, "twice": {"$multiply": ["$_id", 2]},
   "rest": {"$mod": ["$_id", 10]}, "none": {"$mod": ["$_id", 0]}, "size": {"$abs": "$_id"}}}]""")
def _():
    out = []
    for n in distinct(e["n"] for e in EVENTS):
        if n is None:
            out.append({"n": None})
        else:
            out.append({"n": n, "next": fits(n + 1), "before": fits(n - 2), "twice": fits(n * 2), "rest": abs(n) % 10 * (1 if n > 0 else -1), "none": None, "size": abs(n)})
    return out


@aggregate("Of which types are payloads, and how many of each?", "events", '[{"$group": {"_id": {"$type": "$payload"}, "n": {"$sum": 1}}}]')
def _():
    names = [(type(None), "null"), (bool, "bool"), (str, "string"), (dict, "object"), (list, "array")]
    kind = lambda e: next((n for t, n in names if isinstance(e["payload"], t)), "number")
    return [{"_id": k, "n": len(g)} for k, g in groups(EVENTS, kind)]


@aggregate("What do the amounts add up to where they are numbers, by kind?", "events", """
[{"$group": {"_id": "$kind", "sum": {"$sum": "$payload.amount"}, "mean": {"$avg": "$payload.amount"}, "n": {"$sum": 1}}}]""", approximate=True)
def _():
    out = []
    for k, g in groups(EVENTS, lambda e: e["kind"]):
        numbers = [amount(e) for e in g if is_number(amount(e))]
        out.append({"_id": k, "sum": sum(numbers), "mean": mean(numbers), "n": len(g)})
    return out


@aggregate("Which amounts are there, whatever they are?", "events", """
[{"$match": {"payload.amount": {"$exists": true}}}, {"$group": {"_id": "$payload.amount", "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups([e for e in EVENTS if amount(e) is not None], amount)]


@aggregate("Which events have amounts of 10 or more, or just the text?", "events", """
[{"$match": {"$or": [{"payload.amount": {"$gte": 10}}, {"payload.amount": "10"}]}}, {"$group": {"_id": "$payload.amount", "n": {"$sum": 1}}}, {"$sort": {"_id": -1}}]""")
def _():
    found = [amount(e) for e in EVENTS if amount(e) == "10" or is_number(amount(e)) and amount(e) >= 10]
    return [{"_id": k, "n": len(g)} for k, g in groups(found, lambda v: v)[::-1]]


@aggregate("Which references do payloads hold, numbers and text apart?", "events", """
[{"$match": {"payload.ref": {"$ne": null}}}, {"$group": {"_id": "$payload.ref", "n": {"$sum": 1}, "as_text": {"$min": {"$toString": "$payload.ref"}}}}]""")
def _():
    found = groups(there(member(e["payload"], "ref") for e in EVENTS), lambda r: r)
    return [{"_id": k, "n": len(g), "as_text": str(k)} for k, g in found]


@aggregate("Which users do payloads name when text and numbers are one?", "events", """
[{"$match": {"payload.user.id": {"$exists": true}}},
 {"$group": {"_id": {"$toString": "$payload.user.id"}, "n": {"$sum": 1}, "roles": {"$max": {"$size": "$payload.user.roles"}}}}]""")
def _():
    found = groups([e["payload"]["user"] for e in EVENTS if member(e["payload"], "user", "id") is not None], lambda u: str(u["id"]))
    return [{"_id": k, "n": len(g), "roles": max(len(u["roles"]) for u in g)} for k, g in found]


@aggregate("Which events are there twice or more? (all of their columns)", "events", """
[{"$group": {"_id": {"kind": "$kind", "at": "$at", "n": "$n", "type": {"$type": "$payload"}}, "times": {"$sum": 1}}},
 {"$match": {"times": {"$gt": 2}}},
 {"$project": {"_id": 0, "kind": "$_id.kind", "n": "$_id.n", "type": "$_id.type", "times": 1}}]""")
def _():
    names = [(type(None), "null"), (bool, "bool"), (str, "string"), (dict, "object"), (list, "array")]
    kind = lambda v: next((n for t, n in names if isinstance(v, t)), "number")
    found = groups(EVENTS, lambda e: (e["kind"], e["at"], e["n"], kind(e["payload"])))
    return [{"kind": k[0], "n": k[2], "type": k[3], "times": len(g)} for k, g in found if len(g) > 2]


@aggregate("What was the first and the last number of each kind, by time and number, where times are unknown first?", "events", """
[{"$sort": {"at": 1, "n": 1}}, {"$group": {"_id": "$kind", "first": {"$first": "$n"}, "last": {"$last": "$n"}, "began": {"$first": "$at"}, "ended": {"$last": "$at"}}}]""")
def _():
    out = []
    for k, g in groups(EVENTS, lambda e: e["kind"]):
        g = ordered(g, lambda e: e["at"], lambda e: e["n"])
        out.append({"_id": k, "first": g[0]["n"], "last": g[-1]["n"], "began": g[0]["at"], "ended": g[-1]["at"]})
    return out


@aggregate("Which numbers came with purchases, in turn, with nulls and twice the same?", "events", """
[{"$match": {"kind": {"$in": ["buy", "Buy"]}}}, {"$sort": {"n": -1}}, {"$group": {"_id": null, "numbers": {"$push": "$n"}, "distinct": {"$addToSet": "$n"}}}]""")
def _():
    numbers = [e["n"] for e in EVENTS if e["kind"] in ("buy", "Buy")]
    return [{"_id": None, "numbers": ordered(numbers, desc(lambda n: n)), "distinct": distinct(numbers)}]


@aggregate("How many elements have payloads that are lists, and which are the second and the last?", "events", """
[{"$match": {"$expr": {"$isArray": "$payload"}}},
 {"$project": {"_id": 0, "size": {"$size": "$payload"}, "second": {"$arrayElemAt": ["$payload", 1]}, "x": {"$arrayElemAt": ["$payload", -1]}}},
 {"$group": {"_id": {"size": "$size", "second": "$second", "x": "$x.x"}, "n": {"$sum": 1}}}]""")
def _():
    found = groups([e["payload"] for e in EVENTS if isinstance(e["payload"], list)], lambda l: (len(l), l[1], l[-1]["x"]))
    return [{"_id": {"size": k[0], "second": k[1], "x": k[2]}, "n": len(g)} for k, g in found]


@aggregate("When does a payload say that something was, by the clocks of New York?", "events", """
[{"$match": {"payload.at": {"$exists": true}}},
 {"$group": {"_id": {"$dateToString": {"date": {"$toDate": "$payload.at"}, "format": "%Y-%m-%d %H:%M", "timezone": "America/New_York"}}, "n": {"$sum": 1}}}]""")
def _():
    found = groups(there(member(e["payload"], "at") for e in EVENTS), lambda s: instant(s).astimezone(NEW_YORK).strftime("%Y-%m-%d %H:%M"))
    return [{"_id": k, "n": len(g)} for k, g in found]


@aggregate("Which events of which kind hold nothing at all? (null, an empty object, a null member)", "events", """
[{"$match": {"payload.amount": null, "payload.user": null, "payload.ref": null, "payload.at": null}},
 {"$group": {"_id": {"$cond": [{"$eq": ["$payload", null]}, "null", "something else"]}, "n": {"$sum": 1}}}]""")
def _():
    def nothing(e):
        p = e["payload"]
        if isinstance(p, list):  # a path goes on in the elements that are objects: {"x": 1} has none of these
            return True
        return all(member(p, k) is None for k in ("amount", "user", "ref", "at"))

    found = groups([e for e in EVENTS if nothing(e)], lambda e: "null" if e["payload"] is None else "something else")
    return [{"_id": k, "n": len(g)} for k, g in found]


@aggregate("How many events came in each half of the day of Oslo, and unknown ones?", "events", """
[{"$group": {"_id": {"$cond": [{"$eq": ["$at", null]}, "unknown", {"$cond": [{"$lt": [{"$hour": {"date": "$at", "timezone": "Europe/Oslo"}}, 12]}, "morning", "evening"]}]},
   "n": {"$sum": 1}}}]""")
def _():
    half = lambda e: "unknown" if e["at"] is None else "morning" if e["at"].astimezone(OSLO).hour < 12 else "evening"
    return [{"_id": k, "n": len(g)} for k, g in groups(EVENTS, half)]
