// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"os"
	"path/filepath"

	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/record"
)

// WriteRecordings writes a recording of one kernel on the emulated device into dir, as "recording", and as
// "recording-other" one whose launch has another argument, so that its results are not those recorded.
func WriteRecordings(dir string) error {
	at := filepath.Join(dir, "recording")
	r, err := record.New(gpu.Emulated(gpu.EmulatedOptions{}), at)
	if err != nil {
		return err
	}
	err = play(r)
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	other := filepath.Join(dir, "recording-other")
	if err := os.CopyFS(other, os.DirFS(at)); err != nil {
		return err
	}
	manifest := filepath.Join(other, "manifest.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(manifest, bytes.Replace(text, []byte(`"bits": "2"`), []byte(`"bits": "3"`), 1), 0o644)
}

// play adds 2 to four words.
func play(d gpu.Device) error {
	to, err := d.Alloc(16)
	if err != nil {
		return err
	}
	from, err := d.Alloc(16)
	if err != nil {
		return err
	}
	if err := d.Write(from, bytes.Repeat([]byte{40, 0, 0, 0}, 4)); err != nil {
		return err
	}
	code, err := d.Load(&gpu.Program{Name: "add.cu", PTX: []byte(gputest.AddPTX)})
	if err != nil {
		return err
	}
	if err := d.Launch(code, []gpu.Buffer{to, from}, gputest.Add(4, 2)); err != nil {
		return err
	}
	return d.Read(to, make([]byte, 16))
}
