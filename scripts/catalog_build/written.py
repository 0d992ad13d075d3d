"""Sample calls written by hand, as lines of Python, for callables that ``op_db`` has no sample for.

Also samples that decide a question which ``op_db`` leaves open: a number where it has tensors, a conversion that changes
nothing, a call by another overload. The names in the lines are those of ``calls.scope``; ``call`` notes a call of
something that a function mode does not see.
"""

from __future__ import annotations

_METHODS = (
    # numbers in the place of tensors, and reflected operators
    "x.add(2.0); x.sub(2.0); x.mul(2.0); x.div(2.0); x.pow(2.0); x.pow(3); x.remainder(2.0); x.fmod(2.0)",
    "x.add_(2.0); x.sub_(2.0); x.mul_(2.0); x.div_(2.0); x.remainder_(2.0); x.fmod_(2.0)",
    "x.pow_(2.0)",
    "x.floor_divide(2.0); x.floor_divide_(2.0); x.clamp(0.1, 0.9); x.clamp(min=0.1); x.clamp_(0.1, 0.9)",
    "x.mul(z); x.div(z); x.pow(z); x.add(z); z.mul(x); z.pow(x)",
    "x.copysign(2.0); x.true_divide(2.0); x.multiply(2.0); x.divide(2.0); x.float_power(2.0); x.xlogy(2.0); x.fmod(y)",
    "2.0 + x; 2.0 - x; 2.0 * x; 2.0 / x; 2.0 // x; 2.0 % x; 2.0 ** x",
    "+x; -x; abs(x); x @ s; x ** 2; x ** y; x / 2.0; x * 2.0; x // 2.0; x % 2.0",
    "torch.pow(x, 2.0); torch.pow(2.0, x); torch.pow(x, y); torch.float_power(x, 2.0); torch.float_power(2.0, x)",
    "torch.add(x, 2.0); torch.mul(x, 2.0); torch.div(x, 2.0); torch.sub(x, 2.0); torch.true_divide(x, 2.0)",
    "torch.mul(x, z); torch.div(x, z); torch.pow(x, z)",
    "torch.xlogy(x, 2.0); torch.special.xlogy(x, 2.0); torch.remainder(x, 2.0); torch.fmod(x, 2.0)",
    "call('torch.Tensor.__rpow__', x, 2.0); call('torch.Tensor.__rpow__', x, y); call('torch.Tensor.__rdiv__', x, 2.0)",
    "call('torch.Tensor.__rtruediv__', x, 2.0); call('torch.Tensor.__rsub__', x, 2.0); call('torch.Tensor.__rmul__', x, 2.0)",
    "call('torch.Tensor.__rfloordiv__', x, 2.0); call('torch.Tensor.__rmod__', x, y); call('torch.Tensor.__rmatmul__', s, x)",
    "call('torch.Tensor.__radd__', x, 2.0); call('torch.Tensor.__radd__', x, y); call('torch.Tensor.__rmul__', x, y)",
    "call('torch.Tensor.__pow__', x, 2.0); call('torch.Tensor.__pow__', x, y); call('torch.Tensor.__pos__', x)",
    "call('torch.Tensor.__rtruediv__', x, y); call('torch.Tensor.__rsub__', x, y); call('torch.Tensor.__rfloordiv__', x, y)",
    "for o in ('add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'div', 'iadd', 'isub', 'imul', 'idiv', 'ifloordiv', 'imod',"
    " 'itruediv', 'ipow'): call(f'torch.Tensor.__{o}__', x, y); call(f'torch.Tensor.__{o}__', x, 2.0)",
    "for o in ('and', 'or', 'xor', 'lshift', 'rshift', 'iand', 'ior', 'ixor', 'ilshift', 'irshift', 'rand', 'ror', 'rxor',"
    " 'rlshift', 'rrshift'): call(f'torch.Tensor.__{o}__', n, n); call(f'torch.Tensor.__{o}__', n, 2)",
    "call('torch.Tensor.__matmul__', x, s); call('torch.Tensor.__invert__', n); call('torch.Tensor.__neg__', x)",
    "call('torch.Tensor.__deepcopy__', x.detach(), {}); call('torch.Tensor.__iter__', x); call('torch.Tensor.__len__', x)",
    "call('torch.Tensor.__array__', x); call('torch.Tensor.__contains__', x, 0.5); call('torch.Tensor.__bool__', z)",
    "call('torch.Tensor.__complex__', z); call('torch.Tensor.__index__', i[0]); call('torch.Tensor.__int__', z)",
    # indexing
    "x[0]; x[1:]; x[:, 1]; x[...]; x[None]; x[..., 0]; x[:, None, 1:3]; x[-1]",
    "x[i]; x[m]; x[[0, 1]]; x[:, i]; x[i, i]; x[i, None]; x[(0, 1), 0:2]; x[m[:, 0]]",
    "x[0] = v; x[1:] = 2.0; x[:, 1] = 3.0; x[...] = y; x[0, 1:3] = w[:2]",
    "x[i] = v; x[m] = 1.0; x[[0, 1]] = v; x[:, i] = 2.0; x[i] = y[i]; x[m] = v[:1]; x[i, i] = w[:2]",
    # conversions that may or may not change something
    "x.to(torch.float64); x.to(torch.float32); x.to(y); x.to(f); x.to('cpu'); x.to('cpu', torch.float64)",
    "x.double(); x.float(); f.double(); f.float(); x.half(); x.bfloat16(); x.cpu(); f.cpu(); x.type_as(y); x.type_as(f)",
    "x.type(torch.float64); x.type(torch.float32); x.type(); x.type('torch.FloatTensor'); x.numpy(force=True)",
    "n.long(); n.int(); m.bool(); n.bool(); n.short(); n.char(); n.byte(); c.cdouble(); x.cdouble(); c.cfloat(); x.cfloat(); c.chalf()",
    "x.contiguous(); x.t().contiguous(); x.reshape(-1); x.t().reshape(-1); x.reshape(3, 4); x.flatten(); x.t().flatten()",
    "v.flatten(); x.ravel(); v.ravel(); x.t().ravel(); x.resolve_conj(); c.conj().resolve_conj(); x.resolve_neg(); x.conj()",
    "c.conj(); x.positive(); x.expand(3, 4); v.expand(3, 4); v.expand_as(x); v.broadcast_to((3, 4)); x[:, :1].expand(3, 4)",
    "x.view(-1); x.view(4, 3); x.view((2, 6)); x.view(torch.int32); x.view_as(y); x.view(-1, 2, 2)",
    "x.unfold(1, 2, 1); v.unfold(0, 3, 1); v.as_strided((3, 2), (1, 1)); torch.as_strided(v, (3, 2), (1, 1))",
    "x.detach(); x.detach_(); x.clone(); x.data_ptr(); z.item(); x.tolist(); x.numel(); x.nelement()",
    "x.adjoint(); c.adjoint(); x.dim_order(); x.relu(); x.relu_(); x.dim(); x.ndimension(); x.size(); x.stride()",
    "x.is_contiguous(); x.get_device(); x.element_size(); x.is_shared(); x.is_pinned(); x.storage_offset(); x.is_signed()",
    "x.untyped_storage(); x.storage_type(); x.is_complex(); x.is_floating_point(); x.is_same_size(y); x.is_set_to(y)",
    "x.is_inference(); x.is_neg(); x.is_conj(); z.is_nonzero(); x.is_distributed(); x.const_data_ptr()",
    "call('torch.Tensor.storage', x); x.dense_dim(); x.sparse_dim(); x.to_dense(); n.to_dense()",
    "x.new_tensor([1.0]); x.new_zeros(2); x.new_ones(2); x.new_full((2,), 1.0); x.new_empty(2); call('torch.Tensor.new', x, 2)",
    "x.requires_grad_(); x.requires_grad_(False); call('torch.Tensor.share_memory_', x)",
    "r.sum().backward(); call('torch.Tensor.backward', (r * 2).sum()); call('torch.Tensor.retain_grad', (r * 2))",
    "call('torch.Tensor.register_hook', r * 2, print); call('torch.Tensor.numpy', x); call('torch.Tensor.dim_order', x)",
    "call('torch.Tensor.register_post_accumulate_grad_hook', r.detach().requires_grad_(), print)",
    "call('torch.Tensor.as_subclass', x, torch.Tensor); call('torch.Tensor.module_load', x, y)",
    "x.copy_(y); x.copy_(v); x.copy_(f); x.fill_(2.0); x.fill_(z); x.zero_(); x.fill_diagonal_(1.0); call('torch.Tensor.set_', x, y); call('torch.Tensor.set_', x)",
    "x.resize_(2, 2); x.resize_as_(v); x.random_(); x.random_(5); x.random_(2, 5); x.normal_(0.0, 1.0); x.uniform_(0.0, 1.0)",
    "x.apply_(abs); x.map_(y, max); call('torch.Tensor.map2_', x, y, y, lambda a, b, c: a)",
    "x.bernoulli_(0.5); x.bernoulli_(); x.exponential_(); x.cauchy_(); x.geometric_(0.5); x.log_normal_()",
    "x.bernoulli(0.5); (x / 2).bernoulli(); x.clip(0.1, 0.9); x.clip_(0.1, 0.9); x.clamp_max(1.0); x.clamp_min(0.1)",
    "x.type_as(n); x.unsafe_split_with_sizes([1, 2]); x.unsafe_chunk(2); x.unsafe_split(2)",
    "x.to_sparse(); x.to_sparse_coo(); x.to_sparse_csr(); x.to_sparse_csc(); x.to_sparse_bsr((1, 1)); x.to_sparse_bsc((1, 1))",
    "x.max(); x.max(1); x.max(y); x.min(); x.min(1); x.min(y)",
    "x.split(2); x.split([1, 2]); x.chunk(1); x.chunk(2, 1); x.unbind(); x.unbind(1); list(x); x.unbind(0); x.tensor_split(2); x.hsplit(2)",
    "x.squeeze(); x[:, :1].squeeze(); x[:, :1].squeeze(1); x.unsqueeze(0); x.t(); x.transpose(0, 1); x.permute(1, 0)",
    "x.scatter(0, i[None], 2.0); x.scatter_(0, i[None], 2.0); x.scatter(0, i[None], y); x.scatter_(0, i[None], y)",
    "x.index_fill(0, i, 2.0); x.index_fill_(0, i, 2.0); x.masked_fill(m, 2.0); x.masked_fill_(m, 2.0); x.masked_fill(m, z)",
    "x.masked_fill_(m, z); x.where(m, y); x.where(m, 0.0); x.lerp(y, 0.5); x.lerp(y, y); x.lerp_(y, 0.5); x.lerp_(y, y)",
    "x.norm(); x.norm(2); x.norm(dim=1); x.norm(1); x.std(); x.std(1); x.var(); x.var(1); x.sum(); x.sum(1); x.mean(1)",
    "x.prod(); x.prod(1); x.amax(); x.amax(1); x.sort(); x.topk(2); x.median(); x.median(1); x.cummax(1); x.mode(1)",
)

_FUNCTIONS = (
    "torch.max(x); torch.max(x, 1); torch.max(x, y); torch.min(x); torch.min(x, 1); torch.min(x, y); torch.sum(x)",
    "torch.norm(x); torch.norm(x, dim=1); torch.norm(x, 1); torch.norm(x, p=2, dim=1); torch.std(x); torch.var(x, 1)",
    "torch.where(m, x, y); torch.where(m, x, 0.0); torch.where(m, 0.0, x); torch.where(m); torch.split(x, 2); torch.chunk(x, 2)",
    "torch.meshgrid(v, w, indexing='ij'); torch.meshgrid([v, w]); torch.broadcast_tensors(v, x); torch.broadcast_to(v, (3, 4))",
    "torch.einsum('ij,jk->ik', x, s); torch.einsum('ij,ij->i', x, y); torch.einsum('ij->ji', x); torch.cat([x, y]); torch.stack([x, y])",
    "call('torch.as_tensor', x); call('torch.as_tensor', f, dtype=torch.float32); torch.as_tensor(x, dtype=torch.float64); torch.asarray(x); torch.asarray(x, dtype=torch.float64)",
    "torch.asarray(x, copy=True); torch.tensor([1.0, 2.0]); call('torch.tensor', x); call('torch.from_dlpack', x)",
    "call('torch.from_numpy', x.numpy()); call('torch.frombuffer', bytearray(8), dtype=torch.uint8)",
    "torch.clone(x); torch.clone(x.t()); torch.numel(x); call('torch.is_tensor', x); call('torch.manual_seed', 0)",
    "call('torch.seed'); call('torch.initial_seed'); call('torch.get_rng_state'); call('torch.set_rng_state', torch.get_rng_state())",
    "torch.relu(x); torch.relu_(x); torch.selu(x); torch.selu_(x); torch.celu(x); torch.celu_(x); torch.rrelu(x); torch.rrelu_(x)",
    "torch.threshold(x, 0.7, 0.0); torch.threshold_(x, 0.7, 0.0); torch.rrelu(x, 0.1, 0.3, True); torch.rrelu_(x, 0.1, 0.3, True)",
    "torch.dropout(x, 0.5, True); torch.dropout(x, 0.5, False); torch.dropout_(x, 0.5, True); torch.alpha_dropout(x, 0.5, True)",
    "torch.alpha_dropout_(x, 0.5, True); torch.feature_dropout(b, 0.5, True); torch.feature_dropout_(b, 0.5, True)",
    "torch.feature_alpha_dropout(b, 0.5, True); torch.feature_alpha_dropout_(b, 0.5, True); torch.native_dropout(x, 0.5, True)",
    "torch.embedding(x, i); torch.embedding_renorm_(x, i, 1.0, 2.0); torch.embedding_bag(x, i, torch.tensor([0]))",
    "torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)",
    "torch.batch_norm(x, v, w, v, w, v.clone().sum().item() > 0, 0.1, 1e-5, False)",
    "torch.instance_norm(b, None, None, None, None, True, 0.1, 1e-5, False); torch.group_norm(b, 3)",
    "torch.max_pool1d(b[0], 2); torch.max_pool2d(b, 2); torch.max_pool3d(b, 2); torch.max_pool1d_with_indices(b[0], 2)",
    "torch.adaptive_max_pool1d(b[0], 2); torch.convolution(b, b[:, :, :3, :3], None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)",
    "torch.kl_div(x, y); torch.poisson_nll_loss(x, y, True, False, 1e-8, 1); torch.margin_ranking_loss(x, y, y.sign())",
    "torch.triplet_margin_loss(x, y, y + 1); torch.hinge_embedding_loss(x, y.sign()); torch.cosine_embedding_loss(x, y, v[:3].sign())",
    "torch.binary_cross_entropy_with_logits(x, y)",
    "torch.binomial(x.round() + 3, x / 3); torch.poisson(x); torch.rand(2); torch.rand_like(x); torch.randperm(4); call('torch.range', 0, 3)",
    "torch.bartlett_window(4); torch.blackman_window(4); torch.hann_window(4); torch.hamming_window(4); torch.kaiser_window(4)",
    "torch.fft.fftfreq(4); torch.fft.rfftfreq(4); torch.unique_consecutive(x); torch.unique(x); torch.adjoint(x)",
    "torch.lobpcg(s @ s.t() + torch.eye(4, dtype=s.dtype), k=1); torch.chain_matmul(x, s, s)",
    "torch.pca_lowrank(x, 2); torch.svd_lowrank(x, 2); torch.nuclear_norm(x); torch.frobenius_norm(x, 1); torch.lu(s)",
    "torch.norm_except_dim(x, 2, 0); torch.native_channel_shuffle(b[:, :2], 2); torch.grid_sampler(b, g, 0, 0, False)",
    "torch.detach_copy(x); torch.select_copy(x, 0, 0); torch.slice_copy(x); torch.split_copy(x, 2); torch.view_as_real_copy(c)",
    "torch.view_as_complex_copy(x.view(3, 2, 2)); torch.unsafe_split_with_sizes(x, [1, 2]); torch.affine_grid_generator(t, (1, 1, 2, 2), False)",
    "torch.rnn_tanh_cell(x, x, s, s); torch.rnn_relu_cell(x, x, s, s)",
    "torch.gru_cell(x, x, torch.cat([s, s, s]), torch.cat([s, s, s]))",
    "torch.lstm_cell(x, (x, x), torch.cat([s, s, s, s]), torch.cat([s, s, s, s]))",
    "torch.rnn_tanh(b[0], b[0][:1, :8], (s8, s8), False, 1, 0.0, False, False, False)",
    "torch.rnn_relu(b[0], b[0][:1, :8], (s8, s8), False, 1, 0.0, False, False, False)",
    "torch.gru(b[0], b[0][:1, :8], (torch.cat([s8] * 3), torch.cat([s8] * 3)), False, 1, 0.0, False, False, False)",
    "torch.lstm(b[0], (b[0][:1, :8], b[0][:1, :8]), (torch.cat([s8] * 4), torch.cat([s8] * 4)), False, 1, 0.0, False, False, False)",
    "torch.can_cast(torch.float32, torch.float64); torch.promote_types(torch.float32, torch.float64); torch.result_type(x, f)",
    "torch.is_conj(x); torch.is_inference(x); torch.is_neg(x); torch.is_nonzero(z); torch.is_same_size(x, y); torch.is_signed(x)",
    "torch._amp_foreach_non_finite_check_and_unscale_([x, y], v[0], v[1])",
    "torch._fused_sgd_([x], [y], [], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=False)",
    "torch._fused_adam_([x], [y], [y * 0], [y * 0], [], [torch.ones(())], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)",
    "torch._fused_adamw_([x], [y], [y * 0], [y * 0], [], [torch.ones(())], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)",
    "torch._fused_adagrad_([x], [y], [y * 0], [torch.ones(())], lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-8, maximize=False)",
    "torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)",
    "torch.sparse_coo_tensor(torch.tensor([[0, 1], [0, 1]]), v[:2]); torch.conv_tbc(b[0], b[0][:, :8, :4], v)",
    "torch.empty_like(x); torch.zeros_like(x); torch.full_like(x, 2.0); torch.randn_like(x); torch.full((2,), 1.0); torch.eye(3)",
    "torch.fill(x, 2.0); torch.fill(x, z); torch.scatter(x, 0, i[None], 2.0); torch.masked_fill(x, m, 2.0)",
)

_FUNCTIONAL = (
    "F.embedding(i, x); F.embedding(i, x, max_norm=1.0); F.linear(x, s); F.linear(x, s, v); F.linear(b, b[0, 0])",
    "F.gelu(x); F.gelu(x, approximate='tanh'); F.huber_loss(x, y); F.mse_loss(x, y); F.smooth_l1_loss(x, y); F.l1_loss(x, y)",
    "F.relu_(x); F.elu_(x); F.hardtanh_(x); F.leaky_relu_(x); F.selu_(x); F.celu_(x); F.threshold_(x, 0.7, 0.0); F.rrelu_(x)",
    "F.dropout(x); F.dropout(x, training=False); F.dropout1d(b[0]); F.dropout1d(b[0], training=False)",
    "F.affine_grid(t, (1, 1, 2, 2), align_corners=False); F.fold(b[0][:, :4, :4].reshape(3, 4, 4)[:1], 3, 2); F.gumbel_softmax(x)",
    "F.lp_pool1d(b[0], 2.0, 2); F.lp_pool2d(b, 2.0, 2); F.lp_pool3d(b, 2.0, 2); F.native_channel_shuffle(b[:, :2], 2)",
    "F.triplet_margin_with_distance_loss(x, y, y + 1); F.upsample(b, 4); F.upsample_bilinear(b, 4); F.upsample_nearest(b, 4)",
    "F.conv_tbc(b[0], b[0][:, :8, :4], v); F.softmax(x, 1); F.log_softmax(x, 1); F.cross_entropy(x, k); F.nll_loss(x, k)",
    "F.max_pool2d(b, 2); F.avg_pool2d(b, 2); F.pad(x, (1, 1)); F.pad(b, (1, 1, 1, 1), mode='reflect'); F.one_hot(i)",
    "F.batch_norm(x, v, w, v, w, True); F.batch_norm(x, v, w, v, w, False); F.layer_norm(x, (4,), v, w); F.normalize(x)",
    "F.cosine_similarity(x, y); F.pairwise_distance(x, y); F.bilinear(x, y, torch.stack([s, s])); F.glu(x); F.softplus(x)",
    "F.softmin(x, 1); F.softsign(x); F.tanhshrink(x); F.sigmoid(x); F.tanh(x); F.logsigmoid(x); F.hardshrink(x); F.softshrink(x)",
)

_INIT = (
    "call('torch.nn.init.constant_', x, 1.0); call('torch.nn.init.constant', x, 1.0); call('torch.nn.init.ones_', x)",
    "call('torch.nn.init.dirac_', b); call('torch.nn.init.dirac', b)",
    "call('torch.nn.init.sparse_', x, 0.5); call('torch.nn.init.sparse', x, 0.5)",
    "for n in ('zeros_', 'eye_', 'eye', 'kaiming_normal_', 'kaiming_normal', 'kaiming_uniform_', 'kaiming_uniform', 'normal_',"
    " 'normal', 'orthogonal_', 'orthogonal', 'trunc_normal_', 'uniform_', 'uniform', 'xavier_normal_', 'xavier_normal',"
    " 'xavier_uniform_', 'xavier_uniform'): call('torch.nn.init.' + n, x)",
)

_UTILS = (
    "call('torch.nn.utils.parameters_to_vector', [x, y]); call('torch.nn.utils.vector_to_parameters', torch.cat([v, w]), [w, v])",
    "call('torch.nn.utils.get_total_norm', [x, y]); call('torch.nn.utils.rnn.pad_sequence', [x, y[:2]])",
    "call('torch.nn.utils.rnn.unpad_sequence', b[0], torch.tensor([3, 2, 1, 1, 1, 1, 1, 1]))",
    "call('torch.nn.utils.rnn.pack_padded_sequence', b[0], [3, 2, 1, 1, 1, 1, 1, 1]); call('torch.nn.utils.rnn.pack_sequence', [x, y[:2]])",
    "call('torch.nn.utils.rnn.pad_packed_sequence', torch.nn.utils.rnn.pack_sequence([x, y[:2]]))",
)

_FOREACH_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt "
    "sigmoid sign sin sinh sqrt tan tanh trunc"
)
_FOREACH_BINARY = "add sub mul div clamp_max clamp_min maximum minimum pow"

_FOREACH = (
    f"for n in '{_FOREACH_UNARY}'.split(): call('torch._foreach_' + n, [x, y]); call('torch._foreach_' + n + '_', [x, y])",
    f"for n in '{_FOREACH_BINARY}'.split(): [call('torch._foreach_' + n + e, [x, y], o) for e in ('', '_')"
    " for o in ([y, x], 2.0, [2.0, 3.0])]",
    "for n in ('add', 'mul', 'div'): [call('torch._foreach_' + n + e, [x, y], z) for e in ('', '_')]",
    "for n in ('addcmul', 'addcdiv'): [call('torch._foreach_' + n + e, [x, y], [y, x], [x + 1, y + 1]) for e in ('', '_')]",
    "for e in ('', '_'): call('torch._foreach_lerp' + e, [x, y], [y, x], 0.5); call('torch._foreach_lerp' + e, [x, y], [y, x], [y, x])",
    "call('torch._foreach_zero_', [x, y]); call('torch._foreach_copy_', [x, y], [y, x]); call('torch._foreach_clone', [x, y])",
    "call('torch._foreach_norm', [x, y]); call('torch._foreach_max', [x, y]); call('torch._foreach_powsum', [x, y])",
    "call('torch._foreach_mm', [x, y], [s, s])",
)

LINES = (*_METHODS, *_FUNCTIONS, *_FUNCTIONAL, *_INIT, *_UTILS, *_FOREACH)
