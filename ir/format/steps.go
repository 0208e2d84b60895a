// SPDX-License-Identifier: Apache-2.0

package format

// Step says how the step of integers is part of a format.
type Step uint8

const (
	// NoStep: f is no format of integers, has its scales beside the codes, or divides in float32.
	NoStep Step = iota
	// PowerStep is a power of two.
	PowerStep
	// AnyStep is any number.
	AnyStep
)

// StepIn says how the step of its integers is part of f.
func StepIn(f Format) Step {
	switch f := f.(type) {
	case Fixed:
		return PowerStep
	case Affine:
		if f.Axis < 0 && f.Div == DivExact {
			return AnyStep
		}
	}
	return NoStep
}

// WithStep is f, of PowerStep or AnyStep, with another step of that kind.
func WithStep(f Format, step float32) Format {
	switch f := f.(type) {
	case Fixed:
		e, _ := Log2(step)
		f.F = -e
		return f
	case Affine:
		f.Scale = step
		return f
	}
	return f
}
