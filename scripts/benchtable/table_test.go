// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkInspect440MB-4   3   1000 ns/op   20.5 MiB-resident   0.15 s-best
BenchmarkInspect440MB-4   3   1000 ns/op   21.5 MiB-resident   0.25 s-best
BenchmarkInspectFolder-4  3   1000 ns/op   20.5 MiB-resident   0.05 s-best
BenchmarkLinear           9   1000 ns/op   0.5 GMAC/s
BenchmarkLinear           9   1000 ns/op   0.8 GMAC/s
BenchmarkFloatLinear/128-4   9   1000 ns/op   40 GMAC/s
BenchmarkFloatConv/3x3-4  9   1000 ns/op   30 GMAC/s
BenchmarkVerify-4         2   1000 ns/op   2.5 s-best   90 MiB-resident
BenchmarkLayer-4          1   1000 ns/op   0.15 s-decode   0.25 s-encode
BenchmarkCalibrate/mlp-4  1   1000 ns/op   0.5 s
BenchmarkCalibrate/cnn-4  1   1000 ns/op   6.5 s
BenchmarkSimulate-4       2   1000 ns/op   99.5 %-busy   1.25 Mcycles/s   2000 samples/s
BenchmarkBalanced-4       2   1000 ns/op   99.5 %-busy
BenchmarkPack-4           1   1000 ns/op   1 DSP/one   0.5 DSP/pack
BenchmarkEmit440MB-4      1   1000 ns/op   800 MiB-resident   8.5 s-best
PASS
`

func TestTable(t *testing.T) {
	found, err := read(strings.NewReader(output), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table(&b, found); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" <= 0.2       0.15    0.75\n", " <= 100       20.5    0.20\n",
		" >= 1        0.8    1.25 missed\n", " <= 5        2.5    0.50\n", " <= 0.5        0.5    1.00\n", " 2000\n",
		"not measured: no cocotb here"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{strings.Replace(output, "PASS", "FAIL\tlathe/ir/op", 1), "a benchmark failed"},
		{output + "--- FAIL: BenchmarkVerify\n", "a benchmark failed"},
		{strings.Replace(output, "BenchmarkVerify", "BenchmarkOther", 1), "was not measured"},
		{strings.Replace(output, "2.5 s-best", "x s-best", 1), "not a number"},
		{"", "was not measured"},
	} {
		found, err := read(strings.NewReader(c.in), io.Discard)
		if err == nil {
			err = table(io.Discard, found)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
