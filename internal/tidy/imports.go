// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

const module = "lathe/"

// layers is the order of the project, lowest first. A package belongs to the longest entry that is a prefix of its
// folder. It may import packages of lower layers and of its own entry; two entries of one layer do not know each other.
var layers = [][]string{
	{"internal/diag", "internal/atomicfile", "internal/memory", "internal/nextpnr", "internal/workers"},
	{"ir/target"},
	{"ir/dense", "rtl", "ir/hlo", "internal/keys", "internal/npz", "internal/parser", "internal/refusals",
		"internal/board", "cuda/ptx"},
	{"ir/format"},
	{"cuda", "train/grad"},
	{"ir"},
	{"ir/op"},
	{"ir/text"},
	{"ir/ref"},
	{"frontend", "ir/survey", "lower/plan", "lower/own", "lower/loop"},
	{"lower/pass"},
	{"lower/float/recognize"},
	{"lower/float/simplify"},
	{"lower/float/layout"},
	{"lower/float"},
	{"lower/quantize/calib", "lower/quantize/fit", "lower/kernels/fuse"},
	{"lower/schedule/balance", "lower/schedule/forms", "lower/schedule/timing", "lower/schedule/tokens"},
	{"lower/quantize/formats", "lower/quantize/loss", "lower/schedule/lanes", "lower/schedule/streams"},
	{"lower/quantize", "lower/schedule", "lower/kernels"},
	{"lower"},
	{"emit"},
	{"sim", "golden/pjrt", "internal/doctor"},
	{"golden", "internal/evidence", "train/model"},
	{"train", "search"},
	{"internal/driver"},
	{"internal/choose", "internal/training"},
	{"internal/cli"},
	{"cmd", "scripts", "internal/docs", "internal/tidy"},
}

// benches serve tests only: they may import anything, start processes and look at the clock, and code outside tests may
// not import them.
var benches = []string{"cuda/cudatest", "cuda/mutate/mutatetest", "emit/cuda/hosttest", "frontend/torch/pt2test",
	"golden/pjrt/pjrttest",
	"internal/clitest", "internal/difftest", "internal/difftest/programs", "internal/difftest/rows",
	"internal/errortest", "internal/tools", "search/searchtest",
	"lower/lowertest", "rtl/formaltest", "rtl/rtltest", "sim/gpu/emulated", "sim/gpu/gputest"}

// apart are lists of folders that do not know each other, whatever stands between them in layers.
var apart = [][]string{{"frontend", "lower"}, {"lower/quantize", "lower/schedule", "lower/kernels"}}

func strangers(from, to string) bool {
	return slices.ContainsFunc(apart, func(names []string) bool {
		at := func(dir string) int {
			return slices.IndexFunc(names, func(name string) bool { return under(dir, name) })
		}
		return at(from) >= 0 && at(to) >= 0 && at(from) != at(to)
	})
}

func bench(dir string) bool { return slices.Contains(benches, dir) }

// proofs are cases and references of kernels: tests, pages and scripts read them, what a command links does not.
var proofs = []string{"cuda/attn/attntest", "cuda/cases", "cuda/gemm/gemmtest", "cuda/map/maptest",
	"cuda/reduce/reducetest"}

// provers are the folders that read proofs outside tests.
var provers = append([]string{"internal/docs", "scripts"}, proofs...)

// layer is the place of a folder in layers and the entry that it belongs to; -1 if none.
func layer(dir string) (int, string) {
	at, entry := -1, ""
	for i, names := range layers {
		for _, n := range names {
			if under(dir, n) && len(n) > len(entry) {
				at, entry = i, n
			}
		}
	}
	return at, entry
}

func order(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		if bench(f.dir()) {
			continue
		}
		from, fromEntry := layer(f.dir())
		if from < 0 {
			out = append(out, Finding{Path: f.Path, Msg: "stands in no layer: give it a place in internal/tidy/imports.go"})
			continue
		}
		for _, spec := range f.Go.Imports {
			dir, ours := strings.CutPrefix(importPath(spec), module)
			if !ours {
				continue
			}
			to, toEntry := layer(dir)
			switch {
			case bench(dir):
				out = append(out, Finding{Path: f.Path, Line: f.line(spec.Pos()), Msg: dir + " is for tests only"})
			case slices.Contains(proofs, dir) && !underAny(f.dir(), provers):
				msg := dir + " holds cases of kernels: tests, pages and scripts read them"
				out = append(out, Finding{Path: f.Path, Line: f.line(spec.Pos()), Msg: msg})
			case to > from || to == from && toEntry != fromEntry || strangers(f.dir(), dir):
				msg := "imports " + dir + ", which does not stand below " + fromEntry
				out = append(out, Finding{Path: f.Path, Line: f.line(spec.Pos()), Msg: msg})
			}
		}
	}
	return out
}

// layerTable compares layers with the block of docs/architecture.md that begins with the lowest: a line each, its
// entries apart by a space or more, a comment behind #.
func layerTable(t Tree) []Finding {
	for _, f := range t {
		if f.Path != architecture {
			continue
		}
		_, text, _ := strings.Cut(string(f.Data), "\n## Who may import whom\n")
		_, text, _ = strings.Cut(text, "```\n")
		text, _, _ = strings.Cut(text, "```")
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i := range max(len(lines), len(layers)) {
			var have, want string
			if i < len(lines) {
				entries, _, _ := strings.Cut(lines[i], "#")
				have = strings.Join(strings.Fields(entries), " ")
			}
			if i < len(layers) {
				want = strings.Join(layers[i], " ")
			}
			if have != want {
				msg := fmt.Sprintf("layer %d is %q here and %q in internal/tidy/imports.go", i+1, have, want)
				return []Finding{{Path: architecture, Msg: msg}}
			}
		}
	}
	return nil
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// starters run tools, this program itself, and in scripts/measuring what the project is compared with;
// everything else stays a pure function.
var starters = []string{"sim", "golden/pjrt", "internal/doctor", "search/worker", "scripts/measuring"}

// foreign packages start processes or call code that is not Go.
var foreign = []string{"os/exec", "C", "plugin", "github.com/ebitengine/purego"}

func processes(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		for _, spec := range f.Go.Imports {
			p := importPath(spec)
			if slices.Contains(foreign, p) && !underAny(f.dir(), starters) && !bench(f.dir()) {
				out = append(out, Finding{Path: f.Path, Line: f.line(spec.Pos()), Msg: "imports " + p})
			}
		}
	}
	return out
}

// calls finds uses of pkg.name, whatever name the file imports pkg under.
func (f *File) calls(pkg string, match func(name string) bool) []Finding {
	local := ""
	for _, spec := range f.Go.Imports {
		if importPath(spec) != pkg {
			continue
		}
		local = strings.TrimSuffix(pkg, "/v2")
		local = local[strings.LastIndexByte(local, '/')+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "" {
		return nil
	}
	var out []Finding
	ast.Inspect(f.Go, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == local && match(sel.Sel.Name) {
			out = append(out, Finding{Path: f.Path, Line: f.line(n.Pos()), Msg: "uses " + pkg + "." + sel.Sel.Name})
		}
		return true
	})
	return out
}

// readers are the functions of package os that read the environment.
var readers = []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserCacheDir", "UserConfigDir", "UserHomeDir"}

func environment(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		if f.dir() != "internal/tools" && !underAny(f.dir(), []string{"internal/cli", "cmd"}) {
			out = append(out, f.calls("os", func(name string) bool { return slices.Contains(readers, name) })...)
		}
	}
	return out
}

// timed packages measure what they run, or bound it.
var timed = []string{"internal/cli", "internal/driver", "cmd", "scripts/measuring", "sim", "golden/pjrt"}

func clocks(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(true) {
		if !underAny(f.dir(), timed) && !bench(f.dir()) {
			out = append(out, f.calls("time", func(name string) bool {
				return name == "Now" || name == "Since" || name == "Until"
			})...)
		}
	}
	return out
}

// seeded are the names of math/rand that need a source or are types.
var seeded = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf",
}

func random(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(false) {
		for _, pkg := range []string{"math/rand", "math/rand/v2"} {
			out = append(out, f.calls(pkg, func(name string) bool { return !slices.Contains(seeded, name) })...)
		}
		out = append(out, f.calls("crypto/rand", func(string) bool { return true })...)
	}
	return out
}
