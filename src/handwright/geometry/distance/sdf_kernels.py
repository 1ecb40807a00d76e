"""The inner loops of building a signed distance grid."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Float32, Int, Int32

from handwright.kernels.decorators import compiled

# Below this the area of a triangle, relative to its longest edge squared, is rounding.
_THIN = 1e-14


@compiled
def triangle_table(corners: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, "F 22"]:
    """Everything the distance to a triangle needs, one row a triangle.

    Columns: corner a, edges ab and ac (0-8); ab.ab, ab.ac, ac.ac and one over the determinant of
    these, 0 for a degenerate triangle (9-12); centre and radius of a ball around it (13-16);
    unit normal (17-19); two unused columns that keep rows on cache lines.

    Args:
        corners: Metres.
    """
    table = np.zeros((len(corners), 22))
    for n in range(len(corners)):
        row = table[n]
        for axis in range(3):
            row[axis] = corners[n, 0, axis]
            row[3 + axis] = corners[n, 1, axis] - corners[n, 0, axis]
            row[6 + axis] = corners[n, 2, axis] - corners[n, 0, axis]
            row[13 + axis] = (corners[n, 0, axis] + corners[n, 1, axis] + corners[n, 2, axis]) / 3.0
        bb = row[3] * row[3] + row[4] * row[4] + row[5] * row[5]
        bc = row[3] * row[6] + row[4] * row[7] + row[5] * row[8]
        cc = row[6] * row[6] + row[7] * row[7] + row[8] * row[8]
        determinant = bb * cc - bc * bc
        row[9], row[10], row[11] = bb, bc, cc
        if determinant > _THIN * max(bb, cc) ** 2:
            row[12] = 1.0 / determinant
            scale = 1.0 / math.sqrt(determinant)
            row[17] = (row[4] * row[8] - row[5] * row[7]) * scale
            row[18] = (row[5] * row[6] - row[3] * row[8]) * scale
            row[19] = (row[3] * row[7] - row[4] * row[6]) * scale
        for corner in range(3):
            squared = 0.0
            for axis in range(3):
                squared += (corners[n, corner, axis] - row[13 + axis]) ** 2
            row[16] = max(row[16], math.sqrt(squared))
    return table


@compiled
def _edge_squared(t: float, ee: float, pe: float, pp: float) -> float:
    """Squared distance to a segment of squared length ee, given p.e and p.p from its start."""
    t = min(max(t, 0.0), 1.0)
    return pp - 2.0 * t * pe + t * t * ee


@compiled
def triangle_squared(table: np.ndarray, n: int, x: float, y: float, z: float) -> float:
    """Squared distance from a point to triangle ``n`` of a table, metres squared.

    Args:
        table: From ``triangle_table``.
        n: Row.
        x: First coordinate of the point, metres, with ``y`` and ``z``.
        y: Second coordinate.
        z: Third coordinate.
    """
    px, py, pz = x - table[n, 0], y - table[n, 1], z - table[n, 2]
    pb = px * table[n, 3] + py * table[n, 4] + pz * table[n, 5]
    pc = px * table[n, 6] + py * table[n, 7] + pz * table[n, 8]
    bb, bc, cc = table[n, 9], table[n, 10], table[n, 11]
    inverse = table[n, 12]
    v = (cc * pb - bc * pc) * inverse
    w = (bb * pc - bc * pb) * inverse
    if inverse > 0.0 and v >= 0.0 and w >= 0.0 and v + w <= 1.0:
        height = px * table[n, 17] + py * table[n, 18] + pz * table[n, 19]
        return height * height
    pp = px * px + py * py + pz * pz
    best = np.inf
    # The nearest point is on an edge that the projection lies beyond; a degenerate triangle has
    # no such side and all three edges are asked.
    if w < 0.0 or inverse == 0.0:
        best = _edge_squared(pb / bb if bb > 0.0 else 0.0, bb, pb, pp)
    if v < 0.0 or inverse == 0.0:
        best = min(best, _edge_squared(pc / cc if cc > 0.0 else 0.0, cc, pc, pp))
    if v + w > 1.0 or inverse == 0.0:
        ee = bb - 2.0 * bc + cc
        pe = (pc - pb) - (bc - bb)
        start = pp - 2.0 * pb + bb
        best = min(best, _edge_squared(pe / ee if ee > 0.0 else 0.0, ee, pe, start))
    return max(best, 0.0)


@compiled
def _bounds(low: float, high: float, origin: float, spacing: float, count: int) -> tuple[int, int]:
    first = max(math.ceil((low - origin) / spacing), 0)
    last = min(math.floor((high - origin) / spacing), count - 1)
    return first, last


@compiled
def rasterise(
    table: Float[np.ndarray, "F 22"],
    origin: Float[np.ndarray, "3"],
    spacing: float,
    band: float,
    nearest: Int32[np.ndarray, "nx ny nz"],
    distance: Float32[np.ndarray, "nx ny nz"],
) -> None:
    """Writes exact distances and nearest triangles into the nodes within a band of the surface.

    Args:
        table: From ``triangle_table``.
        origin: Position of node (0, 0, 0), metres.
        spacing: Metres between nodes.
        band: Metres on either side of the surface.
        nearest: Written: rows of the table; nodes outside the band stay as they are.
        distance: Written: metres, without sign.
    """
    shape = distance.shape
    for n in range(len(table)):
        row = table[n]
        # Columns of nodes run along the axis the triangle faces most, so that only the nodes of
        # the slab around its plane are asked, not all of its bounding box.
        c = 0
        for axis in range(1, 3):
            if abs(row[17 + axis]) > abs(row[17 + c]):
                c = axis
        a, b = (c + 1) % 3, (c + 2) % 3
        low = np.zeros(3)
        high = np.zeros(3)
        for axis in range(3):
            ab, ac = row[3 + axis], row[6 + axis]
            low[axis] = row[axis] + min(0.0, ab, ac) - band
            high[axis] = row[axis] + max(0.0, ab, ac) + band
        a0, a1 = _bounds(low[a], high[a], origin[a], spacing, shape[a])
        b0, b1 = _bounds(low[b], high[b], origin[b], spacing, shape[b])
        slope = row[17 + c]
        index = np.zeros(3, dtype=np.int64)
        for ia in range(a0, a1 + 1):
            pa = origin[a] + ia * spacing
            index[a] = ia
            for ib in range(b0, b1 + 1):
                pb = origin[b] + ib * spacing
                index[b] = ib
                c_low, c_high = low[c], high[c]
                if slope != 0.0:
                    tilt = (pa - row[a]) * row[17 + a] + (pb - row[b]) * row[17 + b]
                    middle = row[c] - tilt / slope
                    c_low = max(c_low, middle - band / abs(slope))
                    c_high = min(c_high, middle + band / abs(slope))
                c0, c1 = _bounds(c_low, c_high, origin[c], spacing, shape[c])
                for ic in range(c0, c1 + 1):
                    index[c] = ic
                    i, j, k = index[0], index[1], index[2]
                    d = math.sqrt(
                        triangle_squared(
                            table,
                            n,
                            origin[0] + i * spacing,
                            origin[1] + j * spacing,
                            origin[2] + k * spacing,
                        )
                    )
                    if d <= band and d < distance[i, j, k]:
                        distance[i, j, k] = d
                        nearest[i, j, k] = n


@compiled
def _improve(table: np.ndarray, x: float, y: float, z: float, candidate: int, best: float) -> float:
    """Distance to a candidate triangle, or infinity if it is surely not nearer than best."""
    cx, cy, cz = x - table[candidate, 13], y - table[candidate, 14], z - table[candidate, 15]
    reach = best + table[candidate, 16]
    if cx * cx + cy * cy + cz * cz >= reach * reach:
        return np.inf
    return math.sqrt(triangle_squared(table, candidate, x, y, z))


@compiled
def sweep_nearest(
    table: Float[np.ndarray, "F 22"],
    origin: Float[np.ndarray, "3"],
    spacing: float,
    band: float,
    stride: int,
    nearest: Int32[np.ndarray, "nx ny nz"],
    distance: Float32[np.ndarray, "nx ny nz"],
) -> None:
    """Spreads nearest triangles from the band over every ``stride``-th node, in place.

    Eight sweeps, one for each octant of directions; a node asks the seven neighbours behind it.

    Args:
        table: From ``triangle_table``.
        origin: Position of node (0, 0, 0), metres.
        spacing: Metres between nodes.
        band: Metres; nodes nearer than this are final.
        stride: Nodes between visited nodes; divides the last index of every axis.
        nearest: Rows of the table, -1 where not yet known.
        distance: Metres, without sign.
    """
    counts = (
        (distance.shape[0] - 1) // stride,
        (distance.shape[1] - 1) // stride,
        (distance.shape[2] - 1) // stride,
    )
    for sweep in range(8):
        si = stride if sweep & 1 else -stride
        sj = stride if sweep & 2 else -stride
        sk = stride if sweep & 4 else -stride
        for ni in range(counts[0] + 1):
            i = ni * stride if si > 0 else (counts[0] - ni) * stride
            x = origin[0] + i * spacing
            for nj in range(counts[1] + 1):
                j = nj * stride if sj > 0 else (counts[1] - nj) * stride
                y = origin[1] + j * spacing
                for nk in range(counts[2] + 1):
                    k = nk * stride if sk > 0 else (counts[2] - nk) * stride
                    best = float(distance[i, j, k])
                    if best <= band:
                        continue
                    z = origin[2] + k * spacing
                    known = nearest[i, j, k]
                    tried = known
                    for neighbour in range(1, 8):
                        di, dj, dk = neighbour & 1, (neighbour >> 1) & 1, neighbour >> 2
                        if di > ni or dj > nj or dk > nk:
                            continue
                        candidate = nearest[i - di * si, j - dj * sj, k - dk * sk]
                        if candidate < 0 or candidate in (known, tried):
                            continue
                        tried = candidate
                        d = _improve(table, x, y, z, candidate, best)
                        if d < best:
                            best = d
                            known = candidate
                    nearest[i, j, k] = known
                    distance[i, j, k] = best


@compiled
def refine_nearest(
    table: Float[np.ndarray, "F 22"],
    origin: Float[np.ndarray, "3"],
    spacing: float,
    band: float,
    stride: int,
    nearest: Int32[np.ndarray, "nx ny nz"],
    distance: Float32[np.ndarray, "nx ny nz"],
) -> None:
    """Fills the nodes halfway between every ``stride``-th node from the corners around them.

    Args:
        table: From ``triangle_table``.
        origin: Position of node (0, 0, 0), metres.
        spacing: Metres between nodes.
        band: Metres; nodes nearer than this are final.
        stride: Even; nodes between the nodes that are known.
        nearest: Rows of the table, -1 where not yet known.
        distance: Metres, without sign.
    """
    half = stride // 2
    nx, ny, nz = distance.shape
    for i in range(0, nx, half):
        oi = i % stride
        x = origin[0] + i * spacing
        for j in range(0, ny, half):
            oj = j % stride
            y = origin[1] + j * spacing
            for k in range(0, nz, half):
                ok = k % stride
                best = float(distance[i, j, k])
                if best <= band or (oi == 0 and oj == 0 and ok == 0):
                    continue
                z = origin[2] + k * spacing
                known = nearest[i, j, k]
                tried = known
                for ci in range(i - oi, i + oi + 1, stride):
                    for cj in range(j - oj, j + oj + 1, stride):
                        for ck in range(k - ok, k + ok + 1, stride):
                            candidate = nearest[ci, cj, ck]
                            if candidate in (known, tried):
                                continue
                            tried = candidate
                            d = _improve(table, x, y, z, candidate, best)
                            if d < best:
                                best = d
                                known = candidate
                nearest[i, j, k] = known
                distance[i, j, k] = best


@compiled
def regions(
    distance: Float32[np.ndarray, "nx ny nz"], spacing: float, slack: float
) -> tuple[Int32[np.ndarray, "nx ny nz"], Int[np.ndarray, "R"], Int[np.ndarray, "R"]]:
    """Regions of nodes that are surely on the same side of the surface.

    The surface crosses the line between two nodes only if their distances sum to no more than the
    length of the line. All neighbours along the axes of which that is not true are joined; a
    node that is then still alone is joined to a diagonal neighbour if it can be.

    Args:
        distance: Metres, without sign.
        spacing: Metres between nodes.
        slack: Error that the sum of two distances may have, metres.

    Returns:
        For each node the number of its region; for each region the flat index of its node
        furthest from the surface; and for each region the one it was joined to, or itself.
    """
    flat = distance.reshape(-1)
    labels = np.full(flat.size, -1, dtype=np.int32)
    stack = np.zeros(flat.size, dtype=np.int32)
    deepest = [np.int64(0) for _ in range(0)]
    alone = [np.int64(0) for _ in range(0)]
    reach = spacing + slack
    for start in range(flat.size):
        if labels[start] >= 0:
            continue
        label = len(deepest)
        labels[start] = label
        stack[0] = start
        height = 1
        size = 0
        top = np.int64(start)
        while height > 0:
            height -= 1
            size += 1
            node = stack[height]
            here = flat[node]
            if here > flat[top]:
                top = np.int64(node)
            for side in range(6):
                other = _axis_neighbour(node, side, distance.shape)
                if other >= 0 and labels[other] < 0 and flat[other] + here > reach:
                    labels[other] = label
                    stack[height] = other
                    height += 1
        deepest.append(top)
        if size == 1:
            alone.append(np.int64(start))
    joined = np.arange(len(deepest))
    for node in alone:
        other = _diagonal_partner(distance, node, spacing, slack)
        if other >= 0:
            joined[_root(joined, labels[node])] = _root(joined, labels[other])
    for label in range(len(joined)):
        joined[label] = _root(joined, label)
    return labels.reshape(distance.shape), np.array(deepest, dtype=np.int64), joined


@compiled
def _root(joined: np.ndarray, label: int) -> int:
    while joined[label] != label:
        label = joined[label]
    return label


@compiled
def _axis_neighbour(node: int, side: int, shape: tuple[int, int, int]) -> int:
    """Flat index of one of the six neighbours of a node, or -1 beyond the grid."""
    axis, step = side >> 1, 2 * (side & 1) - 1
    if axis == 2:
        index, stride = node % shape[2], 1
    elif axis == 1:
        index, stride = (node // shape[2]) % shape[1], shape[2]
    else:
        index, stride = node // (shape[2] * shape[1]), shape[2] * shape[1]
    if index + step < 0 or index + step >= shape[axis]:
        return -1
    return node + step * stride


@compiled
def _diagonal_partner(distance: np.ndarray, node: int, spacing: float, slack: float) -> int:
    """The diagonal neighbour most surely on the same side as a node, or -1."""
    nx, ny, nz = distance.shape
    i, j, k = node // (nz * ny), (node // nz) % ny, node % nz
    here = distance[i, j, k]
    best, partner = slack, -1
    for di in range(-1, 2):
        for dj in range(-1, 2):
            for dk in range(-1, 2):
                a, b, c = i + di, j + dj, k + dk
                if min(a, b, c) < 0 or a >= nx or b >= ny or c >= nz:
                    continue
                length = spacing * math.sqrt(di * di + dj * dj + dk * dk)
                spare = here + distance[a, b, c] - length
                if length > 0.0 and spare > best:
                    best, partner = spare, (a * ny + b) * nz + c
    return partner
