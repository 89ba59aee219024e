"""Which statements are about the same cluster: those whose pages name each other (G-52).

Most pages of a cluster state the same, and there is nothing to do. Where they don't, two statements belong together if
a page that follows the one names a page that follows the other, and the other way round. That is an edge, and clusters
are the components of these edges: found by alternating large and small stars (Kiveris et al. 2014), which puts as many
edges at most in the place of those there are, and goes part by part.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from sitemap_ops.linking.arrays import changes, column_of, look_up
from sitemap_ops.linking.claims import FOLLOWS, Claims, first_owners
from sitemap_ops.linking.spill import Spill

LABEL = pa.schema([("cluster", pa.uint64()), ("label", pa.uint64())])
"""A statement that is a part of the cluster `label`, another statement's hash: the least of the component."""

_PAIR = pa.schema([("key", pa.uint64()), ("low", pa.uint64()), ("high", pa.uint64()), ("rising", pa.bool_())])
_EDGE = pa.schema([("node", pa.uint64()), ("other", pa.uint64())])
_MIX = np.uint64(0x9E3779B97F4A7C15)


def agree(stated: Claims, folder: Path, opened: ExitStack) -> tuple[Spill, Spill]:
    """The claims and what each page follows (FOLLOWS), statements of one cluster under one number."""
    follows = opened.enter_context(Spill(FOLLOWS, "page", folder, stated.parts))
    with Spill(_PAIR, "key", folder, stated.parts) as pairs:
        for part in range(stated.parts):
            owners = stated.owners.whole(part)
            own = first_owners(*(column_of(owners, name) for name in owners.column_names))
            follows.add(own)
            page, cluster = column_of(own, "page"), column_of(own, "cluster")
            for claims in stated.claims.pieces(part):
                named = column_of(claims, "cluster")
                found, followed = look_up(page, cluster, column_of(claims, "page"))
                differs = found & (followed != named)
                pairs.add(_pairs(named[differs], followed[differs]))
        edges = _mutual(pairs, folder)
    labels = _components(edges, folder)
    with labels:
        if not labels.rows:
            return stated.claims, follows
        return (
            opened.enter_context(_relabelled(stated.claims, labels, folder)),
            opened.enter_context(_relabelled(follows, labels, folder)),
        )


def _pairs(naming: np.ndarray, named: np.ndarray) -> pa.Table:
    low, high = np.minimum(naming, named), np.maximum(naming, named)
    return _unique_pairs(low, high, naming < named)


def _unique_pairs(low: np.ndarray, high: np.ndarray, rising: np.ndarray) -> pa.Table:
    order = np.lexsort((rising, high, low))
    order = order[changes(low[order], high[order], rising[order])]
    low, high = low[order], high[order]
    return pa.table([(low * _MIX) ^ high, low, high, rising[order]], schema=_PAIR)


def _mutual(pairs: Spill, folder: Path) -> Spill:
    """An edge (_EDGE, from the greater to the less) for each pair that name each other."""
    edges = Spill(_EDGE, "node", folder, pairs.parts)
    for part in range(pairs.parts):
        table = pairs.whole(part)
        table = _unique_pairs(*(column_of(table, name) for name in ("low", "high", "rising")))
        low, high = column_of(table, "low"), column_of(table, "high")
        both = ~changes(low, high)
        edges.add(_edges(high[both], low[both]))
    return edges


def _components(edges: Spill, folder: Path) -> Spill:
    """The label (LABEL) of each node that is not the least of its component. Closes the edges."""
    before = None
    while edges.rows and (now := _fingerprint(edges)) != before:
        before = now
        edges = _stars(edges, folder, large=True)
        edges = _stars(edges, folder, large=False)
    labels = Spill(LABEL, "cluster", folder, edges.parts)
    with edges:
        for part in range(edges.parts):
            labels.add(edges.whole(part).rename_columns(LABEL.names))
    return labels


def _fingerprint(edges: Spill) -> int:
    total = edges.rows
    for part in range(edges.parts):
        for piece in edges.pieces(part):
            mixed = (column_of(piece, "node") * _MIX) ^ column_of(piece, "other")
            total += int((mixed * _MIX).sum(dtype=np.uint64))
    return total


def _stars(edges: Spill, folder: Path, *, large: bool) -> Spill:
    """One operation over all nodes. Closes the edges; each new one is there once, from the greater to the less.

    The large star ties the greater neighbours of a node to the least of it and its neighbours, the small star the
    lesser ones and the node itself.
    """
    made = Spill(_EDGE, "node", folder, edges.parts)
    with _both_ways(edges, folder) if large else edges as neighbours:
        for part in range(neighbours.parts):
            node, other = _sorted(neighbours.whole(part))
            first = changes(node)
            sizes = np.diff(np.flatnonzero(first), append=len(node))
            least = np.minimum(np.repeat(other[first], sizes), node)
            tied = other > node if large else other > least
            made.add(_edges(other[tied], least[tied]))
            if not large:
                made.add(_edges(node[first], least[first]))
    return _once(made, folder)


def _both_ways(edges: Spill, folder: Path) -> Spill:
    doubled = Spill(_EDGE, "node", folder, edges.parts)
    with edges:
        for part in range(edges.parts):
            for piece in edges.pieces(part):
                doubled.add(piece)
                doubled.add(_edges(column_of(piece, "other"), column_of(piece, "node")))
    return doubled


def _once(edges: Spill, folder: Path) -> Spill:
    unique = Spill(_EDGE, "node", folder, edges.parts)
    with edges:
        for part in range(edges.parts):
            unique.add(_edges(*_sorted(edges.whole(part))))
    return unique


def _sorted(edges: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and others by node, then other; equal ones once."""
    node, other = column_of(edges, "node"), column_of(edges, "other")
    order = np.lexsort((other, node))
    order = order[changes(node[order], other[order])]
    return node[order], other[order]


def _edges(node: np.ndarray, other: np.ndarray) -> pa.Table:
    return pa.table([node, other], schema=_EDGE)


def _relabelled(rows: Spill, labels: Spill, folder: Path) -> Spill:
    """The rows, by page as they were, with the labels of their clusters."""
    made = Spill(rows.schema, "page", folder, rows.parts)
    place = rows.schema.get_field_index("cluster")
    with Spill(rows.schema, "cluster", folder, rows.parts) as by_cluster:
        for part in range(rows.parts):
            for piece in rows.pieces(part):
                by_cluster.add(piece)
        for part in range(rows.parts):
            known = labels.whole(part)
            order = np.argsort(column_of(known, "cluster"))
            clusters, label = column_of(known, "cluster")[order], column_of(known, "label")[order]
            for piece in by_cluster.pieces(part):
                cluster = column_of(piece, "cluster")
                found, new = look_up(clusters, label, cluster)
                made.add(piece.set_column(place, "cluster", pa.array(np.where(found, new, cluster))))
    return made
