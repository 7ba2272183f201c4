// Brings the records of an arrival into the present form of texts.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { TrainedLens } from '../lookup/trained-lens.ts'
import { requestReform } from '../matching-thread/request-reform.ts'
import type { StoredArrival } from './model.ts'

/** The records of an arrival that was stored before an update would hold up the registry of this version. */
export async function reformArrival(
  call: Call,
  { value, ...doc }: Doc<StoredArrival>,
  { lens }: TrainedLens,
): Promise<Doc<StoredArrival>> {
  const reformed = await requestReform(call, lens.value.body, value.records)
  const records = value.records.map(({ text_form: _form, ...record }, at) => ({ ...record, ...reformed[at] }))
  return { ...doc, value: { ...value, records } }
}
