// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/golden/pjrt"
	"lathe/internal/doctor"
	"lathe/ir/text"
	"lathe/sim/gpu"
)

func (a *App) doctor() *cobra.Command {
	c := &cobra.Command{Use: "doctor", Short: "show what is installed, what is missing, what that costs and how to fix it",
		Long:    "Shows which tools are installed, what does not work without the others, and how to get them.",
		Example: "  lathe doctor", Args: exactly()}
	c.RunE = func(c *cobra.Command, _ []string) error {
		findings := doctor.Check(c.Context(), doctor.Env{
			Plugin: a.Env.Plugin, PluginVersion: a.pluginVersion, Toolchain: a.Env.toolchain(), GPU: nameGPU,
			Route: a.Env.routeTools(),
		})
		if err := doctor.Print(a.Out, findings); err != nil {
			return err
		}
		return a.writeJSON(findings)
	}
	return a.withJSON(c)
}

// pluginVersion starts the plugin, which also runs its self-test.
func (a *App) pluginVersion(ctx context.Context, path string) (string, error) {
	cfg := a.Env.pjrtConfig()
	cfg.Plugin = path
	e, err := pjrt.Start(ctx, cfg)
	if err != nil {
		return "", err
	}
	defer e.Close()
	info := e.Info()
	return fmt.Sprintf("PJRT C API %d.%d, %s", info.Major, info.Minor, info.Platform), nil
}

// nameGPU opens the GPU that the engine cuda would run on.
func nameGPU() (string, error) {
	d, err := gpu.OpenDriver(gpu.DriverOptions{})
	if err != nil {
		return "", err
	}
	name := d.Name() + ", " + d.Arch()
	return name, d.Close()
}

func (a *App) format() *cobra.Command {
	c := &cobra.Command{Use: "fmt FILE", Short: "print a text graph in canonical form",
		Long:    "Prints a text graph (.lathe) in canonical form.",
		Example: "  lathe fmt graph.txt", Args: exactly("FILE")}
	c.RunE = func(_ *cobra.Command, args []string) error {
		canonical, err := text.Format(args[0])
		if err != nil {
			return err
		}
		fmt.Fprint(a.Out, canonical)
		if a.json == "" {
			return nil
		}
		g, err := text.Read(args[0]) // needs all data; the text alone does not
		if err != nil {
			return err
		}
		facts, err := factsOf(g)
		if err != nil {
			return err
		}
		return a.writeJSON(facts)
	}
	return a.withJSON(c)
}
