// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// nvmlName is the library of the driver that tells of clocks; containers have it where they have no nvidia-smi.
const nvmlName = "libnvidia-ml.so.1"

// Kinds of clocks of NVML (nvmlClockType_t).
const nvmlSM, nvmlMemory = 1, 2

// nvml are the functions of NVML that are used; each returns 0 for success.
type nvml struct {
	start  func() int32
	handle func(index uint32, device *uintptr) int32
	clock  func(device uintptr, kind uint32, mhz *uint32) int32
	limit  func(device uintptr, milliwatts *uint32) int32
}

var openedNVML = sync.OnceValues(func() (*nvml, error) { return openNVML(nvmlName) })

// openNVML loads and starts NVML, which stays so until the program ends.
func openNVML(library string) (*nvml, error) {
	lib, err := purego.Dlopen(library, purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	n := &nvml{}
	for name, to := range map[string]any{"nvmlInit_v2": &n.start, "nvmlDeviceGetHandleByIndex_v2": &n.handle,
		"nvmlDeviceGetClockInfo": &n.clock, "nvmlDeviceGetPowerManagementLimit": &n.limit} {
		at, err := purego.Dlsym(lib, name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(to, at)
	}
	if status := n.start(); status != 0 {
		return nil, fmt.Errorf("nvmlInit returns %d", status)
	}
	return n, nil
}

// read returns the clocks of the first GPU; what NVML does not know is 0.
func (n *nvml) read() Clocks {
	var device uintptr
	if n.handle(0, &device) != 0 {
		return Clocks{}
	}
	clock := func(kind uint32) int {
		var mhz uint32
		if n.clock(device, kind, &mhz) != 0 {
			return 0
		}
		return int(mhz)
	}
	c := Clocks{SM: clock(nvmlSM), Memory: clock(nvmlMemory)}
	if milliwatts := uint32(0); n.limit(device, &milliwatts) == 0 {
		c.Power = float64(milliwatts) / 1000
	}
	return c
}

// ReadClocks asks NVML for the clocks of the first GPU, or nvidia-smi where there is no NVML; all 0 where there is
// neither, or they do not know.
func ReadClocks() Clocks {
	if n, err := openedNVML(); err == nil {
		if c := n.read(); c != (Clocks{}) {
			return c
		}
	}
	out, err := exec.Command("nvidia-smi", "--id=0", "--query-gpu=clocks.sm,clocks.mem,power.limit",
		"--format=csv,noheader,nounits").Output()
	if err != nil {
		return Clocks{}
	}
	return parseClocks(string(out))
}

func parseClocks(line string) Clocks {
	var c Clocks
	n, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%d %d %g", &c.SM, &c.Memory, &c.Power)
	if err != nil && n < 2 {
		return Clocks{}
	}
	return c
}
