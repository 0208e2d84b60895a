// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"testing"

	"lathe/cuda/ptx"
	"lathe/internal/diag"
)

// ptxFaults are those of kernels in the interpreter.
var ptxFaults = map[diag.Code]func(t *testing.T) error{
	"L0957": func(t *testing.T) error {
		return launch(t, "mov.b64 %rd, 0;\n"+
			"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r, %s, %r, %s}, %rd, %rd, 0;", 128)
	},
	"L0958": func(t *testing.T) error {
		return launch(t, "st.shared.v4.u32 [part], {%r, %r, %r, %r};\n"+
			"cp.async.bulk.global.shared::cta.bulk_group [%rd], [part], 16;", 1)
	},
	"L0959": func(t *testing.T) error {
		return launch(t, "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd, {%r}], [part];", 1)
	},
	"L0960": func(*testing.T) error { _, err := ptx.Parse("k.ptx", []byte(".version 8.8\n")); return err },
	"L0961": func(*testing.T) error {
		_, err := ptx.Parse("k.ptx", kernelText("tcgen05.fence::before_thread_sync;"))
		return err
	},
	"L0962": func(t *testing.T) error { return launch(t, "", 2048) },
	"L0963": func(*testing.T) error { return ptx.NewMachine(ptx.Options{}).Read(0x1000, make([]byte, 4)) },
	"L0964": func(t *testing.T) error { return launch(t, "st.global.u32 [%rd+4096], %r;", 32) },
	"L0965": func(t *testing.T) error { return launch(t, "st.global.u32 [%rd+1], %r;", 32) },
	"L0966": func(t *testing.T) error {
		return launch(t, "setp.lt.u32 %p, %r, 8;\n@%p bra L;\nbar.sync 0;\nL:", 32)
	},
	"L0967": func(t *testing.T) error {
		return launch(t, "mov.u32 %s, part;\nshl.b32 %r, %r, 2;\nadd.s32 %s, %s, %r;\nst.shared.u32 [%s], %r;\n"+
			"xor.b32 %s, %s, 128;\nld.shared.u32 %r, [%s];", 64)
	},
	"L0968": func(t *testing.T) error { return launch(t, "ld.shared.u32 %r, [part];", 32) },
	"L0969": func(t *testing.T) error { return launch(t, "bar.sync 0, 64;", 32) },
	"L0970": func(t *testing.T) error { return launch(t, "L: bra L;", 32) },
	"L0971": func(t *testing.T) error { return launch(t, "trap;", 32) },
	"L0972": func(t *testing.T) error { return launch(t, "mov.u32 %r, 99;\nbar.sync %r;", 32) },
	"L0973": func(t *testing.T) error {
		return launch(t, "setp.ne.u32 %p, %r, 0;\n@%p bra L;\ncp.async.ca.shared.global [part], [%rd], 4;\n"+
			"L:\ncp.async.commit_group;\nld.shared.u32 %r, [part];", 32)
	},
	"L0974": func(t *testing.T) error { return launch(t, "st.global.u32 [%rd], %r;", 32) },
}

// kernelText is a module with one kernel, in which %r is the thread and %rd the address of a buffer of 4096 bytes.
func kernelText(body string) []byte {
	return []byte(`.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p;
.reg .b32 %r, %s;
.reg .b64 %rd;
.shared .align 4 .b8 part[256];
ld.param.u64 %rd, [p];
mov.u32 %r, %tid.x;
` + body + "\nret;\n}\n")
}

// launch runs a body with one block of threads under the race detector.
func launch(t *testing.T, body string, threads uint32) error {
	t.Helper()
	mod, err := ptx.Parse("k.ptx", kernelText(body))
	if err != nil {
		t.Fatal(err)
	}
	m := ptx.NewMachine(ptx.Options{Races: true, Limit: 1000})
	addr, err := m.Alloc(4096, ptx.AllocOptions{Name: "y"})
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 8)
	for i := range params {
		params[i] = byte(addr >> (8 * i))
	}
	_, err = m.Launch(mod.Kernel("k"), [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, params)
	return err
}
