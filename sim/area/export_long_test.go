// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

// What tests of this package need that import others above it.
var (
	Mapped  = mapped
	Section = section
	Update  = update
)

type Figures = figures
