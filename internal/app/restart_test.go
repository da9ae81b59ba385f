package app

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// applied contains the settings that a reload applies, and settings that no file contains. All other settings need a
// restart.
var applied = []string{"Open", "Credential", "Rules", "Tools", "Results", "Prompts", "Lenient", "Notes", "Actions", "Metrics", "Queries", "Packs",
	"Limits.QueryRows", "Limits.SampleRows", "Limits.Timeouts", "Limits.Statement"}

// TestRestart changes each setting of a configuration in turn. It checks that a reload applies the setting, or that
// Restart names it.
func TestRestart(t *testing.T) {
	changed := map[string]bool{}
	var walk func(at string, path []int, of reflect.Type)
	walk = func(at string, path []int, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			name, path := f.Name, append(slices.Clone(path), i)
			if at != "" {
				name = at + "." + f.Name
			}
			switch {
			case !f.IsExported() || slices.Contains(applied, name):
				continue
			case f.Type.Kind() == reflect.Struct && f.Type.PkgPath() != "" && f.Type.NumField() > 0 && f.Type.Field(0).IsExported() && name != "Stdio":
				walk(name, path, f.Type)
				continue
			}
			var before, after config.Config
			if !set(reflect.ValueOf(&after).Elem().FieldByIndex(path)) {
				continue
			}
			changed[name] = true
			if keys := Restart(&before, &after); len(keys) != 1 {
				t.Errorf("%s: a reload doesn't apply it, and takes a restart for %v", name, keys)
			}
		}
	}
	walk("", nil, reflect.TypeFor[config.Config]())
	for _, name := range []string{"Listen", "Store", "Sources", "Audit.Key", "Audit.Every", "Audit.Archive.Folder", "Accounts.Key", "Review.Life", "Server.Queue", "Server.Streams"} {
		if !changed[name] {
			t.Errorf("%s was not tried; tried were %v", name, changed)
		}
	}
}

// set changes the value of a field. It returns false for kinds without a simple value.
func set(f reflect.Value) bool {
	switch f.Kind() {
	case reflect.String:
		f.SetString("sqlite:x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int64:
		f.SetInt(7)
	case reflect.Float64:
		f.SetFloat(0.7)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		set(f.Index(0))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
	case reflect.Struct:
		return f.NumField() > 0 && f.Field(0).CanSet() && set(f.Field(0))
	default:
		return false
	}
	return true
}
