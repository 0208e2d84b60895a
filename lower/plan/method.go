// SPDX-License-Identifier: Apache-2.0

package plan

// Method is how fraction bits are chosen from values.
type Method uint8

// The methods.
const (
	MSE          Method = iota // least squared error over the values seen
	MinMax                     // the most fraction bits with which no value saturates
	Percentile                 // as MinMax, the 0.01 % of values at either end left out
	CrossEntropy               // as MSE, and then calib.Values.Finer, for the cross-entropy of outputs
)

// Methods lists the words of a plan, in the order of the constants.
func Methods() []string { return []string{"mse", "minmax", "percentile", "cross-entropy"} }

// String is the word of a plan.
func (m Method) String() string { return Methods()[m] }
