// Hands in records that are matched at once with what the registry holds, without a run.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { type FieldError, isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { classification } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { normalValues } from '../engine/lookup/normal.ts'
import { recordRef, uid, word } from '../fields.ts'
import { type NodeRecord, nodeRecord } from '../fusion-run/node-data.ts'
import { labelOfRun } from '../fusion-run/opening.ts'
import { type Learnt, learntFor } from '../lookup/learnt.ts'
import { matchingOperation } from '../matching.ts'
import { arrivals, arrivalTopic, arrivalView, type StoredArrival } from './model.ts'
import { shown } from './shown.ts'

const most_records = 500
const patience_ms = 15_000
const look_ms = 1_000

const input = z.strictObject({
  lens_id: uid.optional().meta({ description: 'uid or name; absent: the lens that is in use' }),
  entity_type: word.optional().meta({ description: 'Of which the lens in use is meant' }),
  node_id: word.meta({ description: 'The node that the records are of' }),
  records: z.array(nodeRecord).min(1).max(most_records),
  classification: classification.optional(),
})

export const create = matchingOperation({
  summary: 'Match new records with what the registry holds, without a run: each joins its entity or is a new one',
  method: 'POST',
  path: '/api/v2/arrival',
  input,
  output: arrivalView,
  status: 202,
  errors: ['not_found', 'wrong_state', 'label_denied', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_bytes: 4_194_304,

  async run(call, given) {
    const id = call.newId('arr')
    const made = (await call.store(arrivals).find(id)) ?? (await handedIn(call, id, given))
    if (isRefused(made)) return made
    if (made.value.request_digest !== call.requestDigest()) {
      return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
    }
    call.wake('settle')
    return await shown(call, await matched(call, made))
  },
})

async function handedIn(call: Call, id: string, given: z.infer<typeof input>): Promise<Doc<StoredArrival> | Refused> {
  const learnt = await learntFor(call, given)
  if (isRefused(learnt)) return learnt
  const label = labelOfRun(call, given, learnt.lens)
  if (isRefused(label)) return label
  const records = given.records.map((record) => readRecord(learnt, given.node_id, record))
  const errors = faultsIn(records)
  if (errors.length > 0) return refuse('invalid', 'some records cannot be matched', errors)
  const { tenant_id, subject } = call.caller
  const { lens } = learnt.run.value
  const value: StoredArrival = {
    ...{ tenant_id, label, created_by: subject, created_at: call.nowIso(), lens, node_id: given.node_id },
    records: records.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    request_digest: call.requestDigest(),
    owes: 1,
  }
  const detail = { lens, node_id: given.node_id, records: records.length }
  const kept = await call.store(arrivals).create(id, value, [call.audited(call.address, id, detail, label)])
  return kept === 'exists' ? await call.store(arrivals).get(id) : kept
}

type Read = StoredArrival['records'][number] | string

/** As the run of the lens read its own; else what is wrong with it. */
function readRecord({ lens, run }: Learnt, node_id: string, record: NodeRecord): Read {
  const { id_field = lens.value.body.id_field } = run.value
  const record_id = String(record[id_field] ?? '')
  const ref = recordRef.safeParse({ node_id, record_id })
  if (!ref.success) return `must have an id in ${id_field}`
  const values = normalValues(lens.value.body, record)
  return values ? { ref: ref.data, values } : 'says nothing that the lens reads'
}

function faultsIn(records: readonly Read[]): FieldError[] {
  const ids = records.map((each) => (typeof each === 'string' ? undefined : each.ref.record_id))
  return records.flatMap((each, at) => {
    const path = `records.${at}`
    if (typeof each === 'string') return [{ path, message: each }]
    return ids.indexOf(each.ref.record_id) === at ? [] : [{ path, message: 'has the id of another record' }]
  })
}

/** As it is when they are matched, or when the caller has waited long enough. */
async function matched(call: Call, made: Doc<StoredArrival>): Promise<Doc<StoredArrival>> {
  const until = call.monotonic() + patience_ms
  let doc = made
  if (doc.value.owes === 0) return doc
  for await (const _ of call.changes(arrivalTopic(made.id), call.signal, look_ms)) {
    doc = await call.store(arrivals).get(made.id)
    if (doc.value.owes === 0 || call.monotonic() >= until) break
  }
  return doc
}
