"""Forward search by F-tests: terms enter while one is significant among all candidates; idle groups leave."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.search.variables.growing_model import GrowingModel, smallest
from fewvars.search.variables.products import suspicious_products, suspicious_surfaces
from fewvars.search.variables.terms import Term

LEVEL = 0.025  # of the first group that enters
TOLERANCE = 0.5  # share of it by which the level rises with every selected group: among many, one may be wrong
# A kind of term gets this part of the level; lines get the rest, and that of curves and waves where nothing bends.
SHARES = {"curve": 1 / 6, "wave": 1 / 12, "product": 1 / 12, "surface": 1 / 12}
MOST_FOR_WAVES = 50_000  # entries of the inputs up to which every group is tried as a wave
MOST_FOR_SURFACES = 5e8  # rows times the square of the inputs up to which every pair is tried as a surface
FEWEST_FOR_SURFACES = 100  # rows
REFINEMENT = 0.05  # level of terms of groups that are in already
SURE = 1e-6  # adjusted p-value of leaving out a group about which there is no doubt
# Rows that must carry a product: that of two rare events, or of heavy tails, rests on a handful. A ninth of the rows
# carries the product of normal inputs, so among few rows fewer may do, unless an input has two values only.
FEWEST_FOR_PRODUCTS, SHARE_FOR_PRODUCTS = 10, 1 / 12
MOST_RELATED = 100  # groups that are related to the outputs on their own
FEWEST_LEFT = 10  # degrees of freedom for tests, or half of the rows if that is less
_SHORTLIST = 4  # candidates of each kind whose p-values are computed with all corrections


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the forward search has found.

    Attributes
    ----------
    mask : (groups,) bool
    terms : tuple of Term
    order : tuple of int
        The groups in the order of entry; some may have left again.
    dependent : bool
        Whether neighbouring rows were found to depend on each other.
    sure : (groups,) bool
        Groups about which there is no doubt; none if rows depend on each other, or under the loss of labels or counts,
        for which tests are not exact.
    related : (groups,) bool, optional
        Groups that are related to the outputs on their own, whatever the others say about them.
    """

    mask: np.ndarray
    terms: tuple[Term, ...]
    order: tuple[int, ...]
    dependent: bool
    sure: np.ndarray
    related: np.ndarray | None = None

    @property
    def nested(self) -> list[np.ndarray]:
        """The supports (groups,) from what was included to all of the proposal, in the order of entry."""
        entered = [group for group in self.order if self.mask[group]]
        start = self.mask.copy()
        start[entered] = False
        masks = [start]
        for group in entered:
            masks.append(masks[-1].copy())
            masks[-1][group] = True
        return masks


def forward_search(
    model: GrowingModel,
    usable: np.ndarray,
    included: np.ndarray,
    n_groups: int | None = None,
    start: np.ndarray | None = None,
) -> Proposal:
    """Let terms of the usable groups (a mask) enter the model.

    Parameters
    ----------
    included : (groups,) bool
        Groups that are always in the model.
    n_groups : int, optional
        Number of groups to select: the most significant ones enter until it is reached, and none leaves.
    start : (groups,) bool, optional
        Groups that are in the model at first, and leave it unless they are significant beside the others.
    """
    first = included if start is None else included | start
    order = np.flatnonzero(first & ~included).tolist()
    for group in np.flatnonzero(first).tolist():
        model.add(Term("curve" if model.terms.bends(group) else "line", (group,)))
        _refine(model)
    while n_groups is not None or model.degrees_of_freedom > _fewest_left(model):
        room = model.mask.size if n_groups is None else n_groups - int(model.mask.sum())
        if room == 0:
            break
        adjusted, term = _best_entry(model, usable, room)
        if term is None or (n_groups is None and adjusted > _level(int(model.mask.sum()))):
            break
        before = model.mask
        model.add(term)
        order += np.flatnonzero(model.mask & ~before).tolist()
        _refine(model)
    sure = np.zeros_like(included)
    if n_groups is None:
        found = _drop_idle(model, usable, included)
        if not model.dependent and model.loss.measured:
            sure[[group for group, p_value in found.items() if p_value <= SURE]] = True
    return Proposal(model.mask, tuple(model.chosen), tuple(order), model.dependent, sure)


def related_groups(model: GrowingModel, usable: np.ndarray) -> np.ndarray:
    """Return the usable groups (a mask) with a significant line or curve, at most a hundred."""
    p_values = np.ones(usable.size)
    for kind in ("line", "curve"):
        rivals = usable.sum() / _share(model, kind)
        groups = np.flatnonzero(usable & (model.screen(kind) * rivals <= LEVEL))
        found = model.p_values([Term(kind, (group,)) for group in groups.tolist()]) * rivals
        p_values[groups] = np.minimum(p_values[groups], found)
    found = np.zeros_like(usable)
    found[smallest(p_values, MOST_RELATED)] = True
    return found & (p_values <= LEVEL)


def _level(n_inside: int) -> float:
    return LEVEL * (1.0 + TOLERANCE * n_inside)


def _fewest_left(model: GrowingModel) -> int:
    """Return the degrees of freedom that must be left for tests."""
    n = len(model.Y)
    return max(min(FEWEST_LEFT, n // 2), n // 4)


def _share(model: GrowingModel, kind: str) -> float:
    if kind != "line":
        return SHARES[kind]
    others = SHARES if (model.terms.levels > 2).any() else {"product": SHARES["product"]}
    return 1.0 - sum(others.values())


def _best_entry(model: GrowingModel, usable: np.ndarray, room: int) -> tuple[float, Term | None]:
    """Return the term of new groups, at most `room`, with the smallest p-value times its rivals over its share."""
    outside = usable & ~model.mask
    if not outside.any():
        return 1.0, None
    found = min(_entries(model, outside), key=lambda entry: entry[0])
    if found[0] > _level(int(model.mask.sum())):  # expensive candidates, tried only when nothing else is significant
        costly = list(_waves(model, outside))
        if room > 1:
            costly += _products(model, usable, np.flatnonzero(usable))
            costly += _surfaces(model, usable)
        found = min([found, *costly], key=lambda entry: entry[0])
    return found


def _entries(model: GrowingModel, outside: np.ndarray) -> Iterator[tuple[float, Term]]:
    """Yield lines and curves of new groups, and their products with groups that are in."""
    for kind in ("line", "curve"):
        p_values = np.where(outside, model.screen(kind), 2.0)
        groups = [group for group in smallest(p_values, _SHORTLIST) if outside[group]]
        yield from _of_single_groups(model, kind, groups, int(outside.sum()))
    inside = np.flatnonzero(model.mask)
    if inside.size:
        yield from _products(model, outside | model.mask, inside)


def _waves(model: GrowingModel, outside: np.ndarray) -> Iterator[tuple[float, Term]]:
    """Yield waves of new groups, if they are not too many."""
    if model.terms.Z.size <= MOST_FOR_WAVES:
        yield from _of_single_groups(model, "wave", np.flatnonzero(outside).tolist(), int(outside.sum()))


def _of_single_groups(
    model: GrowingModel, kind: str, groups: Iterable[int], n_rivals: float
) -> Iterator[tuple[float, Term]]:
    """Yield terms of single groups, with their adjusted p-values."""
    terms = [Term(kind, (group,)) for group in groups if kind == "line" or model.terms.bends(group)]
    yield from zip(model.p_values(terms) * n_rivals / _share(model, kind), terms, strict=True)


def _products(model: GrowingModel, usable: np.ndarray, ones: np.ndarray) -> Iterator[tuple[float, Term]]:
    """Yield products of groups, at least one of them new, with an input of the groups `ones`."""
    pairs = suspicious_products(model, np.flatnonzero(np.isin(model.terms.labels, ones)), _SHORTLIST)
    n_rivals = ones.size * max(int(usable.sum()) - (ones.size + 1) / 2, 1)
    yield from _new_pairs(model, usable, "product", pairs, n_rivals)


def _surfaces(model: GrowingModel, usable: np.ndarray) -> Iterator[tuple[float, Term]]:
    """Yield functions of two groups beyond simple products, if rows are independent and there are few enough pairs."""
    n, d = model.terms.Z.shape
    if model.dependent or model.terms.windows is not None or n < FEWEST_FOR_SURFACES or n * d**2 > MOST_FOR_SURFACES:
        return
    count = int(usable.sum())
    pairs = suspicious_surfaces(model, np.flatnonzero(usable[model.terms.labels]), _SHORTLIST)
    yield from _new_pairs(model, usable, "surface", pairs, count * (count - 1) / 2)


def _new_pairs(
    model: GrowingModel, usable: np.ndarray, kind: str, pairs: Iterable[tuple[int, int]], n_rivals: float
) -> Iterator[tuple[float, Term]]:
    """Yield terms of the groups of pairs of inputs, at least one of them new, that enough rows carry."""
    labels, inside = model.terms.labels, model.mask
    groups = [tuple(sorted((int(labels[i]), int(labels[j])))) for i, j in pairs]
    terms = [
        Term(kind, (one, other))
        for one, other in groups
        if one != other and usable[one] and usable[other] and not (inside[one] and inside[other])
    ]
    p_values = _p_values_of_pairs(model, terms)
    yield from zip(p_values * n_rivals / _share(model, kind), terms, strict=True)


def _p_values_of_pairs(model: GrowingModel, terms: Sequence[Term]) -> FloatArray:
    """Return the p-values of terms of two groups, infinite if too few rows carry a term."""
    bend = np.array([all(map(model.terms.bends, term.groups)) for term in terms], bool)
    few = min(FEWEST_FOR_PRODUCTS, SHARE_FOR_PRODUCTS * model.n_counted)
    return model.p_values(terms, np.where(bend, few, FEWEST_FOR_PRODUCTS))


def _refine(model: GrowingModel) -> None:
    """Add terms of selected groups while one is significant, so that other groups do not stand in for them."""
    while model.degrees_of_freedom > _fewest_left(model):
        bends, products = list(_bends(model)), list(_inner_products(model))
        n_groups = int(model.mask.sum())
        n_rivals = len(bends) + n_groups * (n_groups - 1) / 2
        p_values = np.r_[model.p_values(bends), _p_values_of_pairs(model, products)] * n_rivals
        if p_values.min(initial=np.inf) > REFINEMENT:
            return
        model.add([*bends, *products][int(p_values.argmin())])


def _bends(model: GrowingModel) -> Iterator[Term]:
    """Yield curves, then waves or steps, of groups that are in, and bent products of those whose product is in."""
    sharper = "wave" if model.terms.places is None else "steps"
    for group in np.flatnonzero(model.mask).tolist():
        if model.terms.bends(group):
            curve = Term("curve", (group,))
            yield Term(sharper, (group,)) if curve in model.chosen else curve
    for term in model.chosen:
        if term.kind == "product" and any(map(model.terms.bends, term.groups)):
            bent = Term("bent product", term.groups)
            yield Term("surface", term.groups) if bent in model.chosen else bent


def _inner_products(model: GrowingModel) -> Iterator[Term]:
    """Yield the products of selected groups that correlate most with the residual."""
    labels, inside = model.terms.labels, model.mask
    inputs = np.flatnonzero(inside[labels])
    for i, j in suspicious_products(model, inputs, _SHORTLIST, among=inputs):
        term = Term("product", tuple(sorted((int(labels[i]), int(labels[j])))))
        if labels[i] != labels[j]:
            yield term


def _drop_idle(model: GrowingModel, usable: np.ndarray, included: np.ndarray) -> dict[int, float]:
    """Drop the least significant group, one at a time, until all are significant; return their adjusted p-values."""
    while True:
        rivals = ((usable & ~model.mask).sum() + 1) / _share(model, "line")
        p_values = {g: model.dropped_p_value(g) * rivals for g in np.flatnonzero(model.mask & ~included).tolist()}
        if not p_values or max(p_values.values()) <= _level(len(p_values) - 1):
            return p_values
        idle = max(p_values, key=p_values.__getitem__)
        model.keep([term for term in model.chosen if idle not in term.groups])
