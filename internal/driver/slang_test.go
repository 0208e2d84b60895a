// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// slangScript names the errors that slang finds in each of the designs, folders with a list of their sources.
const slangScript = `
import os, pyslang
for folder in sys.argv[1:]:
    os.chdir(folder)
    c = pyslang.ast.Compilation()
    for name in open("sources.f").read().split():
        c.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(name))
    found = [d for d in c.getAllDiagnostics() if d.isError()]
    print(len(found), folder)
    if found:
        print(pyslang.DiagnosticEngine.reportAll(c.sourceManager, found))
`

// TestSlang has slang, which holds to the standard where other tools are lenient, elaborate emitted designs: by names
// that are used before they are declared, for one. Of all examples and plans, a run of the gate draws one beside those
// with softmax and with recurrence.
func TestSlang(t *testing.T) {
	slang := tools.NeedSlang(t)
	var all [][2]string
	models, err := filepath.Glob(examples + "*/model.onnx")
	if err != nil || len(models) < 10 {
		t.Fatal(models, err)
	}
	for _, m := range models {
		plans := []string{"", "serial", "mx"}
		if tools.Long { // whose sums take long to find
			plans = append(plans, "unroll")
		}
		for _, plan := range plans {
			all = append(all, [2]string{filepath.Base(filepath.Dir(m)), plan})
		}
	}
	chosen := append([][2]string{{"digits-vit", ""}, {"digits-gru", "serial"}},
		tools.Few(1, all)...)
	root := t.TempDir()
	var folders []string
	for i, c := range chosen {
		j := job(t, c[0], "model.onnx", c[1], 1)
		dir := filepath.Join(root, strings.Join([]string{c[0], c[1], string(rune('a' + i%26))}, "-"))
		for _, f := range j.HW.Design.All() {
			if !strings.HasSuffix(f.Name, ".sv") && !strings.HasSuffix(f.Name, ".v") && f.Name != "sources.f" {
				continue
			}
			name := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		folders = append(folders, dir)
	}
	planted := late(t, root)
	out, err := slang(slangScript, append(slices.Clone(folders), planted)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, dir := range folders {
		if !strings.Contains(string(out), "0 "+dir+"\n") {
			t.Errorf("%s has errors", filepath.Base(dir))
		}
	}
	if !strings.Contains(string(out), "1 "+planted+"\n") || t.Failed() {
		t.Errorf("slang says\n%s", out)
	}
}

// late writes a design that breaks the rule into a folder below root.
func late(t *testing.T, root string) string {
	t.Helper()
	dir := filepath.Join(root, "planted")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sources.f": "late.sv\n",
		"late.sv": "module late (input wire a, output wire b);\n  assign b = a ^ c;\n  wire c = a;\nendmodule\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
