// Begins a bulk disposition: the signals are chosen here and now, and stored with it; the worker then decides each.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
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

  async run(call, { expect, disposition, rationale: why, ...selection }) {
    const id = call.newId('blk')
    const before = call.idempotency_key === undefined ? undefined : await call.store(bulks).find(id)
    if (before) return answerRepeatedRequest(call, before)
    const refused = checkSelection(selection)
    if (refused) return refused
    const found = await checkSelectionSize(call, await selectSignals(call, selection, maxSignals(call)), expect)
    if (isRefusal(found)) return found
    const label = joinSignalLabels(call, found)
    if (isRefusal(label)) return label
    const value = buildBulk(call, label, found, { disposition, rationale: why })
    const detail = { disposition, signals: found.length }
    const made = await call.store(bulks).create(id, value, [call.audited(call.address, id, detail, label)])
    if (made === 'exists') return answerRepeatedRequest(call, await call.store(bulks).find(id))
    call.wake('bulk')
    return showBulk(made)
  },
})

const maxSignals = (call: Call) => call.settings(settings).bulk_signals

function checkSelectionSize(
  call: Call,
  found: SelectedSignal[],
  expect: number | undefined,
): SelectedSignal[] | Refusal {
  const max_count = maxSignals(call)
  if (found.length > max_count)
    return refuse(
      'wrong_state',
      `the selection has more than ${max_count} signals, the maximum: narrow the filter or name fewer`,
    )
  if (expect === undefined || expect === found.length) return found
  return refuse(
    'wrong_state',
    `the selection has ${found.length} signals, expected ${expect}: count again with the plan`,
  )
}

/** It names the signals, and is for those who may know of all of them. */
function joinSignalLabels(call: Call, found: readonly SelectedSignal[]): Label | Refusal {
  const labels = found.flatMap(({ doc }) => (doc ? [doc.value.label] : []))
  const own = labels[0] ?? resolveClassification(call, call.site.default_level)
  if (isRefusal(own)) return own
  return joinVisibleLabels(
    call,
    [own, ...labels],
    'the joined label of these signals is above your clearance: select fewer signals',
  )
}

function buildBulk(
  call: Call,
  label: Label,
  found: readonly SelectedSignal[],
  decision: Pick<StoredBulk, 'disposition' | 'rationale'>,
): StoredBulk {
  const { tenant_id, subject: created_by, clearance } = call.caller
  const at = call.nowIso()
  return {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at, request_digest: call.requestDigest() },
    ...decision,
    ...(clearance ? { clearance } : {}),
    state: found.length ? 'running' : 'finished',
    items: found.map(({ signal_id }) => ({ signal_id })),
    owes: found.length ? 1 : 0,
    ...(found.length ? {} : { finished_at: at }),
  }
}

/** What was chosen once stays chosen: a filter may match others by now. None where it is above the caller by now. */
function answerRepeatedRequest(call: Call, before: Doc<StoredBulk> | undefined) {
  if (before?.value.request_digest === call.requestDigest()) return showBulk(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
