// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"

	"github.com/spf13/cobra"

	"lathe/golden/pjrt"
)

// workerName is the hidden command that hosts the PJRT plugin in a process of its own.
const workerName = "pjrt-worker"

func (a *App) worker() *cobra.Command {
	return &cobra.Command{Use: workerName + " PLUGIN", Hidden: true, Args: exactly("PLUGIN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return pjrt.Worker(os.Stdin, os.Stdout, args[0])
		}}
}
