// SPDX-License-Identifier: Apache-2.0

package golden

// Batch stacks the first samples of a program.
var Batch = Form.batch
