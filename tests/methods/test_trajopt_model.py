"""Layout, hands, contacts and kinematics of contact-invariant optimisation, each for itself."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.kernels.packed import Packed
from handwright.kinematics import posed_capsules
from handwright.methods.trajopt.attempt import Outcome
from handwright.methods.trajopt.clips import hand_motion
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.contacts import list_contacts, make_contacts
from handwright.methods.trajopt.model.couplings import coordinate_limits, couple_joints
from handwright.methods.trajopt.model.hands import capsule_numbers, transcribe_hands
from handwright.methods.trajopt.model.layout import (
    acceleration_index,
    change_index,
    force_index,
    key_layout,
    origin_index,
)
from handwright.methods.trajopt.model.model import ENVIRONMENT_CONTACT, HAND_CONTACT
from handwright.methods.trajopt.model.posing import joint_motion, pose_body, pose_hands
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import (
    add_dense,
    add_rows,
    add_single,
    make_workspace,
)
from handwright.methods.trajopt.schedule.search import AttemptSettings, find_schedule
from handwright.methods.trajopt.solver.descent import never
from handwright.methods.trajopt.solver.measures import LIMITS, MEASURES, UNITS, MotionErrors
from handwright.methods.trajopt.terms.contact_state import contact_columns
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def transcription():
    return transcribe(load_scene("pick_ball"), TranscriptionSettings(4, [0.3, 0.7]))


class TestLayout:
    layout = key_layout(31, 5, 4)

    def test_blocks_follow_each_other_without_gaps(self):
        at = self.layout
        blocks = (at.coordinates, at.rates, at.forces, at.origins, at.changes)
        indices = [i for block in blocks for i in range(block.start, block.stop)]
        assert [*indices, at.shift, *range(at.size)[at.contacts]] == list(range(at.size))
        assert at.state_size == at.size + 6 == at.first_acceleration + 6

    def test_blocks_have_the_right_sizes(self):
        state = np.zeros(self.layout.size)
        at = self.layout
        assert state[at.forces].size == state[at.origins].size == 15
        assert state[at.changes].size == 4 * 15
        assert state[at.contacts].size == 5

    def test_the_body_has_the_last_coordinates(self):
        at = self.layout
        assert range(31)[at.body] == range(25, 31)
        assert range(31)[at.body_position] == range(25, 28)
        assert range(31)[at.hinges] == range(28, 31)
        assert range(62)[at.body_rates] == range(56, 62)
        assert range(62)[at.body_velocity] == range(56, 59)
        assert at.first_hinge_rate == 59
        assert at.first_hinge_acceleration == at.first_acceleration + 3

    def test_indices_of_compiled_functions_are_those_of_slices(self):
        at, packed = self.layout, Packed(self.layout)
        for j in range(5):
            assert force_index(packed, j) == at.force(j).start
            assert origin_index(packed, j) == at.origin(j).start
        assert at.force(4).stop == at.origins.start
        assert at.origin(4).stop == at.changes.start
        changes = [change_index(packed, push, j) for push in range(4) for j in range(5)]
        assert changes == list(range(at.changes.start, at.changes.stop, 3))
        accelerations = [acceleration_index(packed, i) for i in range(31)[at.body]]
        assert accelerations == list(range(at.size, at.state_size))

    def test_columns_of_a_contact_do_not_overlap(self):
        at = contact_columns(8)
        sizes = (8, 6, 8, 6, 3, 3, 1)
        assert np.cumsum([0, *sizes]).tolist() == list(at)


class TestVectors:
    a, b = np.random.default_rng(0).normal(size=(2, 3))

    def test_products(self):
        a, b = tuple(self.a), tuple(self.b)
        np.testing.assert_allclose(vec.cross(a, b), np.cross(self.a, self.b))
        assert vec.dot(a, b) == pytest.approx(self.a @ self.b)
        np.testing.assert_allclose(vec.plus(a, b), self.a + self.b)
        np.testing.assert_allclose(vec.minus(a, b), self.a - self.b)
        np.testing.assert_allclose(vec.times(a, 3.0), 3.0 * self.a)
        np.testing.assert_allclose(vec.over(a, 3.0), self.a / 3.0)
        np.testing.assert_allclose(vec.plus_times(a, b, 3.0), self.a + 3.0 * self.b)

    def test_the_tangential_part_is_across_the_normal(self):
        n = self.a / np.linalg.norm(self.a)
        across = np.array(vec.tangential(tuple(n), tuple(self.b)))
        assert across @ n == pytest.approx(0.0, abs=1e-15)
        np.testing.assert_allclose(np.cross(self.b - across, n), 0.0, atol=1e-15)

    def test_rotation_and_length(self):
        matrix = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        a, b = tuple(self.a), tuple(self.b)
        np.testing.assert_allclose(vec.rotated(matrix, a), matrix @ self.a)
        np.testing.assert_allclose(vec.rotated_back(matrix, a), matrix.T @ self.a)
        np.testing.assert_allclose(vec.placed(matrix, b, a), matrix @ self.a + self.b)
        assert vec.norm(vec.triple(np.array([9.0, 2.0, 3.0, 6.0]), 1)) == pytest.approx(7.0)

    def test_rows_and_columns(self):
        matrix = np.arange(9.0).reshape(3, 3)
        assert vec.row(matrix, 1) == (3.0, 4.0, 5.0)
        assert vec.column(matrix, 1) == (1.0, 4.0, 7.0)
        vec.write_row(matrix, 2, (1.0, 2.0, 3.0))
        assert matrix[1:].tolist() == [[3.0, 4.0, 5.0], [1.0, 2.0, 3.0]]
        assert [vec.unit(axis) for axis in range(-1, 4)] == [
            vec.ZERO, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), vec.ZERO,
        ]  # fmt: skip


class TestRows:
    def work(self, transcription):
        work = make_workspace(transcription.model)
        return work, Packed(work)

    def test_a_block_adds_its_normal_equations(self, transcription):
        work, packed = self.work(transcription)
        rng = np.random.default_rng(2)
        columns = np.sort(rng.permutation(len(work.gradient))[:7])
        jacobian, residual = rng.normal(size=(4, 7)), rng.normal(size=4)
        work.columns[:7], work.jacobian[:4, :7], work.residual[:4] = columns, jacobian, residual
        add_rows(packed, 4, 7)
        expected = np.zeros_like(work.gradient)
        expected[columns] = jacobian.T @ residual
        np.testing.assert_allclose(work.gradient, expected, atol=1e-12)
        matrix = np.tril(jacobian.T @ jacobian)
        np.testing.assert_allclose(work.hessian[np.ix_(columns, columns)], matrix, atol=1e-12)
        assert np.count_nonzero(work.hessian) == np.count_nonzero(matrix)

    def test_dense_rows_are_added_and_cleared(self, transcription):
        work, packed = self.work(transcription)
        work.dense[0, [3, 8]], work.dense[1, 8] = (2.0, -1.0), 4.0
        work.residual[:2] = 0.5, 3.0
        add_dense(packed, 2, transcription.model.layout.num_coordinates)
        assert work.gradient[[3, 8]].tolist() == [1.0, 11.5]
        assert work.hessian[[3, 8, 8], [3, 3, 8]].tolist() == [4.0, -2.0, 17.0]
        assert not work.dense.any()

    def test_a_residual_of_one_variable(self, transcription):
        work, packed = self.work(transcription)
        add_single(packed, 5, 3.0, -2.0)
        assert (work.gradient[5], work.hessian[5, 5]) == (-6.0, 9.0)


class TestCouplings:
    hand = hw.human()

    def test_fingertips_follow_and_the_palm_does_not_move(self):
        names = self.hand.joints.names
        q = np.linspace(0.0, 0.3, len(names))
        c = couple_joints(self.hand, q, is_coupled=True)
        tip, before = names.index("index_dip_flexion"), names.index("index_pip_flexion")
        assert c.driver[tip] == c.driver[before] >= 0
        assert c.ratio[tip] == pytest.approx(2.0 / 3.0)
        palm = [j for j, name in enumerate(names) if "_cmc_" in name and "thumb" not in name]
        assert palm
        assert (c.driver[palm] == -1).all()
        # With the coordinates of the start the joints have the values of the start.
        coordinates = np.append(q[c.leading], 0.0)
        np.testing.assert_allclose(c.ratio * coordinates[c.driver] + c.bias, q)

    def test_limits_of_coordinates_keep_all_joints_within_theirs(self):
        joints = self.hand.joints
        c = couple_joints(self.hand, np.zeros(len(joints)), is_coupled=True)
        for coordinates in coordinate_limits(self.hand, c):
            values = (c.ratio * np.append(coordinates, 0.0)[c.driver] + c.bias)[c.driver >= 0]
            moved = c.driver >= 0
            assert (values >= joints.lower[moved] - 1e-12).all()
            assert (values <= joints.upper[moved] + 1e-12).all()


class TestContacts:
    def test_digits_palm_and_surfaces_in_order(self):
        problem = load_scene("pick_ball")
        hands = transcribe_hands(problem, is_coupled=True)
        body = problem.bodies["ball"]
        supports = np.array([[0.0, 0.0, -0.035], [0.0, 0.01, -0.03]])
        entries = list_contacts(problem, hands, body, supports)
        digits = [f"right.{digit.name}" for digit in hands[0].model.digits]
        names = [entry.name for entry in entries]
        assert names == [*digits, "right.palm", *["environment"] * 2 * len(problem.environment)]
        thumb = entries[digits.index("right.thumb")]
        assert thumb.squeeze == 1.0 > entries[digits.index("right.ring")].squeeze > 0.0
        contacts = make_contacts(entries)
        is_hand = contacts.kind == HAND_CONTACT
        assert is_hand.sum() == len(digits) + 1
        assert (contacts.kind[~is_hand] == ENVIRONMENT_CONTACT).all()
        assert (contacts.squeeze[~is_hand] == 0.0).all()
        np.testing.assert_array_equal(contacts.pad[-2:], supports)
        numbers, capsules = capsule_numbers(hands), hands[0].model.capsules
        for j in range(len(digits)):
            own = numbers[contacts.capsules[contacts.first[j] : contacts.last[j]]]
            assert len(own)
            assert (capsules.digit[own] == j).all()


class TestKinematics:
    @pytest.fixture
    def posed(self, transcription):
        m = transcription.model
        rng = np.random.default_rng(5)
        work = make_workspace(m)
        work.z[: m.layout.size] = transcription.start
        work.z[m.layout.motion] += 0.3 * rng.normal(size=m.layout.first_force)
        pose_hands(Packed(m), Packed(work))
        pose_body(Packed(m), Packed(work), 0.0)
        return m, work

    def test_capsules_are_where_the_hand_model_puts_them(self, transcription, posed):
        m, work = posed
        (hand,) = transcription.hands
        motion = hand_motion(hand, work.z[None, m.layout.coordinates])
        expected = posed_capsules(hand.model, motion.q, motion.root)
        own = np.array(hand.movable_capsules)
        np.testing.assert_allclose(work.ends[: len(own), 0], expected.start[0, own], atol=1e-12)
        np.testing.assert_allclose(work.ends[: len(own), 1], expected.end[0, own], atol=1e-12)

    def test_velocities_are_those_of_the_motion(self, transcription, posed):
        m, work = posed
        joint = len(m.forest.parent) - 1
        local = np.array([0.01, -0.02, 0.03])
        point = work.position[joint] + work.rotation[joint] @ local
        velocity = work.origin_velocity[joint] + np.cross(work.omega[joint], point)
        omega = work.body_omega[3].copy()
        step, found, rotations = 1e-6, [], []
        for sign in (-1.0, 1.0):
            other = make_workspace(m)
            other.z[:] = work.z
            other.z[m.layout.coordinates] += sign * step * work.z[m.layout.rates]
            pose_hands(Packed(m), Packed(other))
            pose_body(Packed(m), Packed(other), 0.0)
            found.append(other.position[joint] + other.rotation[joint] @ local)
            rotations.append(other.body_rotation)
        np.testing.assert_allclose((found[1] - found[0]) / (2 * step), velocity, rtol=1e-6)
        skew = (rotations[1] - rotations[0]) / (2 * step) @ work.body_rotation.T
        np.testing.assert_allclose([skew[2, 1], skew[0, 2], skew[1, 0]], omega, rtol=1e-6)

    def test_velocities_are_sums_over_the_joints_of_a_chain(self, posed):
        m, work = posed
        joint = len(m.forest.parent) - 1
        point = work.position[joint] + [0.01, 0.0, 0.02]
        total = np.zeros(3)
        for k in m.forest.chain[joint]:
            if k >= 0 and m.forest.driver[k] >= 0:
                rate = m.forest.ratio[k] * work.z[m.layout.first_rate + m.forest.driver[k]]
                total += rate * np.array(joint_motion(Packed(m), Packed(work), k, point))
        velocity = work.origin_velocity[joint] + np.cross(work.omega[joint], point)
        np.testing.assert_allclose(total, velocity, atol=1e-12)


def test_a_schedule_is_found_within_what_is_allowed():
    problem = load_scene("pick_ball")
    coarse = transcribe(problem, TranscriptionSettings(4, [0.3, 0.7]))
    allowed = coarse.allowed.copy()
    allowed[:, 1] = False
    coarse = coarse._replace(allowed=allowed)
    short = AttemptSettings(1.5, 0.8, stage_iterations=1, tight_iterations=1, max_repairs=0)
    found = find_schedule(coarse, 3, short, never)
    again = find_schedule(coarse, 3, short, never)
    assert found.is_on.shape == allowed.shape
    assert not (found.is_on & ~allowed & ~coarse.required).any()
    contacts = found.descent.keys[: len(found.is_on), coarse.model.layout.contacts]
    np.testing.assert_array_equal(contacts, found.is_on)
    np.testing.assert_array_equal(found.descent.keys, again.descent.keys)
    assert found.cost == again.cost


def test_what_is_wrong_with_an_outcome_is_named():
    fine = dict.fromkeys(MEASURES, 0.0)

    def outcome(worst, *, is_balanced=False, is_off_skin=False):
        errors = MotionErrors(worst, np.zeros((1, 1)), np.zeros(1))
        return Outcome(np.zeros((1, 1)), np.zeros(1), errors, 1.0, 1, is_balanced, is_off_skin)

    assert outcome(fine).is_good
    bad = outcome({**fine, "gap": 1.5 * LIMITS["gap"], "force": 1.2 * LIMITS["force"]})
    assert not bad.is_good
    assert bad.cause == "gap"
    assert bad.measured.excess == pytest.approx(1.5)
    assert "balanced on one or two" in outcome(fine, is_balanced=True).cause
    assert "skin is not where" in outcome(fine, is_off_skin=True).cause


def test_limits_are_below_those_of_the_certificate():
    certified = hw.Tolerances()
    assert set(LIMITS) == set(UNITS) == set(MEASURES)
    assert LIMITS["gap"] == 3e-4 < certified.gap
    assert LIMITS["slip"] == 5e-4 < certified.static_speed
    assert LIMITS["force"] == 5e-3 < certified.force_residual
    assert LIMITS["moment"] == 2e-3 < certified.moment_residual
    assert LIMITS["cone"] == 0.02 == certified.stored_balance
    assert LIMITS["penetration"] == 5e-4 < certified.penetration
    assert LIMITS["limit"] == 8e-3 < certified.joint_limits
    assert LIMITS["strength"] == 60.0 == certified.strength
