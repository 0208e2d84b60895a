// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
)

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.lathe")
	for seed := range uint64(100) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 3)))
		if err := Save(path, g); err != nil {
			t.Fatal(err)
		}
		h, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if Print(h) != Print(g) {
			t.Fatalf("seed %d: differs", seed)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("files are left: %v %v", entries, err)
	}
}

// packed is a file of Save with two constants, one of them read twice.
func packed(t testing.TB) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 4))
	weights := make([]float32, 100)
	for i := range weights {
		weights[i] = float32(r.NormFloat64())
	}
	g := &ir.Graph{Name: "g"}
	for i, name := range []string{"a", "b", "c"} {
		values := weights
		if i == 1 {
			values = weights[:33]
		}
		g.Nodes = append(g.Nodes, &ir.Node{Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(values)},
			Type: ir.Float(len(values))})
	}
	g.Out = []ir.Output{{Name: "y", Node: g.Nodes[2]}}
	var b bytes.Buffer
	if err := write(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDamagedFiles: every changed byte and every cut is noticed, because all bytes are under a checksum or fixed.
func TestDamagedFiles(t *testing.T) {
	good := packed(t)
	if _, err := unpack("g.lathe", good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		if _, err := readBytes(bad); diag.CodeOf(err) == "" {
			t.Fatalf("byte %d of %d may change: %v", i, len(good), err)
		}
		if _, err := readBytes(good[:i]); diag.CodeOf(err) == "" {
			t.Fatalf("the file may end at byte %d of %d: %v", i, len(good), err)
		}
	}
	if _, err := unpack("g.lathe", append(bytes.Clone(good), 0)); diag.CodeOf(err) != diag.GraphDamaged {
		t.Errorf("a byte behind the end: %v", err)
	}
	if !strings.Contains(string(good), "blob f32 sha256:") || strings.Count(string(good), "\nblob ") != 2 {
		t.Error("equal constants are not stored once")
	}
}

// readBytes is Read for bytes.
func readBytes(data []byte) (*ir.Graph, error) {
	if bytes.HasPrefix(data, []byte(fileMark)) {
		return unpack("g.lathe", data)
	}
	return Parse("g.lathe", string(data), nil)
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	g := &ir.Graph{Name: "g"}
	for _, path := range []string{filepath.Join(dir, "none", "g.lathe"), filepath.Join(dir, "g.txt", "g.lathe")} {
		if err := Save(path, g); diag.CodeOf(err) != diag.GraphFile || strings.Contains(err.Error(), ".lathe-") {
			t.Errorf("Save(%s): %v", path, err)
		}
	}
	if err := Save(dir, g); diag.CodeOf(err) != diag.GraphFile {
		t.Errorf("a folder is replaced: %v", err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]diag.Code{filepath.Join(dir, "none"): diag.GraphFile, dir: diag.GraphFile,
		empty: diag.GraphSyntax} {
		if _, err := Read(path); diag.CodeOf(err) != code {
			t.Errorf("Read(%s): %v", path, err)
		}
	}
	broken := filepath.Join(dir, "broken.txt")
	src := strings.Replace(small, ": 1x2 fp32 hw", ": 1x3 fp32 hw", 1)
	if err := os.WriteFile(broken, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(broken); err != nil {
		t.Error(err)
	}
	if _, err := Load(broken); diag.CodeOf(err) != "L0306" {
		t.Errorf("Load does not check: %v", err)
	}
}

// TestFormat keeps what is canonical, with and without the data of constants.
func TestFormat(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g, err := unpack("g.lathe", packed(t))
	if err != nil {
		t.Fatal(err)
	}
	full := Print(g)
	bare := full[:strings.Index(full, "data f32")]
	for name, c := range map[string][2]string{
		"g.lathe": {string(packed(t)), full}, "full.txt": {full, full}, "bare.txt": {"# bare\n" + bare, bare},
		"small.txt": {small, small},
	} {
		got, err := Format(put(name, []byte(c[0])))
		if err != nil || got != c[1] {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := Format(put("bad.txt", []byte("lathe"))); diag.CodeOf(err) != diag.GraphSyntax {
		t.Errorf("bad.txt: %v", err)
	}
	if _, err := Format(put("bad.lathe", packed(t)[:200])); diag.CodeOf(err) != diag.GraphDamaged {
		t.Errorf("bad.lathe: %v", err)
	}
	if _, err := Format(dir); diag.CodeOf(err) != diag.GraphFile {
		t.Errorf("folder: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := readBytes(data); err == nil {
			Print(g)
		} else if diag.CodeOf(err) == "" {
			t.Fatalf("an error without a code: %v", err)
		}
	})
}
