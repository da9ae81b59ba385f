"""Products: text in several scripts, lists and objects in JSON, prices and weights."""

import re
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from asked import *


def tags(p):
    return p["tags"] or []


@ask("How many products have each tag, products without any apart?", "group_by", """
{"class_name": "products", "field": "tags", "operation": "count", "flatten_arrays": true, "sort": "value_desc"}""")
def _():
    found = groups([t for p in PRODUCTS for t in tags(p)], lambda t: t)
    return {"groups": [{"key": k, "value": len(g)} for k, g in ordered(found, desc(lambda f: len(f[1])))]}


@ask("What is the total price by category, unknown ones as well?", "group_by", """
{"class_name": "products", "field": "category", "operation": "sum", "value_field": "price", "sort": "key_asc"}""")
def _():
    return {"groups": [{"key": k, "value": sum(p["price"] for p in g)} for k, g in groups(PRODUCTS, lambda p: p["category"])]}


@ask("How many products are on sale, written just so?", "count_objects", '{"class_name": "products", "where": {"tags": "sale"}}')
def _():
    return {"count": sum("sale" in tags(p) for p in PRODUCTS)}


@ask("How many products are both new and on sale, or have no tag at all?", "count_objects", """
{"class_name": "products", "where": {"$or": [{"tags": {"$all": ["new", "sale"]}}, {"tags": {"$size": 0}}, {"tags": {"$exists": false}}]}}""")
def _():
    return {"count": sum({"new", "sale"} <= set(tags(p)) or not tags(p) for p in PRODUCTS)}


@ask("Which products are wider than 25, widest name first?", "query_class", """
{"class_name": "products", "where": {"attributes.dims.w": {"$gt": 25}}, "keys": ["name"], "order": "-name"}""")
def _():
    found = [p for p in PRODUCTS if (member(p["attributes"], "dims", "w") or 0) > 25]
    return {"results": [{"id": ident(p["id"]), "name": p["name"]} for p in ordered(found, desc(lambda p: p["name"]))]}


@ask("Of which categories are there things in blue?", "distinct", '{"class_name": "products", "field": "category", "where": {"attributes.color": "blue"}}')
def _():
    return {"values": distinct(p["category"] for p in PRODUCTS if member(p["attributes"], "color") == "blue")}


@aggregate("Which tags are used most, by a list that is unwound?", "products", '[{"$unwind": "$tags"}, {"$sortByCount": "$tags"}]')
def _():
    found = groups([t for p in PRODUCTS for t in tags(p)], lambda t: t)
    return [{"_id": k, "count": len(g)} for k, g in ordered(found, desc(lambda f: len(f[1])))]


@aggregate("At which place of the list do the tags 'sale' and 'new' stand?", "products", """
[{"$unwind": {"path": "$tags", "includeArrayIndex": "place"}},
 {"$match": {"tags": {"$in": ["sale", "new"]}}},
 {"$group": {"_id": {"tag": "$tags", "place": "$place"}, "n": {"$sum": 1}}}]""")
def _():
    found = groups([(t, n) for p in PRODUCTS for n, t in enumerate(tags(p)) if t in ("sale", "new")], lambda f: f)
    return [{"_id": {"tag": k[0], "place": k[1]}, "n": len(g)} for k, g in found]


@aggregate("How many products and tags are there when those without tags stay?", "products", """
[{"$unwind": {"path": "$tags", "includeArrayIndex": "at", "preserveNullAndEmptyArrays": true}},
 {"$group": {"_id": {"$ifNull": ["$at", -1]}, "n": {"$sum": 1}, "tags": {"$addToSet": "$tags"}}}]""")
def _():
    rows = [(n, t) for p in PRODUCTS for n, t in (list(enumerate(tags(p))) or [(-1, None)])]
    return [{"_id": k, "n": len(g), "tags": distinct(t for _, t in g)} for k, g in groups(rows, lambda r: r[0])]


@aggregate("What do prices look like by category: least, most, mean and how many?", "products", """
[{"$group": {"_id": "$category", "least": {"$min": "$price"}, "most": {"$max": "$price"}, "mean": {"$avg": "$price"}, "n": {"$count": {}}}}]""", approximate=True)
def _():
    return [{"_id": k, "least": least(p["price"] for p in g), "most": most(p["price"] for p in g), "mean": mean(p["price"] for p in g), "n": len(g)}
            for k, g in groups(PRODUCTS, lambda p: p["category"])]


@aggregate("How many products come from which country, in which year, as far as is known?", "products", """
[{"$group": {"_id": {"country": "$attributes.origin.country", "year": "$attributes.origin.year"}, "n": {"$sum": 1}}}]""")
def _():
    found = groups(PRODUCTS, lambda p: (member(p["attributes"], "origin", "country"), member(p["attributes"], "origin", "year")))
    return [{"_id": {"country": k[0], "year": k[1]}, "n": len(g)} for k, g in found]


@aggregate("What area do things cover, the largest first, where both sides are known?", "products", """
[{"$project": {"name": 1, "area": {"$multiply": ["$attributes.dims.w", "$attributes.dims.h"]}}},
 {"$match": {"area": {"$ne": null}}},
 {"$sort": {"area": -1}}]""")
def _():
    found = []
    for p in PRODUCTS:
        w, h = member(p["attributes"], "dims", "w"), member(p["attributes"], "dims", "h")
        if w is not None and h is not None:
            found.append({"name": p["name"], "area": w * h})
    return ordered(found, desc(lambda r: r["area"]))


@aggregate("Which allergens are in how many products, by a path that ends in a list?", "products", """
[{"$unwind": "$attributes.allergens"}, {"$group": {"_id": "$attributes.allergens", "n": {"$sum": 1}, "products": {"$push": "$name"}}}]""")
def _():
    found = groups([(a, p["name"]) for p in PRODUCTS for a in member(p["attributes"], "allergens") or []], lambda f: f[0])
    return [{"_id": k, "n": len(g), "products": [f[1] for f in g]} for k, g in found]


@aggregate("What is the cheapest and the dearest product of each category? (ties by the number)", "products", """
[{"$sort": {"price": 1}}, {"$group": {"_id": "$category", "cheapest": {"$first": "$name"}, "at": {"$first": "$price"}, "dearest": {"$last": "$name"}}}]""")
def _():
    out = []
    for k, g in groups(PRODUCTS, lambda p: p["category"]):
        g = ordered(g, lambda p: p["price"])
        out.append({"_id": k, "cheapest": g[0]["name"], "at": g[0]["price"], "dearest": g[-1]["name"]})
    return out


@aggregate("What does a kilogram cost, when nothing is weighed or weighs nothing as well?", "products", """
[{"$project": {"name": 1, "per_kilo": {"$divide": ["$price", "$weight"]}}}, {"$sort": {"per_kilo": -1, "name": 1}}]""", approximate=True)
def _():
    found = [{"name": p["name"], "per_kilo": ratio(p["price"], p["weight"])} for p in PRODUCTS]
    return ordered(found, desc(lambda r: r["per_kilo"]), lambda r: r["name"])


@aggregate("What are prices rounded, to one digit, up, down, cut and to tens?", "products", """
[{"$project": {"whole": {"$round": ["$price", 0]}, "tenth": {"$round": ["$price", 1]}, "up": {"$ceil": "$price"}, "down": {"$floor": "$price"},
   "cut": {"$trunc": ["$price", 1]}, "tens": {"$round": ["$price", -1]}, "owed": {"$abs": {"$subtract": [20, "$price"]}}}}]""", approximate=True)
def _():
    out = []
    for p in PRODUCTS:
        x = p["price"]
        out.append({"whole": half_away(x), "tenth": half_away(x, 1), "up": x.to_integral_value(ROUND_CEILING), "down": x // 1, "cut": x * 10 // 1 / 10,
                    "tens": half_away(x, -1), "owed": abs(20 - x)})
    return out


@aggregate("How are names spelt: in words, characters, capitals, and where is the first e?", "products", """
[{"$project": {"words": {"$size": {"$split": ["$name", " "]}}, "length": {"$strLenCP": "$name"}, "loud": {"$toUpper": "$name"}, "soft": {"$toLower": "$name"},
   "e": {"$indexOfCP": ["$name", "e"]}, "tail": {"$substrCP": ["$name", 3, 4]}, "dashed": {"$replaceAll": {"input": "$name", "find": " ", "replacement": "--"}}}}]""")
def _():
    return [{"words": len(p["name"].split(" ")), "length": len(p["name"]), "loud": upper(p["name"]), "soft": lower(p["name"]), "e": p["name"].find("e"),
             "tail": p["name"][3:7], "dashed": p["name"].replace(" ", "--")} for p in PRODUCTS]


@aggregate("Which names differ in case or spaces alone?", "products", """
[{"$group": {"_id": {"$toLower": {"$trim": {"input": "$name"}}}, "names": {"$push": "$name"}}}, {"$match": {"names": {"$not": {"$size": 1}}}}]""")
def _():
    return [{"_id": k, "names": [p["name"] for p in g]} for k, g in groups(PRODUCTS, lambda p: lower(p["name"].strip(" "))) if len(g) > 1]


@aggregate("What are the tags in one text?", "products", """
[{"$match": {"tags": {"$exists": true}}},
 {"$project": {"joined": {"$reduce": {"input": "$tags", "initialValue": "", "in": {"$concat": ["$$value", {"$ifNull": ["$$this", "?"]}, ";"]}}}}}]""", refused_by=("MariaDB",))
def _():
    return [{"joined": "".join((t if t is not None else "?") + ";" for t in p["tags"])} for p in PRODUCTS if p["tags"] is not None]


@aggregate("What do tag lists give: without the short ones, loud, first, last and the first two?", "products", """
[{"$match": {"tags": {"$exists": true}}},
 {"$project": {
   "long": {"$filter": {"input": "$tags", "as": "t", "cond": {"$gt": [{"$strLenCP": {"$ifNull": ["$$t", ""]}}, 3]}}},
   "loud": {"$map": {"input": "$tags", "as": "t", "in": {"$toUpper": "$$t"}}},
   "first": {"$arrayElemAt": ["$tags", 0]}, "last": {"$arrayElemAt": ["$tags", -1]}, "two": {"$slice": ["$tags", 2]}, "n": {"$size": "$tags"}}}]""")
def _():
    out = []
    for p in PRODUCTS:
        t = p["tags"]
        if t is not None:
            out.append({"long": [x for x in t if len(x or "") > 3], "loud": [upper(x) for x in t], "first": t[0] if t else None,
                        "last": t[-1] if t else None, "two": t[:2], "n": len(t)})
    return out


@aggregate("What is the average price of things on sale and of others?", "products", """
[{"$group": {"_id": {"$in": ["sale", "$tags"]}, "mean": {"$avg": "$price"}, "n": {"$sum": 1}}}]""", approximate=True)
def _():
    return [{"_id": k, "mean": mean(p["price"] for p in g), "n": len(g)} for k, g in groups(PRODUCTS, lambda p: "sale" in tags(p))]


@aggregate("Which tags occur in each category?", "products", """
[{"$unwind": "$tags"}, {"$group": {"_id": "$category", "tags": {"$addToSet": "$tags"}}}]""")
def _():
    found = groups([(p["category"], t) for p in PRODUCTS for t in tags(p)], lambda f: f[0])
    return [{"_id": k, "tags": distinct(f[1] for f in g)} for k, g in found]


@aggregate("Which products were never sold?", "products", """
[{"$lookup": {"from": "order_items", "localField": "id", "foreignField": "product_id", "as": "sold"}}, {"$match": {"sold": {"$size": 0}}}, {"$project": {"name": 1}}]""")
def _():
    return [{"name": p["name"]} for p in PRODUCTS if all(i["product_id"] != p["id"] for i in ITEMS)]


@aggregate("Which products cost more than the mean of their category? (correlated)", "products", """
[{"$match": {"category": {"$ne": null}}},
 {"$lookup": {"from": "products", "let": {"c": "$category"}, "as": "peers", "pipeline": [
   {"$match": {"$expr": {"$eq": ["$category", "$$c"]}}}, {"$group": {"_id": null, "mean": {"$avg": "$price"}}}]}},
 {"$unwind": "$peers"},
 {"$match": {"$expr": {"$gt": ["$price", {"$add": ["$peers.mean", 0.001]}]}}},
 {"$project": {"name": 1, "over": {"$subtract": ["$price", "$peers.mean"]}}}]""", approximate=True)
def _():
    out = []
    for p in PRODUCTS:
        if p["category"] is not None:
            peers = [Fraction(q["price"]) for q in PRODUCTS if q["category"] == p["category"]]
            over = Fraction(p["price"]) - sum(peers) / len(peers)
            assert over == 0 or abs(over) > Fraction(1, 100)
            if over > 0:
                out.append({"name": p["name"], "over": float(over)})
    return out


@aggregate("Which sizes are numbers, or text that is one?", "products", """
[{"$project": {"name": 1, "size": "$attributes.size", "number": {"$convert": {"input": "$attributes.size", "to": "int", "onError": -1, "onNull": -2}}}},
 {"$match": {"size": {"$exists": true}}}, {"$sort": {"number": -1, "name": 1}}]""")
def _():
    def number(v):
        if isinstance(v, bool):
            return int(v)
        if is_number(v):
            return int(v)
        return int(v) if re.fullmatch("[+-]?[0-9]+", v) else -1

    found = [(p["name"], member(p["attributes"], "size")) for p in PRODUCTS]
    return ordered([{"name": n, "size": s, "number": number(s)} for n, s in found if s is not None], desc(lambda r: r["number"]), lambda r: r["name"])


@aggregate("Of which types are the sizes?", "products", '[{"$group": {"_id": {"$type": "$attributes.size"}, "n": {"$sum": 1}}}, {"$sort": {"n": -1, "_id": 1}}]')
def _():
    def kind(v):
        return "null" if v is None else "bool" if isinstance(v, bool) else "string" if isinstance(v, str) else "number"

    found = groups(PRODUCTS, lambda p: kind(member(p["attributes"], "size")))
    return [{"_id": k, "n": len(g)} for k, g in ordered(found, desc(lambda f: len(f[1])))]


@aggregate("Which serial numbers are there, to the last digit?", "products", """
[{"$match": {"attributes.serial": {"$gt": 9007199254740992}}}, {"$project": {"serial": "$attributes.serial", "next": {"$add": [{"$toLong": "$attributes.serial"}, 1]}}}]""")
def _():
    found = there(member(p["attributes"], "serial") for p in PRODUCTS)
    return [{"serial": s, "next": s + 1} for s in found if s > 9007199254740992]


@aggregate("Which colors are there when case doesn't count, for letters of English?", "products", """
[{"$match": {"attributes.color": {"$exists": true}}}, {"$group": {"_id": {"$toLower": "$attributes.color"}, "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups(there(member(p["attributes"], "color") for p in PRODUCTS), lower)]


@aggregate("What are the first five on one card, with defaults? (merged objects as the record)", "products", """
[{"$match": {"id": {"$lte": 5}}}, {"$replaceRoot": {"newRoot": {"$mergeObjects": [
   {"name": "none", "country": "none", "of": "shop"}, {"name": "$name", "country": {"$ifNull": ["$attributes.origin.country", "unknown"]}}, {"attributes": "$attributes"}]}}}]""")
def _():
    return [{"name": p["name"], "country": member(p["attributes"], "origin", "country") or "unknown", "of": "shop", "attributes": p["attributes"]} for p in PRODUCTS[:5]]


@aggregate("Which prices end in 9 or 5, as text?", "products", """
[{"$match": {"$expr": {"$regexMatch": {"input": {"$toString": "$price"}, "regex": "\\\\.[0-9][95]$"}}}}, {"$project": {"label": {"$concat": ["kr ", {"$toString": "$price"}, ",-"]}}}]""")
def _():
    return [{"label": "kr " + str(p["price"]) + ",-"} for p in PRODUCTS if re.search(r"\.[0-9][95]$", str(p["price"]))]


@aggregate("Which side of things is longer, and how long are both together, from lists of numbers?", "products", """
[{"$match": {"attributes.dims": {"$exists": true}}},
 {"$set": {"sides": ["$attributes.dims.w", "$attributes.dims.h"]}},
 {"$project": {"longest": {"$max": "$sides"}, "shortest": {"$min": "$sides"}, "both": {"$sum": "$sides"}, "mean": {"$avg": "$sides"},
   "upright": {"$cmp": [{"$toDouble": "$attributes.dims.h"}, {"$toDouble": "$attributes.dims.w"}]}}}]""")
def _():
    out = []
    for p in PRODUCTS:
        d = member(p["attributes"], "dims")
        if d is not None:
            sides = there([d["w"], d["h"]])
            w, h = rank(d["w"]), rank(d["h"])
            out.append({"longest": max(sides), "shortest": min(sides), "both": sum(sides), "mean": mean(sides), "upright": (h > w) - (h < w)})
    return out


@aggregate("How are weights spread over three ranges, unknown ones as well?", "products", """
[{"$bucketAuto": {"groupBy": "$weight", "buckets": 3, "output": {"names": {"$push": "$name"}}}}]""")
def _():
    found, n = {}, len(PRODUCTS)
    for p in PRODUCTS:
        found.setdefault(sum(rank(q["weight"]) < rank(p["weight"]) for q in PRODUCTS) * 3 // n, []).append(p)
    numbers, out = sorted(found), []
    for at, number in enumerate(numbers):
        low = lambda g: min((p["weight"] for p in g), key=rank)
        g = found[number]
        top = low(found[numbers[at + 1]]) if at + 1 < len(numbers) else max((p["weight"] for p in g), key=rank)
        out.append({"_id": {"min": low(g), "max": top}, "names": [p["name"] for p in g]})
    return out


@aggregate("What do weights come to, in all, with what deviation?", "products", """
[{"$group": {"_id": null, "sum": {"$sum": "$weight"}, "mean": {"$avg": "$weight"}, "population": {"$stdDevPop": "$weight"}, "sample": {"$stdDevSamp": "$weight"}}}]""", approximate=True)
def _():
    w = [None if p["weight"] is None else Decimal(repr(p["weight"])) for p in PRODUCTS]
    return [{"_id": None, "sum": sum(there(w)), "mean": mean(w), "population": deviation(w), "sample": deviation(w, 1)}]


@aggregate("Which prices do several products have?", "products", """
[{"$group": {"_id": "$price", "names": {"$push": "$name"}, "n": {"$sum": 1}}}, {"$match": {"n": {"$gt": 1}}}, {"$sort": {"_id": -1}}]""")
def _():
    return [{"_id": k, "names": [p["name"] for p in g], "n": len(g)} for k, g in groups(PRODUCTS, lambda p: p["price"])[::-1] if len(g) > 1]


@aggregate("What remains of names without the letters and spaces at their ends?", "products", """
[{"$project": {"both": {"$trim": {"input": "$name", "chars": "TKke "}}, "left": {"$ltrim": {"input": "$name", "chars": "TKke"}}, "right": {"$rtrim": {"input": "$name", "chars": "ea "}}}}]""")
def _():
    return [{"both": p["name"].strip("TKke "), "left": p["name"].lstrip("TKke"), "right": p["name"].rstrip("ea ")} for p in PRODUCTS]
