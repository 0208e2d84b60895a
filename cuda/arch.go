// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Arch is an architecture for which kernels are compiled.
type Arch struct {
	// Name is what the compilers call it: sm_90a.
	Name string
	// Capability is ten times the compute capability: 90.
	Capability int
	// Exact says that code for it runs on that capability only, not on later ones of the same major number.
	Exact bool
	// Shared is the most shared memory of a block, by opt-in; SharedSM that of a multiprocessor; in bytes.
	Shared, SharedSM int
	// GPUs names some that have it.
	GPUs string
}

// MaxRegisters is the most registers that a thread can have, on every architecture.
const MaxRegisters = 255

// archs are the targets; sizes are those of the CUDA C++ programming guide, appendix on compute capabilities.
var archs = []Arch{
	{"sm_80", 80, false, 166912, 167936, "A100, A30"},
	{"sm_86", 86, false, 101376, 102400, "A10, A40, RTX 30"},
	{"sm_89", 89, false, 101376, 102400, "L4, L40, RTX 40"},
	{"sm_90", 90, false, 232448, 233472, "H100, H200, GH200"},
	{"sm_90a", 90, true, 232448, 233472, "H100, H200, GH200"},
	{"sm_100", 100, false, 232448, 233472, "B200, GB200"},
	{"sm_120", 120, false, 101376, 102400, "RTX 50, RTX PRO Blackwell"},
}

// PortablePTX is the target of the one PTX that every GPU of the table can load.
const PortablePTX = "compute_80"

// HopperArch has the copy engine and products by warpgroups. Kernels with them run nowhere else.
const HopperArch = "sm_90a"

// Archs returns the architectures that Lathe compiles for, oldest first.
func Archs() []Arch { return slices.Clone(archs) }

// ArchNames returns their names.
func ArchNames() []string {
	var names []string
	for _, a := range archs {
		names = append(names, a.Name)
	}
	return names
}

// FindArch returns the architecture of that name. Error L0934 for an unknown one, with the nearest in the hint.
func FindArch(name string) (Arch, error) {
	for _, a := range archs {
		if a.Name == name {
			return a, nil
		}
	}
	e := diag.New(diag.UnknownGPU, "", "no architecture %q", name)
	all := strings.Join(ArchNames(), ", ")
	if near := nearestArch(name); near != "" {
		return Arch{}, e.WithHint("did you mean %s? There are %s", near, all)
	}
	return Arch{}, e.WithHint("there are %s", all)
}

// capability is a name that tells a compute capability, as compilers write it: sm_91, sm90, compute_87.
var capability = regexp.MustCompile(`^(?i:sm|compute)[_-]?(\d{2,4})[a-z]?$`)

// nearestArch is the architecture whose number is nearest below that in the name, or else the nearest spelling. The
// name of a GPU, such as H100, has a number of another kind.
func nearestArch(name string) string {
	m := capability.FindStringSubmatch(name)
	if m == nil {
		return diag.Nearest(name, ArchNames())
	}
	number, _ := strconv.Atoi(m[1]) // a few digits
	best := archs[0].Name
	for _, a := range archs {
		if !a.Exact && a.Capability <= number {
			best = a.Name
		}
	}
	return best
}
