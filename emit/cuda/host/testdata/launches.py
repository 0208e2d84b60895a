# launches.py BATCH: runs a model of one input and one output on the emulated driver, which tells its launches, and
# prints where input, output and workspace are.
import ctypes
import sys

sys.path.insert(0, ".")
import model

ctypes.CDLL("libcuda.so.1").emulated_set(b"record", ctypes.c_longlong(1))
batch = int(sys.argv[1])
m = model.default()
buffers = [m._allocate(batch * 48), m._allocate(batch * 12), m._allocate(m.workspace_bytes(batch))]
places = [(b.address, b.bytes) for b in buffers]
m.launch(batch, places[:1], places[1:2], places[2])
print("at", *[b.address for b in buffers])
