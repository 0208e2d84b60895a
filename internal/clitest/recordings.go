// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lathe/cuda"
	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/record"
)

// WriteRecordings writes recordings of the emulated device into dir: "recording" is one of a kernel that adds 2, in
// "recording-other" the launch has another argument, so that its results are not those recorded; the kernel of
// "recording-long" runs for minutes, and "recording-large" has a buffer of 30 GiB.
func WriteRecordings(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	return errors.Join(
		take(at("recording"), gputest.AddPTX, gputest.Add(4, 2)),
		alter(at("recording"), at("recording-other"), `"bits": "2"`, `"bits": "3"`),
		take(at("recording-short"), spinPTX, spin),
		alter(at("recording-short"), at("recording-long"), `"bits": "77"`, `"bits": "7700000000"`),
		os.RemoveAll(at("recording-short")),
		alter(at("recording"), at("recording-large"), `"buffers": [
  16,`, `"buffers": [
  32212254720,`))
}

// spinPTX counts down to 0.
const spinPTX = `.version 7.4
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 spin_param_0)
{
	.reg .pred %p<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [spin_param_0];
$L_1:
	sub.s64 %rd1, %rd1, 1;
	setp.ne.s64 %p1, %rd1, 0;
	@%p1 bra $L_1;
	ret;
}
`

var spin = cuda.Launch{Kernel: "spin", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1},
	Args: []cuda.Arg{cuda.U64(77)}}

// take records a session with one launch.
func take(dir, ptx string, l cuda.Launch) error {
	r, err := record.New(gpu.Emulated(gpu.EmulatedOptions{}), dir)
	if err != nil {
		return err
	}
	err = play(r, ptx, l)
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

// alter copies a recording with a change of its manifest.
func alter(from, to, is, becomes string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	manifest := filepath.Join(to, "manifest.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	changed := bytes.Replace(text, []byte(is), []byte(becomes), 1)
	if bytes.Equal(changed, text) {
		return fmt.Errorf("%s holds no %s", manifest, is)
	}
	return os.WriteFile(manifest, changed, 0o644)
}

// play has two buffers of four words, one of which is read after the launch.
func play(d gpu.Device, ptx string, l cuda.Launch) error {
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
	code, err := d.Load(&gpu.Program{Name: "play.cu", PTX: []byte(ptx)})
	if err != nil {
		return err
	}
	if err := d.Launch(code, []gpu.Buffer{to, from}, l); err != nil {
		return err
	}
	return d.Read(to, make([]byte, 16))
}
