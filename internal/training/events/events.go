// SPDX-License-Identifier: Apache-2.0

// Package events writes figures of training as TensorBoard reads them: a file of records, each an Event of
// tensorflow/core/util/event.proto in the framing of TFRecord.
package events

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Prefix begins the names of such files; TensorBoard finds them by it.
const Prefix = "events.out.tfevents."

// Name is that of a file that begins at a time. It names no machine, as other writers' do.
func Name(t time.Time) string { return fmt.Sprintf("%s%010d.lathe", Prefix, t.Unix()) }

// Scalar is a figure.
type Scalar struct {
	Tag   string
	Value float64
}

// Writer writes events.
type Writer struct{ to io.Writer }

// Fields of Event, Summary and Summary.Value.
const (
	eventTime, eventStep, eventVersion, eventSummary = 1, 2, 3, 5

	summaryValue          = 1
	valueTag, valueSimple = 1, 2
)

// New begins a file.
func New(to io.Writer, t time.Time) (*Writer, error) {
	w := &Writer{to}
	b := wall(t)
	b = protowire.AppendTag(b, eventVersion, protowire.BytesType)
	return w, w.record(protowire.AppendString(b, "brain.Event:2"))
}

// Add writes the figures of a step.
func (w *Writer) Add(t time.Time, step int, scalars ...Scalar) error {
	var summary []byte
	for _, s := range scalars {
		var value []byte
		value = protowire.AppendTag(value, valueTag, protowire.BytesType)
		value = protowire.AppendString(value, s.Tag)
		value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(s.Value)))
		summary = protowire.AppendTag(summary, summaryValue, protowire.BytesType)
		summary = protowire.AppendBytes(summary, value)
	}
	b := wall(t)
	b = protowire.AppendTag(b, eventStep, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(step))
	b = protowire.AppendTag(b, eventSummary, protowire.BytesType)
	return w.record(protowire.AppendBytes(b, summary))
}

// wall begins an event with its time, in seconds since 1970.
func wall(t time.Time) []byte {
	b := protowire.AppendTag(nil, eventTime, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, math.Float64bits(float64(t.UnixMicro())/1e6))
}

// record writes length, checksum of the length, data, checksum of the data, in one call: a reader that follows the file
// sees whole records.
func (w *Writer) record(data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = binary.LittleEndian.AppendUint32(append(b, data...), masked(data))
	_, err := w.to.Write(b)
	return err
}

// masked is the CRC-32C of data, rotated and moved, as TFRecord wants it: a checksum of data that hold checksums would
// be weak.
func masked(data []byte) uint32 {
	crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}
