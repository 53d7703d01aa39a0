"""The cache with room gives what transformers' own gives, and copies less."""

from __future__ import annotations

import torch
from transformers import AutoModelForCausalLM, DynamicCache
from transformers.cache_utils import DynamicLayer

from lean_dojo_plugins.causal_lm.generate.cache import (
    ROOM,
    RoomyLayer,
    make_roomy,
    one_token_at_a_time,
)


def states(batch: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(batch, 2, tokens, 4), torch.randn(batch, 2, tokens, 4)


def same(left: DynamicLayer, right: DynamicLayer) -> bool:
    return torch.equal(left.keys, right.keys) and torch.equal(left.values, right.values)


def test_whatever_is_done_to_it_it_holds_the_same():
    torch.manual_seed(0)
    plain, roomy = DynamicLayer(), RoomyLayer()

    def both(change):
        for layer in (plain, roomy):
            change(layer)
        assert same(plain, roomy)

    def append(batch, tokens):
        new = states(batch, tokens)
        given = [layer.update(*new) for layer in (plain, roomy)]
        assert all(torch.equal(a, b) for a, b in zip(*given, strict=True))
        assert same(plain, roomy)
        assert plain.get_mask_sizes(1) == roomy.get_mask_sizes(1)

    append(3, 7)
    both(lambda layer: layer.batch_repeat_interleave(4))
    for _ in range(2 * ROOM + 3):
        append(12, 1)
    both(lambda layer: layer.batch_select_indices(torch.tensor([0, 3, 3, 11])))
    append(4, 1)
    both(lambda layer: layer.crop(-5))
    append(4, 2)
    both(lambda layer: layer.reorder_cache(torch.tensor([3, 2, 1, 0])))
    for _ in range(3):
        append(4, 1)
    append(4, 3 * ROOM)
    for layer in (plain, roomy):
        layer.reset()
    append(2, 5)


def test_it_copies_once_in_so_many_tokens():
    layer = RoomyLayer()
    layer.update(*states(2, 5))
    places = set()
    for _ in range(4 * ROOM):
        layer.update(*states(2, 1))
        places.add(layer.keys.data_ptr())
    assert 1 <= len(places) <= 5


def test_a_models_cache_gets_room_and_says_the_same(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model).eval()
    ids = torch.tensor([[5, 6, 7, 8], [9, 10, 11, 12]])

    def logits(with_room: bool) -> torch.Tensor:
        cache = DynamicCache(config=model.config)
        with torch.inference_mode():
            found = [model(ids, past_key_values=cache, use_cache=True).logits]
            if with_room:
                make_roomy(cache)
                assert all(type(layer) is RoomyLayer for layer in cache.layers)
            for token in (13, 14, 15):
                step = torch.full((2, 1), token)
                found.append(model(step, past_key_values=cache, use_cache=True).logits)
        return torch.cat(found, dim=1)

    torch.testing.assert_close(logits(True), logits(False))


def test_other_layers_stay_as_they_are():
    cache = DynamicCache()
    make_roomy(cache)  # nothing is in it yet
    assert list(cache.layers) == []


def test_attention_is_plain_for_the_time_of_writing_and_says_the_same(tiny_model):
    model = AutoModelForCausalLM.from_pretrained(tiny_model).eval()
    assert model.config._attn_implementation == "sdpa"
    ids = torch.tensor([[5, 6, 7, 8]])
    mask = torch.tensor([[0, 1, 1, 1]])
    with torch.inference_mode():
        usual = model(ids, attention_mask=mask).logits[:, 1:]
        with one_token_at_a_time(model):
            assert model.config._attn_implementation == "eager"
            plain = model(ids, attention_mask=mask).logits[:, 1:]
    assert model.config._attn_implementation == "sdpa"
    torch.testing.assert_close(plain, usual)
