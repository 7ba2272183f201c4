// A run: its records, the lens that resolves them, its state and its results.
import * as z from 'zod'
import { storedPrincipal } from '../../../kernel/identity/delegation.ts'
import { delayFields, showDelay } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { endJob, newJob } from '../../../kernel/job/rules.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { consensusRange } from '../entity-match/consultation.ts'
import {
  count,
  instant,
  leftOut,
  lensVersionFields,
  provenanceFields,
  provenanceViewFields,
  shortText,
  uid,
} from '../fields.ts'
import { resultQuality } from './result-quality.ts'
import { runSource } from './run-source.ts'

export const runState = z.enum([
  'pending',
  'extracting',
  'extracted',
  'matching',
  'matched',
  'resolving',
  'completed',
  'failed',
  'cancelled',
])
export type RunState = z.infer<typeof runState>

export const runPhase = z.enum(['extract', 'match', 'resolve'])
export type RunPhase = z.infer<typeof runPhase>

export const privacy = z.enum(['none', 'psi', 'clk'])

export const runProgress = z
  .strictObject({
    phase: runPhase,
    step: shortText.meta({ description: 'Current step of the phase' }),
    done: count,
    total: count,
    eta_s: count.optional().meta({ description: 'Seconds until the phase ends, estimated from its pace so far' }),
  })
  .meta({ id: 'RunProgress' })
export type RunProgress = z.infer<typeof runProgress>

const runCounts = z
  .strictObject({
    records: count,
    pairs: count.meta({ description: 'Pairs of records that were compared' }),
    matches: count,
    entities: count.meta({ description: 'Clusters, including those of one record' }),
    clusters: count.meta({ description: 'Clusters of two or more records' }),
    clustered: count.meta({ description: 'Records in clusters of two or more' }),
  })
  .partial()
  .meta({ id: 'RunCounts' })
export type RunCounts = z.infer<typeof runCounts>

/** Argument of a run, and of the request that takes its result as it is. */
export const acceptPoor = z.boolean().optional().meta({
  description: 'Update the registry even if the estimated quality of the result is poor',
})

/** Arguments of a run that override its lens. */
export const lensOverrides = {
  threshold: z.number().min(-1_000).max(1_000).optional().meta({
    description:
      'Bits (log-odds to base 2) from which two records are one entity; default: the threshold of the lens, or one derived from the data',
  }),
  null_penalty: z.number().min(0).max(100).optional().meta({
    description: 'Bits subtracted for a field where one record has no value',
  }),
  id_field: shortText.optional().meta({ description: 'Column of the record id; default: the column of the lens' }),
}

const runFields = {
  ...lensVersionFields,
  ...lensOverrides,
  consensus: consensusRange.optional(),
  state: runState,
  goal: z.enum(['extracted', 'matched', 'completed']).meta({ description: 'State at which the run stops' }),
  privacy,
  seed: z.int(),
  sources: z.array(runSource),
  route: z.enum(['clusters', 'links']).optional().meta({
    description: 'clusters: any number of records may be one entity; links: two sources that contain each entity once',
  }),
  scale: z.enum(['log_odds', 'likeness']).optional().meta({ description: 'Scale of the scores of its matches' }),
  counts: runCounts,
  evidence: z
    .array(z.strictObject({ field: shortText, bits: z.number() }))
    .optional()
    .meta({ description: 'Weight of equal values of each field, as log-odds to base 2, strongest first' }),
  quality: resultQuality
    .optional()
    .meta({ description: 'Quality of the result, estimated without labels; absent before there are clusters' }),
  held: z.enum(['poor', 'no_links']).optional().meta({
    description:
      'Reason why the run stopped at matched, with the registry unchanged: its estimated quality is poor, or it links nothing and would split entities. Resolve it with accept_poor or another threshold, or cancel it',
  }),
  accept_poor: acceptPoor,
  left_out: z.array(leftOut).optional().meta({ description: 'What the run left out at its limits; absent if nothing' }),
  failure: z
    .strictObject({ code: shortText, reason: z.string() })
    .optional()
    .meta({ description: 'Reason why the run failed' }),
  updated_at: instant,
  started_at: instant.optional(),
  ended_at: instant.optional(),
}

export const storedRun = z.strictObject({
  ...provenanceFields,
  ...runFields,
  ...jobFields,
  request_digest: z.string(),
  /** The exchange of a run that belongs to one. The proposing peer chose the digits of both ids. */
  exchange_id: z.string().optional(),
  /** In whose name matches get sessions, those of records that arrive later too: the person of a run with `consensus`. */
  consult_principal: storedPrincipal.optional(),
  /** Trained weights for lookups of single records; natural logs. */
  weights: z
    .strictObject({
      prior: z.number(),
      cut: z.number(),
      floor: z.number(),
      highest: z.number(),
      fields: z.array(z.strictObject({ name: shortText, outcomes: z.array(z.number()), has_frequencies: z.boolean() })),
    })
    .optional(),
  /** Time at which the files are deleted, in epoch milliseconds. */
  files_until_ts: z.number().optional(),
})
export type StoredRun = z.infer<typeof storedRun>

const ends = ['completed', 'failed', 'cancelled'] as const

/** States in which a run may wait for a request of the next phase. */
export const waiting_states: readonly RunState[] = ['extracted', 'matched']

/**
 * Reads a run that a version without jobs stored; any other value unchanged. No principal was stored for it: one that waits
 * for a request goes on with the principal of the request, and the job of any other open run has failed. A run of an
 * exchange ends with the exchange.
 */
export function adoptEarlierRun(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'job' in value || !('owes' in value)) return value
  const { owes, attempts: _attempts, ...run } = value as EarlierRun
  const idle = newJob(undefined, undefined)
  const end = ends.find((state) => state === run.state)
  if (end) return { ...run, ...endJob(idle, end, {}) }
  const isWaiting = (waiting_states.includes(run.state) && owes === 0) || run.exchange_id !== undefined
  return { ...run, ...(isWaiting ? idle : endJob(idle, 'failed', {}, earlier_failure)) }
}

type EarlierRun = Omit<StoredRun, 'job' | 'job_due_ts'> & { owes: 0 | 1; attempts?: number }

export const earlier_failure = {
  code: 'ended',
  reason: 'an earlier version of the service began this run, without the rights of its principal: start it again',
}

export const fusionRuns = collection({
  name: 'fusion_run',
  schema: z.preprocess(adoptEarlierRun, storedRun),
  documented: { alias: 'fusion', fields: { uid: 'id', run_id: 'id' } },
  indexes: ['lens', 'lens_id', 'state', 'exchange_id', 'files_until_ts', ...job_indexes],
  orders: [
    ['lens', 'state', 'created_at'],
    ['lens_id', 'state', 'created_at'],
  ],
})

export const runView = z
  .strictObject({
    uid,
    run_id: uid,
    version: z.int().min(1),
    ...provenanceViewFields,
    ...runFields,
    progress: runProgress.optional().meta({ description: 'Progress of the current phase; absent between phases' }),
    ...delayFields,
  })
  .meta({ id: 'FusionRun' })
export type RunView = z.infer<typeof runView>

export const runSummary = z
  .strictObject({
    uid,
    state: runState,
    lens: shortText,
    lens_version: shortText,
    counts: runCounts,
    created_at: instant,
  })
  .meta({ id: 'FusionRunSummary' })

export function showRun({ id, version, value: stored }: Doc<StoredRun>, progress?: RunProgress): RunView {
  const value = adoptEarlierRun(stored) as StoredRun
  const {
    label: classification,
    request_digest: _digest,
    exchange_id: _exchange,
    job: _job,
    job_due_ts: _due,
    files_until_ts: _until,
    weights: _weights,
    consult_principal: _consult,
    ...rest
  } = value
  return {
    uid: id,
    run_id: id,
    version,
    classification,
    ...rest,
    ...(progress ? { progress } : {}),
    ...showDelay(value),
  }
}

export function summariseRun({ id, value }: Doc<StoredRun>): z.infer<typeof runSummary> {
  const { state, lens, lens_version, counts, created_at } = value
  return { uid: id, state, lens, lens_version, counts, created_at }
}
