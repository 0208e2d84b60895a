// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/keys"
)

// pageRow is a row of a table of docs/plan.md: | `key` | type | default | meaning | `example` |
var pageRow = regexp.MustCompile("^\\| `([a-z_]+)` \\| .* \\| `([^`]*)` \\|$")

// planTables lists the keys of each table of the plan file, by its header: "[target]", "[[quantize.rule]]".
func planTables(t *testing.T) map[string][]string {
	tables := make(map[string][]string)
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		header := "[" + path + "]"
		if typ.Kind() == reflect.Slice {
			header, typ = "["+header+"]", typ.Elem()
		}
		for _, key := range keys.Of(typ) {
			field, ok := keys.Field(typ, key)
			if !ok {
				t.Fatalf("%s has no field for its own key %q", header, key)
			}
			inner := field
			if inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				walk(strings.TrimPrefix(path+"."+key, "."), field)
			} else {
				tables[header] = append(tables[header], key)
			}
		}
	}
	walk("", reflect.TypeFor[file]())
	return tables
}

// TestPlanPage holds docs/plan.md against the decoder: each table has its heading and each key its row there, no row
// stands for a key that there is not, and every example is a plan.
func TestPlanPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	want, have := planTables(t), make(map[string][]string)
	table := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			table = strings.Trim(title, "`")
		}
		if m := pageRow.FindStringSubmatch(line); m != nil {
			have[table] = append(have[table], m[1])
			pageExample(t, table, m[1], m[2], strings.HasSuffix(strings.Split(line, "|")[4], "for `balance` "))
		}
	}
	if len(want) != 16 {
		t.Errorf("the decoder has %d tables", len(want))
	}
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(have[table], want[table]) {
			t.Errorf("docs/plan.md has the rows %q under %q, the decoder takes %q", have[table], table, want[table])
		}
		delete(have, table)
	}
	for table := range have {
		t.Errorf("docs/plan.md describes %q, which the decoder does not take", table)
	}
}

// pageExample reads the example of one key with what else its table needs; balance says that the page calls the key
// one of that mode, which another mode then refuses.
func pageExample(t *testing.T, table, key, example string, balance bool) {
	text := table + "\n" + example + "\n"
	switch {
	case strings.HasPrefix(table, "[[quantize") && slices.Contains([]string{"op", "name", "regex"}, key):
		text += "skip = false\n"
	case strings.HasPrefix(table, "[[fold") && slices.Contains([]string{"op", "name", "regex"}, key):
		text += "mem = \"auto\"\n"
	case key == "digit_price":
		text += "round_weights = \"digits\"\n"
	case key == "images":
		text += "layers = \"loop\"\n"
	case (table == "[[input]]" || table == "[[output]]") && key != "name":
		text += "name = \"x\"\n"
	}
	_, err := Parse("plan.md", []byte(text))
	if balance {
		if diag.CodeOf(err) != "L0416" {
			t.Errorf("%s %s: the page calls it one of the balance mode: %v", table, example, err)
		}
		if table != "[fold]" {
			text += "[fold]\n"
		}
		_, err = Parse("plan.md", []byte(text+"mode = \"balance\"\n"))
	}
	if err != nil || !strings.HasPrefix(example, key+" =") {
		t.Errorf("%s %s: no example of %s: %v", table, example, key, err)
	}
}

// TestPlanPageBlocks reads the TOML blocks of the pages that show plans, and looks for a link to each example.
func TestPlanPageBlocks(t *testing.T) {
	var all string
	for _, name := range []string{"../../docs/plan.md", "../../docs/memory.md", "../../docs/transformers.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(page)
		blocks := strings.Split(string(page), "```toml\n")[1:]
		if len(blocks) == 0 {
			t.Errorf("%s shows no plan", name)
		}
		for _, b := range blocks {
			text, _, _ := strings.Cut(b, "```")
			if _, err := Parse(name, []byte(text)); err != nil {
				t.Error(err)
			}
		}
	}
	examples, err := os.ReadDir("../../examples/plans")
	if err != nil || len(examples) == 0 {
		t.Fatal(len(examples), err)
	}
	for _, e := range examples {
		if !strings.Contains(all, "(../examples/plans/"+e.Name()+")") {
			t.Errorf("docs/plan.md does not link %s", e.Name())
		}
	}
}
