# SPDX-License-Identifier: Apache-2.0
"""Writes recurrent.zip, as ops.py writes ops.zip, of recurrent modules: python recurrent.py"""
import torch, torch.nn as nn
from pack import write

torch.manual_seed(0)


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

write('recurrent.zip', CASES)
