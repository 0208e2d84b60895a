// SPDX-License-Identifier: Apache-2.0

//go:build long

package num_test

import (
	"testing"

	"lathe/rtl/rtltest"
)

func TestRecipMany(t *testing.T) {
	t.Parallel()
	rtltest.Run(t, recip(7, 200_000, 1))
}
