// Entry point of the matching thread; a separate bundle in the executable.
import { runResidentJobs } from '../../../adapters/compute/threads/run-resident-jobs.ts'
import { createJobPerformer } from '../../roles/resolution/matching-thread/perform-job.ts'

runResidentJobs(createJobPerformer())
