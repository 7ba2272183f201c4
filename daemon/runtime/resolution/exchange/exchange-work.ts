// Runs the jobs of exchanges for the resolution role: in threads, within the limits of a run, and with progress reports.
import { join } from 'node:path'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import type {
  ExchangeJobName,
  ExchangeJobs,
  ExchangeWork,
} from '../../../roles/resolution/exchange/job/exchange-jobs.ts'
import { runIdOfExchange } from '../../../roles/resolution/exchange/model.ts'
import type { RunWork } from '../../../roles/resolution/parts.ts'
import { settings } from '../../../roles/resolution/settings.ts'
import { limitConcurrency } from '../concurrency-limiter.ts'
import { runsFolder } from '../files/run-folder.ts'
import type { PhaseProgress } from '../run-phase.ts'
import { readComputeLimits, resolutionThreads } from '../run-threads.ts'
import { type ExchangeThreadJob, type ExchangeThreadResult, runExchangeJob } from './exchange-jobs.ts'

/** `runs`: receives the progress of the run of an exchange. */
export function openExchangeWork(
  folder: SiteFolder,
  resolved: ResolvedSettings,
  runs: Pick<RunWork, 'reportProgress'>,
): ExchangeWork {
  const { data_folder, exchanges_at_once } = getSettings(resolved, settings)
  const limits = readComputeLimits(resolved)
  const compute = resolutionThreads()
  // Reading records is limited, since each reader may take all the memory of a run.
  const reading = limitConcurrency(exchanges_at_once)
  return {
    async perform<D extends ExchangeJobName>(
      exchange_id: string,
      job_name: D,
      input: ExchangeJobs[D][0],
      signal: AbortSignal,
    ) {
      const job: ExchangeThreadJob = {
        kind: job_name,
        input,
        folder: join(runsFolder(folder), runIdOfExchange(exchange_id)),
        data_folder,
      }
      const report = (progress: unknown) => runs.reportProgress(runIdOfExchange(exchange_id), progress as PhaseProgress)
      const work = () =>
        isShort(job) ? runExchangeJob(job, report) : compute.run({ ...limits, input: job, signal, report })
      const result = (await (job_name === 'read_own' ? reading(work, signal) : work())) as ExchangeThreadResult
      return 'done' in result
        ? (result.done as ExchangeJobs[D][1])
        : refuse(result.refused.code, result.refused.message)
    },
  }
}

/** Sorting and comparing this much takes milliseconds; starting a thread takes 100 ms. */
const max_short_bytes = 65_536
const quickJobs: readonly ExchangeJobName[] = ['sort', 'check', 'intersect']

function isShort({ kind, input }: ExchangeThreadJob): boolean {
  const sets = Object.values(input as object).filter((value) => value instanceof Uint8Array)
  return quickJobs.includes(kind) && sets.every((set) => set.length <= max_short_bytes)
}
