// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"lathe/cuda/ptx"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
)

func TestEmulated(t *testing.T) {
	for _, o := range []ptx.Options{{}, {Schedule: ptx.Random, Seed: 7, Copies: ptx.Lazy, Races: true}} {
		d := gpu.Emulated(gpu.EmulatedOptions{Options: o, Memory: 1 << 20})
		var b [2]gpu.Buffer
		for i := range b {
			var err error
			if b[i], err = d.Alloc(4 * 1000); err != nil {
				t.Fatal(err)
			}
		}
		code, err := d.Load(&gpu.Program{Name: "add.cu", PTX: []byte(gputest.AddPTX)})
		if err != nil || code.Image() != "PTX sm_80" || code.Kernels()[0].Threads != 256 {
			t.Fatalf("%+v, %v", code, err)
		}
		if err := d.Write(b[1], words(1000, 40)); err != nil {
			t.Fatal(err)
		}
		if err := expect(d, b[0], -1, "poison"); err != nil {
			t.Error(err)
		}
		if err := d.Launch(code, b[:], gputest.Add(1000, 2)); err != nil {
			t.Fatal(err)
		}
		if err := expect(d, b[0], 42, "add_words"); err != nil {
			t.Error(err)
		}
		if err := d.Fill(b[0].Slice(400, 3600), 1); err != nil {
			t.Error(err)
		}
		if err := expect(d, b[0].Slice(400, 3600), 0x01010101, "fill"); err != nil {
			t.Error(err)
		}
		refusals(t, d, code, b)
		if err := d.Unload(code); err != nil {
			t.Error(err)
		}
		demand(t, d.Unload(code), "L0984")
		if err := d.Free(b[0]); err != nil {
			t.Error(err)
		}
		if free, total, _ := d.MemInfo(); total-free != 4000 {
			t.Errorf("%d of %d bytes free", free, total)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if free, total, _ := d.MemInfo(); total != free {
			t.Errorf("%d of %d bytes free after Close", free, total)
		}
	}
}

// refusals are what an emulated device must find, as a GPU or beyond it.
func refusals(t *testing.T, d *gpu.Emulation, code gpu.Code, b [2]gpu.Buffer) {
	t.Helper()
	_, err := d.Alloc(1<<20 - 7999)
	demand(t, err, "L0977", "1040577 bytes needed, 1040576 of 1048576 free")
	demand(t, d.Launch(code, b[:], gputest.Copy("copy_words", 1)), "L0981")
	wide := gputest.Add(1000, 2)
	wide.Block[0] = 512
	demand(t, d.Launch(code, b[:], wide), "L0982", "1 to 256 threads")
	none := gputest.Add(1000, 2)
	none.Grid[0] = 0
	if err := d.Launch(code, b[:], none); err != nil {
		t.Error(err)
	}
	demand(t, d.Launch(code, b[:1], gputest.Add(1, 1)), "L0933")
	demand(t, d.Launch(nil, nil), "L0984")
	demand(t, d.Read(b[0], make([]byte, 4001)), "L0984")
	demand(t, d.Write(gpu.Buffer{Addr: 1, Bytes: 1}, []byte{1}), "L0984")
	demand(t, d.Fill(gpu.Buffer{Addr: 1, Bytes: 1}, 1), "L0984")
	demand(t, d.Free(b[0].Slice(0, 1)), "L0984")
	err = d.Launch(code, b[:], gputest.Add(1001, 2)) // one word beyond both buffers
	if err == nil || !strings.Contains(err.Error(), "add_words") {
		t.Errorf("an access outside of a buffer: %v", err)
	}
	_, err = d.Load(&gpu.Program{Name: "x.cu", PTX: []byte(strings.Replace(gputest.AddPTX, "add.s32", "dance.s32", 1))})
	if diag.CodeOf(err) != "L0961" {
		t.Errorf("an unknown instruction: %v", err)
	}
}

// lined demands of an error one line and a hint.
func lined(t *testing.T, err error) {
	t.Helper()
	line, hint, ok := strings.Cut(err.Error(), "\n  hint: ")
	if !ok || strings.Contains(line+hint, "\n") {
		t.Errorf("%q is not one line and a hint", err)
	}
}

// words are n words of value v.
func words(n, v int) []byte {
	var out []byte
	for range n {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return out
}

// TestChoose takes a GPU where there is one, and otherwise says why not.
func TestChoose(t *testing.T) {
	d, note, err := gpu.Choose(gpu.DriverOptions{Library: "libcuda-of-no-machine.so.1"}, gpu.EmulatedOptions{})
	if err != nil || d.Name() != "emulated" || !strings.HasPrefix(note, "no GPU (no CUDA driver: libcuda-of-no-machine") ||
		!strings.HasSuffix(note, "the kernels run on the emulated device") || strings.Contains(note, "\n") {
		t.Errorf("%q, %v", note, err)
	}
	f := gputest.New(t)
	d, note, err = gpu.Choose(gpu.DriverOptions{Library: f.Path}, gpu.EmulatedOptions{})
	if err != nil || d.Name() != "Fake H200" || note != "" {
		t.Errorf("%q, %v", note, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		call    string
		result  int
		code    diag.Code
		instead bool // the emulated device is taken
	}{
		{"cuInit", 999, "L0979", false}, {"cuInit", 802, "L0979", false}, {"cuInit", 3, "L0979", false},
		{"cuInit", 100, "", true}, {"cuInit", 34, "", true}, {"cuStreamCreate", 1, "L0979", false},
	} {
		f.Reset()
		f.Fail(c.call, 0, c.result)
		d, _, err := gpu.Choose(gpu.DriverOptions{Library: f.Path}, gpu.EmulatedOptions{})
		if diag.CodeOf(err) != c.code || c.instead != (d != nil && d.Name() == gpu.EmulatedName) {
			t.Errorf("%s gives %d: %v, %v; a driver that fails must not pass for none", c.call, c.result, d, err)
		}
	}
}
