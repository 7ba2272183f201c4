// Creates a bulk disposition: selects and stores its signals at once; its job then decides each signal.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { endJob, newJob } from '../../../kernel/job/rules.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { rationale } from '../fields.ts'
import { joinVisibleLabels } from '../join-labels.ts'
import { objectPaths } from '../object-paths.ts'
import { settings } from '../settings.ts'
import { bulk, bulkDecision, bulkSelection, bulks, type StoredBulk } from './model.ts'
import { checkSelection, type SelectedSignal, selectSignals } from './selection.ts'
import { showBulk } from './view.ts'

export const create = operation({
  ...objectPaths('signal-bulk'),
  summary: 'Set the disposition of many signals by id or filter; the rules apply to each signal',
  method: 'POST',
  tool: 'signal_bulk_disposition',
  input: z.strictObject({
    ...bulkSelection,
    ...bulkDecision,
    rationale,
    expect: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Refuse unless the selection has this many signals, as counted by the plan' }),
  }),
  output: bulk,
  status: 201,
  errors: ['wrong_state', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:review',
  creates: true,
  versioned: true,

  async run(call, { expect, disposition, rationale: reason, ...selection }) {
    const id = call.newId('blk')
    const before = call.idempotency_key === undefined ? undefined : await call.store(bulks).find(id)
    if (before) return answerRepeatedRequest(call, before)
    const refusal = checkSelection(selection)
    if (refusal) return refusal
    const selected = await checkSelectionSize(call, await selectSignals(call, selection, maxSignals(call)), expect)
    if (isRefusal(selected)) return selected
    const label = joinSignalLabels(call, selected)
    if (isRefusal(label)) return label
    const job = await createBulkJob(call, id, selected)
    if (isRefusal(job)) return job
    const value = { ...buildBulk(call, label, selected, { disposition, rationale: reason }), ...job }
    const detail = { disposition, signals: selected.length }
    const outcome = await call.store(bulks).create(id, value, [call.audited(call.address, id, detail, label)])
    if (outcome === 'exists') return answerRepeatedRequest(call, await call.store(bulks).find(id))
    announceJob(call, bulks, outcome)
    return showBulk(outcome)
  },
})

const maxSignals = (call: Call) => call.settings(settings).bulk_signals

function checkSelectionSize(
  call: Call,
  selected: SelectedSignal[],
  expect: number | undefined,
): SelectedSignal[] | Refusal {
  const max_count = maxSignals(call)
  if (selected.length > max_count)
    return refuse(
      'wrong_state',
      `the selection has more than ${max_count} signals, the maximum: narrow the filter or name fewer`,
    )
  if (expect === undefined || expect === selected.length) return selected
  return refuse(
    'wrong_state',
    `the selection has ${selected.length} signals, expected ${expect}: count again with the plan`,
  )
}

/** The label of the bulk disposition, which names its signals: the join of their labels. */
function joinSignalLabels(call: Call, selected: readonly SelectedSignal[]): Label | Refusal {
  const labels = selected.flatMap(({ doc }) => (doc ? [doc.value.label] : []))
  const firstLabel = labels[0] ?? resolveClassification(call, call.site.default_level)
  if (isRefusal(firstLabel)) return firstLabel
  return joinVisibleLabels(
    call,
    [firstLabel, ...labels],
    'the joined label of these signals is above your clearance: select fewer signals',
  )
}

function buildBulk(
  call: Call,
  label: Label,
  selected: readonly SelectedSignal[],
  decision: Pick<StoredBulk, 'disposition' | 'rationale'>,
): Omit<StoredBulk, keyof JobFields> {
  const { tenant_id, subject: created_by } = call.caller
  const at = call.nowIso()
  return {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at, request_digest: call.requestDigest() },
    ...decision,
    state: selected.length ? 'running' : 'finished',
    items: selected.map(({ signal_id }) => ({ signal_id })),
    ...(selected.length ? {} : { finished_at: at }),
  }
}

/** A bulk disposition without signals is over at once, and nobody acts for it. */
async function createBulkJob(
  call: Call,
  id: string,
  selected: readonly SelectedSignal[],
): Promise<JobFields | Refusal> {
  if (selected.length === 0) return endJob(newJob(undefined, undefined), 'completed', {})
  const principal = await call.delegation().store({ collection: bulks.name, id })
  return isRefusal(principal) ? principal : newJob(principal, call.now())
}

/**
 * Returns the stored bulk disposition for a repeated request, and does not select again: the filter may match other
 * signals now.
 */
function answerRepeatedRequest(call: Call, before: Doc<StoredBulk> | undefined) {
  if (before?.value.request_digest === call.requestDigest()) return showBulk(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
