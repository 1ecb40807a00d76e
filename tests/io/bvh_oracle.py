"""A second reader of BVH of a few lines, and a body to read."""

from __future__ import annotations

import re

import numpy as np

BODY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Right Arm
  {
    OFFSET -20 45 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    JOINT RightHand {
      OFFSET -50 0 1
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET -15 0 0
      }
    }
  }
  JOINT Head
  {
    OFFSET 0 60 0
    CHANNELS 1 Xrotation
  }
}
MOTION
Frames: 3
Frame Time: 0.0333333
1 90 3 10 20 30 5 6 7 40 50 60 1
2 91 4 11 22 33 15 -6 8 44 55 66 2
3 92 5 12 24 36 25 16 -9 48 -60 72 3
"""


def turn(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    matrix = np.eye(4)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def evaluate(text):
    """World positions, in file units and axes, of joints and ends: one dict for each frame."""
    head, tail = text.split("MOTION\n")
    words = re.findall(r"\S+", head)
    rows = [[float(w) for w in line.split()] for line in tail.strip().split("\n")[2:]]
    frames = []
    for row in rows:
        stack, places, at, n = [np.eye(4)], {}, iter(row), 1
        name = None
        while n < len(words):
            word = words[n]
            if word in ("ROOT", "JOINT", "End"):
                name = words[n + 1] if word != "End" else name + "_end"
                n += 2
            elif word == "OFFSET":
                move = np.eye(4)
                move[:3, 3] = [float(w) for w in words[n + 1 : n + 4]]
                stack[-1] = stack[-1] @ move
                places[name] = stack[-1][:3, 3]
                n += 4
            elif word == "CHANNELS":
                count = int(words[n + 1])
                for channel in words[n + 2 : n + 2 + count]:
                    value = next(at)
                    if channel.endswith("position"):
                        step = np.eye(4)
                        step["XYZ".index(channel[0]), 3] = value
                    else:
                        step = turn(channel[0], value)
                    stack[-1] = stack[-1] @ step
                places[name] = stack[-1][:3, 3]
                n += 2 + count
            elif word == "{":
                stack.append(stack[-1].copy())
                n += 1
            else:
                stack.pop()
                n += 1
        assert next(at, None) is None
        frames.append(places)
    return frames
