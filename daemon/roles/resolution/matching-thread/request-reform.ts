// Brings stored values into the present form of texts, in the matching thread.
import type { Call } from '../../../kernel/operation/call.ts'
import { type FormedValues, isOfOtherForm } from '../engine/text/text-form.ts'
import type { Lens } from '../lens/model.ts'
import { requestJob } from './request-job.ts'

/** Returns the values of each record in its order; those of the present form as they are. */
export async function requestReform(
  call: Call,
  lens: Lens,
  records: readonly FormedValues[],
): Promise<readonly FormedValues[]> {
  const formed = records.map(({ values, text_form }) => ({ values, ...(text_form === undefined ? {} : { text_form }) }))
  return formed.some(isOfOtherForm) ? await requestJob(call, 'reform', { lens, records: formed }) : formed
}
