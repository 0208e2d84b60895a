// SPDX-License-Identifier: Apache-2.0

package tools

// Sample is how many cases of a sweep a run takes: all of them in a long one, else the first few.
func Sample(few, all int) int {
	if Long {
		return all
	}
	return few
}
