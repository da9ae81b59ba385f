"""Customers, who refers whom, and employees."""

from datetime import date
from fractions import Fraction

from asked import *


def reached(rows, start, back, forth, depth=10, only=lambda r: True):
    """The records reached from start: those whose forth equals it, then those whose forth equals the back of one that
    is reached, each once: a list of (steps, record), nearest first, then by key."""
    out, seen, values = [], set(), [start]
    for step in range(depth + 1):
        found = [r for r in rows if only(r) and r["id"] not in seen and r[forth] is not None and r[forth] in values]
        if not found:
            break
        seen |= {r["id"] for r in found}
        out += [(step, r) for r in found]
        values = there(r[back] for r in found)
    return out


@ask("How many customers are in each country, unknown as well, by country?", "group_by", """
{"class_name": "customers", "field": "country", "operation": "count", "sort": "key_asc"}""")
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in groups(CUSTOMERS, lambda c: c["country"])]}


@ask("How many customers signed up in each month, those of unknown day apart?", "group_by_date", """
{"class_name": "customers", "field": "signed_up", "interval": "month", "where": {"signed_up": {"$exists": true}}}""")
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in groups([c for c in CUSTOMERS if c["signed_up"]], lambda c: c["signed_up"].strftime("%Y-%m"))]}


@ask("How many customers are no VIPs, or not known to be?", "count_objects", '{"class_name": "customers", "where": {"vip": {"$ne": true}}}')
def _():
    return {"count": sum(c["vip"] is not True for c in CUSTOMERS)}


@ask("Who referred somebody?", "distinct", '{"class_name": "customers", "field": "referrer_id", "where": {"referrer_id": {"$exists": true}}}')
def _():
    return {"values": [ident(v) for v in distinct(there(c["referrer_id"] for c in CUSTOMERS))]}


@ask("From which countries are the VIPs?", "distinct", '{"class_name": "customers", "field": "country", "where": {"vip": true}, "sort": "asc"}')
def _():
    return {"values": there(distinct(c["country"] for c in CUSTOMERS if c["vip"]))}


@aggregate("How many customers are VIPs, not, or unknown?", "customers", '[{"$group": {"_id": "$vip", "n": {"$sum": 1}, "names": {"$push": "$name"}}}]')
def _():
    return [{"_id": k, "n": len(g), "names": [c["name"] for c in g]} for k, g in groups(CUSTOMERS, lambda c: c["vip"])]


@aggregate("How many customers of each month of sign-up ordered in which month? (cohorts)", "orders", """
[{"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
 {"$unwind": "$c"},
 {"$match": {"c.signed_up": {"$gte": "2025-01-01", "$lt": "2025-07-01"}}},
 {"$group": {"_id": {"cohort": {"$dateToString": {"date": "$c.signed_up", "format": "%Y-%m"}}, "month": {"$dateToString": {"date": "$placed_at", "format": "%Y-%m"}}},
   "customers": {"$addToSet": "$customer_id"}, "orders": {"$sum": 1}}},
 {"$project": {"_id": 1, "orders": 1, "customers": {"$size": "$customers"}}}]""")
def _():
    own = [(CUSTOMER[o["customer_id"]], o) for o in ORDERS if o["customer_id"]]
    own = [(c, o) for c, o in own if c["signed_up"] and date(2025, 1, 1) <= c["signed_up"] < date(2025, 7, 1)]
    found = groups(own, lambda p: (p[0]["signed_up"].strftime("%Y-%m"), p[1]["placed_at"].strftime("%Y-%m")))
    return [{"_id": {"cohort": k[0], "month": k[1]}, "orders": len(g), "customers": len({c["id"] for c, _ in g})} for k, g in found]


@aggregate("How many orders come how many months after the sign-up?", "orders", """
[{"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
 {"$unwind": "$c"},
 {"$group": {"_id": {"$dateDiff": {"startDate": "$c.signed_up", "endDate": "$placed_at", "unit": "month"}}, "n": {"$sum": 1}}}]""")
def _():
    def after(o):
        d = CUSTOMER[o["customer_id"]]["signed_up"]
        return None if d is None else (o["placed_at"].year - d.year) * 12 + o["placed_at"].month - d.month

    return [{"_id": k, "n": len(g)} for k, g in groups([o for o in ORDERS if o["customer_id"]], after)]


@aggregate("What share of the customers of each country are VIPs?", "customers", """
[{"$group": {"_id": "$country", "share": {"$avg": {"$cond": [{"$eq": ["$vip", true]}, 1, 0]}}}}, {"$sort": {"share": -1}}]""", approximate=True)
def _():
    found = [(k, mean(int(c["vip"] is True) for c in g)) for k, g in groups(CUSTOMERS, lambda c: c["country"])]
    return [{"_id": k, "share": v} for k, v in ordered(found, desc(lambda p: p[1]))]


@aggregate("Whom did each customer bring, directly and over others, and how far? (circles as well)", "customers", """
[{"$graphLookup": {"from": "customers", "startWith": "$id", "connectFromField": "id", "connectToField": "referrer_id", "as": "brought", "maxDepth": 20, "depthField": "steps"}},
 {"$match": {"brought": {"$not": {"$size": 0}}}},
 {"$project": {"name": 1, "brought": {"$map": {"input": "$brought", "as": "b", "in": {"who": "$$b.id", "steps": "$$b.steps"}}}}}]""")
def _():
    out = []
    for c in CUSTOMERS:
        found = reached(CUSTOMERS, c["id"], "id", "referrer_id", 20)
        if found:
            out.append({"name": c["name"], "brought": [{"who": ident(r["id"]), "steps": step} for step, r in found]})
    return out


@aggregate("Over whom did each customer come, back to the first?", "customers", """
[{"$match": {"referrer_id": {"$ne": null}}},
 {"$graphLookup": {"from": "customers", "startWith": "$referrer_id", "connectFromField": "referrer_id", "connectToField": "id", "as": "chain"}},
 {"$project": {"id": 1, "chain": {"$map": {"input": "$chain", "in": "$$this.name"}}, "length": {"$size": "$chain"}}}]""")
def _():
    out = []
    for c in CUSTOMERS:
        if c["referrer_id"]:
            chain = [r["name"] for _, r in reached(CUSTOMERS, c["referrer_id"], "referrer_id", "id")]
            out.append({"id": ident(c["id"]), "chain": chain, "length": len(chain)})
    return out


@aggregate("Who brought most customers directly, the first four?", "customers", """
[{"$lookup": {"from": "customers", "localField": "id", "foreignField": "referrer_id", "as": "brought"}},
 {"$project": {"name": 1, "n": {"$size": "$brought"}}},
 {"$sort": {"n": -1, "name": 1}},
 {"$limit": 4}]""")
def _():
    found = [{"name": c["name"], "n": sum(r["referrer_id"] == c["id"] for r in CUSTOMERS)} for c in CUSTOMERS]
    return ordered(found, desc(lambda r: r["n"]), lambda r: r["name"])[:4]


@aggregate("Which customers have never ordered?", "customers", """
[{"$lookup": {"from": "orders", "localField": "id", "foreignField": "customer_id", "as": "orders"}},
 {"$match": {"orders": {"$size": 0}}},
 {"$project": {"id": 1, "name": 1}}]""")
def _():
    return [{"id": ident(c["id"]), "name": c["name"]} for c in CUSTOMERS if all(o["customer_id"] != c["id"] for o in ORDERS)]


@ask("How many customers have never ordered? ($dontSelect)", "count_objects", """
{"class_name": "customers", "where": {"id": {"$dontSelect": {"query": {"className": "orders", "where": {}}, "key": "customer_id"}}}}""")
def _():
    return {"count": sum(all(o["customer_id"] != c["id"] for o in ORDERS) for c in CUSTOMERS)}


@aggregate("Which customers had something returned but never anything delivered?", "customers", """
[{"$lookup": {"from": "orders", "localField": "id", "foreignField": "customer_id", "as": "o", "pipeline": [{"$group": {"_id": "$status"}}]}},
 {"$addFields": {"statuses": {"$map": {"input": "$o", "in": "$$this._id"}}}},
 {"$match": {"$expr": {"$and": [{"$in": ["returned", "$statuses"]}, {"$not": [{"$in": ["delivered", "$statuses"]}]}]}}},
 {"$project": {"name": 1, "statuses": 1}}]""")
def _():
    out = []
    for c in CUSTOMERS:
        had = distinct(o["status"] for o in ORDERS if o["customer_id"] == c["id"])
        if "returned" in had and "delivered" not in had:
            out.append({"name": c["name"], "statuses": had})
    return out


@aggregate("Which first names do customers and employees share, letter by letter?", "customers", """
[{"$project": {"name": 1, "is": {"$literal": "customer"}}},
 {"$unionWith": {"coll": "employees", "pipeline": [{"$project": {"name": 1, "is": {"$literal": "employee"}}}]}},
 {"$group": {"_id": {"$toLower": {"$arrayElemAt": [{"$split": ["$name", " "]}, 0]}}, "n": {"$sum": 1}, "are": {"$addToSet": "$is"}}},
 {"$match": {"n": {"$gt": 2}}}]""")
def _():
    both = [(c["name"], "customer") for c in CUSTOMERS] + [(e["name"], "employee") for e in EMPLOYEES]
    return [{"_id": k, "n": len(g), "are": distinct(p[1] for p in g)} for k, g in groups(both, lambda p: lower(p[0].split(" ")[0])) if len(g) > 2]


@aggregate("How many sign-ups and how many orders had each month? (a union of groups)", "customers", """
[{"$match": {"signed_up": {"$exists": true}}},
 {"$group": {"_id": {"$dateToString": {"date": "$signed_up", "format": "%Y-%m"}}, "customers": {"$sum": 1}}},
 {"$addFields": {"orders": 0}},
 {"$unionWith": {"coll": "orders", "pipeline": [
   {"$group": {"_id": {"$dateToString": {"date": "$placed_at", "format": "%Y-%m"}}, "orders": {"$sum": 1}}}, {"$addFields": {"customers": 0}}]}},
 {"$group": {"_id": "$_id", "customers": {"$sum": "$customers"}, "orders": {"$sum": "$orders"}}}]""")
def _():
    months = [(c["signed_up"].strftime("%Y-%m"), 1, 0) for c in CUSTOMERS if c["signed_up"]] + [(o["placed_at"].strftime("%Y-%m"), 0, 1) for o in ORDERS]
    return [{"_id": k, "customers": sum(m[1] for m in g), "orders": sum(m[2] for m in g)} for k, g in groups(months, lambda m: m[0])]


@aggregate("How many days lie between sign-up and first order, customer by customer, the longest six?", "orders", """
[{"$match": {"customer_id": {"$exists": true}}},
 {"$group": {"_id": "$customer_id", "first": {"$min": "$placed_at"}}},
 {"$lookup": {"from": "customers", "localField": "_id", "foreignField": "id", "as": "c"}},
 {"$unwind": "$c"},
 {"$project": {"_id": 1, "days": {"$dateDiff": {"startDate": "$c.signed_up", "endDate": "$first", "unit": "day"}}}},
 {"$sort": {"days": -1}},
 {"$limit": 6}]""")
def _():
    found = []
    for k, g in groups([o for o in ORDERS if o["customer_id"]], lambda o: o["customer_id"]):
        signed = CUSTOMER[k]["signed_up"]
        found.append({"_id": ident(k), "days": None if signed is None else (min(o["placed_at"] for o in g).date() - signed).days})
    return ordered(found, desc(lambda r: r["days"]))[:6]


@aggregate("How long are the names of the first 16 customers, and what do they begin with?", "customers", """
[{"$limit": 16}, {"$project": {"length": {"$strLenCP": "$name"}, "initial": {"$substrCP": ["$name", 0, 1]}, "rest": {"$toUpper": {"$substrCP": ["$name", 1, -1]}}}}]""")
def _():
    return [{"length": len(c["name"]), "initial": c["name"][:1], "rest": upper(c["name"][1:])} for c in CUSTOMERS[:16]]


@aggregate("Which customers have names that begin with a letter from a to z in either case?", "customers", """
[{"$match": {"$expr": {"$regexMatch": {"input": "$name", "regex": "^[a-z]", "options": "i"}}}}, {"$group": {"_id": "$name", "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups([c["name"] for c in CUSTOMERS if c["name"][0].isascii() and c["name"][0].isalpha()], lambda n: n)]


@aggregate("What is left of customers 1 to 3 without three of their fields?", "customers", """
[{"$match": {"id": {"$lte": 3}}}, {"$project": {"referrer_id": 0, "vip": 0, "signed_up": 0}}]""")
def _():
    return [{"id": ident(c["id"]), "name": c["name"], "country": c["country"]} for c in CUSTOMERS[:3]]


@aggregate("What is a customer with defaults filled in and without a country?", "customers", """
[{"$match": {"id": {"$in": [4, 10]}}},
 {"$set": {"signed_up": {"$ifNull": [{"$dateToString": {"date": "$signed_up", "format": "%Y"}}, "never"]}, "vip": {"$ifNull": ["$vip", false]}}},
 {"$unset": ["country", "referrer_id"]}]""")
def _():
    return [{"id": ident(c["id"]), "name": c["name"], "signed_up": c["signed_up"].strftime("%Y") if c["signed_up"] else "never", "vip": bool(c["vip"])}
            for c in CUSTOMERS if c["id"] in (4, 10)]


# Employees

@aggregate("Who works under each manager, on any level, and on which?", "employees", """
[{"$graphLookup": {"from": "employees", "startWith": "$id", "connectFromField": "id", "connectToField": "manager_id", "as": "under", "depthField": "level"}},
 {"$unwind": "$under"},
 {"$group": {"_id": {"manager": "$name", "level": "$under.level"}, "who": {"$push": "$under.name"}}}]""")
def _():
    pairs = [((e["name"], level), r["name"]) for e in EMPLOYEES for level, r in reached(EMPLOYEES, e["id"], "id", "manager_id")]
    return [{"_id": {"manager": k[0], "level": k[1]}, "who": [p[1] for p in g]} for k, g in groups(pairs, lambda p: p[0])]


@aggregate("What is the chain of command above Jo?", "employees", """
[{"$match": {"name": "Jo"}},
 {"$graphLookup": {"from": "employees", "startWith": "$manager_id", "connectFromField": "manager_id", "connectToField": "id", "as": "above", "depthField": "d"}},
 {"$unwind": {"path": "$above", "includeArrayIndex": "at"}},
 {"$project": {"at": 1, "name": "$above.name", "d": "$above.d"}}]""")
def _():
    jo = next(e for e in EMPLOYEES if e["name"] == "Jo")
    return [{"at": n, "name": r["name"], "d": d} for n, (d, r) in enumerate(reached(EMPLOYEES, jo["manager_id"], "manager_id", "id"))]


@aggregate("How many does the CEO lead directly, one level further, and on all levels but below managers?", "employees", """
[{"$match": {"title": "CEO"}},
 {"$graphLookup": {"from": "employees", "startWith": "$id", "connectFromField": "id", "connectToField": "manager_id", "as": "direct", "maxDepth": 0}},
 {"$graphLookup": {"from": "employees", "startWith": "$id", "connectFromField": "id", "connectToField": "manager_id", "as": "near", "maxDepth": 1}},
 {"$graphLookup": {"from": "employees", "startWith": "$id", "connectFromField": "id", "connectToField": "manager_id", "as": "others",
   "restrictSearchWithMatch": {"title": {"$ne": "Manager"}}}},
 {"$project": {"direct": {"$size": "$direct"}, "near": {"$size": "$near"}, "others": {"$size": "$others"}}}]""")
def _():
    n = lambda *a, **k: len(reached(EMPLOYEES, 1, "id", "manager_id", *a, **k))
    return [{"direct": n(0), "near": n(1), "others": n(only=lambda r: r["title"] != "Manager")}]


@aggregate("What does each manager's whole organisation cost a year, the dearest first?", "employees", """
[{"$graphLookup": {"from": "employees", "startWith": "$id", "connectFromField": "id", "connectToField": "manager_id", "as": "under"}},
 {"$match": {"$expr": {"$gt": [{"$size": "$under"}, 0]}}},
 {"$project": {"name": 1, "people": {"$size": "$under"}, "cost": {"$add": [{"$ifNull": ["$salary", 0]}, {"$sum": {"$map": {"input": "$under", "in": "$$this.salary"}}}]}}},
 {"$sort": {"cost": -1}}]""")
def _():
    out = []
    for e in EMPLOYEES:
        under = [r for _, r in reached(EMPLOYEES, e["id"], "id", "manager_id")]
        if under:
            out.append({"name": e["name"], "people": len(under), "cost": (e["salary"] or 0) + sum(r["salary"] or 0 for r in under)})
    return ordered(out, desc(lambda r: r["cost"]))


@aggregate("Who earns as much as the three highest salaries? (ties)", "employees", """
[{"$group": {"_id": "$salary", "who": {"$push": "$name"}}}, {"$sort": {"_id": -1}}, {"$limit": 3}]""")
def _():
    return [{"_id": k, "who": [e["name"] for e in g]} for k, g in groups(EMPLOYEES, lambda e: e["salary"])[::-1][:3]]


@aggregate("What does each title earn on average, developers of either spelling apart?", "employees", """
[{"$group": {"_id": "$title", "mean": {"$avg": "$salary"}, "n": {"$sum": 1}, "known": {"$sum": {"$cond": [{"$eq": ["$salary", null]}, 0, 1]}}}}, {"$sort": {"mean": -1}}]""", approximate=True)
def _():
    found = [{"_id": k, "mean": mean(e["salary"] for e in g), "n": len(g), "known": len(there(e["salary"] for e in g))} for k, g in groups(EMPLOYEES, lambda e: e["title"])]
    return ordered(found, desc(lambda r: r["mean"]))


@aggregate("Who is the best paid of each manager's people?", "employees", """
[{"$sort": {"salary": -1, "name": 1}}, {"$group": {"_id": "$manager_id", "best": {"$first": "$name"}, "worst": {"$last": "$name"}}}]""")
def _():
    out = []
    for k, g in groups(EMPLOYEES, lambda e: e["manager_id"]):
        g = ordered(g, desc(lambda e: e["salary"]), lambda e: e["name"])
        out.append({"_id": ident(k), "best": g[0]["name"], "worst": g[-1]["name"]})
    return out


@aggregate("Who earns more than half of what the manager does?", "employees", """
[{"$lookup": {"from": "employees", "localField": "manager_id", "foreignField": "id", "as": "m"}},
 {"$unwind": "$m"},
 {"$match": {"$expr": {"$gt": [{"$multiply": [2, "$salary"]}, "$m.salary"]}}},
 {"$project": {"name": 1, "manager": "$m.name", "ratio": {"$divide": ["$salary", "$m.salary"]}}}]""", approximate=True)
def _():
    out = []
    for e in EMPLOYEES:
        m = EMPLOYEE.get(e["manager_id"])
        twice = None if e["salary"] is None else 2 * e["salary"]
        if m and rank(twice) > rank(m["salary"]):
            out.append({"name": e["name"], "manager": m["name"], "ratio": ratio(e["salary"], m["salary"])})
    return out


@aggregate("How many years had employees been there at the end of 2025, as the calendar counts, and how many have been there how long?", "employees", """
[{"$group": {"_id": {"$dateDiff": {"startDate": "$hired_on", "endDate": {"$toDate": "2025-12-31T00:00:00Z"}, "unit": "year"}}, "n": {"$sum": 1}}}, {"$sort": {"_id": -1}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups(EMPLOYEES, lambda e: 2025 - e["hired_on"].year)[::-1]]


@aggregate("What part of all salaries goes to each of the five best paid, in percent with one digit?", "employees", """
[{"$sort": {"salary": -1}},
 {"$group": {"_id": null, "total": {"$sum": "$salary"}, "all": {"$push": {"name": "$name", "salary": "$salary"}}}},
 {"$unwind": "$all"},
 {"$project": {"_id": 0, "name": "$all.name", "percent": {"$round": [{"$multiply": [{"$divide": ["$all.salary", "$total"]}, 100]}, 1]}}},
 {"$limit": 5}]""")
def _():
    total = sum(e["salary"] or 0 for e in EMPLOYEES)
    return [{"name": e["name"], "percent": half_away(Fraction(e["salary"] * 100, total), 1)} for e in ordered(EMPLOYEES, desc(lambda e: e["salary"]))[:5]]


@aggregate("How many colleagues have the same manager, those without one having none?", "employees", """
[{"$lookup": {"from": "employees", "localField": "manager_id", "foreignField": "manager_id", "as": "same"}}, {"$project": {"name": 1, "n": {"$size": "$same"}}}]""")
def _():
    return [{"name": e["name"], "n": sum(e["manager_id"] is not None and x["manager_id"] == e["manager_id"] for x in EMPLOYEES)} for e in EMPLOYEES]


@aggregate("In what order do the names of customers stand, by their bytes, and how many share one?", "customers", """
[{"$group": {"_id": "$name", "n": {"$sum": 1}}}, {"$sort": {"_id": -1}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups(CUSTOMERS, lambda c: c["name"])[::-1]]
