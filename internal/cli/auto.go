// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/lower/plan"
)

// autoFlags are the flags of auto.
type autoFlags struct {
	studyFlags
	accuracy, sqnr float64
	score          float64
	keep           *float64 // the score, where it was given
	out            string
	all, separate  bool
}

func (a *App) auto() *cobra.Command {
	var f autoFlags
	c := &cobra.Command{Use: "auto MODEL --inputs X.npz -o DIR", Short: "search the cheapest formats that are good enough",
		Long: "Measures what each layer loses in each format and what that saves in hardware, lets a knapsack over\n" +
			"budgets propose mixed plans, measures those as a whole, and prints the front: accuracy against LUT, DSP\n" +
			"and block RAM. The folder gets each plan of the front, and best.toml: the least hardware that\n" +
			"keeps the accuracy. Without labels, --sqnr says what the outputs must keep. Exit status 1 if no plan does.",
		Example: "  lathe auto model.onnx --inputs x.npz --labels y.npy --accuracy -0.5 --part xc7a35t -o plans",
		Args:    exactly("MODEL")}
	f.add(c, "fixed(3..8)", sizing...)
	c.Flags().Lookup("parts").Hidden = true
	c.Flags().Float64Var(&f.accuracy, "accuracy", -0.5,
		"accuracy to keep: -0.5 is half a percent point below the float model, 0.95 is a share of the samples")
	c.Flags().Float64Var(&f.sqnr, "sqnr", 30,
		"without labels: SQNR in dB of the outputs against the float model, to keep")
	c.Flags().Float64Var(&f.score, "keep", 0, "with --metric: the figure to keep; without it: half a percent of that of "+
		"the float model may be lost")
	f.addPrices(c, "; a plan that unrolls all layers tries these")
	c.Flags().StringVarP(&f.out, "output", "o", "", "folder for the plans")
	c.Flags().BoolVar(&f.all, "all", false, "print all plans that were measured, not the front alone")
	c.Flags().BoolVar(&f.separate, "separate", false,
		"weights and values of a layer may have different formats; takes several times as long")
	c.Flags().Lookup("calibrate").Usage = "calibration inputs (.npz); without: those of --inputs that are not held out"
	c.Flags().Float64Var(&f.data.HoldOut, "hold-out", 0,
		"percent of the samples that the search does not see; its plans are measured on them at the end")
	c.RunE = func(c *cobra.Command, args []string) error {
		formats, err := f.checkAuto(c)
		if err != nil {
			return err
		}
		return a.autoModel(c, &f, args[0], formats)
	}
	return a.withJSON(c)
}

// checkAuto refuses wrong flags before the work.
func (f *autoFlags) checkAuto(c *cobra.Command) ([]string, error) {
	formats, _, err := f.check(c)
	switch {
	case err != nil:
		return nil, err
	case f.metric.other() && (c.Flags().Changed("accuracy") || c.Flags().Changed("sqnr")):
		return nil, usagef("--metric %s: --keep says what to keep of it", f.metric.name)
	case !f.metric.other() && c.Flags().Changed("keep"):
		return nil, usagef("--keep is for a --metric; --accuracy and --sqnr say what to keep without one")
	case c.Flags().Changed("parts"):
		return nil, usagef("--parts is for sensitivity and sweep: auto gives a layer one format, or two with --separate")
	case f.data.Labels == "" && c.Flags().Changed("accuracy"):
		return nil, usagef("--accuracy needs --labels; without them --sqnr says what to keep")
	case f.data.Labels != "" && c.Flags().Changed("sqnr"):
		return nil, usagef("--sqnr is for samples without labels; --accuracy says what to keep")
	case f.data.HoldOut != 0 && !(f.data.HoldOut >= 1 && f.data.HoldOut <= 90): // NaN too
		return nil, usagef("--hold-out %g: percent of the samples, 1 to 90", f.data.HoldOut)
	case f.accuracy < -100 || f.accuracy > 1:
		return nil, usagef("--accuracy %g: percent points to lose (-0.5), or a share to keep (0.95)", f.accuracy)
	}
	f.keep = given(c.Flags(), "keep", &f.score)
	if err := required(c, "output"); err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.out); err == nil && !info.IsDir() {
		return nil, diag.New(diag.FileWrite, f.out, "cannot write plans here: it is a file, not a folder")
	}
	return formats, writable(filepath.Clean(f.out)+".toml", diag.FileWrite) // the folder around it
}

// goal is what the flags ask for.
func (f *autoFlags) goal(s *choose.Meter) choose.Goal {
	if s.On.Score != nil {
		return s.Keep(f.keep)
	}
	if s.Accuracy == nil {
		return choose.Goal{SQNR: &f.sqnr}
	}
	keep := f.accuracy
	if keep <= 0 {
		keep = *s.Accuracy + keep/100
	}
	return choose.Goal{Accuracy: &keep}
}

func (a *App) autoModel(c *cobra.Command, f *autoFlags, model string, formats []string) error {
	study, r, err := runStudy(a, c, &f.studyFlags, model, func(s *choose.Meter, p driver.Progress) (*choose.Auto, error) {
		if s.Prices = f.prices; !c.Flags().Changed("digit-prices") {
			s.Prices = choose.Prices(s.Plan)
		}
		return s.Auto(c.Context(), formats, f.separate, f.goal(s), p)
	})
	if err != nil {
		return err
	}
	if err := a.table(r.Table(f.all)); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nformats: those of %s", strings.Join(r.Layers, ", "))
	if f.separate {
		fmt.Fprint(a.Out, "; weights/values where they differ")
	}
	fmt.Fprintln(a.Out)
	a.printFacts(study)
	if r.Best < 0 {
		return unmet(model, study.Plan, r)
	}
	fmt.Fprintln(a.Out, r.Verdict())
	if err := writePlans(f.out, r.Plans()); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "wrote %d plans to %s\n", len(r.Plans()), f.out)
	return a.writeStudy(&f.studyFlags, study, r, r.Table(true))
}

// unmet says what comes nearest to a goal that no plan meets.
func unmet(model string, p *plan.Plan, r *choose.Auto) error {
	e := diag.New(diag.NoChoiceKeeps, model, "none of %d plans keeps %s", len(r.Candidates), r.Goal)
	if large := r.TooLarge(); large != "" {
		return diag.New(diag.NoChoiceKeeps, model, "none of %d plans keeps %s and fits the part", len(r.Candidates), r.Goal).
			WithNote("the smallest is %s", large).
			WithHint("take a larger --part, or fewer products at once: --fps with a lower rate")
	}
	if n := r.Nearest(); n != nil {
		e = e.WithNote("the nearest is %s, which keeps %s", n.Name, r.Kept(n))
	}
	hint := "wider --formats may"
	if n := r.Nearest(); n != nil {
		hint = "ask for " + r.Asking(n) + ", or wider --formats may do"
		if kept := r.FloatMisses(); kept != "" {
			return e.WithNote("the float model itself keeps %s", kept).
				WithHint("ask for %s: formats seldom keep more than the float model", r.Asking(n))
		}
	}
	switch q := &p.Quantize; {
	case q.RoundWeights == plan.RoundNearest:
		hint += ", or round_weights = \"gptq\" in a --plan"
	case !q.CorrectBias:
		hint += ", or correct_bias = true in the plan"
	}
	return e.WithHint("%s", hint)
}

// writePlans writes plans into a folder, which is made if need be; other files of it stay.
func writePlans(dir string, plans map[string]string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(plans)) {
		if err := writeFile(filepath.Join(dir, name), []byte(plans[name])); err != nil {
			return err
		}
	}
	return nil
}
