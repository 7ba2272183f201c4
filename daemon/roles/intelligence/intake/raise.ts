// Raises a signal that came by intake: once for what it is known as where it comes from, however often that comes.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical, sha256 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { dominates, type Label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { uid } from '../fields.ts'
import { signalTotal } from '../metrics.ts'
import { timesOf } from '../signal/create.ts'
import { begun } from '../signal/fresh.ts'
import { named } from '../signal/naming.ts'
import { ownMetadata } from '../signal/system-fields.ts'
import { type Raising, raising } from './item/model.ts'

export const raisedSignal = z.strictObject({ uid, is_new: z.boolean() }).meta({ id: 'Raised' })
export type RaisedSignal = z.infer<typeof raisedSignal>

export const raise = operation({
  summary: 'Raise a signal once for what it is known as where it comes from, for a tenant',
  method: 'POST',
  path: '/api/v1/signal-intake/raise',
  input: raising,
  output: raisedSignal,
  errors: ['not_your_tenant', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:raise',
  max_body_bytes: 262_144,

  async run(call, given) {
    const refused = beyond(call, given)
    if (refused) return refused
    const { caller } = call
    // Nobody takes an id before the source whose it is.
    return raised(call, caller.tenant_id === '*' ? given : { ...given, origin: `${caller.subject}/${given.origin}` })
  },
})

/** Tenant and label are what it says: whoever does not act for every tenant says its own, and nothing above itself. */
export function beyond(
  { caller, site }: Call,
  said: { readonly tenant_id: string; readonly label?: Label | undefined },
) {
  if (caller.tenant_id === '*') return undefined
  if (caller.tenant_id !== said.tenant_id) return refuse('not_your_tenant', 'the signal is another tenant’s')
  if (!said.label || dominates(caller, said.label, site.labels)) return undefined
  return refuse('label_denied', 'the label is above the caller’s clearance')
}

/** Why these fields are no signal now; known before any of several is raised. */
export function untimely(call: Call, fields: Raising['fields']): Refused | undefined {
  const times = timesOf(call, { ...fields, detected_at: fields.detected_at ?? call.nowIso() })
  return isRefused(times) ? times : undefined
}

/** Acts for every tenant. Refuses a time that cannot be, and other words under the same key where a digest is given. */
export async function raised(call: Call, given: Raising): Promise<RaisedSignal | Refused> {
  const { origin, key, digest, tenant_id, label, source, fields } = given
  const { signal_type, severity, subject, title, description, confidence, reference, actor, metadata = {} } = fields
  const at = call.nowIso()
  const times = timesOf(call, { signal_type, detected_at: fields.detected_at ?? at, expires_at: fields.expires_at })
  if (isRefused(times)) return times
  const request_key = `sig_${sha256(canonical(['intake', tenant_id, origin, key])).slice(0, 32)}`
  const value = await begun(call, {
    ...{ tenant_id, label, created_by: origin, created_at: at, updated_at: at },
    ...{ request_digest: digest ?? request_key, request_key, schema_version: '1.1', signal_type, severity, title },
    ...{ subject, ...times },
    source: { ...source, ...(reference === undefined ? {} : { reference }) },
    actor: actor ?? { type: 'service', id: origin },
    metadata: { ...ownMetadata(metadata), status_history: [], received: { from: origin, as: key } },
    ...(description === undefined ? {} : { description }),
    ...(confidence === undefined ? {} : { confidence }),
  })
  const made = await named(call, value)
  if (isRefused(made)) return made
  if (made.isNew) call.count(signalTotal, { status: 'new' })
  if (made.isNew) call.wake('log')
  return { uid: made.doc.id, is_new: made.isNew }
}

/** What the role asks of itself where the caller may not write, or not see, what a source's signal is. */
export function orRefused(asked: Promise<unknown>): Promise<unknown> {
  return asked.catch((error: unknown) => {
    if (isRefused(error)) return error
    throw error
  })
}
