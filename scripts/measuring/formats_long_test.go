// SPDX-License-Identifier: Apache-2.0

//go:build long

package main

import (
	"reflect"
	"testing"
	"time"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/evidence"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// TestFormatRows proves two networks in every format: they show what the lines of evidence say.
func TestFormatRows(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	t.Chdir("../..")
	known, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	cuda := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(cuda, cuda+"/modules")
	if err != nil {
		t.Fatal(err)
	}
	e := driver.Engines{Cache: tools.CacheDir(t), PJRT: pjrttest.Config(t), Now: time.Now, CUDA: proof.Emulated(compiler)}
	t.Run("rows", func(t *testing.T) {
		for _, row := range allFormed() {
			t.Run(row.String(), func(t *testing.T) {
				t.Parallel()
				line, err := row.prove(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				want := known.Format(row.model, row.Data, row.Weight)
				if line.Commit = want.Commit; !reflect.DeepEqual(&line, want) {
					t.Errorf("%+v, evidence has %+v: run `scripts/measure formats-exact`", line, *want)
				}
			})
		}
	})
}
