// A run: which records are resolved by which lens, how far it has come, and what came of it.
import * as z from 'zod'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { consensusRange } from '../entity-match/consultation.ts'
import { count, instant, lensVersionFields, provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'

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
    step: shortText.meta({ description: 'What of the phase is being done' }),
    done: count,
    total: count,
    eta_s: count.optional().meta({ description: 'Seconds until the phase ends, as far as its pace so far tells' }),
  })
  .meta({ id: 'RunProgress' })
export type RunProgress = z.infer<typeof runProgress>

export const runCounts = z
  .strictObject({
    records: count,
    pairs: count.meta({ description: 'Pairs of records that were compared' }),
    matches: count,
    entities: count.meta({ description: 'Clusters, those of one record included' }),
    clusters: count.meta({ description: 'Clusters of two records and more' }),
    clustered: count.meta({ description: 'Records in these' }),
  })
  .partial()
  .meta({ id: 'RunCounts' })
export type RunCounts = z.infer<typeof runCounts>

export const runSource = z
  .strictObject({
    node_id: shortText,
    file: shortText
      .optional()
      .meta({ description: 'Name of the data file; absent: the records came with the request' }),
    records: count.optional(),
    columns: z.record(z.string(), z.string()).optional().meta({ description: 'Field to the column it is read from' }),
  })
  .meta({ id: 'RunSource' })
export type RunSource = z.infer<typeof runSource>

/** Arguments of a run that are laid over its lens. */
export const lensOverrides = {
  threshold: z.number().min(-1_000).max(1_000).optional().meta({
    description: 'Bits (log-odds to base 2) from which on records are one; lens and data decide where it is absent',
  }),
  null_penalty: z.number().min(0).max(100).optional().meta({
    description: 'Bits that a field takes off where one record says nothing',
  }),
  id_field: shortText
    .optional()
    .meta({ description: 'Column that names a record, instead of the one that the lens names' }),
}

const runFields = {
  ...lensVersionFields,
  ...lensOverrides,
  consensus: consensusRange.optional(),
  state: runState,
  goal: z.enum(['extracted', 'matched', 'completed']).meta({ description: 'The state that it is to come to' }),
  privacy,
  seed: z.int(),
  sources: z.array(runSource),
  route: z
    .enum(['clusters', 'links'])
    .optional()
    .meta({ description: 'Any number of records may be one, or two sources hold each thing once' }),
  scale: z.enum(['log_odds', 'likeness']).optional().meta({ description: 'What the scores of its matches are' }),
  counts: runCounts,
  evidence: z
    .array(z.strictObject({ field: shortText, bits: z.number() }))
    .optional()
    .meta({ description: 'What equal values of each field speak for, as log-odds to base 2; the strongest first' }),
  failure: z.strictObject({ code: shortText, reason: z.string() }).optional().meta({ description: 'Why it failed' }),
  updated_at: instant,
  started_at: instant.optional(),
  ended_at: instant.optional(),
}

export const storedRun = z.strictObject({
  ...provenanceFields,
  ...runFields,
  request_digest: z.string(),
  /** Of the run of an exchange: which. Its peer chose the digits of both ids. */
  exchange_id: z.string().optional(),
  /** 1 while there is something to do; an index, so that the worker finds its work. */
  owes: z.union([z.literal(0), z.literal(1)]),
  /** How often the phase under way was begun. */
  attempts: count,
  /** What it learnt, so that single records are looked up by it; natural logs. */
  weights: z
    .strictObject({
      prior: z.number(),
      cut: z.number(),
      floor: z.number(),
      highest: z.number(),
      fields: z.array(z.strictObject({ name: shortText, outcomes: z.array(z.number()), has_frequencies: z.boolean() })),
    })
    .optional(),
  /** When its files are dropped, in epoch milliseconds. */
  files_until_ts: z.number().optional(),
})
export type StoredRun = z.infer<typeof storedRun>

export const fusionRuns = collection({
  name: 'fusion_run',
  schema: storedRun,
  indexes: ['lens', 'lens_id', 'state', 'owes', 'created_at', 'exchange_id'],
})

export const runView = z
  .strictObject({
    uid,
    run_id: uid,
    version: z.int().min(1),
    ...provenanceViewFields,
    ...runFields,
    progress: runProgress.optional().meta({ description: 'While a phase is under way' }),
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

export function showRun({ id, version, value }: Doc<StoredRun>, at?: RunProgress): RunView {
  const {
    label: classification,
    request_digest: _digest,
    exchange_id: _exchange,
    owes: _owes,
    attempts: _attempts,
    files_until_ts: _until,
    weights: _weights,
    ...rest
  } = value
  return { uid: id, run_id: id, version, classification, ...rest, ...(at ? { progress: at } : {}) }
}

export function summariseRun({ id, value }: Doc<StoredRun>): z.infer<typeof runSummary> {
  const { state, lens, lens_version, counts: of, created_at } = value
  return { uid: id, state, lens, lens_version, counts: of, created_at }
}
