// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestKernels shows times where there are some, and says so where there are none.
func TestKernels(t *testing.T) {
	const line = `{"schema":1,"case":"dequant/bf16/n=234881024","status":"%","gpu":"NVIDIA H200","commit":"abc1234",` +
		`"us_median":171.25,"pct_floor":96.6}`
	file := func(text string) fstest.MapFS { return fstest.MapFS{"nvidia-h200.jsonl": {Data: []byte(text)}} }
	row := "| n=234881024 | mxint8 -> bf16 | 711983104 | 0 | 165.6 | FFMA 67 | 166.8 | "
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
	if _, err := Kernels(file("{")); err == nil {
		t.Error("a broken line is read")
	}
}
