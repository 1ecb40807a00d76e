"""The faults: a dropped sign, a swapped index, a missing check, an off-by-one, a wrong axis.

Each is one line that a tired programmer could have written. ``tests`` are the files that are about
the broken function; a fault that only a whole motion would notice wants a smaller test.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A line, what it is replaced with, and the tests that ought to notice."""

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]


FAULTS = (
    # math
    Fault(
        "pose_inverse_sign",
        "src/handwright/math/pose.py",
        "return Pose(-rotation.rotate(back, self.position), back)",
        "return Pose(rotation.rotate(back, self.position), back)",
        ("tests/math/test_pose.py",),
    ),
    Fault(
        "pose_product_order",
        "src/handwright/math/pose.py",
        "rotation.multiply(self.wxyz, other.wxyz),",
        "rotation.multiply(other.wxyz, self.wxyz),",
        ("tests/math/test_pose.py",),
    ),
    Fault(
        "rotate_dropped_scalar",
        "src/handwright/math/rotation.py",
        "return v + q[..., :1] * twice + _cross(q[..., 1:], twice)",
        "return v + twice + _cross(q[..., 1:], twice)",
        ("tests/math/test_rotation.py",),
    ),
    Fault(
        "rotation_log_half",
        "src/handwright/math/rotation.py",
        "scale = np.where(sine > 0, 2.0 * np.arctan2(sine, w) / positive, 2.0)",
        "scale = np.where(sine > 0, 2.0 * np.arctan2(sine, w) / positive, 1.0)",
        ("tests/math/test_rotation.py",),
    ),
    Fault(
        "turn_between_opposite",
        "src/handwright/math/vectors.py",
        "return np.pi * square_to(one)[0]",
        "return across",
        ("tests/methods/test_stepwise_goals.py",),
    ),
    # kernels
    Fault(
        "kernel_cache_ignores_callees",
        "src/handwright/kernels/fingerprint.py",
        "            return self.of_kernel(value)\n",
        "            return value.__name__\n",
        ("tests/kernels/test_cache.py",),
    ),
    # core
    Fault(
        "grip_believes_nothing",
        "src/handwright/core/events.py",
        "if not (np.isfinite(value) and value > 0.0):",
        "if not np.isfinite(value):",
        ("tests/core/test_events.py",),
    ),
    Fault(
        "push_lasts_a_frame_longer",
        "src/handwright/core/events.py",
        "return bool(self.start - _END_SLACK <= time < self.end - _END_SLACK)",
        "return bool(self.start - _END_SLACK <= time <= self.end + _END_SLACK)",
        ("tests/core/test_events.py",),
    ),
    Fault(
        "push_moment_sign",
        "src/handwright/core/events.py",
        "wrench[3:] += np.cross(pose.apply(push.point) - center, push.force)",
        "wrench[3:] -= np.cross(pose.apply(push.point) - center, push.force)",
        ("tests/core/test_events.py",),
    ),
    Fault(
        "leader_limits_ignore_followers",
        "src/handwright/core/hand.py",
        "low, high = max(own[0], ends[0]), min(own[1], ends[1])",
        "low, high = own[0], own[1]",
        ("tests/core/test_hand.py", "tests/physics/test_mjcf_import.py"),
    ),
    # geometry
    Fault(
        "inertia_divisor",
        "src/handwright/geometry/mesh/inertia.py",
        "return _from_second_moments(volume, center, second / 20.0, reference, density)",
        "return _from_second_moments(volume, center, second / 10.0, reference, density)",
        ("tests/geometry/test_inertia.py",),
    ),
    Fault(
        "inside_is_outside_box",
        "src/handwright/geometry/distance/exact.py",
        "inside = in_box & np.where(cosine > 0.0",
        "inside = True & np.where(cosine > 0.0",
        ("tests/geometry/test_exact.py",),
    ),
    Fault(
        "crossed_faces_tell_the_side",
        "src/handwright/geometry/mesh/crossings.py",
        "crossed[f] = crossed[g] = True",
        "crossed[f] = crossed[g] = False",
        ("tests/geometry/test_signs.py",),
    ),
    # hands
    Fault(
        "mirror_axis",
        "src/handwright/hands/mirror.py",
        "_FLIP = np.array([1.0, -1.0, 1.0])",
        "_FLIP = np.array([-1.0, 1.0, 1.0])",
        ("tests/hands",),
    ),
    # kinematics
    Fault(
        "torque_error_sign",
        "src/handwright/kinematics/ik/frames.py",
        "out[1] = 0.5 * (m[0, 2] - m[2, 0])",
        "out[1] = 0.5 * (m[2, 0] - m[0, 2])",
        ("tests/kinematics/test_ik.py",),
    ),
    Fault(
        "ccd_never_takes_back",
        "src/handwright/kinematics/ik/ccd.py",
        "                q[joint] = old\n",
        "                q[joint] = q[joint]\n",
        ("tests/kinematics/test_ik.py",),
    ),
    Fault(
        "speed_limit_forgets_followers",
        "src/handwright/kinematics/ik/hand.py",
        "room[leader] = min(room[leader], max_step / max(abs(joints.ratio[follower]), 1.0))",
        "room[leader] = max_step",
        ("tests/kinematics/test_ik.py",),
    ),
    # contact and mechanics
    Fault(
        "slip_one_sided",
        "src/handwright/contact/sliding.py",
        "before, after = np.maximum(frame - 1, 0), np.minimum(frame + 1, len(times) - 1)",
        "before, after = np.maximum(frame - 1, 0), np.minimum(frame + 2, len(times) - 1)",
        ("tests/evidence/test_own_contacts.py",),
    ),
    Fault(
        "shear_forgets_normal",
        "src/handwright/contact/shear.py",
        'flat = shear - np.einsum("ci,ci->c", shear, normal[t])[:, None] * normal[t]',
        'flat = shear + np.einsum("ci,ci->c", shear, normal[t])[:, None] * normal[t]',
        ("tests/evidence/test_own_contacts.py", "tests/mechanics/test_shear.py"),
    ),
    Fault(
        "gravity_torque_sign",
        "src/handwright/mechanics/torques.py",
        "return -np.where(model.joints.is_slide, slide, hinge)",
        "return np.where(model.joints.is_slide, slide, hinge)",
        ("tests/mechanics/test_torques.py",),
    ),
    Fault(
        "leap_window_off_by_one",
        "src/handwright/contact/leaps.py",
        "windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)",
        "windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach, axis=0)",
        ("tests/evidence/test_own_contacts.py",),
    ),
    # evidence
    Fault(
        "judge_friction_along_the_slip",
        "src/handwright/evidence/certificate/forces.py",
        "    ray = contacts.normal + mu * contacts.slip",
        "    ray = contacts.normal - mu * contacts.slip",
        ("tests/evidence/test_forces.py",),
    ),
    Fault(
        "judge_believes_springs",
        "src/handwright/evidence/contacts/impacts.py",
        "        may_push[:-1] = ~parts",
        "        may_push[:-1] = True",
        ("tests/evidence/attacks/test_attacks.py",),
    ),
    Fault(
        "judge_counts_no_impacts",
        "src/handwright/evidence/certificate/certificate.py",
        "(hits > tolerances.impacts) | springs",
        "springs",
        ("tests/evidence/attacks/test_attacks.py",),
    ),
    Fault(
        "judge_sees_no_trembling",
        "src/handwright/evidence/contacts/table.py",
        "slides = (speed > static_speed) | trembles",
        "slides = speed > static_speed",
        ("tests/evidence/attacks/test_attacks.py",),
    ),
    Fault(
        "judge_forgets_the_wrist",
        "src/handwright/evidence/certificate/strength.py",
        "is_over = (largest > self._most) | (share > 1.0) | (arm > 1.0)",
        "is_over = (largest > self._most) | (share > 1.0)",
        ("tests/evidence/attacks/test_attacks.py",),
    ),
    Fault(
        "judge_skips_lower_limits",
        "src/handwright/evidence/certificate/speeds.py",
        "excess = np.maximum(model.joints.lower - q, q - model.joints.upper)",
        "excess = q - model.joints.upper",
        ("tests/evidence/test_certificate.py",),
    ),
    Fault(
        "judge_momentum_in_wrong_axes",
        "src/handwright/evidence/certificate/dynamics.py",
        "spin = rotation.rotate(middle, local @ body.inertia.T)",
        "spin = rotation.rotate(middle, local) @ body.inertia.T",
        ("tests/evidence/test_dynamics_agree.py",),
    ),
    Fault(
        "judge_slip_along_normal",
        "src/handwright/evidence/contacts/slip.py",
        'return velocity - np.einsum("ni,ni->n", velocity, normal)[:, None] * normal',
        'return velocity + np.einsum("ni,ni->n", velocity, normal)[:, None] * normal',
        ("tests/evidence/test_own_contacts.py",),
    ),
    Fault(
        "judge_digit_force_single",
        "src/handwright/evidence/certificate/strength.py",
        "np.add.at(total, load.frame[mine], size[mine])",
        "total[load.frame[mine]] = size[mine]",
        ("tests/evidence/test_strength.py",),
    ),
    Fault(
        "smoothness_jerk_power",
        "src/handwright/evidence/metrics/smoothness.py",
        "third = np.diff(positions, n=3, axis=0) / step**3",
        "third = np.diff(positions, n=3, axis=0) / step**2",
        ("tests/evidence/test_metrics.py",),
    ),
    Fault(
        "judge_no_friction_margin",
        "src/handwright/evidence/certificate/forces.py",
        "scale = np.where(is_normal & (width[owner] == STICKS), -contacts.friction[owner], -1.0)",
        "scale = np.where(is_normal & (width[owner] == STICKS), -1.0, -1.0)",
        ("tests/evidence/test_forces.py",),
    ),
    Fault(
        "judge_forgets_that_ways_bend",
        "src/handwright/evidence/contacts/sweeps.py",
        "shift = (_SLACK + bend[some])[:, None] * side[some]",
        "shift = _SLACK * side[some]",
        ("tests/evidence/test_sweeps.py",),
    ),
    Fault(
        "judge_forgets_that_bodies_move",
        "src/handwright/evidence/contacts/crossings.py",
        "due = np.flatnonzero(known - moved <= self.half)",
        "due = np.flatnonzero(known <= self.half)",
        ("tests/evidence/test_crossings.py",),
    ),
    Fault(
        "judge_leaves_out_the_outer_phalanges",
        "src/handwright/evidence/contacts/overlaps.py",
        "free = [(a, b) for a, b in pairs if (a, capsules.link[b]) not in rooted]",
        "free = [(a, b) for a, b in pairs if (a, capsules.link[b]) in rooted]",
        ("tests/evidence/test_overlaps.py",),
    ),
    # io
    Fault(
        "axes_not_flipped",
        "src/handwright/io/axes.py",
        "return np.stack([x, -z, y], axis=-1)",
        "return np.stack([x, z, y], axis=-1)",
        ("tests/io/test_axes.py",),
    ),
    Fault(
        "quaternion_order",
        "src/handwright/io/axes.py",
        "return np.stack([x, z, -y, w], axis=-1)",
        "return np.stack([w, x, z, -y], axis=-1)",
        ("tests/io/test_axes.py",),
    ),
    Fault(
        "resampled_contacts_of_the_frame_before",
        "src/handwright/io/clip/resample.py",
        "contacts = _picked(clip.contacts, np.searchsorted(between, times))",
        "contacts = _picked(clip.contacts, np.searchsorted(clip.times, times) - 1)",
        ("tests/io",),
    ),
    Fault(
        "bvh_chain_order",
        "src/handwright/io/bvh/motion.py",
        "            turn = rotation.multiply(turn, local_turn)\n",
        "            turn = rotation.multiply(local_turn, turn)\n",
        ("tests/io/test_bvh.py",),
    ),
    Fault(
        "csv_takes_repeated_times",
        "src/handwright/io/tracks_csv.py",
        "stuck = np.flatnonzero(np.diff(times) <= 0.0)",
        "stuck = np.flatnonzero(np.diff(times) < 0.0)",
        ("tests/io/test_tracks_csv.py",),
    ),
    Fault(
        "csv_reads_underscores",
        "src/handwright/io/tracks_csv.py",
        'value = math.nan if "_" in cell else float(cell)',
        "value = float(cell)",
        ("tests/io/test_tracks_csv.py",),
    ),
    # physics
    Fault(
        "dynamics_without_velocity",
        "src/handwright/physics/hand_dynamics.py",
        "        mujoco.mj_comVel(model, data)\n",
        "",
        ("tests/physics/test_hand_dynamics.py",),
    ),
    # mechanics, continued
    Fault(
        "momentum_forgets_gravity",
        "src/handwright/mechanics/momentum.py",
        "force=_rate_at_frames(times, momentum) - body.mass * pull,",
        "force=_rate_at_frames(times, momentum),",
        ("tests/mechanics/test_momentum.py",),
    ),
    Fault(
        "householder_sign",
        "src/handwright/mechanics/nnls.py",
        "        right[j:] -= 2.0 * np.sum(v * right[j:]) / square * v\n",
        "        right[j:] += 2.0 * np.sum(v * right[j:]) / square * v\n",
        ("tests/mechanics",),
    ),
    Fault(
        "capsule_radius_once",
        "src/handwright/geometry/distance/capsules.py",
        "return distance - p_radius - q_radius, s, t",
        "return distance - p_radius, s, t",
        ("tests/geometry/test_capsules.py",),
    ),
    Fault(
        "tapered_gap_wrong_end",
        "src/handwright/geometry/distance/capsules.py",
        "        best, s, t = gap - a, 1.0, other\n",
        "        best, s, t = gap, 1.0, other\n",
        ("tests/geometry/test_capsules.py",),
    ),
    # studio
    Fault(
        "studio_lets_other_pages_in",
        "src/handwright/studio/server/guard.py",
        "if origin is not None and urlsplit(origin).netloc.lower() != host.lower():",
        "if origin is not None and not urlsplit(origin).netloc:",
        ("tests/studio/test_security.py",),
    ),
    Fault(
        "studio_any_host",
        "src/handwright/studio/server/guard.py",
        "return name == self.host.lower() or (is_loopback(self.host) and name in LOOPBACK_NAMES)",
        "return True",
        ("tests/studio/test_security.py",),
    ),
    Fault(
        "live_any_origin",
        "src/handwright/live/server.py",
        "if origins and not _is_here(origins[0]):",
        "if origins and not origins[0]:",
        ("tests/live/test_server.py",),
    ),
    Fault(
        "live_unsent_grows",
        "src/handwright/live/server.py",
        "if len(self._unsent) >= MOST_UNSENT:",
        "if len(self._unsent) >= 1000 * MOST_UNSENT:",
        ("tests/live/test_server.py",),
    ),
    Fault(
        "live_fingers_leap",
        "src/handwright/methods/neural/live/posed_hand.py",
        "            if way > tip_step:",
        "            if way > 2.0 * tip_step:",
        ("tests/methods/neural/live/test_live_fingers.py",),
    ),
    Fault(
        "live_gap_leapt",
        "src/handwright/methods/neural/live/pose_stream.py",
        "span = min(end - samples.times[n], longest_gap)",
        "span = end - samples.times[n]",
        ("tests/methods/neural/live/test_pose_stream.py",),
    ),
    Fault(
        "camera_mirrored",
        "src/handwright/render/camera.py",
        "return np.stack([right, np.cross(back, right), back])",
        "return np.stack([-right, np.cross(back, right), back])",
        ("tests/render/test_camera.py",),
    ),
    # methods, and what drives them
    Fault(
        "driver_returns_what_is_refused",
        "src/handwright/methods/driver.py",
        "        if judged.reasons:\n",
        "        if judged.reasons and not self.accepted:\n",
        ("tests/methods/test_driver.py",),
    ),
    Fault(
        "driver_ignores_its_budget",
        "src/handwright/methods/driver.py",
        "while self.seconds < self.limits.seconds and number != search.max_attempts:",
        "while number != search.max_attempts:",
        ("tests/methods/test_driver.py",),
    ),
    Fault(
        "newton_jacobian_sign",
        "src/handwright/methods/trajopt/terms/body.py",
        "rows[FORCE + h, at.acceleration + h] = -wf * m.body.mass",
        "rows[FORCE + h, at.acceleration + h] = wf * m.body.mass",
        ("tests/methods/test_trajopt_gradients.py",),
    ),
    Fault(
        "pinned_frame_of_the_wrong_hold",
        "src/handwright/methods/sampling/constraints/schedule.py",
        "            return int(t) + shift\n",
        "            return int(t)\n",
        ("tests/methods/test_sampling_schedule.py",),
    ),
    Fault(
        "strength_of_the_last_load_only",
        "src/handwright/grasping/forces.py",
        "        worst = max(worst, float(found.x[-1]))\n",
        "        worst = float(found.x[-1])\n",
        ("tests/grasping/test_carrying.py",),
    ),
    Fault(
        "reach_profile_searches_the_wrong_half",
        "src/handwright/methods/stepwise/objectives/references.py",
        "if reaching_rate(middle) < rate else (low, middle)",
        "if reaching_rate(middle) > rate else (low, middle)",
        ("tests/methods/test_stepwise_session.py",),
    ),
)
