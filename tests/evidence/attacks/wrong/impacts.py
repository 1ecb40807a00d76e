"""Impacts that give more than they got, or that happen where nothing meets."""

from __future__ import annotations

import numpy as np
from pinch_lift import pinch as pinch_joints

from attacks.clips import (
    G,
    balls_in_flight,
    bystander,
    clip_of,
    flat_palm,
    frames,
    on_palm,
    path,
    pinched,
    still,
)
from attacks.rows import HIT, SLIDES, UNEXPLAINED, Attack
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

FPS = 60.0


def plate():
    """A plate that lies on a palm."""
    return make_shape("box", width=0.1, depth=0.1, height=0.03)


def jumps_off_a_still_hand(count=30):
    """A plate on an open hand that does not move jumps up by 46 cm out of nothing."""
    time = np.maximum(np.arange(count) - 5, 0) / FPS
    given = on_palm(plate(), count)
    body, pose = given["bodies"]["load"]
    up = 3.0 * time - 0.5 * G * time**2
    there = Pose(pose.position + np.outer(up, [0.0, 0.0, 1.0]), pose.wxyz)
    return clip_of(frames(count, FPS), hands=given["hands"], bodies={"load": (body, there)})


def bounces_high_off_a_still_hand(speed=4.0, count=30):
    """A plate falls by 2 cm onto an open hand that does not move, and flies up by 80 cm."""
    times = frames(count, FPS)
    landing = np.sqrt(2.0 * 0.02 / G)
    after = np.maximum(times - landing, 0.0)
    z = np.where(times < landing, 0.02 - 0.5 * G * times**2, speed * after - 0.5 * G * after**2)
    given = on_palm(plate(), count)
    body, pose = given["bodies"]["load"]
    there = Pose(pose.position + np.outer(z, [0.0, 0.0, 1.0]), pose.wxyz)
    return clip_of(times, hands=given["hands"], bodies={"load": (body, there)})


def turns_back_before_a_hand(gap=0.02, count=26):
    """A plate falls towards an open hand and turns back in the air, 2 cm above it."""
    times = frames(count, FPS)
    given = on_palm(plate(), count)
    body, pose = given["bodies"]["load"]
    hit = 0.1983
    fall = 1.0 * (hit - times) + 0.5 * G * (hit**2 - times**2)
    after = np.maximum(times - hit, 0.0)
    z = gap + np.where(times < hit, fall, 2.0 * after - 0.5 * G * after**2)
    there = Pose(pose.position + np.outer(z, [0.0, 0.0, 1.0]), pose.wxyz)
    return clip_of(times, hands=given["hands"], bodies={"load": (body, there)})


def bounces_off_the_air(gap=0.02, count=26):
    """A ball falls towards the floor and turns back in the air, 2 cm above it."""
    times, hit = frames(count, FPS), 0.2017
    fall = 0.5 * G * (hit**2 - times**2)
    after = np.maximum(times - hit, 0.0)
    z = 0.035 + gap + np.where(times < hit, fall, 0.8 * G * hit * after - 0.5 * G * after**2)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"ball": (make_shape("sphere"), path(0.0, 0.0, z))},
        environment=(floor(),),
    )


def balls_part_faster_than_they_met(count=26):
    """Two balls meet in flight at 0.4 m/s and part at 6 m/s."""
    times, hit = frames(count, FPS), 0.2083
    apart = np.where(times < hit, 0.2 * (hit - times), 3.0 * (times - hit))
    return balls_in_flight(times, apart)


def balls_part_before_they_meet(gap=0.03, count=26):
    """Two balls turn back from each other in flight, 3 cm apart."""
    times, hit = frames(count, FPS), 0.2083
    apart = 0.5 * gap + np.where(times < hit, 1.5 * (hit - times), 1.2 * (times - hit))
    return balls_in_flight(times, apart)


def boxes_at_rest_fly_apart(count=26):
    """Two boxes lie on ice side by side; all at once they glide apart at 1 m/s each."""
    times, box = frames(count, FPS), make_shape("box")
    apart = 0.03 + 1.0 * np.maximum(times - times[6], 0.0)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"one": (box, path(-apart, 0.0, 0.03)), "two": (box, path(apart, 0.0, 0.03))},
        environment=(floor(friction=0.0),),
    )


def bounces_higher_each_time(count=40):
    """A ball bounces three times on the floor, and each time a little higher than before."""
    times, z = frames(count, FPS), []
    landing = np.sqrt(2.0 * 0.08 / G)
    for time in times:
        since, speed = time + landing, G * landing
        while since > 2.0 * speed / G:
            since, speed = since - 2.0 * speed / G, 1.15 * speed
        z.append(0.035 + speed * since - 0.5 * G * since**2)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"ball": (make_shape("sphere"), path(0.0, 0.0, np.array(z)))},
        environment=(floor(),),
    )


def block_climbs_through_a_beating_pinch(count=40):
    """A block slides up through a pinch that opens and closes by a millimetre in every frame."""
    times, model = frames(count, FPS), human()
    block, wrist, q = pinched()
    wide = q + (
        pinch_joints(model, wrist, np.full(2, 0.0009)) - pinch_joints(model, wrist, np.zeros(2))
    )
    is_open = (np.arange(count) % 2 == 1) & (np.arange(count) > 3) & (np.arange(count) < count - 4)
    joints = np.where(is_open[:, None], wide, q)
    number = np.clip(np.arange(count) - 4, 0, count - 9)
    pose = path(0.0, 0.0, 1.0 - 0.012 + 0.1 / FPS * number)
    held = still((0.0, 0.0, 1.0), count) @ Pose(wrist.position, wrist.wxyz)
    return clip_of(times, hands={"hand": (model, held, joints)}, bodies={"block": (block, pose)})


def thrown_by_a_hand_that_comes_down(count=30):
    """A plate on an open hand flies up while the hand goes down under it, from rest."""
    time = np.maximum(np.arange(count) - 5, 0) / FPS
    given = on_palm(plate(), count)
    body, pose = given["bodies"]["load"]
    model, root, q = given["hands"]["hand"]
    up = 2.0 * time - 0.5 * G * time**2
    there = Pose(pose.position + np.outer(up, [0.0, 0.0, 1.0]), pose.wxyz)
    below = Pose(root.position - np.outer(0.5 * time, [0.0, 0.0, 1.0]), flat_palm().wxyz)
    return clip_of(
        frames(count, FPS), hands={"hand": (model, below, q)}, bodies={"load": (body, there)}
    )


ATTACKS = (
    Attack(jumps_off_a_still_hand, HIT | UNEXPLAINED),
    Attack(bounces_high_off_a_still_hand, HIT | UNEXPLAINED),
    Attack(turns_back_before_a_hand, HIT | UNEXPLAINED),
    Attack(bounces_off_the_air, HIT | UNEXPLAINED),
    Attack(balls_part_faster_than_they_met, HIT | UNEXPLAINED),
    Attack(balls_part_before_they_meet, HIT | UNEXPLAINED),
    Attack(boxes_at_rest_fly_apart, HIT | UNEXPLAINED),
    Attack(bounces_higher_each_time, HIT | UNEXPLAINED),
    Attack(block_climbs_through_a_beating_pinch, HIT | SLIDES | UNEXPLAINED),
    Attack(thrown_by_a_hand_that_comes_down, HIT | UNEXPLAINED),
)
