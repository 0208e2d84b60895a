// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// toy is a project of four packages: b imports a and embeds a text, the tests of c import b and read data, d has the go
// command build the commands.
const toy = `{"ImportPath": "lathe/a", "Dir": "/p/a", "GoFiles": ["a.go"], "TestGoFiles": ["a_test.go"]}
{"ImportPath": "lathe/a.test", "Deps": ["lathe/a [lathe/a.test]", "testing"]}
{"ImportPath": "lathe/a [lathe/a.test]", "Dir": "/p/a", "GoFiles": ["a.go", "a_test.go"]}
{"ImportPath": "lathe/b", "Dir": "/p/b", "Deps": ["lathe/a"], "GoFiles": ["b.go"], "EmbedFiles": ["in/text.sv"]}
{"ImportPath": "lathe/c", "Dir": "/p/c", "GoFiles": ["c.go"], "XTestGoFiles": ["c_test.go"]}
{"ImportPath": "lathe/c.test", "Deps": ["lathe/b", "lathe/a", "lathe/c"]}
{"ImportPath": "lathe/cmd/x", "Dir": "/p/cmd/x", "Deps": ["lathe/b", "lathe/a"], "GoFiles": ["main.go"]}
{"ImportPath": "lathe/d", "Dir": "/p/d", "GoFiles": ["d.go"], "TestGoFiles": ["d_test.go"]}
{"ImportPath": "lathe/d.test", "Deps": ["lathe/d"]}
`

func TestAffected(t *testing.T) {
	root := fstest.MapFS{}
	for name, text := range map[string]string{
		"a/a.go": "package a", "a/a_test.go": "package a\nvar _ = filepath.Join(\"..\", \"manual\", name, \"x\")",
		"b/b.go": "package b", "c/c.go": "package c", "c/c_test.go": "package c_test\nvar _ = \"../data/*.npz\"",
		"cmd/x/main.go": "package main", "d/d.go": "package d\nvar _ = []string{\"build\", \"./cmd/...\"}",
		"d/d_test.go": "package d\nvar _ = \"../../etc/passwd\"",
	} {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, c := range []struct{ files, want string }{
		{"", ""},
		{"a/a.go", "a b c cmd/x d"},
		{"a/a_test.go", "a"},
		{"a/a_linux.go", "a b c cmd/x d"}, // which is not built here
		{"b/in/text.sv", "b c cmd/x d"},
		{"b/testdata/x", "b"},
		{"c/c.go", "c"},
		{"cmd/x/main.go", "cmd/x d"},
		{"manual/page.txt", "a"},
		{"data/in.npz", "c"},
		{"other/data", ""},
		{"d/d.go manual/x", "a d"},
		{"go.mod", "a b c cmd/x d"},
	} {
		p, err := read(strings.NewReader(toy), "/p")
		if err == nil {
			err = p.scan(root)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range p.affected(strings.Fields(c.files)) {
			got = append(got, strings.TrimPrefix(name, module))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.files, got, c.want)
		}
	}
}

// TestProject asks about files of this project.
func TestProject(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-test", "-json=ImportPath,Dir,Deps,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,"+
		"EmbedFiles,TestEmbedFiles,XTestEmbedFiles", "./...")
	list.Dir, list.Env = root, append(os.Environ(), "GOFLAGS=")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(bytes.NewReader(out), root)
	if err == nil {
		err = p.scan(os.DirFS(root))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, with, without string }{
		{"rtl/stream/stream_skid.sv", "rtl rtl/stream internal/driver/proof internal/cli", "cuda/ptx ir/hlo"},
		{"cuda/kernels/map/quantize.cu", "cuda/kernels cuda cuda/map emit/cuda", "cuda/ptx rtl/cmvm"},
		{"examples/digits-cnn/inputs.npz", "internal/driver/proof internal/driver internal/cli", "rtl/stream cuda/map"},
		{"docs/evidence/uses.jsonl", "internal/evidence internal/driver/proof", "internal/driver ir"},
		{"internal/cli/testdata/verify.txtar", "internal/cli", "internal/driver"},
		{"ir/format/fixed.go", "ir/format ir/op internal/cli scripts/digests", "cuda/ptx ir/hlo"},
		{"sim/sim_test.go", "sim", "sim/area internal/driver"},
		{"scripts/setup", "internal/tidy", "internal/cli"},
	} {
		if _, err := os.Stat(filepath.Join(root, c.file)); err != nil {
			t.Errorf("the example is gone: %v", err)
		}
		got := p.affected([]string{c.file})
		for _, name := range strings.Fields(c.with) {
			if !slices.Contains(got, module+name) {
				t.Errorf("%s does not touch %s: %v", c.file, name, got)
			}
		}
		for _, name := range strings.Fields(c.without) {
			if slices.Contains(got, module+name) {
				t.Errorf("%s touches %s", c.file, name)
			}
		}
	}
}
