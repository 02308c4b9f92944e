"""The search for garbage is put off, and comes back however that ends."""

import gc

import pytest

from workbench.engine.garbage import not_collected


@pytest.fixture(autouse=True)
def _collecting() -> None:
    assert gc.isenabled()


def test_put_off_until_the_end() -> None:
    with not_collected():
        assert not gc.isenabled()
        with not_collected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_comes_back_after_an_error() -> None:
    with pytest.raises(KeyError), not_collected():
        raise KeyError
    assert gc.isenabled()


def test_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with not_collected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
