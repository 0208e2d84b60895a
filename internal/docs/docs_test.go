// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/text"
)

var update = flag.Bool("update", false, "write the pages")

// TestPages compares each page in the tree with what the code says.
func TestPages(t *testing.T) {
	pages, err := Pages(os.DirFS(filepath.Join("..", "..", "docs", "measurements")))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		name := filepath.Join("..", "..", "docs", p.File)
		if *update {
			if err := os.WriteFile(name, []byte(p.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != p.Text {
			t.Errorf("docs/%s is not what the code says: run make gen (%v)", p.File, err)
		}
	}
}

// TestPicture holds the picture in README.md to what `lathe quantize` and `lathe inspect --svg` make of the example.
func TestPicture(t *testing.T) {
	const name = "../../docs/digits-cnn.svg"
	picture, err := text.SVG(t.Context(), quantized(t, "digits-cnn").Graph)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, picture) {
		t.Errorf("docs/digits-cnn.svg is not what the code draws: run make gen (%v)", err)
	}
}

// quantized is an example under no plan.
func quantized(t *testing.T, example string) *driver.Quantized {
	t.Helper()
	dir := "../../examples/" + example + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz"}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Quantize(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestStreams holds the picture in docs/transformers.md to the run that sizes the FIFOs of the example.
func TestStreams(t *testing.T) {
	const name = "../../docs/transformer-block.svg"
	h, err := quantized(t, "digits-vit").Emit(t.Context(), verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	picture, err := Streams(t.Context(), h.Scheduled, "layers.0.", 2)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(name); err != nil || string(have) != picture {
		t.Errorf("docs/transformer-block.svg is not what the code draws: run make gen (%v)", err)
	}
}

func TestErrors(t *testing.T) {
	got := Errors([]diag.Entry{
		{Code: "L0501", Cause: "No such format.", Remedy: "Use another.", Example: "fixd(8)\n"},
		{Code: "L0412", Cause: "Lanes do not divide."},
		{Code: "X1", Cause: "Stray.", Example: "a```b"},
	})
	for _, want := range []string{
		"## L04xx: Plan and lowering\n\n**L0412** Lanes do not divide.\n\n## L05xx",
		"## L05xx: Number formats\n\n**L0501** No such format.\n\n*What to do:* Use another.\n\n```\nfixd(8)\n```\n",
		"## Others\n\n**X1** Stray.\n\n````\na```b\n````\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(Errors(nil), "Others") {
		t.Error("a heading for no stray codes")
	}
}

// TestTables demands that every op and format that the code knows has its line.
func TestTables(t *testing.T) {
	formats, ops := Formats(), Ops()
	for _, f := range format.All() {
		if !strings.Contains(formats, "| `"+cell(f.Syntax)+"` | `"+cell(f.Example)+"` | "+cell(f.Doc)) {
			t.Errorf("formats.md lacks %s", f.Name)
		}
	}
	for _, name := range op.Names() {
		if !strings.Contains(ops, "\n| `"+name+"` | ") {
			t.Errorf("ops.md lacks %s", name)
		}
	}
	if cell("a|b\nc") != `a\|b c` {
		t.Errorf("a table cell with a bar and a line break: %q", cell("a|b\nc"))
	}
}
