// Imports a set of artifacts from another site: verified in full, and held until two administrators accept it.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { dominates, joinLabels, type Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { runInSlices } from '../../../../kernel/role/run-in-slices.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { checkChannelTenant } from '../../../../shared/label-crossing/label-crossing.ts'
import { max_set_bytes } from './format.ts'
import { holdSet } from './hold-set.ts'
import { guidanceSets, type StoredSet } from './model.ts'
import { type ReadSet, setReading } from './read-set.ts'
import { setIdOf } from './set-id.ts'
import { admitLabels, checkFreshness, verifySet } from './verify-set.ts'
import { setView, showSet } from './view.ts'

/** base64url of the largest file. */
const max_file_characters = Math.ceil((max_set_bytes * 4) / 3)

export const importSet = operation({
  summary:
    'Import a set of artifacts that a peer has signed for this site; it is held until two administrators accept it',
  method: 'POST',
  path: '/api/v1/guide/sets',
  input: z.strictObject({
    // By its alphabet alone: z.base64url decodes and converts the text as well.
    file: z
      .string()
      .min(1)
      .max(max_file_characters)
      .regex(/^[A-Za-z0-9_-]*$/)
      .meta({
        format: 'base64url',
        contentEncoding: 'base64url',
        description: 'base64url of the exact bytes of the file',
      }),
  }),
  output: setView,
  errors: ['signature_invalid', 'label_denied', 'wrong_state', 'not_your_tenant', 'over_budget'],
  allow: 'guide:admin',
  max_body_bytes: 1_572_864,

  async run(call, { file }) {
    const refused = checkChannelTenant(call, call.caller.tenant_id)
    if (refused) return refused
    const set = await runInSlices(call, setReading(Buffer.from(file, 'base64url')))
    if ('fault' in set) return refuse('invalid', set.fault, [{ path: 'file', message: set.fault }])
    const { from, made_at } = set.manifest
    call.nameTarget({
      id: setIdOf(call.site.tenant_id, set.digest),
      detail: { peer: from, digest: set.digest, made_at },
    })
    const invalid = await verifySet(call, set)
    if (invalid) return invalid
    const held = await takeSet(call, set)
    return isRefusal(held) ? held : showSet(held, call.site.name)
  },
})

/** The same set again changes nothing, unless it was rejected. */
async function takeSet(call: Call, set: ReadSet): Promise<Doc<StoredSet> | Refusal> {
  const labels = await admitLabels(call, set)
  if (isRefusal(labels)) return labels
  const label = joinAll(call, labels)
  if (!label) return refuse('label_denied', 'nobody here may see all artifacts of the set')
  if (!dominates(call.caller, label, call.site.labels))
    return refuse('label_denied', 'the label of the set is above the caller’s clearance')
  const known = await call.store(guidanceSets).find(setIdOf(call.site.tenant_id, set.digest))
  if (known && known.value.status !== 'rejected') return known
  return (await checkFreshness(call, set)) ?? (await holdSet(call, set, { label, labels }, known))
}

function joinAll(call: Call, labels: readonly Label[]): Label | undefined {
  const [first, ...others] = labels
  return others.reduce<Label | undefined>(
    (joined, label) => joined && joinLabels(joined, label, call.site.labels),
    first,
  )
}
