// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/ptx"
	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
)

// addPTX is add_words as a compiler would print it: to[i] = from[i] + k for i below n.
const addPTX = `.version 7.4
.target sm_80
.address_size 64
.visible .entry add_words(
	.param .u64 add_words_param_0,
	.param .u64 add_words_param_1,
	.param .u32 add_words_param_2,
	.param .u32 add_words_param_3
)
.maxntid 256, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [add_words_param_0];
	ld.param.u64 %rd2, [add_words_param_1];
	ld.param.u32 %r1, [add_words_param_2];
	ld.param.u32 %r2, [add_words_param_3];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r3, 256, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra $L_1;
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mul.wide.u32 %rd5, %r5, 4;
	add.s64 %rd6, %rd4, %rd5;
	ld.global.u32 %r6, [%rd6];
	add.s32 %r7, %r6, %r2;
	add.s64 %rd7, %rd3, %rd5;
	st.global.u32 [%rd7], %r7;
$L_1:
	ret;
}
`

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
		code, err := d.Load(&gpu.Program{Name: "add.cu", PTX: []byte(addPTX)})
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
	_, err = d.Load(&gpu.Program{Name: "x.cu", PTX: []byte(strings.Replace(addPTX, "add.s32", "dance.s32", 1))})
	if diag.CodeOf(err) != "L0961" {
		t.Errorf("an unknown instruction: %v", err)
	}
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
	f.Reset()
	f.Fail("cuStreamCreate", 0, 1)
	if _, _, err := gpu.Choose(gpu.DriverOptions{Library: f.Path}, gpu.EmulatedOptions{}); diag.CodeOf(err) != "L0979" {
		t.Errorf("a driver that fails must not pass for none: %v", err)
	}
}
