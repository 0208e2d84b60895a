// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/schollz/progressbar/v3"
)

// progress shows long work: a bar that is redrawn on a terminal, else one line when a step begins.
type progress struct {
	app  *App
	step string
	bar  *progressbar.ProgressBar
}

// Report is a flow.Progress: step has done of total units; total 0 is unknown.
func (p *progress) Report(step string, done, total int) {
	if step != p.step {
		p.finish()
		p.step = step
		if !p.app.Env.Terminal {
			fmt.Fprintf(p.app.Err, "%s ...\n", step)
			return
		}
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.app.Err), progressbar.OptionSetDescription(step),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24))
	}
	if p.bar != nil {
		// A bar that cannot be drawn is no reason to stop the work.
		_ = p.bar.Set(done)
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
	p.step = ""
}
