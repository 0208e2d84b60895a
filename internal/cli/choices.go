// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/lower/plan"
)

// choiceFlags are the choices of a plan that most users make, and the only ones for many.
type choiceFlags struct {
	fps, clock float64
	part, dsp  string
	lengths    string
	bits       int
	decode     bool
	// what keeps more of a model
	rounding, wide    string
	ranges            string
	correct, equalize bool
	smooth, digit     float64
	flags             *pflag.FlagSet // nil where the command does not have them
}

// add gives a command the flags of those names, or all.
func (f *choiceFlags) add(c *cobra.Command, only ...string) {
	f.flags = c.Flags()
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.Float64Var(&f.fps, "fps", 0, "samples per second to reach, with the least hardware")
	all.StringVar(&f.part, "part", "", "the FPGA, see lathe list targets: xc7a100t")
	all.IntVar(&f.bits, "bits", 0, "bits of data and weights, 2 to 24; without it and a plan: 8")
	all.StringVar(&f.dsp, "dsp", "", "multipliers: one (a DSP each), pack (two or four in a DSP), chain (DSPs that also "+
		"sum), pack_chain (both), none (LUTs), auto (the cheaper)")
	all.Float64Var(&f.clock, "clock", 0, "clock to aim at, in MHz; default: the plan's, or one by the part")
	all.BoolVar(&f.decode, "decode", false, "make a decoder of a causal model: sequences of up to --max-seq tokens, "+
		"token by token")
	all.StringVar(&f.lengths, "lengths", "", "dynamic: each frame has its own number of tokens, up to --seq; else fixed")
	all.StringVar(&f.rounding, "round-weights", "", "how weights are rounded: nearest, gptq, adaround, digits")
	all.Float64Var(&f.digit, "digit-price", 0, "with --round-weights digits: the price of a signed digit, 0 to 1; "+
		"without it the highest that keeps enough")
	all.BoolVar(&f.correct, "correct-bias", false, "shift biases by the mean error of each output channel")
	all.BoolVar(&f.equalize, "equalize", false, "move powers of two between layers; without it: where the outputs gain")
	all.Float64Var(&f.smooth, "smooth", 0.5, "move powers of two from norms too; 0 to 1: the share of the weights")
	all.StringVar(&f.ranges, "ranges", "", "how open ranges follow from values: mse, minmax, percentile, cross-entropy")
	all.StringVar(&f.wide, "wide", "", "nodes that get more bits: results 16, weights 12 (a,b)")
	all.VisitAll(func(flag *pflag.Flag) {
		if len(only) == 0 || slices.Contains(only, flag.Name) {
			f.flags.AddFlag(flag)
		}
	})
}

// settings are the flags that were given.
func (f *choiceFlags) settings() (s plan.Settings) {
	if f.flags == nil {
		return s
	}
	s.FPS, s.ClockMHz = given(f.flags, "fps", &f.fps), given(f.flags, "clock", &f.clock)
	s.Part, s.DSP = given(f.flags, "part", &f.part), given(f.flags, "dsp", &f.dsp)
	s.Bits, s.Decode = given(f.flags, "bits", &f.bits), given(f.flags, "decode", &f.decode)
	s.Lengths, s.RoundWeights = given(f.flags, "lengths", &f.lengths), given(f.flags, "round-weights", &f.rounding)
	s.CorrectBias, s.Equalize = given(f.flags, "correct-bias", &f.correct), given(f.flags, "equalize", &f.equalize)
	s.DigitPrice = given(f.flags, "digit-price", &f.digit)
	s.Ranges = given(f.flags, "ranges", &f.ranges)
	s.Smooth, s.Wide = given(f.flags, "smooth", &f.smooth), given(f.flags, "wide", &f.wide)
	return s
}

// given is v where the flag was given, else nil.
func given[T any](f *pflag.FlagSet, name string, v *T) *T {
	if !f.Changed(name) {
		return nil
	}
	return v
}

// choose puts the flags above the plan and prints where they disagree with it. A flag of a wrong value is wrong usage.
func (s *sourceFlags) choose(a *App) error {
	s.source.Settings = s.choices.settings()
	if s.source.Settings == (plan.Settings{}) {
		return nil
	}
	plan, err := s.source.ReadPlan()
	if err != nil {
		if strings.HasPrefix(err.Error(), "--") {
			return &usageError{err}
		}
		return err
	}
	for _, text := range plan.Notes {
		s.source.Note(text)
	}
	return nil
}

// reading are the flags of how a model is read and lowered, which many commands share: their help comes last.
var reading = []string{"adapter", "bind", "check-passes", "dim", "dump-after", "dump-html", "example", "loss",
	"max-seq", "model-inputs", "ops", "outputs", "past", "seq", "shape", "task", "unroll"}

// explainFlags prints the flags that are a command's own, and then those of how it reads a model.
func explainFlags(c *cobra.Command) error {
	last := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range reading {
		if f := c.LocalFlags().Lookup(name); f != nil && !f.Hidden {
			last.AddFlag(f)
		}
	}
	hide := func(hidden bool) { last.VisitAll(func(f *pflag.Flag) { f.Hidden = hidden }) }
	hide(true)
	err := (&cobra.Command{}).UsageFunc()(c)
	hide(false)
	if err == nil && last.HasFlags() {
		c.Printf("\nHow the model is read, as in other commands:\n%s", last.FlagUsages())
	}
	return err
}
