"""What databases are most apt to disagree about: text in joins and sets, other keys than ids, dates and decimals in lists."""

from datetime import datetime
from decimal import Decimal

from asked import *


@aggregate("Which coupons would be taken for one another where case and spaces don't count? (a join on text)", "orders", """
[{"$match": {"coupon": {"$exists": true}}},
 {"$group": {"_id": "$coupon", "n": {"$sum": 1}}},
 {"$lookup": {"from": "orders", "localField": "_id", "foreignField": "coupon", "as": "same"}},
 {"$project": {"_id": 1, "n": 1, "found": {"$size": "$same"}}}]""")
def _():
    return [{"_id": k, "n": len(g), "found": len(g)} for k, g in groups([o["coupon"] for o in ORDERS if o["coupon"] is not None], lambda c: c)]


@aggregate("What are the least and the greatest coupon and status by their bytes, and all of them in a row?", "orders", """
[{"$group": {"_id": null, "least": {"$min": "$coupon"}, "greatest": {"$max": "$coupon"}, "statuses": {"$addToSet": "$status"}, "coupons": {"$addToSet": "$coupon"},
   "last": {"$max": "$status"}, "first_ship": {"$min": "$shipped_at"}, "last_ship": {"$max": "$shipped_at"}}}]""")
def _():
    pick = lambda f: [o[f] for o in ORDERS]
    return [{"_id": None, "least": least(pick("coupon")), "greatest": most(pick("coupon")), "statuses": distinct(pick("status")), "coupons": distinct(pick("coupon")),
             "last": most(pick("status")), "first_ship": least(pick("shipped_at")), "last_ship": most(pick("shipped_at"))}]


@aggregate("How many orders have a coupon equal to, more or less than 'SAVE10', nulls counting as least?", "orders", """
[{"$group": {"_id": {"$cmp": ["$coupon", "SAVE10"]}, "n": {"$sum": 1}, "equal": {"$sum": {"$cond": [{"$eq": ["$coupon", "save10"]}, 1, 0]}}}}]""")
def _():
    cmp = lambda c: (rank(c) > rank("SAVE10")) - (rank(c) < rank("SAVE10"))
    return [{"_id": k, "n": len(g), "equal": sum(o["coupon"] == "save10" for o in g)} for k, g in groups(ORDERS, lambda o: cmp(o["coupon"]))]


@aggregate("How many orders fall into the parts of the alphabet by coupon?", "orders", """
[{"$bucket": {"groupBy": "$coupon", "boundaries": ["", "SAVE10 ", "a", "z"], "default": "~elsewhere"}}]""")
def _():
    edges = ["", "SAVE10 ", "a", "z"]

    def part(c):
        if c is None or rank(c) >= rank("z"):
            return "~elsewhere"
        return max((e for e in edges if rank(e) <= rank(c)), key=rank)

    return [{"_id": k, "count": len(g)} for k, g in groups(ORDERS, lambda o: part(o["coupon"]))]


@aggregate("Which products have the same price as another one? (a join on decimals)", "products", """
[{"$lookup": {"from": "products", "localField": "price", "foreignField": "price", "as": "other"}},
 {"$unwind": "$other"},
 {"$match": {"$expr": {"$lt": ["$id", "$other.id"]}}},
 {"$project": {"name": 1, "other": "$other.name", "price": 1}}]""")
def _():
    return [{"name": p["name"], "other": q["name"], "price": p["price"]} for p in PRODUCTS for q in PRODUCTS if p["price"] == q["price"] and p["id"] < q["id"]]


@aggregate("Which products weigh the same? (a join on doubles, unknown weights apart)", "products", """
[{"$lookup": {"from": "products", "localField": "weight", "foreignField": "weight", "as": "same"}}, {"$sort": {"weight": -1}}, {"$limit": 20}, {"$project": {"weight": 1, "n": {"$size": "$same"}}}]""")
def _():
    rows = [{"weight": p["weight"], "n": sum(p["weight"] is not None and q["weight"] == p["weight"] for q in PRODUCTS)} for p in PRODUCTS]
    return ordered(rows, desc(lambda r: r["weight"]))[:20]


@aggregate("Which customers signed up on one day? (a join on days)", "customers", """
[{"$lookup": {"from": "customers", "localField": "signed_up", "foreignField": "signed_up", "as": "same"}},
 {"$match": {"same": {"$not": {"$size": 1}}}},
 {"$project": {"signed_up": 1, "names": {"$map": {"input": "$same", "in": {"$concat": ["$$this.name", " on ", {"$toString": "$$this.signed_up"}]}}}}}]""")
def _():
    out = []
    for c in CUSTOMERS:
        same = [d for d in CUSTOMERS if d["signed_up"] is not None and d["signed_up"] == c["signed_up"]]
        if len(same) != 1:
            out.append({"signed_up": c["signed_up"], "names": [d["name"] + " on " + d["signed_up"].isoformat() for d in same]})
    return out


@aggregate("Which orders were placed at the same instant? (a join on instants)", "orders", """
[{"$match": {"placed_at": {"$gte": "2025-06-15T11:00:00Z", "$lt": "2025-06-15T13:00:00Z"}}},
 {"$lookup": {"from": "orders", "localField": "placed_at", "foreignField": "placed_at", "as": "same"}},
 {"$project": {"id": 1, "others": {"$map": {"input": {"$filter": {"input": "$same", "as": "s", "cond": {"$ne": ["$$s.status", "delivered"]}}}, "as": "s", "in": "$$s.id"}}}}]""")
def _():
    near = [o for o in ORDERS if instant("2025-06-15T11:00:00Z") <= o["placed_at"] < instant("2025-06-15T13:00:00Z")]
    return [{"id": ident(o["id"]), "others": [ident(x["id"]) for x in ORDERS if x["placed_at"] == o["placed_at"] and x["status"] != "delivered"]} for o in near]


@aggregate("Which colors of things are names of customers' countries or colors of others? (a join on a part of JSON)", "products", """
[{"$match": {"attributes.color": {"$exists": true}}},
 {"$lookup": {"from": "products", "localField": "attributes.color", "foreignField": "attributes.color", "as": "same"}},
 {"$project": {"color": "$attributes.color", "n": {"$size": "$same"}}},
 {"$match": {"n": {"$gt": 1}}}]""")
def _():
    color = lambda p: member(p["attributes"], "color")
    rows = [{"color": color(p), "n": sum(color(q) == color(p) for q in PRODUCTS)} for p in PRODUCTS if color(p) is not None]
    return [r for r in rows if r["n"] > 1]


@aggregate("What do dates, days, decimals, ids and whole numbers look like in lists and objects?", "orders", """
[{"$match": {"id": {"$in": [5, 40, 92]}}},
 {"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
 {"$lookup": {"from": "order_items", "localField": "id", "foreignField": "order_id", "as": "items"}},
 {"$project": {"c": {"$map": {"input": "$c", "in": {"id": "$$this.id", "day": "$$this.signed_up", "vip": "$$this.vip"}}},
   "items": {"$map": {"input": "$items", "as": "i", "in": {"price": "$$i.unit_price", "n": "$$i.quantity", "product": "$$i.product_id", "whole": {"$toInt": "$$i.unit_price"}}}},
   "when": ["$placed_at", "$shipped_at"], "self": {"id": "$id", "customer": "$customer_id", "discount": "$discount"}}}]""")
def _():
    out = []
    for o in ORDERS:
        if o["id"] in (5, 40, 92):
            c = CUSTOMER.get(o["customer_id"])
            out.append({"c": [{"id": ident(c["id"]), "day": c["signed_up"], "vip": c["vip"]}] if c else [],
                        "items": [{"price": i["unit_price"], "n": i["quantity"], "product": ident(i["product_id"]), "whole": int(i["unit_price"])} for i in ITEMS if i["order_id"] == o["id"]],
                        "when": [o["placed_at"], o["shipped_at"]], "self": {"id": ident(o["id"]), "customer": ident(o["customer_id"]), "discount": o["discount"]}})
    return out


@aggregate("Which prices are there in each category, each once, in order?", "products", """
[{"$group": {"_id": "$category", "prices": {"$addToSet": "$price"}, "weights": {"$addToSet": "$weight"}, "sizes": {"$addToSet": "$attributes.size"}}}]""")
def _():
    return [{"_id": k, "prices": distinct(p["price"] for p in g), "weights": distinct(p["weight"] for p in g), "sizes": distinct(member(p["attributes"], "size") for p in g)}
            for k, g in groups(PRODUCTS, lambda p: p["category"])]


@ask("How wide are things of each color on average?", "group_by", """
{"class_name": "products", "field": "attributes.color", "operation": "avg", "value_field": "attributes.dims.w", "where": {"attributes.color": {"$exists": true}}, "sort": "key_asc"}""", approximate=True)
def _():
    found = groups([p["attributes"] for p in PRODUCTS if member(p["attributes"], "color") is not None], lambda a: a["color"])
    return {"groups": [{"key": k, "value": mean(member(a, "dims", "w") for a in g)} for k, g in found]}


@ask("What do things with each tag cost in all?", "group_by", """
{"class_name": "products", "field": "tags", "operation": "sum", "value_field": "price", "flatten_arrays": true, "sort": "value_desc", "limit": 4}""")
def _():
    found = groups([(t, p["price"]) for p in PRODUCTS for t in p["tags"] or []], lambda f: f[0])
    rows = [{"key": k, "value": sum(f[1] for f in g)} for k, g in found]
    return {"groups": ordered(rows, desc(lambda r: r["value"]))[:4], "truncated": True}


@ask("Which prices above 20 were paid, from the highest?", "distinct", """
{"class_name": "order_items", "field": "unit_price", "where": {"unit_price": {"$gt": 20}}, "sort": "desc", "limit": 6}""")
def _():
    return {"values": distinct(i["unit_price"] for i in ITEMS if i["unit_price"] > 20)[::-1][:6], "truncated": True}


@ask("At which instants were the first orders shipped?", "distinct", '{"class_name": "orders", "field": "shipped_at", "where": {"shipped_at": {"$lt": "2025-01-02T00:00:00Z"}}}')
def _():
    return {"values": distinct(o["shipped_at"] for o in ORDERS if o["shipped_at"] and o["shipped_at"] < instant("2025-01-02T00:00:00Z"))}


@ask("Which orders have a coupon that begins with 'save' in any case?", "query_class", """
{"class_name": "orders", "where": {"coupon": {"$regex": "^save", "$options": "i"}, "id": {"$lt": 40}}, "keys": ["coupon"], "order": "coupon,-placed_at"}""")
def _():
    found = [o for o in ORDERS if o["id"] < 40 and (o["coupon"] or "").lower().startswith("save")]
    return {"results": [{"id": ident(o["id"]), "coupon": o["coupon"]} for o in ordered(found, lambda o: o["coupon"], desc(lambda o: o["placed_at"]))]}


@aggregate("What part has a product's price in its category, and is it above a fifth?", "products", """
[{"$match": {"category": {"$in": ["drink", "food", "kitchen"]}}},
 {"$group": {"_id": "$category", "total": {"$sum": "$price"}, "all": {"$push": {"name": "$name", "price": "$price"}}}},
 {"$unwind": {"path": "$all", "includeArrayIndex": "at"}},
 {"$set": {"share": {"$divide": ["$all.price", "$total"]}}},
 {"$set": {"large": {"$gt": ["$share", 0.2]}}},
 {"$project": {"_id": 1, "at": 1, "name": "$all.name", "share": 1, "large": 1}},
 {"$sort": {"large": -1, "_id": 1, "at": 1}}]""", approximate=True)
def _():
    rows = []
    for k, g in groups([p for p in PRODUCTS if p["category"] in ("drink", "food", "kitchen")], lambda p: p["category"]):
        total = sum(p["price"] for p in g)
        rows += [{"_id": k, "at": n, "name": p["name"], "share": ratio(p["price"], total), "large": p["price"] / total > Decimal("0.2")} for n, p in enumerate(g)]
    return ordered(rows, desc(lambda r: r["large"]), lambda r: r["_id"], lambda r: r["at"])


@aggregate("How old were the customers' accounts at each order in whole weeks, on average by year and quarter?", "orders", """
[{"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
 {"$unwind": "$c"},
 {"$match": {"$expr": {"$gte": ["$placed_at", "$c.signed_up"]}}},
 {"$group": {"_id": {"year": {"$year": "$placed_at"}, "quarter": {"$ceil": {"$divide": [{"$month": "$placed_at"}, 3]}}},
   "weeks": {"$avg": {"$trunc": {"$divide": [{"$subtract": ["$placed_at", "$c.signed_up"]}, 604800000]}}}, "n": {"$sum": 1}}}]""", approximate=True)
def _():
    own = [(o["placed_at"], CUSTOMER[o["customer_id"]]["signed_up"]) for o in ORDERS if o["customer_id"]]
    own = [(t, datetime(d.year, d.month, d.day, tzinfo=UTC) if d else None) for t, d in own]
    found = groups([(t, d) for t, d in own if d is None or t >= d], lambda f: (f[0].year, (f[0].month + 2) // 3))
    return [{"_id": {"year": k[0], "quarter": k[1]}, "weeks": mean(millis(t, d) // 604800000 if d else None for t, d in g), "n": len(g)} for k, g in found]


@aggregate("Which three-letter beginnings do names share, accents and case counting?", "customers", """
[{"$unionWith": {"coll": "products", "pipeline": [{"$project": {"name": 1}}]}},
 {"$group": {"_id": {"$substrCP": ["$name", 0, 3]}, "names": {"$addToSet": "$name"}}},
 {"$match": {"$expr": {"$gt": [{"$size": "$names"}, 1]}}}]""")
def _():
    found = groups([r["name"] for r in CUSTOMERS + PRODUCTS], lambda n: n[:3])
    return [{"_id": k, "names": distinct(g)} for k, g in found if len(distinct(g)) > 1]
