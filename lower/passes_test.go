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

	"lathe/ir"
	"lathe/ir/text"
	"lathe/lower/float"
	"lathe/lower/kernels"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
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
			got := runNamed(t, strings.Fields(names), part["in.lathe"], part["plan.toml"])
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

// named runs passes of a stage by name over a graph; false where it has no pass of that name.
type named func(ctx context.Context, g *ir.Graph, p *plan.Plan, names []string, o pass.Options) (ran int, err error)

// runNamed parses, runs the named passes under Verify, stage by stage, and prints.
func runNamed(t *testing.T, names []string, in, plan string) string {
	t.Helper()
	g, err := text.Parse("in.lathe", in, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := lowertest.Plan(t, plan)
	for len(names) > 0 {
		total := 0
		for _, stage := range []named{float.Named, quantize.Named, schedule.Named, kernels.Named} {
			ran, err := stage(context.Background(), g, p, names, pass.Options{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			total, names = total+ran, names[ran:]
		}
		if total == 0 {
			t.Fatalf("there is no pass %q", names[0])
		}
	}
	return text.Print(g)
}
