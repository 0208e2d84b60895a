// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/sim/area"
)

const verify = `{"model": "m.onnx", "samples": 450, "outputs": 4500, "mismatches": 0, "engines": ["ref", "pjrt", "rtl"],
	"latency_cycles": 321, "ii_cycles": 288.5, "cycles": 9, "accuracy": {"float": 0.98, "quantized": 0.9778},
	"sqnr_db": 35.25, "seconds": {"import": 0.1, "build": 2, "zip": 1}}`

const want = `digits
  float accuracy        98.00 %
  quantized accuracy    97.78 %
  SQNR                  35.2 dB
  outputs compared      4500, of 450 samples: ref = pjrt = rtl
  mismatches            0
  latency               321 cycles
  initiation interval   288.5 cycles
  LUT                   41 (Yosys 0.23 after synthesis, not routed)
  FF                    40
  DSP                   1
  BRAM                  2.5 (blocks of 36 Kib)
  seconds, import       0.10
  seconds, build        2.00
  seconds, zip          1.00
  seconds, all steps    3.10
  Verilog               out/verilog
`

func TestTable(t *testing.T) {
	var v verified
	if err := json.Unmarshal([]byte(verify), &v); err != nil {
		t.Fatal(err)
	}
	r := area.Report{Tool: "Yosys 0.23", Total: area.Cells{LUT: 41, FF: 40, DSP: 1, BRAM18: 1, BRAM36: 2}}
	var b strings.Builder
	if err := table(&b, "digits", "out/verilog", &v, &r); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	if err := v.good(); err != nil {
		t.Error(err)
	}
}

func TestGoodRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{strings.Replace(verify, `"mismatches": 0`, `"mismatches": 1`, 1), "1 of 4500 outputs differ"},
		{strings.Replace(verify, `"outputs": 4500`, `"outputs": 0`, 1), "nothing was compared"},
		{strings.Replace(verify, `, "rtl"`, ``, 1), "the RTL was not compared"},
		{`{}`, "nothing was compared"},
	} {
		var v verified
		if err := json.Unmarshal([]byte(c.in), &v); err != nil {
			t.Fatal(err)
		}
		if err := v.good(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{"digits", dir, "10"}); err == nil {
		t.Error("missing files pass")
	}
	for name, text := range map[string]string{"verify.json": verify, "area.json": `{"top": "t", "total": {"lut": 3}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"digits", dir, "10"}); err != nil {
		t.Error(err)
	}
	if err := run([]string{"digits", dir}); err == nil {
		t.Error("a missing argument passes")
	}
}
