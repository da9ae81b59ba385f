"""Issues: how many, how long, by whom."""

from datetime import timedelta
from fractions import Fraction

from asked import *


def took(i):
    return millis(i["closed_at"], i["opened_at"])


@ask("How many issues of each project are open?", "group_by", """
{"class_name": "issues", "field": "project", "operation": "count", "where": {"status": "open"}, "sort": "value_desc"}""")
def _():
    found = groups([i for i in ISSUES if i["status"] == "open"], lambda i: i["project"])
    return {"groups": [{"key": k, "value": len(g)} for k, g in ordered(found, desc(lambda f: len(f[1])))]}


@ask("What is the sum of estimates of each assignee, nobody's as well, the most first?", "group_by", """
{"class_name": "issues", "field": "assignee_id", "operation": "sum", "value_field": "estimate", "sort": "value_desc"}""")
def _():
    found = [(k, sum(there(i["estimate"] for i in g))) for k, g in groups(ISSUES, lambda i: i["assignee_id"])]
    return {"groups": [called(k, EMPLOYEE, v) for k, v in ordered(found, desc(lambda f: f[1]))]}


@ask("How many issues were closed in each week of Oslo, empty weeks too?", "group_by_date", """
{"class_name": "issues", "field": "closed_at", "interval": "week", "timezone": "Europe/Oslo", "where": {"closed_at": {"$exists": true}}, "fill": true}""")
def _():
    days = [i["closed_at"].astimezone(OSLO).date() for i in ISSUES if i["closed_at"]]
    monday = min(days) - timedelta(days=min(days).weekday())
    out = []
    while monday <= max(days):
        out.append({"key": iso_week(monday), "value": sum(iso_week(d) == iso_week(monday) for d in days)})
        monday += timedelta(days=7)
    return {"groups": out}


@ask("What was the average estimate of what was opened in each month, the null of months without any?", "group_by_date", """
{"class_name": "issues", "field": "opened_at", "interval": "month", "operation": "avg", "value_field": "estimate", "where": {"project": {"$in": ["ops", "APP"]}}}""", approximate=True)
def _():
    found = groups([i for i in ISSUES if i["project"] in ("ops", "APP")], lambda i: i["opened_at"].strftime("%Y-%m"))
    return {"groups": [{"key": k, "value": mean(i["estimate"] for i in g)} for k, g in found]}


@ask("How many issues were open at the end of June?", "count_objects", """
{"class_name": "issues", "where": {"opened_at": {"$lt": "2025-07-01T00:00:00+02:00"}, "$or": [{"closed_at": null}, {"closed_at": {"$gte": "2025-07-01T00:00:00+02:00"}}]}}""")
def _():
    end = instant("2025-06-30T22:00:00Z")
    return {"count": sum(i["opened_at"] < end and (i["closed_at"] is None or i["closed_at"] >= end) for i in ISSUES)}


@ask("Which issues of the project WEB are bugs of the web's user interface, newest first?", "query_class", """
{"class_name": "issues", "where": {"id": {"$startsWith": "WEB-"}, "labels": {"$all": ["ui", "bug"]}}, "keys": ["id", "labels"], "order": "-opened_at"}""")
def _():
    found = [i for i in ISSUES if i["id"].startswith("WEB-") and {"ui", "bug"} <= set(i["labels"] or [])]
    return {"results": [{"id": i["id"], "labels": i["labels"]} for i in ordered(found, desc(lambda i: i["opened_at"]))]}


@aggregate("How many issues does each project have in each status, and of which priorities?", "issues", """
[{"$group": {"_id": {"project": "$project", "status": "$status"}, "n": {"$sum": 1}, "priorities": {"$addToSet": "$priority"}}}]""")
def _():
    found = groups(ISSUES, lambda i: (i["project"], i["status"]))
    return [{"_id": {"project": k[0], "status": k[1]}, "n": len(g), "priorities": distinct(i["priority"] for i in g)} for k, g in found]


@aggregate("How long does it take to close an issue, by priority, in hours?", "issues", """
[{"$match": {"closed_at": {"$ne": null}}},
 {"$project": {"priority": 1, "hours": {"$divide": [{"$subtract": ["$closed_at", "$opened_at"]}, 3600000]}}},
 {"$group": {"_id": "$priority", "mean": {"$avg": "$hours"}, "least": {"$min": "$hours"}, "most": {"$max": "$hours"}, "n": {"$sum": 1}}}]""", approximate=True)
def _():
    out = []
    for k, g in groups([i for i in ISSUES if i["closed_at"]], lambda i: i["priority"]):
        hours = [Fraction(took(i), 3600000) for i in g]
        out.append({"_id": k, "mean": mean(hours), "least": float(min(hours)), "most": float(max(hours)), "n": len(g)})
    return out


@aggregate("What is the middle time to close an issue, in minutes?", "issues", """
[{"$match": {"closed_at": {"$exists": true}}},
 {"$project": {"id": 1, "minutes": {"$dateDiff": {"startDate": "$opened_at", "endDate": "$closed_at", "unit": "minute"}}}},
 {"$sort": {"minutes": 1}}, {"$skip": 20}, {"$limit": 2}]""")
def _():
    def minute(t):
        return t.replace(second=0, microsecond=0)

    closed = [{"id": i["id"], "minutes": millis(minute(i["closed_at"]), minute(i["opened_at"])) // 60000} for i in ISSUES if i["closed_at"]]
    return ordered(closed, lambda r: r["minutes"])[20:22]


@aggregate("How many issues were opened and closed in each month, side by side?", "issues", """
[{"$project": {"month": {"$dateToString": {"date": "$opened_at", "format": "%Y-%m"}}, "opened": {"$literal": 1}, "closed": {"$literal": 0}}},
 {"$unionWith": {"coll": "issues", "pipeline": [{"$match": {"closed_at": {"$ne": null}}},
   {"$project": {"month": {"$dateToString": {"date": "$closed_at", "format": "%Y-%m"}}, "opened": {"$literal": 0}, "closed": {"$literal": 1}}}]}},
 {"$group": {"_id": "$month", "opened": {"$sum": "$opened"}, "closed": {"$sum": "$closed"}}},
 {"$addFields": {"grown": {"$subtract": ["$opened", "$closed"]}}}]""")
def _():
    months = [(i["opened_at"].strftime("%Y-%m"), 1, 0) for i in ISSUES] + [(i["closed_at"].strftime("%Y-%m"), 0, 1) for i in ISSUES if i["closed_at"]]
    out = []
    for k, g in groups(months, lambda m: m[0]):
        opened, closed = sum(m[1] for m in g), sum(m[2] for m in g)
        out.append({"_id": k, "opened": opened, "closed": closed, "grown": opened - closed})
    return out


@aggregate("Which labels are there in each project, and how many issues have them, twice on one issue counted once?", "issues", """
[{"$unwind": "$labels"},
 {"$group": {"_id": {"project": "$project", "label": "$labels"}, "uses": {"$sum": 1}, "issues": {"$addToSet": "$id"}}},
 {"$project": {"uses": 1, "issues": {"$size": "$issues"}}},
 {"$sort": {"issues": -1}},
 {"$limit": 10}]""")
def _():
    found = groups([(i["project"], l, i["id"]) for i in ISSUES for l in i["labels"] or []], lambda f: f[:2])
    rows = [{"_id": {"project": k[0], "label": k[1]}, "uses": len(g), "issues": len(set(g))} for k, g in found]
    return ordered(rows, desc(lambda r: r["issues"]))[:10]


@aggregate("Which labels stand together with 'ui'?", "issues", """
[{"$match": {"labels": "ui"}}, {"$unwind": "$labels"}, {"$match": {"labels": {"$ne": "ui"}}}, {"$sortByCount": "$labels"}]""")
def _():
    found = groups([l for i in ISSUES if "ui" in (i["labels"] or []) for l in i["labels"] if l != "ui"], lambda l: l)
    return [{"_id": k, "count": len(g)} for k, g in ordered(found, desc(lambda f: len(f[1])))]


@aggregate("Who has most unfinished issues, with nobody by that name, the first four?", "issues", """
[{"$match": {"status": {"$in": ["open", "doing"]}}},
 {"$lookup": {"from": "employees", "localField": "assignee_id", "foreignField": "id", "as": "who"}},
 {"$unwind": {"path": "$who", "preserveNullAndEmptyArrays": true}},
 {"$group": {"_id": {"$ifNull": ["$who.name", "nobody"]}, "n": {"$sum": 1}, "points": {"$sum": "$estimate"}}},
 {"$sort": {"n": -1, "points": -1}},
 {"$limit": 4}]""")
def _():
    name = lambda i: EMPLOYEE[i["assignee_id"]]["name"] if i["assignee_id"] else "nobody"
    rows = [{"_id": k, "n": len(g), "points": sum(there(i["estimate"] for i in g))} for k, g in groups([i for i in ISSUES if i["status"] in ("open", "doing")], name)]
    return ordered(rows, desc(lambda r: r["n"]), desc(lambda r: r["points"]))[:4]


@aggregate("How many issues lie with the people of each manager? (two hops)", "issues", """
[{"$lookup": {"from": "employees", "localField": "assignee_id", "foreignField": "id", "as": "who"}},
 {"$unwind": "$who"},
 {"$lookup": {"from": "employees", "localField": "who.manager_id", "foreignField": "id", "as": "manager"}},
 {"$unwind": {"path": "$manager", "preserveNullAndEmptyArrays": true}},
 {"$group": {"_id": "$manager.name", "n": {"$sum": 1}}}]""")
def _():
    manager = lambda i: (EMPLOYEE.get(EMPLOYEE[i["assignee_id"]]["manager_id"]) or {}).get("name")
    return [{"_id": k, "n": len(g)} for k, g in groups([i for i in ISSUES if i["assignee_id"]], manager)]


@aggregate("How many issues does everybody answer for, with all who work under them?", "issues", """
[{"$match": {"assignee_id": {"$exists": true}}},
 {"$graphLookup": {"from": "employees", "startWith": "$assignee_id", "connectFromField": "manager_id", "connectToField": "id", "as": "up"}},
 {"$unwind": "$up"},
 {"$group": {"_id": "$up.name", "n": {"$sum": 1}}},
 {"$sort": {"n": -1}}]""")
def _():
    names = []
    for i in ISSUES:
        e = EMPLOYEE.get(i["assignee_id"])
        while e:
            names.append(e["name"])
            e = EMPLOYEE.get(e["manager_id"])
    return [{"_id": k, "n": len(g)} for k, g in ordered(groups(names, lambda n: n), desc(lambda f: len(f[1])))]


@aggregate("How old were the open issues at the end of the year, in weeks?", "issues", """
[{"$match": {"status": "open"}},
 {"$bucket": {"groupBy": {"$dateDiff": {"startDate": "$opened_at", "endDate": {"$toDate": "2025-12-31T12:00:00Z"}, "unit": "day"}}, "boundaries": [0, 7, 28, 91, 182, 400],
   "output": {"n": {"$sum": 1}, "oldest": {"$min": "$opened_at"}}}}]""")
def _():
    days = lambda i: (instant("2025-12-31T00:00:00Z").date() - i["opened_at"].date()).days
    found = groups([i for i in ISSUES if i["status"] == "open"], lambda i: max(e for e in [0, 7, 28, 91, 182] if e <= days(i)))
    return [{"_id": k, "n": len(g), "oldest": min(i["opened_at"] for i in g)} for k, g in found]


@aggregate("How many issues are estimated, not at all, or at nothing, and what are the points?", "issues", """
[{"$group": {"_id": {"$switch": {"branches": [{"case": {"$eq": ["$estimate", null]}, "then": "not at all"}, {"case": {"$eq": ["$estimate", 0]}, "then": "nothing"}],
   "default": "some"}}, "n": {"$sum": 1}, "points": {"$sum": "$estimate"}, "mean": {"$avg": "$estimate"}}}]""", approximate=True)
def _():
    kind = lambda i: "not at all" if i["estimate"] is None else "nothing" if i["estimate"] == 0 else "some"
    return [{"_id": k, "n": len(g), "points": sum(there(i["estimate"] for i in g)), "mean": mean(i["estimate"] for i in g)} for k, g in groups(ISSUES, kind)]


@aggregate("Which were the first three issues by number of the project API?", "issues", """
[{"$match": {"project": "API"}},
 {"$project": {"id": 1, "number": {"$toInt": {"$arrayElemAt": [{"$split": ["$id", "-"]}, 1]}}}},
 {"$sort": {"number": 1}}, {"$limit": 3}]""")
def _():
    rows = [{"id": i["id"], "number": int(i["id"].split("-")[1])} for i in ISSUES if i["project"] == "API"]
    return ordered(rows, lambda r: r["number"])[:3]


@aggregate("What is the first issue of each project when keys are text?", "issues", '[{"$group": {"_id": "$project", "first": {"$first": "$id"}, "last": {"$last": "$id"}}}]')
def _():
    return [{"_id": k, "first": g[0]["id"], "last": g[-1]["id"]} for k, g in groups(ISSUES, lambda i: i["project"])]


@aggregate("How many issues were closed within a day, to the minute?", "issues", """
[{"$match": {"closed_at": {"$ne": null}}},
 {"$group": {"_id": {"$lte": [{"$subtract": ["$closed_at", "$opened_at"]}, 86400000]}, "n": {"$sum": 1}}}]""")
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups([i for i in ISSUES if i["closed_at"]], lambda i: took(i) <= 86400000)]


@aggregate("How many issues are opened at the weekend, as New York has it, and how many of them are bugs?", "issues", """
[{"$match": {"$expr": {"$gte": [{"$isoDayOfWeek": {"date": "$opened_at", "timezone": "America/New_York"}}, 6]}}},
 {"$group": {"_id": null, "n": {"$sum": 1}, "bugs": {"$sum": {"$cond": {"if": {"$in": ["bug", {"$ifNull": ["$labels", []]}]}, "then": 1, "else": 0}}}}}]""")
def _():
    weekend = [i for i in ISSUES if i["opened_at"].astimezone(NEW_YORK).isoweekday() >= 6]
    return [{"_id": None, "n": len(weekend), "bugs": sum("bug" in (i["labels"] or []) for i in weekend)}]


@aggregate("What part of each project is done, in percent?", "issues", """
[{"$group": {"_id": "$project", "all": {"$sum": 1}, "done": {"$sum": {"$cond": [{"$eq": ["$status", "done"]}, 1, 0]}}}},
 {"$set": {"percent": {"$multiply": [{"$divide": ["$done", "$all"]}, 100]}}},
 {"$sort": {"percent": -1}}]""", approximate=True)
def _():
    rows = []
    for k, g in groups(ISSUES, lambda i: i["project"]):
        done = sum(i["status"] == "done" for i in g)
        rows.append({"_id": k, "all": len(g), "done": done, "percent": ratio(100 * done, len(g))})
    return ordered(rows, desc(lambda r: r["percent"]))


@aggregate("How do estimates deviate, by project?", "issues", """
[{"$group": {"_id": "$project", "population": {"$stdDevPop": "$estimate"}, "sample": {"$stdDevSamp": "$estimate"}, "mean": {"$avg": "$estimate"}}}]""", approximate=True)
def _():
    return [{"_id": k, "population": deviation(i["estimate"] for i in g), "sample": deviation((i["estimate"] for i in g), 1), "mean": mean(i["estimate"] for i in g)}
            for k, g in groups(ISSUES, lambda i: i["project"])]


@aggregate("How many labels do issues have, none and unknown apart?", "issues", '[{"$group": {"_id": {"$size": "$labels"}, "n": {"$sum": 1}}}]')
def _():
    return [{"_id": k, "n": len(g)} for k, g in groups(ISSUES, lambda i: None if i["labels"] is None else len(i["labels"]))]


@aggregate("Estimates in ranges, statuses, and the two oldest, in facets.", "issues", """
[{"$match": {"project": "WEB"}},
 {"$facet": {
   "estimates": [{"$bucket": {"groupBy": "$estimate", "boundaries": [0, 3, 8, 100], "default": -1}}],
   "statuses": [{"$sortByCount": "$status"}],
   "labels": [{"$unwind": "$labels"}, {"$group": {"_id": "$labels", "n": {"$sum": 1}}}],
   "oldest": [{"$sort": {"opened_at": 1}}, {"$limit": 2}, {"$project": {"id": 1}}]}}]""")
def _():
    web = [i for i in ISSUES if i["project"] == "WEB"]
    bucket = lambda e: -1 if e is None else max(x for x in [0, 3, 8] if x <= e)
    labels = groups([l for i in web for l in i["labels"] or []], lambda l: l)
    return [{"estimates": [{"_id": k, "count": len(g)} for k, g in groups(web, lambda i: bucket(i["estimate"]))],
             "statuses": [{"_id": k, "count": len(g)} for k, g in ordered(groups(web, lambda i: i["status"]), desc(lambda f: len(f[1])))],
             "labels": [{"_id": k, "n": len(g)} for k, g in labels],
             "oldest": [{"id": i["id"]} for i in ordered(web, lambda i: i["opened_at"])[:2]]}]


@aggregate("Which issues opened when the clocks of Oslo went forward, and at what time there?", "issues", """
[{"$match": {"opened_at": {"$gte": "2025-03-30T00:00:00Z", "$lt": "2025-03-30T12:00:00Z"}}},
 {"$sort": {"opened_at": 1}},
 {"$project": {"id": 1, "hour": {"$hour": {"date": "$opened_at", "timezone": "Europe/Oslo"}}, "minute": {"$minute": "$opened_at"},
   "day": {"$dateTrunc": {"date": "$opened_at", "unit": "day", "timezone": "Europe/Oslo"}}, "day_of_year": {"$dayOfYear": {"date": "$opened_at", "timezone": "Europe/Oslo"}},
   "next_day": {"$dateAdd": {"startDate": "$opened_at", "unit": "day", "amount": 1, "timezone": "Europe/Oslo"}},
   "next_24_hours": {"$dateAdd": {"startDate": "$opened_at", "unit": "hour", "amount": 24, "timezone": "Europe/Oslo"}},
   "day_before": {"$dateSubtract": {"startDate": "$opened_at", "unit": "week", "amount": 1}}}}]""")
def _():
    near = [i for i in ISSUES if instant("2025-03-30T00:00:00Z") <= i["opened_at"] < instant("2025-03-30T12:00:00Z")]
    out = []
    for i in ordered(near, lambda i: i["opened_at"]):
        t = i["opened_at"].astimezone(OSLO)
        out.append({"id": i["id"], "hour": t.hour, "minute": t.minute, "day": day_start(t, OSLO), "day_of_year": t.timetuple().tm_yday,
                    "next_day": (t + timedelta(days=1)).astimezone(UTC), "next_24_hours": i["opened_at"] + timedelta(hours=24),
                    "day_before": i["opened_at"] - timedelta(days=7)})
    return out


@aggregate("How many issues does the tracker have by the initial of their project, in any case?", "issues", """
[{"$group": {"_id": {"$toUpper": {"$substrCP": ["$project", 0, 1]}}, "n": {"$sum": 1}, "projects": {"$addToSet": "$project"}}}]""")
def _():
    found = groups(ISSUES, lambda i: upper(i["project"][:1]))
    return [{"_id": k, "n": len(g), "projects": distinct(i["project"] for i in g)} for k, g in found]


@aggregate("How urgent is each project, priorities weighed, unknown ones as the least?", "issues", """
[{"$project": {"project": 1, "weight": {"$subtract": [6, {"$ifNull": ["$priority", 5]}]}}},
 {"$group": {"_id": "$project", "urgency": {"$sum": "$weight"}, "most": {"$max": "$weight"}}},
 {"$sort": {"urgency": -1}}]""")
def _():
    rows = []
    for k, g in groups(ISSUES, lambda i: i["project"]):
        weights = [6 - (i["priority"] if i["priority"] is not None else 5) for i in g]
        rows.append({"_id": k, "urgency": sum(weights), "most": max(weights)})
    return ordered(rows, desc(lambda r: r["urgency"]))
