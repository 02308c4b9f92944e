from __future__ import annotations

import signal
import threading
from contextlib import closing

from workbench.engine.process import Alarm, ending_signals_reported


def test_a_signal_that_another_thread_takes_wakes_who_waits() -> None:
    told: list[str] = []

    def take_it() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with closing(Alarm()) as alarm, alarm.rung_by_signals(), ending_signals_reported(told.append):
        taker = threading.Thread(target=take_it)
        taker.start()
        alarm.wait(60)
        assert told == ["SIGTERM"]
        taker.join()
