# SPDX-License-Identifier: Apache-2.0
"""Writes archives of exported programs, their inputs and outputs, for ops_test.go."""
import io, json, os, tempfile, zipfile
import numpy as np, torch

D = os.path.join(tempfile.mkdtemp(), '')
here = os.path.dirname(os.path.abspath(__file__))


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


def write(archive, cases):
    """Writes the programs of all cases, a module and its inputs each, with what they give."""
    with zipfile.ZipFile(os.path.join(here, archive), 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def put(name, data):
            i = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            i.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(i, data)

        for name, (m, inputs) in cases.items():
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
