// A bulk disposition: the signals of one decision, selected once, and the outcome of each.
import * as z from 'zod'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { endJob, newJob } from '../../../kernel/job/rules.ts'
import { collection } from '../../../kernel/store/store.ts'
import { documentFields, documentViewFields, instant, rationale, shortText, uid } from '../fields.ts'
import { signalFilter } from '../signal/list-signals.ts'
import { signalStatus } from '../signal/model.ts'

/**
 * `finished` and `cancelled` are final; `cancelled`: a person or the site ended it before all signals were decided.
 * `cancelling` still records outcomes of signals decided before.
 */
export const bulkState = z.enum(['running', 'cancelling', 'finished', 'cancelled'])

/** Upper limit of the setting: all items are in one document. */
export const max_items = 5_000

const bulkItem = z
  .strictObject({
    signal_id: uid,
    outcome: z.enum(['done', 'refused', 'cancelled']).optional().meta({ description: 'Absent while undecided' }),
    reason: z.string().optional().meta({ description: 'Reason of the outcome, unless it is done' }),
  })
  .meta({ id: 'BulkItem' })
export type BulkItem = z.infer<typeof bulkItem>

/** Fields that select the signals. */
export const bulkSelection = {
  signal_ids: z.array(uid).min(1).max(max_items).optional().meta({ description: 'IDs of the signals; or give filter' }),
  filter: z
    .strictObject({ ...signalFilter, subject_id: shortText.optional() })
    .refine(
      ({ visibility, ...named }) => visibility !== 'listed' || Object.keys(named).length > 0,
      'must have at least one condition',
    )
    .optional()
    .meta({ description: 'Signals that match at the time of the request; or give signal_ids' }),
}
export const bulkDecision = {
  disposition: signalStatus.exclude(['new']).meta({ description: 'The new status of each signal' }),
}

const bulkFields = {
  ...bulkDecision,
  rationale,
  state: bulkState,
  cancelled_by: shortText.optional(),
  failure: z
    .strictObject({ code: shortText, reason: z.string() })
    .optional()
    .meta({ description: 'Reason why the site ended it before all signals were decided' }),
  finished_at: instant.optional(),
}

const storedBulk = z.strictObject({
  ...documentFields,
  ...bulkFields,
  ...jobFields,
  items: z.array(bulkItem),
})
export type StoredBulk = z.infer<typeof storedBulk>

/**
 * Reads a bulk disposition that a version without jobs stored: it with the fields of a job; any other value unchanged. No
 * principal was stored for one that is open: the site ends it, at once.
 */
export function adoptEarlierBulk(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'job' in value || !('owes' in value)) return value
  const { owes, clearance: _clearance, ...bulk } = value as Readonly<Record<string, unknown>>
  if (owes === 1) return { ...bulk, ...newJob(undefined, 0) }
  return { ...bulk, ...endJob(newJob(undefined, undefined), bulk.state === 'finished' ? 'completed' : 'cancelled', {}) }
}

export const bulks = collection({
  name: 'bulk',
  schema: z.preprocess(adoptEarlierBulk, storedBulk),
  indexes: ['state', ...job_indexes],
  orders: [['state', 'created_at']],
})

/** The bulk disposition as the interface shows it. */
export const bulk = z
  .strictObject({
    uid,
    version: z.int().min(1),
    ...documentViewFields,
    ...bulkFields,
    ...delayFields,
    total: z.int().min(0),
    done: z.int().min(0),
    refused: z.int().min(0),
    cancelled: z.int().min(0),
    items: z.array(bulkItem).optional().meta({ description: 'The signals; absent in lists' }),
  })
  .meta({ id: 'BulkDisposition' })
export type BulkDisposition = z.infer<typeof bulk>
