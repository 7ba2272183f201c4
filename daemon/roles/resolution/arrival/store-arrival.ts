// Reads records that arrive, in the way of the runs of their lens, and stores them until they are matched.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Classification, Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import { formOf } from '../engine/text/text-form.ts'
import { recordRef } from '../fields.ts'
import type { NodeRecord } from '../fusion-run/node-data.ts'
import { labelWithLens } from '../label-with-lens.ts'
import { findTrainedLens, type LensSelector, type TrainedLens } from '../lookup/trained-lens.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import { arrivals, type StoredArrival } from './model.ts'

/** Maximum number of records of an arrival. */
export const max_arrival_records = 500

/** The lens whose registry records join, and the label that they get. */
export type ArrivalTarget = { readonly trained: TrainedLens; readonly label: Label }

export async function findArrivalTarget(
  call: Call,
  selector: LensSelector,
  classification: Classification | undefined,
): Promise<ArrivalTarget | Refusal> {
  const trained = await findTrainedLens(call, selector)
  if (isRefusal(trained)) return trained
  const label = labelWithLens(call, classification, trained.lens)
  return isRefusal(label) ? label : { trained, label }
}

/** The id column of the records: that of the run whose weights score them. */
export function findIdField({ lens, run }: TrainedLens): string {
  return run.value.id_field ?? lens.value.body.id_field
}

export type ArrivalEntry = StoredArrival['records'][number]

/** Returns each record in its order, and a message in place of one that cannot be matched. */
export async function readArrivalRecords(
  call: Call,
  { trained }: ArrivalTarget,
  ids: { readonly node_id: string; readonly id_field: string },
  records: readonly NodeRecord[],
): Promise<(ArrivalEntry | string)[]> {
  const values = await requestJob(call, 'normalise', { lens: trained.lens.value.body, records })
  return records.map((record, at) => readRecord(ids, record, values[at]))
}

function readRecord(
  { node_id, id_field }: { readonly node_id: string; readonly id_field: string },
  record: NodeRecord,
  values: FieldValues | undefined,
): ArrivalEntry | string {
  const record_id = String(record[id_field] ?? '')
  const ref = recordRef.safeParse({ node_id, record_id })
  if (!ref.success) return `must have an id of 1 to 4,096 characters in ${id_field}`
  return values ? { ref: ref.data, values, ...formOf(values) } : 'has no value in any field of the lens'
}

/** Stores an arrival, once for each id; durable when it resolves. `source`: who sent the records, and its request. */
export async function storeArrival(
  call: Call,
  id: string,
  { trained, label }: ArrivalTarget,
  arrival: Pick<StoredArrival, 'node_id' | 'records' | 'request_digest' | 'principal' | 'folder'>,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<Doc<StoredArrival>> {
  const { tenant_id, subject } = call.caller
  const { lens } = trained.run.value
  const provenance = { tenant_id, label, created_by: subject, created_at: call.nowIso() }
  const value: StoredArrival = { ...provenance, lens, ...arrival, owes: 1 }
  const audited = { lens, node_id: arrival.node_id, records: arrival.records.length, ...detail }
  const event = call.audited('resolution.arrival.create', id, audited, label)
  const created = await call.store(arrivals).create(id, value, [event])
  return created === 'exists' ? await call.store(arrivals).get(id) : created
}
