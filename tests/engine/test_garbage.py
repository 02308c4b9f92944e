"""The search for garbage is put off, and comes back however that ends."""

import gc

import pytest

from workbench.engine.process import garbage_collection_paused


@pytest.fixture(autouse=True)
def _collecting() -> None:
    assert gc.isenabled()


def test_put_off_until_the_end() -> None:
    with garbage_collection_paused():
        assert not gc.isenabled()
        with garbage_collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_comes_back_after_an_error() -> None:
    with pytest.raises(KeyError), garbage_collection_paused():
        raise KeyError
    assert gc.isenabled()


def test_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with garbage_collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
