// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/emit"
	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/flow"
)

func (a *App) emitVerilog() *cobra.Command {
	var s sourceFlags
	var out, top string
	c := &cobra.Command{Use: "emit-verilog MODEL -o DIR", Short: "compile a model to Verilog",
		Long: "Compiles a model to a folder of SystemVerilog: library modules, one top, an AXI4-Stream wrapper, memory\n" +
			"images, design.json and a README. Works without a plan: 8 bits, folded.",
		Example: "  emit-verilog model.onnx -o out/ --calibrate x.npz", Args: exactly("MODEL")}
	s.add(c, true)
	c.Flags().StringVarP(&out, "output", "o", "", "folder for the design; an earlier design in it is replaced")
	c.Flags().StringVar(&top, "top", "", "name of the top module")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "output"); err != nil {
			return err
		}
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		hw, err := a.hardware(c.Context(), source, top)
		if err != nil {
			return err
		}
		if err := flow.Write(hw.Design, out); err != nil {
			return err
		}
		if err := a.printDesign(hw.Design, out); err != nil {
			return err
		}
		d := hw.Design
		return a.writeJSON(map[string]any{"model": args[0], "folder": out, "top": d.Top, "core": d.Core, "units": d.Units,
			"slowest": slowest(d).Node, "files": len(d.Files) + len(d.Docs)})
	}
	return a.withJSON(c)
}

// hardware runs every stage up to the design.
func (a *App) hardware(ctx context.Context, s flow.Source, top string) (*flow.Hardware, error) {
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	a.warnQuantized(q)
	hw, err := q.Emit(ctx, verilog.Options{Version: Version, Top: top})
	if err != nil {
		return nil, err
	}
	a.warn(hw.Schedule)
	return hw, nil
}

func (a *App) printDesign(d *emit.Design, out string) error {
	rows := [][]string{{"instance", "module", "format", "in lanes", "out lanes", "cycles", "latency"}}
	for _, u := range d.Units {
		if u.Module != "" {
			rows = append(rows, []string{u.Instance, u.Module, u.Format, fmt.Sprint(u.InLanes), fmt.Sprint(u.OutLanes),
				fmt.Sprint(u.Cycles), fmt.Sprint(u.Latency)})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	u := slowest(d)
	name := u.Instance
	if u.Module == "" {
		name = "the stream of " + u.Node
	}
	fmt.Fprintf(a.Out, "\nslowest unit: %s, %d cycles a sample\n%d files in %s, top %s (AXI4-Stream), %s (bare streams)\n",
		name, u.Cycles, len(d.Files)+len(d.Docs), out, d.Top, d.Core)
	return nil
}

// slowest is the unit that sets the pace, the first of equals.
func slowest(d *emit.Design) emit.Unit {
	var best emit.Unit
	for _, u := range d.Units {
		if u.Cycles > best.Cycles || u.Cycles == best.Cycles && best.Module == "" {
			best = u
		}
	}
	return best
}

func (a *App) emitCUDA() *cobra.Command {
	c := &cobra.Command{Use: "emit-cuda MODEL -o DIR", Short: "compile a model to CUDA kernels (not in this version)",
		Example: "  emit-cuda model.onnx -o out/", Args: exactly("MODEL")}
	c.Flags().StringP("output", "o", "", "folder for the kernels")
	c.Flags().String("plan", "", "plan file (TOML)")
	c.Flags().String("arch", "sm_90", "GPU architecture")
	c.RunE = func(*cobra.Command, []string) error {
		return diag.New("L0102", "", "emit-cuda is not in this version").WithHint("emit-verilog is")
	}
	return a.withJSON(c)
}
