"""A policy that stays the same travels once, and what arrives is what was meant."""

import dataclasses

import numpy as np

from hybrid.hilqr import Policies
from runtime.physics_messages import RolloutRequest, decode_request
from runtime.wire import encode
from sim_bridge.policy_memory import MOST_CLIENTS, Arrays, ReceivedPolicies, SentPolicy

FIELDS = Arrays._fields
RNG = np.random.default_rng(0)
KNOTS = 15  # so that gains are large enough to be views after decoding


def one_policy(knots: int = KNOTS) -> Policies:
    """A policy of random numbers, in two candidates."""
    return Policies.of(
        RNG.normal(size=(knots + 1, 37)), RNG.normal(size=(knots, 12)),
        RNG.normal(size=(knots, 12, 36)), RNG.normal(size=(knots, 12)), (1.0, 0.5),
    )  # fmt: skip


def request(id: int, policies: Policies, sent: SentPolicy) -> RolloutRequest:
    """As it arrives."""
    repeats, arrays = sent.reduced(policies)
    made = RolloutRequest(
        id=id, period=0.01, substeps=2, x0=np.zeros(37), **arrays._asdict(),
        policy_index=policies.policy_index.tolist(), step_size=policies.step_size, repeats=repeats,
    )  # fmt: skip
    arrived = decode_request(encode(made))
    assert isinstance(arrived, RolloutRequest)
    return arrived


def assert_same(found: Policies | None, expected: Policies) -> None:
    assert found is not None
    for name in (*FIELDS, "policy_index", "step_size"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).flags.writeable  # compiled code takes no other arrays


def test_what_is_completed_is_what_was_meant_and_the_reference_travels_once():
    reference, sent, received = one_policy(), SentPolicy(), ReceivedPolicies()
    for id in range(1, 5):
        policies = one_policy().join(reference)
        arrived = request(id, policies, sent)
        assert (arrived.repeats, len(arrived.inputs)) == ((0, 2) if id == 1 else (1, 1))
        assert_same(received.complete(arrived, b"me"), policies)
        if not arrived.repeats:
            sent.answered(id, policies)


def test_another_reference_travels_again_however_alike():
    reference, sent = one_policy(), SentPolicy()
    sent.answered(1, one_policy().join(reference))
    alike = dataclasses.replace(reference)
    assert sent.reduced(one_policy().join(alike))[0] == 0
    assert sent.reduced(reference)[0] == sent.reduced(one_policy())[0] == 0
    assert sent.reduced(one_policy().join(reference))[0] == 1
    sent.forget()
    assert sent.reduced(one_policy().join(reference))[0] == 0


def test_several_policies_joined_at_once_are_not_spared():
    both, sent = one_policy().join(one_policy()), SentPolicy()
    sent.answered(1, one_policy().join(both))
    assert sent.reduced(one_policy().join(both))[0] == 0


def test_only_what_the_same_client_sent_under_that_id_is_repeated():
    reference, sent, received = one_policy(), SentPolicy(), ReceivedPolicies()
    first = one_policy().join(reference)
    repeated = [request(1, first, sent)]
    sent.answered(1, first)
    repeated.append(request(2, one_policy().join(reference), sent))
    assert received.complete(repeated[1], b"me") is None  # a server that began anew
    assert received.complete(repeated[0], b"me") is not None
    assert received.complete(repeated[1], b"somebody else") is None
    assert received.complete(repeated[1], b"me") is not None
    other = request(3, one_policy().join(one_policy()), SentPolicy())
    assert received.complete(other, b"me") is not None
    assert received.complete(repeated[1], b"me") is None  # its reference is no longer there


def test_another_horizon_is_not_mixed_with_the_one_before():
    sent, received = SentPolicy(), ReceivedPolicies()
    long = one_policy().join(one_policy())
    assert_same(received.complete(request(1, long, sent), b"me"), long)
    short = one_policy(4).join(one_policy(4))
    assert_same(received.complete(request(2, short, sent), b"me"), short)


def test_the_oldest_client_is_forgotten():
    policies, received = one_policy().join(one_policy()), ReceivedPolicies()
    whole, sent = request(1, policies, SentPolicy()), SentPolicy()
    for client in range(MOST_CLIENTS + 1):
        received.complete(whole, bytes([client]))
    sent.answered(1, policies)
    again = request(2, policies, sent)
    assert received.complete(again, bytes([0])) is None
    assert_same(received.complete(again, bytes([1])), policies)
