// Matches new records with the registry immediately, without a run.

import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { classification } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { shortText, uid } from '../fields.ts'
import { nodeRecord } from '../fusion-run/node-data.ts'
import { matchingOperation } from '../matching.ts'
import { waitForDocument } from '../wait-for-document.ts'
import { arrivals, arrivalTopic, arrivalView, isMatched, type StoredArrival } from './model.ts'
import { showArrival } from './show-arrival.ts'
import {
  type ArrivalEntry,
  findArrivalTarget,
  findIdField,
  max_arrival_records,
  readArrivalRecords,
  storeArrival,
} from './store-arrival.ts'

const input = z.strictObject({
  lens_id: uid.optional().meta({ description: 'uid or name of the lens; the lens in use when absent' }),
  entity_type: shortText.optional().meta({ description: 'Selects the lens in use for this entity type' }),
  node_id: shortText.meta({ description: 'The node of the records' }),
  records: z.array(nodeRecord).min(1).max(max_arrival_records),
  classification: classification.optional(),
})

export const create = matchingOperation({
  summary: 'Match new records with the registry, without a run: each joins its entity or becomes a new one',
  method: 'POST',
  path: '/api/v2/arrival',
  input,
  output: arrivalView,
  status: 202,
  errors: ['not_found', 'wrong_state', 'label_denied', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_values: 20_000,

  async run(call, input) {
    const id = call.newId('arr')
    const doc = (await call.store(arrivals).find(id)) ?? (await createArrival(call, id, input))
    const arrival = isRefusal(doc) ? doc : checkRepeatedRequest(call, doc)
    if (isRefusal(arrival)) return arrival
    call.wake('recluster')
    return await showArrival(call, await waitForDocument(call, arrivals, arrival, arrivalTopic(id), isMatched))
  },
})

async function createArrival(
  call: Call,
  id: string,
  { node_id, records, classification, ...selector }: z.infer<typeof input>,
): Promise<Doc<StoredArrival> | Refusal> {
  const target = await findArrivalTarget(call, selector, classification)
  if (isRefusal(target)) return target
  const read = await readArrivalRecords(call, target, { node_id, id_field: findIdField(target.trained) }, records)
  const errors = findRecordFaults(read)
  if (errors.length > 0) return refuse('invalid', 'some records cannot be matched', errors)
  const principal = await call.delegation().store({ collection: arrivals.name, id })
  if (isRefusal(principal)) return principal
  const readable = read.flatMap((record) => (typeof record === 'string' ? [] : [record]))
  const request_digest = call.requestDigest()
  return await storeArrival(call, id, target, { node_id, records: readable, request_digest, principal })
}

function findRecordFaults(records: readonly (ArrivalEntry | string)[]): FieldError[] {
  const ids = new Set<string>()
  return records.flatMap((record, at) => {
    const path = `records.${at}`
    if (typeof record === 'string') return [{ path, message: record }]
    const count = ids.size
    return ids.add(record.ref.record_id).size > count ? [] : [{ path, message: 'has the same id as an earlier record' }]
  })
}
