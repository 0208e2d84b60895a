// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"lathe/cuda/cases"
)

// TestKernels shows times where there are some, and says so where there are none.
func TestKernels(t *testing.T) {
	const line = `{"schema":1,"case":"dequant/bf16/n=234881024","status":"%","gpu":"NVIDIA H200","commit":"abc1234",` +
		`"us_median":171.25,"pct_floor":96.6}`
	file := func(text string) fstest.MapFS { return fstest.MapFS{"nvidia-h200.jsonl": {Data: []byte(text)}} }
	row := "| n=234881024 | mxint8 -> bf16 | 711983104 | 0 | 165.6 | FFMA 67 | 189.4 | "
	for _, c := range []struct {
		tree fstest.MapFS
		want string
	}{
		{fstest.MapFS{}, "No kernel has run on a GPU"},
		{fstest.MapFS{}, row + "- |"},
		{file(strings.Replace(line, "%", "ok", 1) + "\n"), row + "171.2 us, 97 % of the floor: NVIDIA H200, abc1234 |"},
		{file(strings.Replace(line, "%", "wrong", 1) + "\n"), row + "wrong: NVIDIA H200, abc1234 |"},
	} {
		text, err := Kernels(c.tree)
		if err != nil || !strings.Contains(text, c.want) {
			t.Errorf("no %q (%v)", c.want, err)
		}
		if len(c.tree) > 0 && strings.Contains(text, "No GPU") {
			t.Error("says that no GPU was at hand where one was")
		}
	}
	for _, broken := range []fstest.MapFS{file("{"), {"predictions.json": {Data: []byte("[{")}}} {
		if _, err := Kernels(broken); err == nil {
			t.Error("a broken file is read")
		}
	}
}

// TestComparisons shows predictions and other libraries beside what was measured, whole passes, and who was faster.
func TestComparisons(t *testing.T) {
	tree := fstest.MapFS{
		"predictions.json": {Data: []byte(
			`[{"case":"layer/bert-base/batch=1","commit":"a","gpu":"H200 SXM","predicted_us":40.25},` +
				`{"case":"dequant/bf16/n=234881024","commit":"a","gpu":"H200 SXM","predicted_us":166.8}]`)},
		"nvidia-h200.jsonl": {Data: []byte(
			`{"case":"dequant/bf16/n=234881024","status":"ok","gpu":"NVIDIA H200","commit":"b","us_median":200,` +
				`"pct_floor":80,"baseline":[{"name":"torch","us":150},{"name":"torch.compile","us":300}]}` + "\n" +
				`{"case":"layer/bert-base/batch=16","status":"ok","gpu":"NVIDIA H200","commit":"b","us_median":90,` +
				`"pct_floor":50,"baseline":[{"name":"torch","us":180}]}` + "\n")},
	}
	text, err := Kernels(tree)
	for _, want := range []string{
		"| 200.0 us, 80 % of the floor: NVIDIA H200, b; predicted 166.8 us; torch 0.75 x; torch.compile 1.50 x |",
		"\n| bert-base/batch=1 | 40.2 | H200 SXM | - |\n" +
			"| bert-base/batch=16 | - | - | 90.0 us, 50 % of the floor: NVIDIA H200, b; torch 2.00 x |\n",
		"\n## Slower than another library\n\n- dequant/bf16/n=234881024: 200.0 us, torch 150.0 us\n",
	} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("no %q (%v)", want, err)
		}
	}
	if strings.Count(text, "\n- ") != strings.Count(kernelsHead, "\n- ")+2 {
		t.Error("who was not faster is listed")
	}
}

// TestPredictions demands that every timed case was predicted, which is of worth only before it is measured.
func TestPredictions(t *testing.T) {
	times, err := measured(os.DirFS("../../docs/measurements"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Timed && times.find(c.Name) < 0 {
			t.Errorf("nothing is predicted for %s: go run ./scripts/gpubench predict -commit $(git rev-parse --short=12 HEAD)",
				c.Name)
		}
	}
}
