// Runs the jobs of an exchange in a thread: takes the input of a job and returns its result or a refusal.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { checkPoints, linkVectorSets } from '../../../roles/resolution/exchange/job/compute-rounds.ts'
import type { ExchangeJobName, ExchangeJobs } from '../../../roles/resolution/exchange/job/exchange-jobs.ts'
import { sortPoints } from '../../../roles/resolution/privacy/psi/points.ts'
import { intersectTags } from '../../../roles/resolution/privacy/psi/tags.ts'
import type { PhaseProgress } from '../run-phase.ts'

/** `folder`: of the run of the exchange. */
export type ExchangeJobFolders = { readonly folder: string; readonly data_folder: string | undefined }
export type ExchangeThreadJob = ExchangeJobFolders & { readonly kind: ExchangeJobName; readonly input: unknown }
export type ExchangeThreadResult = { readonly done: unknown } | { readonly refused: Pick<Refusal, 'code' | 'message'> }
type ExchangeProgressListener = (progress: PhaseProgress) => void

export type ExchangeJobOutcome<D extends ExchangeJobName> = ExchangeJobs[D][1] | Refusal
export type ExchangeJobHandlers = {
  readonly [D in ExchangeJobName]: (
    input: ExchangeJobs[D][0],
    folders: ExchangeJobFolders,
    report: ExchangeProgressListener,
  ) => ExchangeJobOutcome<D> | Promise<ExchangeJobOutcome<D>>
}

const setJobs: Partial<ExchangeJobHandlers> = {
  sort: ({ items, width }) => sortPoints(items, width),
  check: checkPoints,
  intersect: ({ left, right, width }) => intersectTags(left, right, width),
  link: (input, _folders, report) =>
    linkVectorSets(input, (result, total) => report({ phase: 'match', step: 'compare vectors', done: result, total })),
}

export async function runExchangeJob(
  { kind, input, ...folders }: ExchangeThreadJob,
  report: ExchangeProgressListener,
): Promise<ExchangeThreadResult> {
  const handlers: Partial<ExchangeJobHandlers> =
    kind in setJobs ? setJobs : (await import('../record-jobs.ts')).recordJobs
  const result = await (
    handlers[kind] as (input: unknown, folders: ExchangeJobFolders, report: ExchangeProgressListener) => unknown
  )(input, folders, report)
  return isRefusal(result) ? { refused: { code: result.code, message: result.message } } : { done: result }
}
