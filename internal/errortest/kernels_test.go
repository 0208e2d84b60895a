// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"context"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// kernelFaults are those of the kernel library and its compiler.
var kernelFaults = map[diag.Code]func(t *testing.T) error{
	"L0930": func(*testing.T) error {
		_, err := cuda.Find("dequantt")
		return err
	},
	"L0931": func(*testing.T) error {
		_, err := cuda.ReadTemplate("map/x.cu",
			"// x: nothing.\ntemplate <int N> __device__ __forceinline__ void x(int n) {\n}\n")
		return err
	},
	"L0932": func(*testing.T) error {
		_, err := cuda.Make("dequant", "k", "bf16")
		return err
	},
	"L0933": func(t *testing.T) error {
		i, err := cuda.Make("dequant", "k", "bf16", "0")
		if err != nil {
			t.Fatal(err)
		}
		return i.Fit(cuda.Launch{Kernel: "k"})
	},
	"L0934": func(*testing.T) error {
		_, err := cuda.FindArch("sm_91")
		return err
	},
	"L0935": func(t *testing.T) error {
		_, err := nvrtc.Open(t.TempDir(), "")
		return err
	},
	"L0936": func(t *testing.T) error {
		c, err := nvrtc.Open(tools.NeedNVRTC(t), "")
		if err != nil {
			t.Fatal(err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Compile(cancelled, "k.cu", "int x;", "sm_90"); err == nil {
			t.Error("a cancelled compilation compiles")
		}
		_, err = c.Compile(t.Context(), "k.cu", "int x", "sm_90")
		return err
	},
	"L0937": func(t *testing.T) error {
		_, err := nvrtc.Tools{Dir: t.TempDir()}.Assemble(t.Context(), nil, "sm_80")
		return err
	},
	"L0938": func(t *testing.T) error {
		_, err := nvrtc.Tools{Dir: tools.NeedCUDATools(t)}.Assemble(t.Context(), []byte("mov"), "sm_80")
		return err
	},
	"L0939": func(*testing.T) error {
		_, err := nvrtc.LowerPTX([]byte(".version 8.8\n.target sm_90a\n"))
		return err
	},
	"L0940": func(t *testing.T) error {
		c, err := nvrtc.Open(tools.NeedNVRTC(t), "")
		if err != nil {
			t.Fatal(err)
		}
		c.Worker = []string{"false"}
		_, err = c.Compile(t.Context(), "k.cu", "int x;", "sm_90")
		return err
	},
}
