// SPDX-License-Identifier: Apache-2.0

package column

import (
	"lathe/cuda"
)

// CUDAUnit is a unit of one call: problem p of each sample.
func CUDAUnit[O any](u *cuda.Unit, p cuda.Batched[O], o O, t cuda.Target) (*cuda.Unit, error) {
	call, err := p.Call(o, t)
	if err != nil {
		return nil, cuda.Refused(err)
	}
	u.Calls = []cuda.Call{call}
	return u, nil
}
