// Matches new records with the registry immediately, without a run.
import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { classification } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import { recordRef, shortText, uid } from '../fields.ts'
import { type NodeRecord, nodeRecord } from '../fusion-run/node-data.ts'
import { labelWithLens } from '../label-with-lens.ts'
import { findTrainedLens, type TrainedLens } from '../lookup/trained-lens.ts'
import { matchingOperation } from '../matching.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import { waitForDocument } from '../wait-for-document.ts'
import { arrivals, arrivalTopic, arrivalView, type StoredArrival } from './model.ts'
import { showArrival } from './show-arrival.ts'

const max_records = 500

const input = z.strictObject({
  lens_id: uid.optional().meta({ description: 'uid or name of the lens; the lens in use when absent' }),
  entity_type: shortText.optional().meta({ description: 'Selects the lens in use for this entity type' }),
  node_id: shortText.meta({ description: 'The node of the records' }),
  records: z.array(nodeRecord).min(1).max(max_records),
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
  request: z.infer<typeof input>,
): Promise<Doc<StoredArrival> | Refusal> {
  const trained = await findTrainedLens(call, request)
  if (isRefusal(trained)) return trained
  const label = labelWithLens(call, request.classification, trained.lens)
  if (isRefusal(label)) return label
  const lensInput = { lens: trained.lens.value.body, records: request.records }
  const values = await requestJob(call, 'normalise', lensInput)
  const records = request.records.map((record, at) => readRecord(trained, request.node_id, record, values[at]))
  const errors = findRecordFaults(records)
  if (errors.length > 0) return refuse('invalid', 'some records cannot be matched', errors)
  const principal = await call.delegation().store({ collection: arrivals.name, id })
  if (isRefusal(principal)) return principal
  const { tenant_id, subject } = call.caller
  const { lens } = trained.run.value
  const value: StoredArrival = {
    ...{ tenant_id, label, created_by: subject, created_at: call.nowIso(), lens, node_id: request.node_id },
    records: records.flatMap((record) => (typeof record === 'string' ? [] : [record])),
    request_digest: call.requestDigest(),
    principal,
    owes: 1,
  }
  const detail = { lens, node_id: request.node_id, records: records.length }
  const created = await call.store(arrivals).create(id, value, [call.audited(call.address, id, detail, label)])
  return created === 'exists' ? await call.store(arrivals).get(id) : created
}

type ParsedArrivalRecord = StoredArrival['records'][number] | string

/** Reads a record in the same way as the run of the lens. Returns a message for a record that cannot be read. */
function readRecord(
  { lens, run }: TrainedLens,
  node_id: string,
  record: NodeRecord,
  values: FieldValues | undefined,
): ParsedArrivalRecord {
  const { id_field = lens.value.body.id_field } = run.value
  const record_id = String(record[id_field] ?? '')
  const ref = recordRef.safeParse({ node_id, record_id })
  if (!ref.success) return `must have an id of 1 to 4,096 characters in ${id_field}`
  return values ? { ref: ref.data, values } : 'has no value in any field of the lens'
}

function findRecordFaults(records: readonly ParsedArrivalRecord[]): FieldError[] {
  const ids = new Set<string>()
  return records.flatMap((record, at) => {
    const path = `records.${at}`
    if (typeof record === 'string') return [{ path, message: record }]
    const count = ids.size
    return ids.add(record.ref.record_id).size > count ? [] : [{ path, message: 'has the same id as an earlier record' }]
  })
}

function isMatched({ owes }: StoredArrival): boolean {
  return owes === 0
}
