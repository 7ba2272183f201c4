// Performs one try of a task in a thread: reads what it takes, and lands what it makes.
import { describeDataFault } from '../../../adapters/platform/data-file/describe-data-fault.ts'
import { TenantDataFileError } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import type { TaskOutcome } from '../../roles/ingest/parts.ts'
import { RowSourceError } from '../../shared/row-source/row-source.ts'
import { LandingError } from './landing/landing-error.ts'
import { datasetOf } from './steps/dataset-store.ts'
import type { ProgressReport } from './steps/land-inputs.ts'
import { performers } from './steps/performers.ts'
import type { TaskThreadJob } from './thread-job.ts'

/** Returns faults of the data, of the task and of the disk as failures, with a message for the author of the pipeline. */
export async function performTask(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  try {
    return (
      (await performers[job.task.operator]?.(job, report)) ??
      fail(`this version has no operator ${job.task.operator}`, true)
    )
  } catch (error) {
    if (error instanceof TenantDataFileError) return fail(error.message, error.isFinal)
    if (error instanceof RowSourceError) return fail(error.message, error.isFinal)
    if (error instanceof LandingError) return describeLandingError(error, job)
    const fault = describeDataFault(error)
    if (fault) return fail(`a dataset of a task before it${fault.text}`, false)
    // Without the path, which is of the machine: the disk may have room later.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    return fail(`the service cannot write what the task makes: ${code}`, false)
  }
}

/** A fault of the disk names the folder, which is of the machine; the disk may have room later. */
function describeLandingError({ message, details }: LandingError, job: TaskThreadJob): TaskOutcome {
  const { folder } = datasetOf(job)
  const reason = [message.replaceAll(folder, 'the dataset'), ...details].join('\n')
  return fail(reason, !message.includes(folder))
}

function fail(reason: string, isFinal: boolean): TaskOutcome {
  return { log: `${reason}\n`, failure: { reason, isFinal } }
}
