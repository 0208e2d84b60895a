// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lathe/emit"
	"lathe/internal/atomicfile"
	"lathe/internal/driver"
	"lathe/ir/target"
	"lathe/lower/plan"
	"lathe/rtl"
	"lathe/sim/area"
)

func (a *App) area() *cobra.Command {
	var s sourceFlags
	var noDSP bool
	var timeout time.Duration
	c := &cobra.Command{Use: "area DIR|MODEL", Short: "count LUT, FF, DSP and BRAM with Yosys, per instance and in total",
		Long: "Counts LUT, FF, DSP and block RAM with Yosys, per instance and in total; what the compiler predicts\n" +
			"of a unit stands beside. DIR is a folder that emit-verilog wrote; a MODEL is compiled first, as emit-verilog\n" +
			"does. Nothing is placed or routed.",
		Example: "  lathe area out/\n  lathe area model.onnx --fps 1e5", Args: exactly("DIR|MODEL")}
	s.add(c, true)
	s.choices.add(c)
	c.Flags().BoolVar(&noDSP, "nodsp", false, "build multipliers from LUTs")
	c.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "for Yosys; large unrolled designs need more")
	c.RunE = func(c *cobra.Command, args []string) error {
		if timeout <= 0 {
			return usagef("--timeout must be positive")
		}
		p := progress{app: a}
		defer p.finish()
		dir, done, err := a.designFolder(c.Context(), &s, args[0], &p)
		if err != nil {
			return err
		}
		defer done()
		files, top, err := area.Sources(dir)
		if err != nil {
			return err
		}
		device, err := deviceOf(s.source, dir)
		if err != nil {
			return err
		}
		r, err := area.Count(c.Context(), dir, files, top, area.Options{Device: device, NoDSP: noDSP, Timeout: timeout,
			Progress: p.yosys()})
		p.finish()
		if err != nil {
			return err
		}
		predict(r, dir)
		if err := r.Table(a.Out, areaDepth); err != nil {
			return err
		}
		return a.writeJSON(r)
	}
	return a.withJSON(c)
}

// predict adds what the compiler wrote beside the design of its units; nothing where another program made it.
func predict(r *area.Report, dir string) {
	var made struct {
		Core  string
		Units []emit.Unit
	}
	text, err := os.ReadFile(filepath.Join(dir, "design.json"))
	if err != nil || json.Unmarshal(text, &made) != nil {
		return
	}
	costs := map[string]rtl.Cost{}
	for _, u := range made.Units {
		if u.Cost != nil {
			costs[u.Instance] = *u.Cost
		}
	}
	r.Predict(made.Core, costs)
}

// deviceOf is the part that the user names or, without one, that for which the design in dir was made.
func deviceOf(s driver.Source, dir string) (*target.Device, error) {
	plan, err := s.ReadPlan()
	if err != nil {
		return nil, err
	}
	var made struct{ Part string }
	if text, err := os.ReadFile(filepath.Join(dir, "design.json")); s.Plan == "" && s.Settings.Part == nil && err == nil {
		if json.Unmarshal(text, &made) == nil && made.Part != "" {
			return target.Find(made.Part)
		}
	}
	return &plan.Target.FPGA, nil
}

// designFolder is the folder itself, or a temporary one into which the model is emitted.
func (a *App) designFolder(ctx context.Context, s *sourceFlags, arg string, p *progress) (dir string, done func(),
	err error) {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		s.source.Settings = s.choices.settings()
		if given := s.source.Settings; given != (plan.Settings{Part: given.Part}) {
			return "", nil, usagef("the design in %s is made: only --part and --nodsp apply to it", arg)
		}
		return arg, func() {}, nil
	}
	source, err := s.of(a, arg)
	if err != nil {
		return "", nil, err
	}
	hw, err := a.hardware(ctx, source, "", p)
	if err != nil {
		return "", nil, err
	}
	temp, err := atomicfile.Folder("", "lathe-area-*")
	if err != nil {
		return "", nil, err
	}
	done = func() { atomicfile.Remove(temp) }
	if err := driver.Write(hw.Design, temp); err != nil {
		done()
		return "", nil, err
	}
	return temp, done, nil
}

// areaDepth is how deep below the top instances are listed: wrapper, core, units.
const areaDepth = 2
