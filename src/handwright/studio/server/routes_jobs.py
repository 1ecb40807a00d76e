"""Jobs: asked for, watched, cancelled."""

from __future__ import annotations

from fastapi import APIRouter

from handwright.studio.messages import JobInfo, JobRequest
from handwright.studio.server.routes_catalogue import TheStudio

router = APIRouter()


@router.post("/jobs", status_code=202)
async def add_job(studio: TheStudio, request: JobRequest) -> JobInfo:
    """Puts a job into the queue."""
    return await studio.jobs.add(request)


@router.get("/jobs")
async def jobs(studio: TheStudio) -> list[JobInfo]:
    """All jobs of this server, newest first."""
    return studio.jobs.listed()


@router.get("/jobs/{job}")
async def job_info(studio: TheStudio, job: str) -> JobInfo:
    """A job."""
    return studio.jobs.get(job)


@router.delete("/jobs/{job}")
async def cancel_job(studio: TheStudio, job: str) -> JobInfo:
    """Cancels a job; motions that it has found stay."""
    return studio.jobs.cancel(job)
