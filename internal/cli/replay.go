// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"lathe/cuda/ptx"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/record"
)

func (a *App) replay() *cobra.Command {
	var device, output string
	c := &cobra.Command{Use: "replay DIR", Short: "repeat recorded kernel launches on a GPU and compare the results",
		Long: "Repeats a recording (a folder of compiled kernels, inputs, launches and results) and compares the\n" +
			"device's results with the recorded ones, without model or compiler: one machine records, another one with\n" +
			"a GPU replays. Without a GPU the kernels run on the emulated device.",
		Example: "  lathe replay recording/", Args: exactly("DIR")}
	c.Flags().StringVar(&device, "device", "auto", "auto, gpu or emulated")
	c.Flags().StringVarP(&output, "output", "o", "", "folder for the results of the device")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := oneOf("--device", device, "auto", "gpu", "emulated"); err != nil {
			return err
		}
		if _, err := record.Open(args[0]); err != nil { // before a device is opened
			return err
		}
		d, err := a.device(c.Context(), device)
		if err != nil {
			return err
		}
		defer d.Close()
		report, err := record.Replay(c.Context(), args[0], d, output)
		if report == nil {
			return err
		}
		if e := a.printReplay(report); e != nil {
			return e
		}
		if e := a.writeJSON(report); e != nil {
			return e
		}
		return err
	}
	return a.withJSON(c)
}

// device opens the device of that name; auto is a GPU or else, with a note that says so, the emulated device.
func (a *App) device(ctx context.Context, name string) (gpu.Device, error) {
	switch name {
	case "gpu":
		return gpu.OpenDriver(gpu.DriverOptions{})
	case "emulated":
		return gpu.Emulated(emulation(ctx)), nil
	}
	d, note, err := gpu.Choose(gpu.DriverOptions{}, emulation(ctx))
	if note != "" {
		fmt.Fprintf(a.Err, "note: %s\n", note)
	}
	return d, err
}

// emulation is how the commands interpret kernels: on all processors, until they are interrupted.
func emulation(ctx context.Context) gpu.EmulatedOptions {
	return gpu.EmulatedOptions{Options: ptx.Options{Workers: runtime.GOMAXPROCS(0), Cancel: ctx.Done()}}
}

func (a *App) printReplay(r *record.Report) error {
	fmt.Fprintf(a.Out, "%s (%s), %s; recorded on %s\n", r.Device, r.Arch, strings.Join(r.Images, ", "), r.Recorded)
	rows := [][]string{{"step", "buffer", "bytes", "differ", "beyond tolerance", "largest error"}}
	for _, c := range r.Reads {
		rows = append(rows, []string{fmt.Sprint(c.Step), fmt.Sprint(c.Buffer), fmt.Sprint(c.Bytes), fmt.Sprint(c.Differ),
			fmt.Sprint(c.Outside), diag.Number(c.MaxErr, -1)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s; %s\n", counted(r.Launches, "launch"), r.Verdict())
	return nil
}
