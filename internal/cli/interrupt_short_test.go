// SPDX-License-Identifier: Apache-2.0

//go:build !long

package cli_test

import "time"

// moments is how many times each command is interrupted, latest up to when.
const (
	moments = 1
	latest  = 2 * time.Second
)
