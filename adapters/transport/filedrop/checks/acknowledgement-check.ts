// Judges the form of an acknowledgement, which must not carry anything that its channel was not accredited for.
import type { Jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import {
  acknowledgement_bytes,
  acknowledgement_schema,
  acknowledgementData,
} from '../sending/reports/compose-acknowledgement.ts'

type AcknowledgementBody = { readonly schema: string; readonly data: unknown; readonly body_bytes: number }

/** The receipt in it, not verified yet. Refuses `invalid`. */
export function readAcknowledgement({ schema, data, body_bytes }: AcknowledgementBody): Jws | Refusal {
  const parsed = acknowledgementData.safeParse(data).data
  if (schema !== acknowledgement_schema || !parsed) return refuse('invalid', 'it is not an acknowledgement')
  // Another size, or white space of several kinds, could carry information for which the channel was not accredited.
  const isFixed = body_bytes % acknowledgement_bytes === 0 && /^ *$/.test(parsed.padding)
  return isFixed ? parsed.receipt : refuse('invalid', 'it does not have the fixed size of an acknowledgement')
}
