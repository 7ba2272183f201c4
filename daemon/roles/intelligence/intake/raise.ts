// Raises a signal that came by intake: once for what it is known as where it comes from, however often that comes.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical, sha256 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { uid } from '../fields.ts'
import { signalTotal } from '../metrics.ts'
import { timesOf } from '../signal/create.ts'
import { begun } from '../signal/fresh.ts'
import { named } from '../signal/naming.ts'
import { ownMetadata } from '../signal/system-fields.ts'
import { type Raising, raising } from './item/model.ts'

export const raise = operation({
  summary: 'Raise a signal once for what it is known as where it comes from; for the site’s own services',
  method: 'POST',
  path: '/api/v1/signal-intake/raise',
  input: raising,
  output: z.strictObject({ uid, is_new: z.boolean() }).meta({ id: 'Raised' }),
  errors: ['idempotency_mismatch'],
  allow: 'intelligence:raise',
  max_body_bytes: 262_144,

  async run(call, given) {
    // Tenant and label are what it says: that is for those alone who act for every tenant.
    if (call.caller.tenant_id !== '*') return refuse('forbidden', 'this is for the site’s own services')
    return raised(call, given)
  },
})

/** Why these fields are no signal now; known before any of several is raised. */
export function untimely(call: Call, fields: Raising['fields']): Refused | undefined {
  const times = timesOf(call, { ...fields, detected_at: fields.detected_at ?? call.nowIso() })
  return isRefused(times) ? times : undefined
}

/** Acts for every tenant. Refuses a time that cannot be, and other words under the same key where a digest is given. */
export async function raised(
  call: Call,
  given: Raising,
): Promise<{ readonly uid: string; readonly is_new: boolean } | Refused> {
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
  return { uid: made.doc.id, is_new: made.isNew }
}
