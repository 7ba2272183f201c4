// Stores a version of a lens for the caller's tenant. A version is immutable; storing the same body again changes
// nothing, under any idempotency key but one that was used with another request.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { classification, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { holdName } from '../../../shared/name-holder/hold-name.ts'
import { bindLens } from '../lens-binding/bind.ts'
import { matchingOperation } from '../matching.ts'
import { checkRequestKey, claimRequestKey } from './lens-requests.ts'
import { lens } from './model.ts'
import { lenses, lensUid, lensView, type StoredLens, showLens } from './stored-lens.ts'

export const create = matchingOperation({
  summary: 'Store a version of a lens; storing the same body again changes nothing',
  method: 'POST',
  path: '/api/v2/lens',
  tool: 'lens_create',
  input: z.strictObject({ body: lens, classification: classification.optional() }),
  output: lensView,
  status: 201,
  errors: ['already_exists', 'label_denied', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,

  async run(call, { body, classification: requested = call.site.default_level }) {
    const label = resolveClassification(call, requested)
    if (isRefusal(label)) return label
    const { tenant_id, subject: created_by } = call.caller
    const { lens: name, version: lens_version, entity_type } = body
    const uid = lensUid(tenant_id, name, lens_version)
    const digest = canonicalDigest(body)
    const other = (await checkRequestKey(call)) ?? (await claimUnlessTaken(call, uid, digest, label))
    if (other) return other
    const identity = { lens: name, lens_version, entity_type }
    const value = { tenant_id, label, created_by, created_at: call.nowIso(), ...identity, body, digest }
    const create = (id: string) =>
      call.store(lenses).create(id, value, [call.audited('resolution.lens.create', id, { ...identity, digest }, label)])
    const { doc: stored } = await holdName(call.store(lenses), uid, label, { create, fits: () => true })
    if (stored.value.digest !== digest) return refuseOtherBody(stored.value)
    await bindLens(call, stored)
    return showLens(stored)
  },
})

/** A version that is known to have another body leaves the key to a request that corrects it. */
async function claimUnlessTaken(call: Call, uid: string, digest: string, label: Label): Promise<Refusal | undefined> {
  const before = await call.store(lenses).find(uid)
  if (before && before.value.digest !== digest) return refuseOtherBody(before.value)
  return await claimRequestKey(call, label)
}

function refuseOtherBody({ lens: name, lens_version }: StoredLens): Refusal {
  const detail = `lens ${name} ${lens_version} already exists with another body; create it under a new version`
  return refuse('already_exists', detail)
}
