package query

import (
	"crypto/sha256"

	"github.com/bailiwick-dev/bailiwick/value"
)

// PrintPipeline writes stages as the list that ParsePipeline reads as them. Every stage has one form: $set prints as
// $addFields, $unset as $project, $replaceWith as $replaceRoot, $redact as $match.
func PrintPipeline(stages []Stage) value.Value {
	list := make([]value.Value, len(stages))
	for i, s := range stages {
		name, operand := printStage(s)
		list[i] = one(name, operand)
	}
	return value.OfArray(list)
}

// Digest identifies what p asks for apart from how much it takes, so that an answer can be bound to its query.
func (p *Pipeline) Digest() [32]byte {
	doc := value.OfArray([]value.Value{value.OfString(p.Class), PrintPipeline(p.Stages), value.OfBool(p.Raw)})
	return sha256.Sum256(doc.AppendJSON(nil))
}

func printStage(s Stage) (string, value.Value) {
	switch s := s.(type) {
	case Match:
		return "$match", printMatch(s)
	case Project:
		return "$project", printProject(s)
	case AddFields:
		return "$addFields", printComputed(s.Fields)
	case Group:
		o := &object{}
		o.add("_id", PrintExpr(s.Key))
		printAccumulators(o, s.Accumulators)
		return "$group", o.value()
	case SortStage:
		o := &object{}
		for _, f := range s.Order {
			direction := int64(1)
			if f.Desc {
				direction = -1
			}
			o.add(f.Path.String(), value.OfInt(direction))
		}
		return "$sort", o.value()
	case Skip:
		return "$skip", value.OfInt(s.N)
	case Limit:
		return "$limit", value.OfInt(s.N)
	case CountStage:
		return "$count", value.OfString(s.Name)
	case Unwind:
		return "$unwind", printUnwind(s)
	case Lookup:
		return "$lookup", printLookup(s)
	case GraphLookup:
		return "$graphLookup", printGraphLookup(s)
	case UnionWith:
		o := &object{}
		o.add("coll", value.OfString(s.Class))
		if len(s.Stages) > 0 {
			o.add("pipeline", PrintPipeline(s.Stages))
		}
		return "$unionWith", o.value()
	case Facet:
		o := &object{}
		for _, b := range s.Branches {
			o.add(b.Name, PrintPipeline(b.Stages))
		}
		return "$facet", o.value()
	case Bucket:
		return "$bucket", printBucket(s)
	case BucketAuto:
		o := &object{}
		o.add("groupBy", PrintExpr(s.By))
		o.add("buckets", value.OfInt(s.Buckets))
		printOutput(o, s.Output)
		return "$bucketAuto", o.value()
	case SortByCount:
		return "$sortByCount", PrintExpr(s.By)
	case ReplaceRoot:
		return "$replaceRoot", one("newRoot", PrintExpr(s.Root))
	case Sample:
		return "$sample", one("size", value.OfInt(s.N))
	}
	return "$never", value.Value{} // a nil Stage, which no parser makes
}

func printMatch(s Match) value.Value {
	where := Print(s.Where)
	if s.If == nil {
		return where
	}
	return value.OfObject(append(where.Members()[:len(where.Members()):len(where.Members())], value.Member{Name: "$expr", Value: PrintExpr(s.If)}))
}

func printProject(s Project) value.Value {
	o := &object{}
	if s.NoID {
		o.add("_id", value.OfInt(0))
	}
	for _, f := range s.Fields {
		switch lit, ok := f.Value.(Literal); {
		case f.Value == nil && s.Drop:
			o.add(f.Name.String(), value.OfInt(0))
		case f.Value == nil:
			o.add(f.Name.String(), value.OfInt(1))
		case ok && (lit.Value.IsNumber() || lit.Value.Kind() == value.Bool):
			o.add(f.Name.String(), one("$literal", lit.Value))
		default:
			o.add(f.Name.String(), PrintExpr(f.Value))
		}
	}
	return o.value()
}

func printComputed(fields []Computed) value.Value {
	o := &object{}
	for _, f := range fields {
		o.add(f.Name.String(), PrintExpr(f.Value))
	}
	return o.value()
}

func printAccumulators(o *object, accumulators []Accumulator) {
	for _, a := range accumulators {
		x := value.OfObject(nil)
		if a.X != nil {
			x = PrintExpr(a.X)
		}
		o.add(a.Name, one(a.Op, x))
	}
}

func printOutput(o *object, accumulators []Accumulator) {
	if len(accumulators) == 0 {
		return
	}
	output := &object{}
	printAccumulators(output, accumulators)
	o.add("output", output.value())
}

func printUnwind(s Unwind) value.Value {
	path := value.OfString("$" + s.Path.String())
	if s.Index == "" && !s.Keep {
		return path
	}
	o := &object{}
	o.add("path", path)
	o.text("includeArrayIndex", s.Index)
	if s.Keep {
		o.add("preserveNullAndEmptyArrays", value.OfBool(true))
	}
	return o.value()
}

func printLookup(s Lookup) value.Value {
	o := &object{}
	o.add("from", value.OfString(s.From))
	o.text("localField", s.Local.String())
	o.text("foreignField", s.Foreign.String())
	if len(s.Let) > 0 {
		o.add("let", printComputed(s.Let))
	}
	if len(s.Stages) > 0 || len(s.Let) > 0 || s.Local == nil {
		o.add("pipeline", PrintPipeline(s.Stages))
	}
	o.add("as", value.OfString(s.As))
	return o.value()
}

func printGraphLookup(s GraphLookup) value.Value {
	o := &object{}
	o.add("from", value.OfString(s.From))
	o.add("startWith", PrintExpr(s.Start))
	o.text("connectFromField", s.ConnectFrom.String())
	o.text("connectToField", s.ConnectTo.String())
	o.add("as", value.OfString(s.As))
	o.add("maxDepth", value.OfInt(s.MaxDepth))
	o.text("depthField", s.Depth)
	if s.Restrict != nil {
		o.add("restrictSearchWithMatch", Print(s.Restrict))
	}
	return o.value()
}

func printBucket(s Bucket) value.Value {
	o := &object{}
	o.add("groupBy", PrintExpr(s.By))
	boundaries := make([]value.Value, len(s.Boundaries))
	for i, b := range s.Boundaries {
		boundaries[i] = printLiteral(b)
	}
	o.add("boundaries", value.OfArray(boundaries))
	if !s.Default.IsNull() {
		o.add("default", printLiteral(s.Default))
	}
	printOutput(o, s.Output)
	return o.value()
}

// An object is written member by member.
type object struct{ members []value.Member }

func (o *object) add(name string, v value.Value) {
	o.members = append(o.members, value.Member{Name: name, Value: v})
}

// text adds a text, unless there is none.
func (o *object) text(name, text string) {
	if text != "" {
		o.add(name, value.OfString(text))
	}
}

func (o *object) value() value.Value { return value.OfObject(o.members) }
