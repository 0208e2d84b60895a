// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// promise is one line of the table: a metric of a benchmark, and the bound that it should keep. Bound 0 is no goal.
type promise struct {
	what, benchmark, unit string
	atMost                bool
	bound                 float64
	// needs is what may be missing here, so that the benchmark was skipped.
	needs string
}

var promises = []promise{
	{"inspect of a 440 MB model, seconds", "BenchmarkInspect440MB", "s-best", true, 0.2, ""},
	{"its resident memory, heap included, MiB", "BenchmarkInspect440MB", "MiB-resident", true, 100, ""},
	{"inspect of a Hugging Face folder of 519 MB, seconds", "BenchmarkInspectFolder", "s-best", true, 0.3, ""},
	{"its resident memory, heap included, MiB", "BenchmarkInspectFolder", "MiB-resident", true, 100, ""},
	{"reference, 8-bit linear layer, GMAC/s a core", "BenchmarkLinear", "GMAC/s", false, 1, ""},
	{"reference, floats: bert-base, 128 tokens, times as long as PJRT", "BenchmarkBert", "x-pjrt", true, 10,
		"PJRT plugin"},
	{"the same, a linear layer of it, GMAC/s on all cores", "BenchmarkFloatLinear/128", "GMAC/s", false, 0, ""},
	{"the same, a convolution of 3x3, GMAC/s on all cores", "BenchmarkFloatConv/3x3", "GMAC/s", false, 0, ""},
	{"16 million values, the slowest format: encode, 2 cores, seconds", "BenchmarkLayer", "s-encode", true, 0.3, ""},
	{"the same, decode", "BenchmarkLayer", "s-decode", true, 0.3, ""},
	{"calibrate 1 M parameters on 1,000 samples: linear layers, 2 cores, seconds", "BenchmarkCalibrate/mlp", "s", true, 10,
		""},
	{"the same, convolutions", "BenchmarkCalibrate/cnn", "s", true, 10, ""},
	{"verify of digits-cnn, 450 samples, 2 cores, built before, seconds", "BenchmarkVerify", "s-best", true, 5, ""},
	{"slowest layer of digits-cnn: multipliers busy, percent", "BenchmarkSimulate", "%-busy", false, 90, ""},
	{"the same, balanced for 100,000 samples a second, percent", "BenchmarkBalanced", "%-busy", false, 95, ""},
	{"linear layers in blocks of 8 bits: LUTs over those of plain 8 bits", "BenchmarkBlockLUT", "x-plain", true, 1.25,
		"yosys"},
	{"the same, the worst of three layers", "BenchmarkBlockLUT", "x-plain-worst", true, 1.25, "yosys"},
	{"emit-verilog of a 440 MB model, 105 million weights, seconds", "BenchmarkEmit440MB", "s-best", true, 10, ""},
	{"its resident memory, MiB (twice the file)", "BenchmarkEmit440MB", "MiB-resident", true, 880, ""},
	{"DSPs for a multiplier of 8 bits, dsp = \"one\"", "BenchmarkPack", "DSP/one", true, 1, ""},
	{"the same, dsp = \"pack\"", "BenchmarkPack", "DSP/pack", true, 0.5, ""},
	{"simulation of digits-mlp, times the samples/s of cocotb", "BenchmarkCocotb", "x-cocotb", false, 50, "cocotb"},
	{"simulation of digits-cnn, samples/s", "BenchmarkSimulate", "samples/s", false, 0, ""},
	{"simulation of digits-cnn, million cycles/s", "BenchmarkSimulate", "Mcycles/s", false, 0, ""},
}

// metric names a figure of a benchmark.
type metric struct{ benchmark, unit string }

// spread is the least and the greatest of the repetitions.
type spread struct{ least, most float64 }

// processors is what go test appends to a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// read collects the metrics of all benchmarks and copies the lines to out. A line of a failed test is an error.
func read(in io.Reader, out io.Writer) (map[metric]spread, error) {
	found := map[metric]spread{}
	lines := bufio.NewScanner(in)
	var failed error
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
		f := strings.Fields(lines.Text())
		if len(f) > 0 && (f[0] == "FAIL" || f[0] == "---" && len(f) > 1 && f[1] == "FAIL:") && failed == nil {
			failed = fmt.Errorf("a benchmark failed: %s", lines.Text())
		}
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number in: %s", f[i], lines.Text())
			}
			m := metric{processors.ReplaceAllString(f[0], ""), f[i+1]}
			s, seen := found[m]
			if !seen {
				s = spread{v, v}
			}
			found[m] = spread{min(s.least, v), max(s.most, v)}
		}
	}
	if failed != nil {
		return nil, failed
	}
	return found, lines.Err()
}

// table prints the promises; the ratio is measured over goal, or goal over measured where more is better, so that 1 or
// less keeps the promise.
func table(w io.Writer, found map[metric]spread) error {
	fmt.Fprintf(w, "\n%-66s %10s %10s %7s\n", "", "goal", "measured", "ratio")
	for _, p := range promises {
		s, ok := found[metric{p.benchmark, p.unit}]
		if !ok && p.needs != "" {
			fmt.Fprintf(w, "%-66s not measured: no %s here (scripts/setup bench)\n", p.what, p.needs)
			continue
		}
		if !ok {
			return fmt.Errorf("%s: %s of %s was not measured", p.what, p.unit, p.benchmark)
		}
		v, ratio, sign := s.most, p.bound/s.most, ">="
		if p.atMost {
			v, ratio, sign = s.least, s.least/p.bound, "<="
		}
		switch {
		case p.bound == 0:
			fmt.Fprintf(w, "%-66s %10s %10.4g\n", p.what, "", v)
		case ratio > 1:
			fmt.Fprintf(w, "%-66s %10s %10.4g %7.2f missed\n", p.what, fmt.Sprintf("%s %g", sign, p.bound), v, ratio)
		default:
			fmt.Fprintf(w, "%-66s %10s %10.4g %7.2f\n", p.what, fmt.Sprintf("%s %g", sign, p.bound), v, ratio)
		}
	}
	return nil
}
