// Begins a bulk disposition: the signals are chosen here and now, and stored with it; the worker then decides each.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { dominates, join, type Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import type { Doc } from '../../../kernel/store.ts'
import { rationale } from '../fields.ts'
import { settings } from '../settings.ts'
import { bulk, bulkDecision, bulkSelection, bulks, type StoredBulk } from './model.ts'
import { bulkPaths } from './paths.ts'
import { type Chosen, chosen, eitherOf } from './selection.ts'
import { shown } from './view.ts'

export const create = operation({
  ...bulkPaths(),
  summary: 'Set the disposition of many signals, named or filtered; each is decided by the rules of one',
  method: 'POST',
  tool: 'signal_bulk_disposition',
  input: z.strictObject({
    ...bulkSelection,
    ...bulkDecision,
    rationale,
    expect: z.int().min(0).optional().meta({ description: 'Only if it is so many, as the plan told' }),
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
    if (before) return repeated(call, before)
    const refused = eitherOf(selection)
    if (refused) return refused
    const found = await bounded(call, await chosen(call, selection, mostOf(call)), expect)
    if (isRefused(found)) return found
    const label = joinedLabel(call, found)
    if (isRefused(label)) return label
    const value = begun(call, label, found, { disposition, rationale: why })
    const detail = { disposition, signals: found.length }
    const made = await call.store(bulks).create(id, value, [call.audited(call.address, id, detail, label)])
    if (made === 'exists') return repeated(call, await call.store(bulks).find(id))
    call.wake('bulk')
    return shown(made)
  },
})

const mostOf = (call: Call) => call.settings(settings).bulk_signals

function bounded(call: Call, found: Chosen[], expect: number | undefined): Chosen[] | Refused {
  const most = mostOf(call)
  if (found.length > most) return refuse('wrong_state', `these are more than ${most} signals: ask for fewer at a time`)
  if (expect === undefined || expect === found.length) return found
  return refuse('wrong_state', `these are ${found.length} signals, and not ${expect}`)
}

/** It names the signals, and is for those who may know of all of them. */
function joinedLabel(call: Call, found: readonly Chosen[]): Label | Refused {
  const labels = found.flatMap(({ doc }) => (doc ? [doc.value.label] : []))
  const own = labels[0] ?? labelFor(call, call.site.default_level)
  if (isRefused(own)) return own
  let joined: Label | undefined = own
  for (const each of labels) joined = joined && join(joined, each, call.site.labels)
  if (joined && dominates(call.caller, joined, call.site.labels)) return joined
  return refuse('label_denied', 'the label of all these signals together would leave them to nobody: take fewer')
}

function begun(
  call: Call,
  label: Label,
  found: readonly Chosen[],
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
function repeated(call: Call, before: Doc<StoredBulk> | undefined) {
  if (before?.value.request_digest === call.requestDigest()) return shown(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
