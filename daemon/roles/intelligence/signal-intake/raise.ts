// Raises a signal that came by intake: once for what it is known as where it comes from, however often that comes.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { signalTotal } from '../metrics.ts'
import { buildSignal } from '../signal/build-signal.ts'
import { resolveTimes } from '../signal/create.ts'
import { storeNewSignal } from '../signal/store-new-signal.ts'
import { withoutSystemMetadata } from '../signal/system-fields.ts'
import { type RaiseSignalInput, raiseInput } from './item/model.ts'

export const raisedSignal = z.strictObject({ uid, is_new: z.boolean() }).meta({ id: 'Raised' })
export type RaisedSignal = z.infer<typeof raisedSignal>

export const raise = operation({
  summary: 'Raise a signal once for what it is known as where it comes from, for a tenant',
  method: 'POST',
  path: '/api/v1/signal-intake/raise',
  input: raiseInput,
  output: raisedSignal,
  errors: ['not_your_tenant', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:raise',
  max_body_bytes: 262_144,

  async run(call, given) {
    const refused = checkTenantAndLabel(call, given)
    if (refused) return refused
    const { caller } = call
    // Nobody takes an id before the source whose it is.
    return raiseSignal(
      call,
      caller.tenant_id === '*' ? given : { ...given, origin: `${caller.subject}/${given.origin}` },
    )
  },
})

/** Tenant and label are what it says: whoever does not act for every tenant says its own, and nothing above itself. */
export function checkTenantAndLabel(
  { caller, site }: Call,
  said: { readonly tenant_id: string; readonly label?: Label | undefined },
) {
  if (caller.tenant_id === '*') return undefined
  if (caller.tenant_id !== said.tenant_id) return refuse('not_your_tenant', 'the signal is another tenant’s')
  if (!said.label || dominates(caller, said.label, site.labels)) return undefined
  return refuse('label_denied', 'the label is above the caller’s clearance')
}

/** Why these fields are no signal now; known before any of several is raised. */
export function checkItemTimes(call: Call, fields: RaiseSignalInput['fields']): Refusal | undefined {
  const times = resolveTimes(call, { ...fields, detected_at: fields.detected_at ?? call.nowIso() })
  return isRefusal(times) ? times : undefined
}

/** Acts for every tenant. Refuses a time that cannot be, and other words under the same key where a digest is given. */
export async function raiseSignal(call: Call, given: RaiseSignalInput): Promise<RaisedSignal | Refusal> {
  const { origin, key, digest, tenant_id, label, source, fields } = given
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

/** What the role asks of itself where the caller may not write, or not see, what a source's signal is. */
export function catchRefusal(asked: Promise<unknown>): Promise<unknown> {
  return asked.catch((error: unknown) => {
    if (isRefusal(error)) return error
    throw error
  })
}
