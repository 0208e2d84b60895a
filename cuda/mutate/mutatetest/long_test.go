// SPDX-License-Identifier: Apache-2.0

//go:build long

package mutatetest

import (
	"flag"
	"os"
	"testing"

	"lathe/internal/tools"
)

var (
	families = flag.String("families", "map,num,reduce,gemm,attn", "folders of the library, with commas")
	files    = flag.String("files", ".", "regular expression for the files to plant faults in")
	rules    = flag.String("rules", ".", "regular expression for the kinds, or the names, of faults")
	sample   = flag.Int("sample", 25, "faults a file, drawn at random; 0 takes all")
	seed     = flag.Uint64("seed", 1, "beginning of the random draws")
	most     = flag.Int("workers", 2, "faults tried at a time")
	all      = flag.Bool("all", false, "prints every fault, not only those that nobody notices")
	goal     = flag.Float64("goal", 90, "least share of faults to be caught, in percent")
)

// The whole library: scripts/mutate runs it with flags.
func TestFaults(t *testing.T) {
	tools.NeedNVRTC(t)
	err := Run(t.Context(), Options{Root: "../../..", Families: *families, Files: *files, Tests: "^Test", Rules: *rules,
		Sample: *sample, Seed: *seed, Workers: *most, Verbose: *all, Goal: *goal}, os.Stdout)
	if err != nil {
		t.Error(err)
	}
}
