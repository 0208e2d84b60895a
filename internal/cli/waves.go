// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/driver"
	"lathe/sim"
)

// saveFiles puts beside a waveform what shows it in viewers.
func (v *verifyFlags) saveFiles(job *driver.Job) error {
	if _, err := os.Stat(v.wave); v.wave == "" || err != nil { // nothing was simulated
		return nil
	}
	files, err := sim.SaveFiles(job.HW.Design)
	if err != nil {
		return err
	}
	for ext, data := range files {
		if err := writeFile(strings.TrimSuffix(v.wave, filepath.Ext(v.wave))+ext, data); err != nil {
			return err
		}
	}
	return nil
}
