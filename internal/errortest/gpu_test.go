// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"testing"
	"time"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/record"
)

// onFake opens a stand-in for the driver that is set up by change, and returns what use returns.
func onFake(t *testing.T, change func(f *gputest.Fake), use func(d *gpu.Driver) error) error {
	t.Helper()
	f := gputest.New(t)
	change(f)
	d, err := gpu.OpenDriver(gpu.DriverOptions{Library: f.Path, RefuseLocal: true})
	if err != nil {
		return err
	}
	defer d.Close()
	return use(d)
}

func asItIs(*gputest.Fake) {}

// launched launches a kernel of the stand-in.
func launched(t *testing.T, l cuda.Launch) error {
	t.Helper()
	return onFake(t, asItIs, func(d *gpu.Driver) error {
		code, err := d.Load(gputest.Words("7.4"))
		if err != nil {
			return err
		}
		if err := d.Launch(code, nil, l); err != nil {
			return err
		}
		return d.Sync()
	})
}

func loaded(d *gpu.Driver) error {
	_, err := d.Load(gputest.Words("7.4", 80))
	return err
}

// gpuFaults are those of devices.
var gpuFaults = map[diag.Code]func(t *testing.T) error{
	"L0975": func(*testing.T) error {
		_, err := gpu.OpenDriver(gpu.DriverOptions{Library: "libcuda-of-no-machine.so.1"})
		return err
	},
	"L0976": func(t *testing.T) error {
		return onFake(t, func(f *gputest.Fake) { f.Set("driver", 11020) }, loaded)
	},
	"L0977": func(t *testing.T) error {
		return onFake(t, asItIs, func(d *gpu.Driver) error {
			_, err := d.Alloc(1 << 50)
			return err
		})
	},
	"L0978": func(t *testing.T) error {
		return onFake(t, func(f *gputest.Fake) { f.Set("major", 7); f.Set("ptx", 65) }, loaded)
	},
	"L0979": func(t *testing.T) error {
		return onFake(t, func(f *gputest.Fake) { f.Fail("cuStreamSynchronize", 0, 1) }, (*gpu.Driver).Sync)
	},
	"L0980": func(t *testing.T) error {
		return launched(t, cuda.Launch{Kernel: "fault_words", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}})
	},
	"L0981": func(t *testing.T) error { return launched(t, cuda.Launch{Kernel: "copy_word"}) },
	"L0982": func(t *testing.T) error { return launched(t, cuda.Launch{Kernel: "copy_words"}) },
	"L0983": func(t *testing.T) error {
		return onFake(t, func(f *gputest.Fake) { f.Set("local", 8) }, loaded)
	},
	"L0984": func(t *testing.T) error {
		return onFake(t, asItIs, func(d *gpu.Driver) error {
			return d.Read(gpu.Buffer{Addr: 1, Bytes: 4}, make([]byte, 4))
		})
	},
	"L0985": func(t *testing.T) error {
		return onFake(t, asItIs, func(d *gpu.Driver) error {
			_, err := record.New(d, put(t, map[string]string{"full": ""}))
			return err
		})
	},
	"L0988": func(t *testing.T) error {
		_, err := bench.OpenPack(t.TempDir())
		return err
	},
	"L0989": func(t *testing.T) error {
		return onFake(t, asItIs, func(d *gpu.Driver) error {
			release := make(chan struct{})
			defer close(release)
			_, err := bench.Run(t.Context(), bench.Options{Open: func() (gpu.Device, error) { return d, nil },
				Program: func(*cuda.Case) (*gpu.Program, error) { <-release; return nil, errWithoutCode },
				Cases:   []cuda.Case{{Name: "endless"}}, Limit: time.Hour, CheckOnly: true,
				Append: func(*bench.Record) error { return nil }, Note: func(string) {}})
			return err
		})
	},
}
