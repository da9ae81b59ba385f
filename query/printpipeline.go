package query

import (
	"crypto/sha256"

	"github.com/bailiwick-dev/bailiwick/value"
)

// PrintPipeline encodes stages as a list that ParsePipeline parses to them. Synonyms are not preserved: $set becomes
// $addFields, $unset $project, $replaceWith $replaceRoot, and $redact $match.
func PrintPipeline(stages []Stage) value.Value {
	list := make([]value.Value, len(stages))
	for i, s := range stages {
		list[i] = value.OfObject([]value.Member{printStage(s)})
	}
	return value.OfArray(list)
}

// Digest returns a hash of p without its limits. It binds an answer to its query.
func (p *Pipeline) Digest() [32]byte {
	doc := value.OfArray([]value.Value{value.OfString(p.Class), PrintPipeline(p.Stages), value.OfBool(p.Raw)})
	return sha256.Sum256(doc.AppendJSON(nil))
}

// printStage encodes a stage as the member {$name: operand} that stage parses to the same value. It omits members with
// defaults, so that each stage has only one form and equal pipelines have equal digests.
func printStage(s Stage) value.Member {
	switch s := s.(type) {
	case Match:
		return object("$match", append(Print(s.Where).Members(), expr("$expr", s.If))...)
	case Project:
		return printProject(s)
	case AddFields:
		return object("$addFields", printComputedFields(s.Fields)...)
	case Group:
		return object("$group", append([]value.Member{expr("_id", s.Key)}, printAccumulators(s.Accumulators)...)...)
	case SortStage:
		return printSort(s)
	case Skip:
		return whole("$skip", s.N)
	case Limit:
		return whole("$limit", s.N)
	case CountStage:
		return text("$count", s.Name)
	case Unwind:
		path := text("path", "$"+s.Path.String())
		if s.Index == "" && !s.Keep {
			return value.Member{Name: "$unwind", Value: path.Value}
		}
		return object("$unwind", path, text("includeArrayIndex", s.Index), when(s.Keep, "preserveNullAndEmptyArrays", value.OfBool(true)))
	case Lookup:
		return object("$lookup", text("from", s.From), text("localField", s.Local.String()), text("foreignField", s.Foreign.String()),
			when(len(s.Let) > 0, "let", value.OfObject(printComputedFields(s.Let))),
			when(len(s.Stages) > 0 || len(s.Let) > 0 || s.Local == nil, "pipeline", PrintPipeline(s.Stages)), text("as", s.As))
	case GraphLookup:
		return object("$graphLookup", text("from", s.From), expr("startWith", s.Start), text("connectFromField", s.ConnectFrom.String()),
			text("connectToField", s.ConnectTo.String()), text("as", s.As), whole("maxDepth", s.MaxDepth), text("depthField", s.Depth),
			when(s.Restrict != nil, "restrictSearchWithMatch", Print(s.Restrict)))
	case UnionWith:
		return object("$unionWith", text("coll", s.Class), when(len(s.Stages) > 0, "pipeline", PrintPipeline(s.Stages)))
	case Facet:
		branches := make([]value.Member, len(s.Branches))
		for i, b := range s.Branches {
			branches[i] = value.Member{Name: b.Name, Value: PrintPipeline(b.Stages)}
		}
		return object("$facet", branches...)
	case Bucket:
		return printBucket(s)
	case BucketAuto:
		return object("$bucketAuto", expr("groupBy", s.By), whole("buckets", s.Buckets), printOutput(s.Output))
	case SetWindowFields:
		return printWindows(s)
	case Fill:
		return printFill(s)
	case Densify:
		return printDensify(s)
	case SortByCount:
		return expr("$sortByCount", s.By)
	case ReplaceRoot:
		return object("$replaceRoot", expr("newRoot", s.Root))
	case Sample:
		return object("$sample", whole("size", s.N))
	}
	return text("$never", "") // a nil Stage, which no parser makes
}

func printBucket(s Bucket) value.Member {
	boundaries := make([]value.Value, len(s.Boundaries))
	for i, b := range s.Boundaries {
		boundaries[i] = printLiteral(b)
	}
	return object("$bucket", expr("groupBy", s.By), value.Member{Name: "boundaries", Value: value.OfArray(boundaries)},
		when(!s.Default.IsNull(), "default", printLiteral(s.Default)), printOutput(s.Output))
}

// printSort encodes a SortStage. Its members are in the order of the sort.
func printSort(s SortStage) value.Member {
	order := make([]value.Member, len(s.Order))
	for i, f := range s.Order {
		order[i] = whole(f.Path.String(), 1)
		if f.Desc {
			order[i] = whole(f.Path.String(), -1)
		}
	}
	return object("$sort", order...)
}

// printProject encodes a $project. 1 keeps a field and 0 drops it. A constant number or Boolean is a $literal, because
// it would mean to keep or drop the field.
func printProject(s Project) value.Member {
	fields := []value.Member{when(s.NoID, "_id", value.OfInt(0))}
	for _, f := range s.Fields {
		name := f.Name.String()
		lit, constant := f.Value.(Literal)
		switch {
		case f.Value == nil && s.Drop:
			fields = append(fields, whole(name, 0))
		case f.Value == nil:
			fields = append(fields, whole(name, 1))
		case constant && (lit.Value.IsNumber() || lit.Value.Kind() == value.Bool): // a plain constant would mean to keep or drop the field
			fields = append(fields, object(name, value.Member{Name: "$literal", Value: lit.Value}))
		default:
			fields = append(fields, expr(name, f.Value))
		}
	}
	return object("$project", fields...)
}

func printComputedFields(fields []Computed) []value.Member {
	out := make([]value.Member, len(fields))
	for i, f := range fields {
		out[i] = expr(f.Name.String(), f.Value)
	}
	return out
}

// printAccumulators encodes accumulators by their names. The operand is {} if they have none.
func printAccumulators(accumulators []Accumulator) []value.Member {
	out := make([]value.Member, len(accumulators))
	for i, a := range accumulators {
		if out[i] = object(a.Name, expr(a.Op, a.X)); a.X == nil {
			out[i].Value = one(a.Op, value.OfObject(nil))
		}
		if a.Points != nil {
			out[i] = object(a.Name, printPercentile(a))
		}
	}
	return out
}

func printOutput(accumulators []Accumulator) value.Member {
	return when(len(accumulators) > 0, "output", value.OfObject(printAccumulators(accumulators)))
}

// object returns a member whose value is an object of the named ones among members.
func object(name string, members ...value.Member) value.Member {
	kept := make([]value.Member, 0, len(members))
	for _, m := range members {
		if m.Name != "" {
			kept = append(kept, m)
		}
	}
	return value.Member{Name: name, Value: value.OfObject(kept)}
}

// when returns a member, or the zero Member if the parameter there is false.
func when(there bool, name string, v value.Value) value.Member {
	if !there {
		return value.Member{}
	}
	return value.Member{Name: name, Value: v}
}

func expr(name string, x Expr) value.Member   { return when(x != nil, name, printExpr(x)) }
func text(name, s string) value.Member        { return when(s != "", name, value.OfString(s)) }
func whole(name string, n int64) value.Member { return when(true, name, value.OfInt(n)) }
