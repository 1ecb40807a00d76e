"""Helper processes: what becomes of work when the server ends."""

from __future__ import annotations

import asyncio

import pytest

from handwright.studio.jobs.helper_processes import Helper, Work
from handwright.studio.server.request_errors import TroubleError


def test_a_closed_helper_ends_its_work_and_begins_none(tmp_path):
    async def close_while_it_works() -> Helper:
        helper = Helper(1)
        work = asyncio.create_task(helper.run(Work.LIST_SCENES, tmp_path))
        await asyncio.sleep(0.2)
        assert not work.done()
        helper.close()
        with pytest.raises(TroubleError, match="ending"):
            await work
        with pytest.raises(TroubleError, match="ending"):
            await helper.run(Work.LIST_SCENES, tmp_path)
        return helper

    assert asyncio.run(close_while_it_works())._pool is None


def test_cancelled_work_stays_cancelled_when_its_process_ends_too(tmp_path):
    async def cancel_when_it_breaks() -> asyncio.Task[object]:
        helper = Helper(1)
        work = asyncio.create_task(helper.run(Work.LIST_SCENES, tmp_path))
        await asyncio.sleep(0.2)
        pool = helper._pool
        assert pool is not None
        manager = pool._executor_manager_thread
        assert manager is not None
        for process in list(pool._processes.values()):
            process.kill()
        # The loop is held up until the end of the process has been noticed, so that both reach the
        # work at once.
        manager.join()
        await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work], timeout=60)
        helper.close()
        return work

    assert asyncio.run(cancel_when_it_breaks()).cancelled()
