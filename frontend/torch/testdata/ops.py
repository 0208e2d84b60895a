# SPDX-License-Identifier: Apache-2.0
"""Writes ops.zip: what torch.export (PyTorch 2.15) saves of each operation, plain and decomposed,
    with inputs and outputs.

Tests only read the result; PyTorch is needed to write it anew: python ops.py
"""
import glob, io, json, os, tempfile, zipfile
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(0)
D=os.path.join(tempfile.mkdtemp(),'')
X=torch.randn(2,4,6); Y=torch.randn(2,4,6); I=torch.randn(1,4,8,8); IDX=torch.tensor([[0,2,1],[3,3,
    -1]]) ; POS=torch.rand(2,4,6)+0.5
T=torch.randint(0,4,(2,3)); BM=X>0
C={}
def c(name,*inp):
    def d(f):
        C[name]=(f,inp); return f
    return d
for n in 'relu sigmoid tanh erf exp floor ceil round abs sign neg sin cos atan sinh cosh asinh square expm1'.split():
    C[n]=((lambda n:lambda x:getattr(torch,n)(x))(n),(X,))
for n in 'sqrt rsqrt log log1p log2 log10 reciprocal'.split():
    C[n]=((lambda n:lambda x:getattr(torch,n)(x))(n),(POS,))
for n in 'gelu silu mish hardswish hardsigmoid hardtanh relu6 leaky_relu elu selu celu softplus logsigmoid'.split():
    C[n]=((lambda n:lambda x:getattr(F,n)(x))(n),(X,))
C['gelu_tanh']=(lambda x:F.gelu(x,approximate='tanh'),(X,))
C['softplus_beta']=(lambda x:F.softplus(x,beta=2.),(X,))
C['glu']=(lambda x:F.glu(x,-1),(X,))
C['prelu']=(lambda x:F.prelu(x,torch.tensor([.1,.2,.3,.4])),(X,))
C['clamp']=(lambda x:torch.clamp(x,-.5,.7)+torch.clamp_min(x,0.1),(X,))
C['arith']=(lambda x,y:(x+y*2-1)*y/3-(2-x)/(y*y+1)+torch.add(x,y,alpha=2)-torch.rsub(x,y,alpha=.5),(X,Y))
C['divmode']=(lambda x,y:torch.div(x,y,rounding_mode='floor')+torch.div(x,y,
    rounding_mode='trunc')+x%0.7+torch.fmod(x,0.7)+x//0.5,(X,Y))
C['intdiv']=(lambda t:torch.div(t-2,2,rounding_mode='floor')*100+torch.div(t-2,2,
    rounding_mode='trunc')*10+(t-2)%3+(t-2)//3+torch.fmod(t-2,3),(T,))
C['pow']=(lambda x,y:x**2+y**3+torch.pow(x,y.round())+2.**y+x.abs()**0.5,(POS,Y))
C['intpow']=(lambda t:t**2+t*t-(-t)+2**t,(T,))
C['cmp']=(lambda x,y:(x>y)&(x>=0)|(x<y)^(y<=0.5)|~(x==y)&(x!=0),(X,Y))
C['logical']=(lambda x,y:torch.logical_and(x>0,y>0)|torch.logical_not(x)|torch.logical_xor(x,
    y)|torch.logical_or(x>1,y>1),(X,Y))
C['where']=(lambda x,y:torch.where(x>0,x,y)+torch.where(x>0,1.,y)+torch.where(y>0,x,0),(X,Y))
C['masked_fill']=(lambda x,y:x.masked_fill(y>0,-1e9)+x.masked_fill(y>0,float('-inf')).exp(),(X,Y))
C['maxmin']=(lambda x,y:torch.maximum(x,y)-torch.minimum(x,y),(X,Y))
C['casts']=(lambda x,
    t:x.to(torch.int32).float()+t.float().mean()+(t>1).to(torch.float64).sum()+x.half().float()+x.bfloat16().float()+x.double().float()+t.to(torch.uint8).long(). sum()+x.bool().float(),(X,T))
C['isnan']=(lambda x:torch.isnan(x)|torch.isinf(x),(X,))
C['reduce']=(lambda x:(x.mean(1),x.mean(),x.sum((0,2)),x.sum(),x.amax(-1,keepdim=True),x.amin(0),x.max(),
    x.min(),x.var(1),x.std((0,1),correction=0),x.var(unbiased=False)),(X,))
C['maxdim']=(lambda x:(*x.max(1),*x.min(2,keepdim=True),x.argmax(1),x.argmin(-1),x.argmax(),*x.topk(2,1),
    *x.topk(3,largest=False)),(X,))
C['intred']=(lambda t:(t.sum(),t.sum(0),(t>1).sum(),t.max(),t.cumsum(1),t.prod(),(t>1).any(1),(t>=0).all()),(T,))
C['cumsum']=(lambda x:(x.cumsum(1),x.prod(1),torch.logsumexp(x,(1,2)),torch.linalg.vector_norm(x,dim=-1),
    x.norm(),x.norm(p=1)),(X,))
C['softmax']=(lambda x:(x.softmax(-1),x.softmax(1),x.log_softmax(2)),(X,))
C['shape']=(lambda x:(x.view(8,6),x.reshape(-1),x.flatten(1),x.unflatten(2,(2,-1)),x.unsqueeze(0).squeeze(),
    x.permute(2,0,1),x.transpose(-1,0),x.movedim(0,2),x.movedim((0,1),(2,0)),x[0].t(),x.expand(3,2,4,6),x[:,
    :1].expand_as(x),x.repeat(2,1,3),x.swapaxes(0,1),x.mT),(X,))
C['slices']=(lambda x:(x[:,1:3],x[...,::2],x[1],x[:,-1],x.narrow(2,1,3),x[:,:,-3:-1],x.select(2,4),*x.unbind(0),
    *x.split(3,2),*x.split([1,3],1),*x.chunk(3,1),*x.tensor_split(4,2)),(X,))
C['cat']=(lambda x,y:(torch.cat([x,y],1),torch.stack([x,y],-1),torch.cat([x[:,:0],y],1),torch.hstack([x,y]),
    x.flip(1,2),x.roll(2,1),x.roll((1,-2),(0,2)),x.roll(3),torch.diff(x,dim=1)),(X,Y))
C['index']=(lambda x,t:(x[:,t[0]],x.index_select(1,t[1]),x[:,torch.tensor([2,0,-1])],torch.gather(x,1,t[:,:,
    None].expand(2,3,6)),x[torch.tensor([0,1]),torch.tensor([[1],[2]])],x[:,torch.tensor([0,1]),torch.tensor([2,
    -3])],x[torch.arange(2),t[:,0]]),(X,T))
C['make']=(lambda x:(x+torch.arange(6),x+torch.arange(0,3,.5),x*torch.ones(6)+torch.zeros_like(x)+torch.full((4,
    1),2.),x.new_ones(3)+x.new_zeros(3),torch.full_like(x,3)*x,torch.eye(6)+x[0,0],
    x.tril()+x.triu(1)+x.tril(-1),torch.ones(6,6).triu()+x[0,0]),(X,))
C['onehot']=(lambda t:F.one_hot(t,5),(T,))
C['matmul']=(lambda x,y:(x@y.transpose(1,2),x[0]@y[1].t(),x@y[0,0],x[0,0]@y[1].t(),x[0,0]@y[0,0],torch.bmm(x,
    y.mT),torch.baddbmm(x[:,:,:4],x,y.mT,beta=.5,alpha=2),torch.einsum('bij,bkj->bik',x,y),
    torch.einsum('bij->ji',x)),(X,Y))
C['sdpa']=(lambda q,k,v:(F.scaled_dot_product_attention(q,k,v),F.scaled_dot_product_attention(q,k,v,
    is_causal=True),F.scaled_dot_product_attention(q,k[:,:,:3],v[:,:,:3],is_causal=True),
    F.scaled_dot_product_attention(q,k[:,:2],v[:,:2],enable_gqa=True,scale=.3),F.scaled_dot_product_attention(q,
    k,v,attn_mask=torch.ones(5,5).tril().bool()),F.scaled_dot_product_attention(q[0],k[0],v[0],
    attn_mask=torch.ones(5,5).tril().log())),tuple(torch.randn(2,4,5,8) for _ in range(3)))
C['pad']=(lambda i:(F.pad(i,(1,2)),F.pad(i,(1,0,2,3),value=.5),F.pad(i,(-1,2,1,-2)),F.pad(i,(2,1,1,1),
    mode='reflect'),F.pad(i,(2,1,1,1),mode='replicate'),F.pad(i,(2,1,1,1),mode='circular')),(I,))
C['resize']=(lambda i:(F.interpolate(i,scale_factor=2),F.interpolate(i,size=(5,11)),F.interpolate(i,
    scale_factor=2,mode='bilinear'),F.interpolate(i,size=(5,11),mode='bilinear',align_corners=True),
    F.interpolate(i,size=(3,13),mode='bilinear'),F.interpolate(i,scale_factor=1.6),F.interpolate(i,
    scale_factor=1.6,mode='bilinear'),F.interpolate(i,size=(11,5),mode='bicubic')),(I,))
C['pools']=(lambda i:(F.max_pool2d(i,2),F.max_pool2d(i,3,2,1),F.max_pool2d(i,3,2,ceil_mode=True),F.max_pool2d(i,
    2,1,dilation=2),F.avg_pool2d(i,2),F.avg_pool2d(i,3,2,1),F.avg_pool2d(i,3,2,1,count_include_pad=False),
    F.avg_pool2d(i,3,2,ceil_mode=True),F.adaptive_avg_pool2d(i,1),F.adaptive_avg_pool2d(i,(2,4)),
    F.adaptive_max_pool2d(i,2),F.max_pool1d(i[0],2),F.avg_pool1d(i[0],3,2),F.adaptive_avg_pool1d(i[0],4),
    i.mean((-1,-2)),i.mean((2,3),keepdim=True),F.max_pool2d(i[0],2)),(I,))
C['shuffle']=(lambda i:(F.pixel_shuffle(i,2),F.pixel_unshuffle(i,2),F.channel_shuffle(i,2)),(I,))
class M(nn.Module):
    def __init__(s,mods,**kw):
        super().__init__(); s.m=nn.ModuleList(mods); s.kw=kw
    def forward(s,i): return tuple(m(i) for m in s.m)
L={'conv':(M([nn.Conv2d(4,6,3),nn.Conv2d(4,8,3,2,1,groups=2),nn.Conv2d(4,4,(3,1),padding='same'),nn.Conv2d(4,6,
    3,dilation=2,padding='valid',bias=False),nn.ConvTranspose2d(4,6,3,2,1,1),nn.ConvTranspose2d(4,6,2,2,
    groups=2),nn.BatchNorm2d(4),nn.BatchNorm2d(4,affine=False),nn.InstanceNorm2d(4,affine=True),
    nn.InstanceNorm2d(4),nn.GroupNorm(2,4),nn.LayerNorm([8,8]),nn.LayerNorm(8,bias=False),nn.LayerNorm(8,
    elementwise_affine=False),nn.RMSNorm(8),nn.RMSNorm([8,8],elementwise_affine=False,eps=1e-3),nn.Linear(8,3),
    nn.Linear(8,3,bias=False)]),(I,)),
 'conv1':(M([nn.Conv1d(4,6,3,padding=1),nn.ConvTranspose1d(4,6,3,2),nn.BatchNorm1d(4),nn.Identity()]),
     (torch.randn(1,4,9),)),
 'tf':(nn.TransformerEncoderLayer(16,2,32,batch_first=True),(torch.randn(1,5,16),)),
 'tf2':(nn.TransformerEncoderLayer(16,2,32,norm_first=True,activation='gelu'),(torch.randn(5,1,16),)),
 'lstmless':(nn.Sequential(nn.Embedding(10,8),nn.Dropout(.5),nn.Linear(8,4),nn.ReLU(inplace=True),nn.Linear(4,
     4)),(torch.randint(0,10,(1,5)),)),
}
class Fn(nn.Module):
    def __init__(s,f): super().__init__(); s.f=f
    def forward(s,*a): return s.f(*a)
def save(name,m,inp,ep):
    torch.export.save(ep,D+name+'.pt2')
    names=[s.arg.name for s in ep.graph_signature.input_specs if s.kind.name=='USER_INPUT']
    out=m(*inp); out=out if isinstance(out,tuple) else (out,)
    np.savez(D+name+'.in.npz',**{n:v.numpy() for n,v in zip(names,inp)})
    np.savez(D+name+'.out.npz',**{'%03d'%i:v.detach().numpy() for i,v in enumerate(out)})
for name,(f,inp) in list(C.items())+list(L.items()):
    m=f if isinstance(f,nn.Module) else Fn(f)
    m.eval()
    for k in m.modules():
        if isinstance(k,nn.modules.batchnorm._BatchNorm) and k.running_mean is not None:
            k.running_mean.normal_(); k.running_var.uniform_(.5,2)
    with torch.no_grad():
        try:
            ep=torch.export.export(m,tuple(inp)); save(name,m,inp,ep)
            save(name+'_dec',m,inp,ep.run_decompositions())
        except Exception as e: print(name,'EXPORT',str(e)[:300])

out=zipfile.ZipFile(os.path.join(os.path.dirname(os.path.abspath(__file__)),'ops.zip'),'w',zipfile.ZIP_DEFLATED,
    compresslevel=9)
def put(n,b):
    i=zipfile.ZipInfo(n,(1980,1,1,0,0,0)); i.compress_type=zipfile.ZIP_DEFLATED; out.writestr(i,b)
def strip(m):
    for k in ('verifiers','guards_code'): m.pop(k,None)
    gm=m['graph_module']; gm.pop('module_call_graph',None); gm.pop('metadata',
        None); gm.pop('treespec_namedtuple_fields',None)
    for n in gm['graph']['nodes']:
        n['metadata']={k:v for k,v in n['metadata'].items() if k=='nn_module_stack'}
    return m
for f in sorted(glob.glob(D+'*.pt2')):
    b=os.path.basename(f)[:-4]
    if b=='pad_dec': continue
    z=zipfile.ZipFile(f); 
    buf=io.BytesIO(); w=zipfile.ZipFile(buf,'w',zipfile.ZIP_STORED)
    for i in z.infolist():
        rest=i.filename.split('/',1)[1]
        if rest.startswith('data/sample_inputs') or rest.startswith('.data'): continue
        d=z.read(i)
        if rest=='models/%s.json'%b or rest.startswith('models/'): d=json.dumps(strip(json.loads(d)),
            separators=(',',':')).encode()
        ii=zipfile.ZipInfo(i.filename,(1980,1,1,0,0,0)); w.writestr(ii,d)
    w.close(); put(b+'.pt2',buf.getvalue())
    base=b[:-4] if b.endswith('_dec') else b
    if not b.endswith('_dec'):
        for k in('in','out'):
            a=np.load(D+'%s.%s.npz'%(base,k)); bb=io.BytesIO()
            ww=zipfile.ZipFile(bb,'w',zipfile.ZIP_STORED)
            for n in a.files:
                x=io.BytesIO(); np.save(x,a[n]); ww.writestr(zipfile.ZipInfo(n+'.npy',(1980,1,1,0,0,0)),
                    x.getvalue())
            ww.close(); put(base+'.'+k+'.npz',bb.getvalue())
out.close()
