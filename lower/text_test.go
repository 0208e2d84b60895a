// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/ir/text"
)

var update = flag.Bool("update", false, "rewrite the outputs in testdata from what the passes do")

// TestPasses runs the passes that the first line of each archive names ("passes: a b") over the graph in.lathe, under
// the plan plan.toml if there is one, and compares with out.lathe.
func TestPasses(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := make(map[string]string)
			for _, f := range ar.Files {
				part[f.Name] = string(f.Data)
			}
			names, ok := strings.CutPrefix(strings.SplitN(string(ar.Comment), "\n", 2)[0], "passes: ")
			if !ok {
				t.Fatal("the first line names no passes")
			}
			got := runPasses(t, strings.Fields(names), part["in.lathe"], part["plan.toml"])
			if got == part["out.lathe"] {
				return
			}
			if !*update {
				t.Fatalf("got\n%s\nwant\n%s", got, part["out.lathe"])
			}
			ar.Files = append(slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "out.lathe" }),
				txtar.File{Name: "out.lathe", Data: []byte(got)})
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// runPasses parses, runs the named passes under Verify, and prints.
func runPasses(t *testing.T, names []string, in, plan string) string {
	t.Helper()
	g, err := text.Parse("in.lathe", in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var p Pipeline
	all := slices.Concat(FloatPipeline, QuantizePipeline, SchedulePipeline, RecognizePipeline, KernelPipeline)
	for _, name := range names {
		i := slices.IndexFunc(all, func(p Pass) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("there is no pass %q", name)
		}
		p = append(p, all[i])
	}
	s := &State{Plan: mustPlan(t, plan), Report: &Report{}}
	if err := newRunner(context.Background(), g, s, Options{Verify: true}).run(s, p, g); err != nil {
		t.Fatal(err)
	}
	return text.Print(g)
}
