"""Orders and what is in them."""

from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from asked import *


@ask("How many orders are cancelled, written just so?", "count_objects", '{"class_name": "orders", "where": {"status": "cancelled"}}')
def _():
    return {"count": sum(o["status"] == "cancelled" for o in ORDERS)}


@ask("How many orders are teleported?", "count_objects", '{"class_name": "orders", "where": {"status": "teleported"}}')
def _():
    return {"count": 0}


@ask("How many orders were shipped but have no customer, or were placed on 2025-06-15 in UTC?", "count_objects", """
{"class_name": "orders", "where": {"$or": [{"customer_id": null, "shipped_at": {"$exists": true}},
  {"placed_at": {"$gte": "2025-06-15", "$lt": "2025-06-16"}}]}}""")
def _():
    return {"count": sum(o["customer_id"] is None and o["shipped_at"] is not None or o["placed_at"].date().isoformat() == "2025-06-15" for o in ORDERS)}


@ask("How many orders are there of each status, most first?", "group_by", '{"class_name": "orders", "field": "status", "operation": "count", "sort": "value_desc"}')
def _():
    return {"groups": [{"key": k, "value": len(g)} for k, g in ordered(groups(ORDERS, lambda o: o["status"]), desc(lambda p: len(p[1])))]}


@ask("Which five customers have ordered most often?", "group_by", """
{"class_name": "orders", "field": "customer_id", "operation": "count", "where": {"customer_id": {"$exists": true}}, "sort": "value_desc", "limit": 5}""")
def _():
    found = ordered(groups([o for o in ORDERS if o["customer_id"]], lambda o: o["customer_id"]), desc(lambda p: len(p[1])))
    return {"groups": [called(k, CUSTOMER, len(g)) for k, g in found[:5]], "truncated": True}


@ask("Which three products were sold in the greatest number?", "group_by", """
{"class_name": "order_items", "field": "product_id", "operation": "sum", "value_field": "quantity", "sort": "value_desc", "limit": 3}""")
def _():
    found = [(k, sum(i["quantity"] for i in g)) for k, g in groups(ITEMS, lambda i: i["product_id"])]
    return {"groups": [called(k, PRODUCT, n) for k, n in ordered(found, desc(lambda p: p[1]))[:3]], "truncated": True}


@ask("What is the average discount by coupon, orders without one as well?", "group_by", """
{"class_name": "orders", "field": "coupon", "operation": "avg", "value_field": "discount", "sort": "key_asc"}""", approximate=True)
def _():
    return {"groups": [{"key": k, "value": mean(o["discount"] for o in g)} for k, g in groups(ORDERS, lambda o: o["coupon"])]}


@ask("What is the highest price that each product was sold for, the first ten products?", "group_by", """
{"class_name": "order_items", "field": "product_id", "operation": "max", "value_field": "unit_price", "sort": "key_asc", "limit": 10}""")
def _():
    return {"groups": [called(k, PRODUCT, most(i["unit_price"] for i in g)) for k, g in groups(ITEMS, lambda i: i["product_id"])[:10]], "truncated": True}


@ask("What is the smallest discount that was given, status by status, the smallest first?", "group_by", """
{"class_name": "orders", "field": "status", "operation": "min", "value_field": "discount", "where": {"discount": {"$gt": 0}}, "sort": "value_asc"}""")
def _():
    found = [(k, least(o["discount"] for o in g)) for k, g in groups([o for o in ORDERS if (o["discount"] or 0) > 0], lambda o: o["status"])]
    return {"groups": [{"key": k, "value": v} for k, v in ordered(found, lambda p: p[1])]}


def dates(rows, key, value=len):
    return {"groups": [{"key": k, "value": value(g)} for k, g in groups(rows, key)]}


@ask("How many orders were placed in each month, in UTC?", "group_by_date", '{"class_name": "orders", "field": "placed_at", "interval": "month"}')
def _():
    return dates(ORDERS, lambda o: o["placed_at"].strftime("%Y-%m"))


@ask("How many orders were placed in each year, by the clocks of New York?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "year", "timezone": "America/New_York"}""")
def _():
    return dates(ORDERS, lambda o: o["placed_at"].astimezone(NEW_YORK).strftime("%Y"))


@ask("How many orders were placed in each ISO week around both new years, by the clocks of Oslo?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "week", "timezone": "Europe/Oslo",
 "where": {"$or": [{"placed_at": {"$lt": "2025-01-20T00:00:00Z"}}, {"placed_at": {"$gte": "2025-12-20T00:00:00Z"}}]}}""")
def _():
    near = [o for o in ORDERS if o["placed_at"] < instant("2025-01-20T00:00:00Z") or o["placed_at"] >= instant("2025-12-20T00:00:00Z")]
    return dates(near, lambda o: iso_week(o["placed_at"].astimezone(OSLO)))


@ask("How many orders were placed on each day when the clocks of Oslo go forward, empty days too?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "day", "timezone": "Europe/Oslo", "fill": true,
 "where": {"placed_at": {"$gte": "2025-03-20T00:00:00Z", "$lt": "2025-04-10T00:00:00Z"}}}""")
def _():
    near = [o["placed_at"].astimezone(OSLO).date() for o in ORDERS if instant("2025-03-20T00:00:00Z") <= o["placed_at"] < instant("2025-04-10T00:00:00Z")]
    days = [min(near) + timedelta(days=n) for n in range((max(near) - min(near)).days + 1)]
    return {"groups": [{"key": d.isoformat(), "value": near.count(d)} for d in days]}


@ask("How many of the orders that came back were placed in each ISO week of the winter, empty weeks too, over new year?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "week", "fill": true, "where": {"status": "returned", "placed_at": {"$gte": "2025-11-01"}}}""")
def _():
    near = [o["placed_at"].date() for o in ORDERS if o["status"] == "returned" and o["placed_at"] >= instant("2025-11-01T00:00:00Z")]
    weeks = []
    for n in range((max(near) - min(near)).days + 1):
        w = iso_week(min(near) + timedelta(days=n))
        if w not in weeks:
            weeks.append(w)
    if iso_week(max(near)) not in weeks:
        weeks.append(iso_week(max(near)))
    return {"groups": [{"key": w, "value": sum(iso_week(d) == w for d in near)} for w in weeks]}


@ask("What was given as discount in each month by the clocks of New York, the most first?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "month", "timezone": "America/New_York", "operation": "sum", "value_field": "discount",
 "sort": "value_desc"}""")
def _():
    found = [(k, sum(there(o["discount"] for o in g))) for k, g in groups(ORDERS, lambda o: o["placed_at"].astimezone(NEW_YORK).strftime("%Y-%m"))]
    return {"groups": [{"key": k, "value": v} for k, v in ordered(found, desc(lambda p: p[1]))]}


@ask("At which hours of new year's eve 2025 and of the day before were orders placed, by the clocks of India?", "group_by_date", """
{"class_name": "orders", "field": "placed_at", "interval": "hour", "timezone": "+05:30", "where": {"placed_at": {"$gte": "2024-12-30", "$lt": "2025-01-02"}}}""")
def _():
    near = [o for o in ORDERS if instant("2024-12-30T00:00:00Z") <= o["placed_at"] < instant("2025-01-02T00:00:00Z")]
    return dates(near, lambda o: o["placed_at"].astimezone(KOLKATA).strftime("%Y-%m-%d %H:00"))


@ask("Which coupons were used?", "distinct", '{"class_name": "orders", "field": "coupon", "where": {"coupon": {"$exists": true}}}')
def _():
    found = distinct(there(o["coupon"] for o in ORDERS))
    return {"values": found, "count": len(found)}


@ask("Which statuses do orders without a discount have, in descending order?", "distinct", """
{"class_name": "orders", "field": "status", "where": {"discount": null}, "sort": "desc"}""")
def _():
    return {"values": distinct(o["status"] for o in ORDERS if o["discount"] is None)[::-1]}


@aggregate("Which five products brought most money, and what are they called?", "order_items", """
[{"$group": {"_id": "$product_id", "revenue": {"$sum": {"$multiply": ["$quantity", "$unit_price"]}}, "sold": {"$sum": "$quantity"}}},
 {"$sort": {"revenue": -1}},
 {"$limit": 5},
 {"$lookup": {"from": "products", "localField": "_id", "foreignField": "id", "as": "product"}},
 {"$unwind": "$product"},
 {"$project": {"_id": 0, "name": "$product.name", "revenue": 1, "sold": 1}}]""", approximate=True)
def _():
    found = [{"name": PRODUCT[k]["name"], "revenue": sum(revenue(i) for i in g), "sold": sum(i["quantity"] for i in g)} for k, g in groups(ITEMS, lambda i: i["product_id"])]
    return ordered(apart(found, "revenue"), desc(lambda r: r["revenue"]))[:5]


@aggregate("What is the revenue by the country of the customer, two joins away, nobody's orders as well?", "order_items", """
[{"$lookup": {"from": "orders", "localField": "order_id", "foreignField": "id", "as": "order"}},
 {"$unwind": "$order"},
 {"$lookup": {"from": "customers", "localField": "order.customer_id", "foreignField": "id", "as": "customer"}},
 {"$unwind": {"path": "$customer", "preserveNullAndEmptyArrays": true}},
 {"$group": {"_id": "$customer.country", "revenue": {"$sum": {"$multiply": ["$quantity", "$unit_price"]}}, "items": {"$sum": 1}}},
 {"$sort": {"revenue": -1}}]""", approximate=True)
def _():
    country = lambda i: (CUSTOMER.get(ORDER[i["order_id"]]["customer_id"]) or {}).get("country")
    found = [{"_id": k, "revenue": sum(map(revenue, g)), "items": len(g)} for k, g in groups(ITEMS, country)]
    return ordered(apart(found, "revenue"), desc(lambda r: r["revenue"]))


@aggregate("How much of each category did VIP customers buy in 2025, two joins to either side?", "orders", """
[{"$match": {"placed_at": {"$gte": "2025-01-01", "$lt": "2026-01-01"}}},
 {"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
 {"$unwind": "$c"},
 {"$match": {"c.vip": true}},
 {"$lookup": {"from": "order_items", "localField": "id", "foreignField": "order_id", "as": "i"}},
 {"$unwind": "$i"},
 {"$lookup": {"from": "products", "localField": "i.product_id", "foreignField": "id", "as": "p"}},
 {"$unwind": "$p"},
 {"$group": {"_id": "$p.category", "quantity": {"$sum": "$i.quantity"}, "lines": {"$count": {}}}}]""")
def _():
    bought = [i for i in ITEMS if ORDER[i["order_id"]]["placed_at"].year == 2025 and (CUSTOMER.get(ORDER[i["order_id"]]["customer_id"]) or {}).get("vip")]
    return [{"_id": k, "quantity": sum(i["quantity"] for i in g), "lines": len(g)} for k, g in groups(bought, lambda i: PRODUCT[i["product_id"]]["category"])]


@aggregate("What is the revenue of delivered orders in each month, by the clocks of Oslo?", "orders", """
[{"$match": {"status": "delivered"}},
 {"$lookup": {"from": "order_items", "localField": "id", "foreignField": "order_id", "as": "item"}},
 {"$unwind": "$item"},
 {"$group": {"_id": {"$dateToString": {"date": "$placed_at", "format": "%Y-%m", "timezone": "Europe/Oslo"}},
   "revenue": {"$sum": {"$multiply": ["$item.quantity", "$item.unit_price"]}}}}]""", approximate=True)
def _():
    sold = [i for i in ITEMS if ORDER[i["order_id"]]["status"] == "delivered"]
    month = lambda i: ORDER[i["order_id"]]["placed_at"].astimezone(OSLO).strftime("%Y-%m")
    return [{"_id": k, "revenue": sum(map(revenue, g))} for k, g in groups(sold, month)]


@aggregate("What percent of all orders has each status? (all pushed into one record and unwound)", "orders", """
[{"$group": {"_id": "$status", "n": {"$sum": 1}}},
 {"$group": {"_id": null, "total": {"$sum": "$n"}, "parts": {"$push": {"status": "$_id", "n": "$n"}}}},
 {"$unwind": "$parts"},
 {"$project": {"_id": 0, "status": "$parts.status", "percent": {"$multiply": [100, {"$divide": ["$parts.n", "$total"]}]}}}]""", approximate=True)
def _():
    return [{"status": k, "percent": ratio(100 * len(g), len(ORDERS))} for k, g in groups(ORDERS, lambda o: o["status"])]


@aggregate("What share of the items came with each quantity? (total and parts by facet)", "order_items", """
[{"$facet": {"total": [{"$count": "n"}], "parts": [{"$group": {"_id": "$quantity", "n": {"$sum": 1}}}]}},
 {"$unwind": "$total"},
 {"$unwind": "$parts"},
 {"$project": {"quantity": "$parts._id", "share": {"$divide": ["$parts.n", "$total.n"]}}}]""", approximate=True)
def _():
    return [{"quantity": k, "share": ratio(len(g), len(ITEMS))} for k, g in groups(ITEMS, lambda i: i["quantity"])]


@aggregate("How many orders have nothing in them?", "orders", """
[{"$lookup": {"from": "order_items", "localField": "id", "foreignField": "order_id", "as": "items"}},
 {"$match": {"items": {"$size": 0}}},
 {"$count": "empty"}]""")
def _():
    return [{"empty": sum(all(i["order_id"] != o["id"] for i in ITEMS) for o in ORDERS)}]


@aggregate("How many pieces does an order have, at least, at most and on average? (groups of groups)", "order_items", """
[{"$group": {"_id": "$order_id", "pieces": {"$sum": "$quantity"}}},
 {"$group": {"_id": null, "orders": {"$sum": 1}, "least": {"$min": "$pieces"}, "most": {"$max": "$pieces"}, "mean": {"$avg": "$pieces"}}}]""", approximate=True)
def _():
    pieces = [sum(i["quantity"] for i in g) for _, g in groups(ITEMS, lambda i: i["order_id"])]
    return [{"_id": None, "orders": len(pieces), "least": min(pieces), "most": max(pieces), "mean": mean(pieces)}]


@aggregate("What is the middle price of all items sold? (sorted, skipped, limited)", "order_items", """
[{"$sort": {"unit_price": 1}}, {"$skip": 179}, {"$limit": 1}, {"$project": {"median": "$unit_price"}}]""")
def _():
    assert len(ITEMS) == 359
    return [{"median": sorted(i["unit_price"] for i in ITEMS)[179]}]


@aggregate("When did the customers 1 to 8 order first and last, and with what status?", "orders", """
[{"$match": {"customer_id": {"$in": [1, 2, 3, 4, 5, 6, 7, 8]}}},
 {"$sort": {"placed_at": 1}},
 {"$group": {"_id": "$customer_id", "first": {"$first": "$placed_at"}, "opened_with": {"$first": "$status"}, "last": {"$last": "$placed_at"},
   "ended_with": {"$last": "$status"}, "coupon": {"$last": "$coupon"}}}]""")
def _():
    out = []
    for k, g in groups([o for o in ORDERS if o["customer_id"] in range(1, 9)], lambda o: o["customer_id"]):
        g = ordered(g, lambda o: o["placed_at"])
        out.append({"_id": ident(k), "first": g[0]["placed_at"], "opened_with": g[0]["status"], "last": g[-1]["placed_at"], "ended_with": g[-1]["status"], "coupon": g[-1]["coupon"]})
    return out


@aggregate("At which hour of the day do orders come in, by the clocks of Oslo, the busiest six?", "orders", """
[{"$group": {"_id": {"$hour": {"date": "$placed_at", "timezone": "Europe/Oslo"}}, "n": {"$sum": 1}}}, {"$sort": {"n": -1, "_id": 1}}, {"$limit": 6}]""")
def _():
    found = groups(ORDERS, lambda o: o["placed_at"].astimezone(OSLO).hour)
    return [{"_id": k, "n": len(g)} for k, g in ordered(found, desc(lambda p: len(p[1])))[:6]]


@aggregate("On which weekday do orders come in, by the clocks of New York, with Monday as 1 and Sunday as 1?", "orders", """
[{"$group": {"_id": {"iso": {"$isoDayOfWeek": {"date": "$placed_at", "timezone": "America/New_York"}},
   "us": {"$dayOfWeek": {"date": "$placed_at", "timezone": "America/New_York"}}}, "n": {"$sum": 1}}}]""")
def _():
    day = lambda o: o["placed_at"].astimezone(NEW_YORK).isoweekday()
    return [{"_id": {"iso": k, "us": k % 7 + 1}, "n": len(g)} for k, g in groups(ORDERS, day)]


@aggregate("How many orders fell into each ISO week and ISO year around new year, in UTC?", "orders", """
[{"$match": {"$or": [{"placed_at": {"$lt": "2025-01-13"}}, {"placed_at": {"$gte": "2025-12-22"}}]}},
 {"$group": {"_id": {"year": {"$isoWeekYear": "$placed_at"}, "week": {"$isoWeek": "$placed_at"}}, "n": {"$sum": 1},
   "calendar": {"$addToSet": {"$year": "$placed_at"}}}},
 {"$sort": {"_id.year": -1, "_id.week": 1}}]""")
def _():
    near = [o["placed_at"] for o in ORDERS if o["placed_at"] < instant("2025-01-13T00:00:00Z") or o["placed_at"] >= instant("2025-12-22T00:00:00Z")]
    found = ordered(groups(near, lambda t: t.isocalendar()[:2]), desc(lambda p: p[0][0]), lambda p: p[0][1])
    return [{"_id": {"year": k[0], "week": k[1]}, "n": len(g), "calendar": distinct(t.year for t in g)} for k, g in found]


@aggregate("After how many calendar days of Oslo were orders shipped?", "orders", """
[{"$match": {"shipped_at": {"$ne": null}}},
 {"$group": {"_id": {"$dateDiff": {"startDate": "$placed_at", "endDate": "$shipped_at", "unit": "day", "timezone": "Europe/Oslo"}}, "n": {"$sum": 1}}}]""")
def _():
    days = lambda o: (o["shipped_at"].astimezone(OSLO).date() - o["placed_at"].astimezone(OSLO).date()).days
    return [{"_id": k, "n": len(g)} for k, g in groups([o for o in ORDERS if o["shipped_at"]], days)]


@aggregate("How many hours does shipping take, on average and at most, by status?", "orders", """
[{"$group": {"_id": "$status", "mean": {"$avg": {"$divide": [{"$subtract": ["$shipped_at", "$placed_at"]}, 3600000]}},
   "longest": {"$max": {"$subtract": ["$shipped_at", "$placed_at"]}}}}]""", approximate=True)
def _():
    out = []
    for k, g in groups(ORDERS, lambda o: o["status"]):
        took = there(millis(o["shipped_at"], o["placed_at"]) for o in g)
        out.append({"_id": k, "mean": mean(Fraction(t, 3600000) for t in took), "longest": most(took)})
    return out


@aggregate("How many orders have a discount of what size?", "orders", """
[{"$bucket": {"groupBy": "$discount", "boundaries": [0, 0.5, 5.25, 100], "default": -1, "output": {"n": {"$sum": 1}, "sum": {"$sum": "$discount"}}}}]""")
def _():
    edges = [0, 0.5, 5.25, 100]
    bucket = lambda d: -1 if d is None or d < 0 or d >= 100 else max(e for e in edges if e <= d)
    return [{"_id": k, "n": len(g), "sum": sum(there(o["discount"] for o in g))} for k, g in groups(ORDERS, lambda o: bucket(o["discount"]))]


@aggregate("How many discounts are from 0.25 and below 5.25, and from there below 10?", "orders", """
[{"$match": {"discount": {"$gte": 0.25, "$lt": 10}}}, {"$bucket": {"groupBy": "$discount", "boundaries": [0.25, 5.25, 10]}}]""")
def _():
    some = [o["discount"] for o in ORDERS if o["discount"] is not None and 0.25 <= o["discount"] < 10]
    return [{"_id": k, "count": len(g)} for k, g in groups(some, lambda d: 0.25 if d < 5.25 else 5.25)]


@aggregate("Into which four price ranges do the items fall, about as many in each?", "order_items", """
[{"$bucketAuto": {"groupBy": "$unit_price", "buckets": 4, "output": {"n": {"$sum": 1}, "pieces": {"$sum": "$quantity"}}}}]""")
def _():
    prices = sorted(i["unit_price"] for i in ITEMS)
    n, found = len(prices), {}
    for i in ITEMS:
        found.setdefault(sum(p < i["unit_price"] for p in prices) * 4 // n, []).append(i)
    numbers, out = sorted(found), []
    for at, number in enumerate(numbers):
        g = found[number]
        upto = found[numbers[at + 1]] if at + 1 < len(numbers) else None
        top = least(i["unit_price"] for i in upto) if upto else most(i["unit_price"] for i in g)
        out.append({"_id": {"min": least(i["unit_price"] for i in g), "max": top}, "n": len(g), "pieces": sum(i["quantity"] for i in g)})
    return out


@aggregate("Which coupons are used most, no coupon as well?", "orders", '[{"$sortByCount": "$coupon"}]')
def _():
    return [{"_id": k, "count": len(g)} for k, g in ordered(groups(ORDERS, lambda o: o["coupon"]), desc(lambda p: len(p[1])))]


@aggregate("Which coupons are used most when neither case nor spaces count?", "orders", """
[{"$match": {"coupon": {"$exists": true}}}, {"$sortByCount": {"$toUpper": {"$trim": {"input": "$coupon"}}}}]""")
def _():
    found = groups([o for o in ORDERS if o["coupon"] is not None], lambda o: upper(o["coupon"].strip()))
    return [{"_id": k, "count": len(g)} for k, g in ordered(found, desc(lambda p: len(p[1])))]


@aggregate("How many orders are small, medium and large by their revenue?", "order_items", """
[{"$group": {"_id": "$order_id", "total": {"$sum": {"$multiply": ["$quantity", "$unit_price"]}}}},
 {"$group": {"_id": {"$switch": {"branches": [{"case": {"$lt": ["$total", 60]}, "then": "small"}, {"case": {"$lt": ["$total", 410]}, "then": "medium"}], "default": "large"}},
   "orders": {"$sum": 1}}},
 {"$sort": {"orders": -1}}]""")
def _():
    totals = [sum(map(revenue, g)) for _, g in groups(ITEMS, lambda i: i["order_id"])]
    assert all(abs(t - edge) > 0.001 for t in totals for edge in (60, 410))
    found = groups(totals, lambda t: "small" if t < 60 else "medium" if t < 410 else "large")
    return [{"_id": k, "orders": len(g)} for k, g in ordered(found, desc(lambda p: len(p[1])))]


@aggregate("What is the average discount, none as nothing and none as 0?", "orders", """
[{"$group": {"_id": null, "of_those_given": {"$avg": "$discount"}, "of_all": {"$avg": {"$ifNull": ["$discount", 0]}}, "given": {"$sum": {"$cond": [{"$gt": ["$discount", 0]}, 1, 0]}}}}]""", approximate=True)
def _():
    d = [o["discount"] for o in ORDERS]
    return [{"_id": None, "of_those_given": mean(d), "of_all": mean(x or 0 for x in d), "given": sum((x or 0) > 0 for x in d)}]


@aggregate("Which customers have ordered more than six times? (having)", "orders", """
[{"$match": {"customer_id": {"$ne": null}}}, {"$group": {"_id": "$customer_id", "n": {"$sum": 1}}}, {"$match": {"n": {"$gt": 6}}}]""")
def _():
    return [{"_id": ident(k), "n": len(g)} for k, g in groups([o for o in ORDERS if o["customer_id"]], lambda o: o["customer_id"]) if len(g) > 6]


@aggregate("When were the orders 20 to 30 placed, as a Norwegian writes it?", "orders", """
[{"$match": {"id": {"$gte": 20, "$lte": 30}}},
 {"$project": {"id": 1, "at": {"$dateToString": {"date": "$placed_at", "format": "%d.%m.%Y %H:%M:%S", "timezone": "Europe/Oslo"}}}}]""")
def _():
    return [{"id": ident(o["id"]), "at": o["placed_at"].astimezone(OSLO).strftime("%d.%m.%Y %H:%M:%S")} for o in ORDERS if 20 <= o["id"] <= 30]


@aggregate("How many orders came in the weeks of autumn that begin on Monday in Oslo, on Sunday in New York?", "orders", """
[{"$match": {"placed_at": {"$gte": "2025-10-15", "$lt": "2025-11-15"}}},
 {"$group": {"_id": {"oslo": {"$dateTrunc": {"date": "$placed_at", "unit": "week", "timezone": "Europe/Oslo", "startOfWeek": "monday"}},
   "new_york": {"$dateTrunc": {"date": "$placed_at", "unit": "week", "timezone": "America/New_York"}}}, "n": {"$sum": 1}}}]""")
def _():
    def begins(t, zone, first):
        local = t.astimezone(zone)
        d = local.date() - timedelta(days=(local.weekday() - first) % 7)
        return datetime(d.year, d.month, d.day, tzinfo=zone).astimezone(UTC)

    near = [o["placed_at"] for o in ORDERS if instant("2025-10-15T00:00:00Z") <= o["placed_at"] < instant("2025-11-15T00:00:00Z")]
    found = groups(near, lambda t: (begins(t, OSLO, 0), begins(t, NEW_YORK, 6)))
    return [{"_id": {"oslo": k[0], "new_york": k[1]}, "n": len(g)} for k, g in found]


@aggregate("How do orders trend by quarter, in New York?", "orders", """
[{"$group": {"_id": {"$dateTrunc": {"date": "$placed_at", "unit": "quarter", "timezone": "America/New_York"}}, "n": {"$sum": 1}, "discount": {"$sum": "$discount"}}}]""")
def _():
    def quarter(o):
        t = o["placed_at"].astimezone(NEW_YORK)
        return datetime(t.year, (t.month - 1) // 3 * 3 + 1, 1, tzinfo=NEW_YORK).astimezone(UTC)

    return [{"_id": k, "n": len(g), "discount": sum(there(o["discount"] for o in g))} for k, g in groups(ORDERS, quarter)]


@aggregate("By when must the first 24 orders be paid: a month later on the calendar of Oslo?", "orders", """
[{"$match": {"id": {"$lte": 24}}},
 {"$project": {"due": {"$dateAdd": {"startDate": "$placed_at", "unit": "month", "amount": 1, "timezone": "Europe/Oslo"}}}}]""")
def _():
    def due(t):
        t = t.astimezone(OSLO)
        year, month = (t.year, t.month + 1) if t.month < 12 else (t.year + 1, 1)
        last = 31
        while True:
            try:
                return t.replace(year=year, month=month, day=min(t.day, last), fold=0).astimezone(UTC)
            except ValueError:
                last -= 1

    return [{"due": due(o["placed_at"])} for o in ORDERS if o["id"] <= 24]


@ask("How many orders are of VIP customers?", "count_objects", """
{"class_name": "orders", "where": {"customer_id": {"$inQuery": {"className": "customers", "where": {"vip": true}}}}}""")
def _():
    return {"count": sum(bool((CUSTOMER.get(o["customer_id"]) or {}).get("vip")) for o in ORDERS)}


@ask("How many orders are of nobody or of customers outside of Norway?", "count_objects", """
{"class_name": "orders", "where": {"customer_id": {"$notInQuery": {"className": "customers", "where": {"country": "NO"}}}}}""")
def _():
    return {"count": sum((CUSTOMER.get(o["customer_id"]) or {}).get("country") != "NO" for o in ORDERS)}


@aggregate("Which statuses do the orders have that hold a gift card, by the items?", "orders", """
[{"$match": {"id": {"$select": {"query": {"className": "order_items", "where": {"product_id": 24}}, "key": "order_id"}}}},
 {"$group": {"_id": "$status", "n": {"$sum": 1}}}]""")
def _():
    with_card = {i["order_id"] for i in ITEMS if i["product_id"] == 24}
    return [{"_id": k, "n": len(g)} for k, g in groups([o for o in ORDERS if o["id"] in with_card], lambda o: o["status"])]


@aggregate("Orders at a glance: by status, the newest three, and how many have a coupon. (three facets)", "orders", """
[{"$facet": {
   "by_status": [{"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}, {"$limit": 3}],
   "newest": [{"$sort": {"placed_at": -1}}, {"$limit": 3}, {"$project": {"id": 1, "placed_at": 1}}],
   "with_coupon": [{"$match": {"coupon": {"$exists": true}}}, {"$count": "n"}],
   "impossible": [{"$match": {"status": "teleported"}}]}}]""")
def _():
    by = ordered(groups(ORDERS, lambda o: o["status"]), desc(lambda p: len(p[1])))[:3]
    newest = ordered(ORDERS, desc(lambda o: o["placed_at"]))[:3]
    return [{"by_status": [{"_id": k, "n": len(g)} for k, g in by], "newest": [{"id": ident(o["id"]), "placed_at": iso(o["placed_at"])} for o in newest],
             "with_coupon": [{"n": sum(o["coupon"] is not None for o in ORDERS)}], "impossible": []}]


@aggregate("What is the largest order of each VIP customer, by revenue?", "orders", """
[{"$match": {"customer_id": {"$inQuery": {"className": "customers", "where": {"vip": true}}}}},
 {"$lookup": {"from": "order_items", "localField": "id", "foreignField": "order_id", "as": "i"}},
 {"$unwind": "$i"},
 {"$group": {"_id": {"customer": "$customer_id", "order": "$id"}, "total": {"$sum": {"$multiply": ["$i.quantity", "$i.unit_price"]}}}},
 {"$sort": {"total": -1}},
 {"$group": {"_id": "$_id.customer", "order": {"$first": "$_id.order"}, "total": {"$first": {"$round": ["$total", 2]}}}}]""", approximate=True)
def _():
    out = []
    for c in CUSTOMERS:
        totals = [(o["id"], sum(revenue(i) for i in ITEMS if i["order_id"] == o["id"])) for o in ORDERS if c["vip"] and o["customer_id"] == c["id"]]
        totals = [t for t in totals if any(i["order_id"] == t[0] for i in ITEMS)]
        if totals:
            best = ordered(apart(totals, 1), desc(lambda t: t[1]))[0]
            out.append({"_id": ident(c["id"]), "order": ident(best[0]), "total": best[1]})
    return out


@aggregate("Which statuses and coupons has each of the customers 1 to 6 had?", "orders", """
[{"$match": {"customer_id": {"$lte": 6}}},
 {"$group": {"_id": "$customer_id", "statuses": {"$addToSet": "$status"}, "coupons": {"$addToSet": "$coupon"}}}]""")
def _():
    return [{"_id": ident(k), "statuses": distinct(o["status"] for o in g), "coupons": distinct(o["coupon"] for o in g)}
            for k, g in groups([o for o in ORDERS if (o["customer_id"] or 99) <= 6], lambda o: o["customer_id"])]


@aggregate("How far do discounts vary, by status?", "orders", """
[{"$group": {"_id": "$status", "population": {"$stdDevPop": "$discount"}, "sample": {"$stdDevSamp": "$discount"}}}]""", approximate=True)
def _():
    return [{"_id": k, "population": deviation(o["discount"] for o in g), "sample": deviation((o["discount"] for o in g), 1)} for k, g in groups(ORDERS, lambda o: o["status"])]


@aggregate("What is the sum of all unit prices, to the last digit?", "order_items", '[{"$group": {"_id": null, "sum": {"$sum": "$unit_price"}, "n": {"$count": {}}}}]')
def _():
    return [{"_id": None, "sum": sum(i["unit_price"] for i in ITEMS), "n": len(ITEMS)}]


@aggregate("What does one get by dividing discounts by themselves, and orders' numbers by a remainder?", "orders", """
[{"$match": {"id": {"$lte": 12}}},
 {"$project": {"one": {"$divide": ["$discount", "$discount"]}, "odd": {"$divide": ["$discount", {"$mod": [{"$toInt": "$id"}, 3]}]}}}]""", approximate=True)
def _():
    return [{"one": ratio(o["discount"], o["discount"]), "odd": ratio(o["discount"], o["id"] % 3)} for o in ORDERS if o["id"] <= 12]


@aggregate("What are the two newest orders of the customers 1 to 4? (lookup with a pipeline and let)", "customers", """
[{"$match": {"id": {"$lte": 4}}},
 {"$lookup": {"from": "orders", "let": {"who": "$id"}, "as": "newest", "pipeline": [
   {"$match": {"$expr": {"$eq": ["$customer_id", "$$who"]}}}, {"$sort": {"placed_at": -1}}, {"$limit": 2}, {"$project": {"status": 1, "placed_at": 1}}]}},
 {"$project": {"name": 1, "newest": 1}}]""")
def _():
    out = []
    for c in CUSTOMERS[:4]:
        own = ordered([o for o in ORDERS if o["customer_id"] == c["id"]], desc(lambda o: o["placed_at"]))[:2]
        out.append({"name": c["name"], "newest": [{"status": o["status"], "placed_at": iso(o["placed_at"])} for o in own]})
    return out


@aggregate("What would the customers 1 to 5 have paid per order had nothing below 20 been sold? (correlated sums)", "customers", """
[{"$match": {"id": {"$in": [1, 2, 3, 4, 5]}}},
 {"$lookup": {"from": "orders", "localField": "id", "foreignField": "customer_id", "as": "o", "pipeline": [
   {"$lookup": {"from": "order_items", "let": {"order": "$id"}, "as": "i", "pipeline": [
     {"$match": {"$expr": {"$and": [{"$eq": ["$order_id", "$$order"]}, {"$gte": ["$unit_price", 20]}]}}}]}},
   {"$unwind": "$i"},
   {"$group": {"_id": null, "paid": {"$sum": {"$multiply": ["$i.quantity", "$i.unit_price"]}}}}]}},
 {"$addFields": {"o": {"$arrayElemAt": ["$o", 0]}}},
 {"$project": {"id": 1, "paid": "$o.paid"}}]""", approximate=True)
def _():
    out = []
    for c in CUSTOMERS[:5]:
        own = [revenue(i) for i in ITEMS if ORDER[i["order_id"]]["customer_id"] == c["id"] and i["unit_price"] >= 20]
        out.append({"id": ident(c["id"]), "paid": sum(own) if own else None})
    return out


@aggregate("How many orders does a sample of 25 have?", "orders", '[{"$sample": {"size": 25}}, {"$count": "n"}]')
def _():
    return [{"n": 25}]


@aggregate("How many orders are left when those with a discount above 10 are redacted?", "orders", """
[{"$redact": {"$cond": [{"$gt": ["$discount", 10]}, "$$PRUNE", "$$KEEP"]}}, {"$count": "n"}]""")
def _():
    return [{"n": sum(not (o["discount"] or 0) > 10 for o in ORDERS)}]


@aggregate("How many customers have ordered how often?", "orders", """
[{"$match": {"customer_id": {"$exists": true}}}, {"$sortByCount": "$customer_id"}, {"$group": {"_id": "$count", "customers": {"$sum": 1}}}, {"$sort": {"_id": -1}}]""")
def _():
    often = [len(g) for _, g in groups([o for o in ORDERS if o["customer_id"]], lambda o: o["customer_id"])]
    return [{"_id": k, "customers": len(g)} for k, g in groups(often, lambda n: n)[::-1]]


@aggregate("Which two products are most often in one order together?", "order_items", """
[{"$lookup": {"from": "order_items", "localField": "order_id", "foreignField": "order_id", "as": "other"}},
 {"$unwind": "$other"},
 {"$match": {"$expr": {"$lt": ["$product_id", "$other.product_id"]}}},
 {"$group": {"_id": {"a": "$product_id", "b": "$other.product_id"}, "n": {"$sum": 1}}},
 {"$sort": {"n": -1}},
 {"$limit": 5}]""")
def _():
    pairs = [(i["product_id"], j["product_id"]) for i in ITEMS for j in ITEMS if i["order_id"] == j["order_id"] and i["product_id"] < j["product_id"]]
    found = ordered(groups(pairs, lambda p: p), desc(lambda p: len(p[1])))[:5]
    return [{"_id": {"a": ident(k[0]), "b": ident(k[1])}, "n": len(g)} for k, g in found]


@aggregate("How many orders, and what sum, have discounts that no one has? (nothing counted, nothing summed)", "orders", """
[{"$match": {"discount": {"$gt": 1000}}}, {"$group": {"_id": null, "n": {"$sum": 1}, "sum": {"$sum": "$discount"}}}]""")
def _():
    return []


@aggregate("What is the average discount of orders that never had one? (the average of nothing)", "orders", """
[{"$match": {"discount": null}}, {"$group": {"_id": null, "mean": {"$avg": "$discount"}, "sum": {"$sum": "$discount"}, "least": {"$min": "$discount"},
   "deviation": {"$stdDevPop": "$discount"}, "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": None, "mean": None, "sum": 0, "least": None, "deviation": None, "n": sum(o["discount"] is None for o in ORDERS)}]


@aggregate("How many orders were placed on another day in Oslo than in New York?", "orders", """
[{"$match": {"$expr": {"$ne": [{"$dateToString": {"date": "$placed_at", "format": "%Y-%m-%d", "timezone": "Europe/Oslo"}},
   {"$dateToString": {"date": "$placed_at", "format": "%Y-%m-%d", "timezone": "America/New_York"}}]}}},
 {"$count": "n"}]""")
def _():
    return [{"n": sum(o["placed_at"].astimezone(OSLO).date() != o["placed_at"].astimezone(NEW_YORK).date() for o in ORDERS)}]


@aggregate("How many orders are teleported? (a count of nothing is 0)", "orders", '[{"$match": {"status": "teleported"}}, {"$count": "n"}]')
def _():
    return [{"n": 0}]


@aggregate("At which hour were orders placed while clocks went back, in Oslo and New York, and how long after the first of them?", "orders", """
[{"$match": {"placed_at": {"$gte": "2025-10-25T21:00:00Z", "$lt": "2025-11-02T12:00:00Z"}}},
 {"$sort": {"placed_at": 1}},
 {"$project": {"id": 1, "oslo": {"$dateTrunc": {"date": "$placed_at", "unit": "hour", "timezone": "Europe/Oslo"}},
   "clock": {"$dateToString": {"date": "$placed_at", "format": "%H:%M", "timezone": "Europe/Oslo"}},
   "day": {"$dateTrunc": {"date": "$placed_at", "unit": "day", "timezone": "America/New_York"}},
   "hours": {"$dateDiff": {"startDate": {"$toDate": "2025-10-25T22:00:00Z"}, "endDate": "$placed_at", "unit": "hour", "timezone": "Europe/Oslo"}},
   "days": {"$dateDiff": {"startDate": {"$toDate": "2025-10-25T22:00:00Z"}, "endDate": "$placed_at", "unit": "day", "timezone": "Europe/Oslo"}},
   "tomorrow": {"$dateAdd": {"startDate": "$placed_at", "unit": "day", "amount": 1, "timezone": "America/New_York"}}}}]""")
def _():
    near = [o for o in ORDERS if instant("2025-10-25T21:00:00Z") <= o["placed_at"] < instant("2025-11-02T12:00:00Z")]
    first, out = instant("2025-10-25T22:00:00Z"), []
    for o in ordered(near, lambda o: o["placed_at"]):
        t, there = o["placed_at"], o["placed_at"].astimezone(NEW_YORK)
        hour = t.replace(minute=0, second=0, microsecond=0)  # both zones are whole hours from UTC
        tomorrow = (there.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=NEW_YORK, fold=0)
        out.append({"id": ident(o["id"]), "oslo": hour, "clock": t.astimezone(OSLO).strftime("%H:%M"), "day": day_start(t, NEW_YORK), "hours": (hour - first) // timedelta(hours=1),
                    "days": (t.astimezone(OSLO).date() - first.astimezone(OSLO).date()).days, "tomorrow": tomorrow.astimezone(UTC)})
    return out


@aggregate("What is a week after 02:30 where the clocks skip it, and a day after 01:30 where they show it twice?", "orders", """
[{"$match": {"id": 1}},
 {"$project": {
   "skipped": {"$dateAdd": {"startDate": {"$toDate": "2025-03-02T07:30:00Z"}, "unit": "week", "amount": 1, "timezone": "America/New_York"}},
   "twice": {"$dateAdd": {"startDate": {"$toDate": "2025-11-01T05:30:00Z"}, "unit": "day", "amount": 1, "timezone": "America/New_York"}},
   "leap": {"$dateAdd": {"startDate": {"$toDate": "2024-02-29T12:00:00Z"}, "unit": "year", "amount": 1}},
   "back": {"$dateSubtract": {"startDate": {"$toDate": "2025-03-31T00:00:00Z"}, "unit": "month", "amount": 1}}}}]""")
def _():
    clock = lambda *parts: datetime(*parts, tzinfo=NEW_YORK, fold=0).astimezone(UTC)
    return [{"skipped": clock(2025, 3, 9, 2, 30), "twice": clock(2025, 11, 2, 1, 30), "leap": instant("2025-02-28T12:00:00Z"), "back": instant("2025-02-28T00:00:00Z")}]


@ask("Which are the five orders with the greatest discount, the oldest of the same first?", "query_class", """
{"class_name": "orders", "where": {"discount": {"$gte": 5.25}, "coupon": {"$nin": ["SAVE10", null]}}, "keys": ["discount", "coupon"], "order": "-discount,placed_at", "limit": 5}""")
def _():
    found = [o for o in ORDERS if (o["discount"] or 0) >= 5.25 and o["coupon"] not in ("SAVE10", None)]
    found = ordered(found, desc(lambda o: o["discount"]), lambda o: o["placed_at"])
    return {"results": [{"id": ident(o["id"]), "discount": o["discount"], "coupon": o["coupon"]} for o in found[:5]], "has_more": len(found) > 5}


@aggregate("Which orders are on the second page of ten by discount, the unknown last, by status within?", "orders", """
[{"$sort": {"discount": -1, "status": 1}}, {"$skip": 10}, {"$limit": 10}, {"$project": {"id": 1, "discount": 1, "status": 1}}]""")
def _():
    found = ordered(ORDERS, desc(lambda o: o["discount"]), lambda o: o["status"])[10:20]
    return [{"id": ident(o["id"]), "discount": o["discount"], "status": o["status"]} for o in found]


@aggregate("How many orders have a customer who is there? (null leads nowhere)", "orders", """
[{"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}}, {"$group": {"_id": {"$size": "$c"}, "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups(ORDERS, lambda o: sum(c["id"] == o["customer_id"] for c in CUSTOMERS))]
