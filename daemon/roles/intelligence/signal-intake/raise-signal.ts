// Raises the signals that come by intake, each once for its key and origin however often it arrives.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { uid } from '../fields.ts'
import { signalTotal } from '../metrics.ts'
import { buildSignal } from '../signal/build-signal.ts'
import { resolveTimes } from '../signal/resolve-times.ts'
import { storeNewSignal } from '../signal/store-new-signal.ts'
import { withoutSystemMetadata } from '../signal/system-fields.ts'
import type { RaiseSignalInput } from './item/model.ts'

export const raisedSignal = z.strictObject({ uid, is_new: z.boolean() }).meta({ id: 'Raised' })
export type RaisedSignal = z.infer<typeof raisedSignal>

/** A caller that does not act for every tenant raises signals of its own tenant only, and none above its clearance. */
export function checkTenantAndLabel(
  { caller, site }: Call,
  input: { readonly tenant_id: string; readonly label?: Label | undefined },
) {
  if (caller.tenant_id === '*') return undefined
  if (caller.tenant_id !== input.tenant_id)
    return refuse('not_your_tenant', `the signal is of tenant ${input.tenant_id}, the caller of ${caller.tenant_id}`)
  if (!input.label || dominates(caller, input.label, site.labels)) return undefined
  return refuse('label_denied', 'the label of the signal is above the caller’s clearance')
}

/** Refuses items with times that cannot be raised now, so that a set is checked before any of it is raised. */
export function checkItemTimes(call: Call, items: readonly Pick<RaiseSignalInput, 'fields'>[]): Refusal | undefined {
  for (const { fields } of items) {
    const times = resolveTimes(call, { ...fields, detected_at: fields.detected_at ?? call.nowIso() })
    if (isRefusal(times)) return times
  }
  return undefined
}

/**
 * Raises a signal, or finds the one that the same key of the same origin raised before. Acts for every tenant. Refuses
 * `invalid` times, and `idempotency_mismatch` for another digest under the same key.
 */
export async function raiseSignal(call: Call, input: RaiseSignalInput): Promise<RaisedSignal | Refusal> {
  const { origin, key, digest, tenant_id, label, source, fields } = input
  const { signal_type, severity, subject, title, description, confidence, reference, actor, metadata = {} } = fields
  const at = call.nowIso()
  const times = resolveTimes(call, {
    signal_type,
    detected_at: fields.detected_at ?? at,
    expires_at: fields.expires_at,
  })
  if (isRefusal(times)) return times
  const request_key = `sig_${sha256(canonicalJson(['intake', tenant_id, origin, key])).slice(0, 32)}`
  const value = await buildSignal(call, {
    ...{ tenant_id, label, created_by: origin, created_at: at, updated_at: at },
    ...{ request_digest: digest ?? request_key, request_key, schema_version: '1.1', signal_type, severity, title },
    ...{ subject, ...times },
    source: { ...source, ...(reference === undefined ? {} : { reference }) },
    actor: actor ?? { type: 'service', id: origin },
    metadata: { ...withoutSystemMetadata(metadata), status_history: [], received: { from: origin, as: key } },
    ...(description === undefined ? {} : { description }),
    ...(confidence === undefined ? {} : { confidence }),
  })
  const made = await storeNewSignal(call, value)
  if (isRefusal(made)) return made
  if (made.isNew) call.count(signalTotal, { status: 'new' })
  if (made.isNew) call.wake('log')
  return { uid: made.doc.id, is_new: made.isNew }
}
