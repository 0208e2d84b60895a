# tensors.py: runs the operator of PyTorch of the current folder, a model of one input and one output in bf16.
import sys

import torch

sys.path.insert(0, ".")
import model

operator = model.torch_operator()
x = torch.randn(3, *model.inputs[0].shape[1:], generator=torch.Generator().manual_seed(1)).bfloat16()
want = torch.from_numpy(model.run(x.float().numpy()))
torch.library.opcheck(operator, ([x],))
compiled = torch.compile(lambda x: operator([x])[0].float() + 1, backend="eager", fullgraph=True)
for y in [operator([x])[0].float(), compiled(x) - 1]:
    if y.shape != want.shape or not torch.allclose(y, want, atol=1e-5):
        sys.exit(f"{y}, want {want}")
try:
    operator([x.float()])
    sys.exit("float32 is taken for bf16")
except model.Error as e:
    if "is bf16 in memory, the tensor is torch.float32" not in str(e):
        raise
