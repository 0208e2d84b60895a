# SPDX-License-Identifier: Apache-2.0
"""Writes recurrent.zip, as ops.py writes ops.zip, of recurrent modules: python recurrent.py"""
import glob, io, json, os, tempfile, zipfile
import numpy as np, torch, torch.nn as nn

torch.manual_seed(0)
D = os.path.join(tempfile.mkdtemp(), '')


class Whole(nn.Module):
    """All results of a module, flat; states that come in are inputs."""
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, x, *states):
        s = tuple(states) if len(states) == 2 else states[0] if states else None
        y, last = self.m(x, s)
        return (y, *last) if isinstance(last, tuple) else (y, last)


class Last(nn.Module):
    """What classifiers read: the last step, behind a linear layer."""
    def __init__(self, m, width):
        super().__init__()
        self.m, self.fc = m, nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(self.m(x)[0][:, -1])


class Cells(nn.Module):
    """Steps written out by hand."""
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(3, 4), nn.GRUCell(4, 2)
        self.rnn, self.relu = nn.RNNCell(2, 3), nn.RNNCell(3, 2, nonlinearity='relu', bias=False)

    def forward(self, x):
        h, c = self.lstm(x)
        h, c = self.lstm(x, (h, c))
        g = self.gru(h, self.gru(c))
        return self.relu(self.rnn(g)), h


T, B, I, H = 4, 2, 3, 4
x, xb, x1 = torch.randn(T, B, I), torch.randn(B, T, I), torch.randn(1, T, I)
CASES = {
    'lstm': (Whole(nn.LSTM(I, H)), (x,)),
    'lstm_states': (Whole(nn.LSTM(I, H)), (x, torch.randn(1, B, H), torch.randn(1, B, H))),
    'lstm_stack': (Whole(nn.LSTM(I, H, num_layers=2, bidirectional=True, batch_first=True, dropout=.5)), (xb,)),
    'lstm_projected': (Whole(nn.LSTM(I, H, proj_size=2, bias=False)), (x,)),
    'gru': (Whole(nn.GRU(I, H, batch_first=True)), (xb,)),
    'gru_states': (Whole(nn.GRU(I, H, num_layers=2, bidirectional=True)), (x, torch.randn(4, B, H))),
    'rnn': (Whole(nn.RNN(I, H, bias=False)), (x,)),
    'rnn_relu': (Whole(nn.RNN(I, H, nonlinearity='relu', bidirectional=True, batch_first=True)), (xb,)),
    'last': (Last(nn.LSTM(I, H, num_layers=2, batch_first=True), H), (x1,)),
    'cells': (Cells(), (torch.randn(B, I),)),
}


def array(a):
    f = io.BytesIO()
    np.save(f, a)
    return f.getvalue()


def strip(m):
    for k in ('verifiers', 'guards_code'):
        m.pop(k, None)
    gm = m['graph_module']
    for k in ('module_call_graph', 'metadata', 'treespec_namedtuple_fields'):
        gm.pop(k, None)
    for n in gm['graph']['nodes']:
        n['metadata'] = {k: v for k, v in n['metadata'].items() if k == 'nn_module_stack'}
    return m


def pack(members):
    f = io.BytesIO()
    with zipfile.ZipFile(f, 'w', zipfile.ZIP_STORED) as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return f.getvalue()


def stripped(name):
    with zipfile.ZipFile(D + name + '.pt2') as z:
        for i in z.infolist():
            rest = i.filename.split('/', 1)[1]
            if rest.startswith(('data/sample_inputs', '.data')):
                continue
            data = z.read(i)
            if rest.startswith('models/'):
                data = json.dumps(strip(json.loads(data)), separators=(',', ':')).encode()
            yield i.filename, data


here = os.path.dirname(os.path.abspath(__file__))
with zipfile.ZipFile(os.path.join(here, 'recurrent.zip'), 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as out:
    def put(name, data):
        i = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        i.compress_type = zipfile.ZIP_DEFLATED
        out.writestr(i, data)

    for name, (m, inputs) in CASES.items():
        m.eval()
        with torch.no_grad():
            ep = torch.export.export(m, inputs)
            torch.export.save(ep, D + name + '.pt2')
            results = m(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        names = [s.arg.name for s in ep.graph_signature.input_specs if s.kind.name == 'USER_INPUT']
        put(name + '.pt2', pack(stripped(name)))
        put(name + '.in.npz', pack((n + '.npy', array(v.numpy())) for n, v in zip(names, inputs)))
        put(name + '.out.npz', pack(('%03d.npy' % i, array(v.numpy())) for i, v in enumerate(results)))
