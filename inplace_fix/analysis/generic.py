"""Method names that many kinds of objects have: calling one does not show that the object is a tensor."""

from __future__ import annotations

_PYTHON = frozenset(
    name for kind in (str, bytes, list, tuple, dict, set, int, float, complex, bytearray) for name in dir(kind)
)

# attributes of NumPy arrays, pandas frames and the like, by their own documentation
_ARRAYS = frozenset(
    """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum data
    diagonal diff dot dtype dump fill flat flatten imag item itemset itemsize max mean median min nbytes ndim nonzero
    partition prod ptp put ravel real repeat reshape resize round searchsorted shape size sort squeeze std strides sum
    swapaxes take tobytes tofile tolist trace transpose T var view abs add sub subtract mul multiply div divide mod pow
    eq ne lt le gt ge isin isnull where mask apply map filter groupby index insert append select expand split stack
    unique type to cpu cuda numpy log size backward step detach double float half long int bool char short cos sin
    exp sqrt sample values indices keys items new set norm apply_ map_ set_ retain_grad register_hook
    is_floating_point get_device bincount histogram topk t""".split()
)

GENERIC_NAMES = _PYTHON | _ARRAYS
