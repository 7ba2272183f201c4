// Anchors the head of a role's audit chain: signed by the site, and never lower than one that was anchored before.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { createCheckpoint } from '../../../shared/audit-checkpoint/audit-checkpoint.ts'
import { signaturesPart } from '../parts.ts'
import { checkpoints } from './model.ts'

export const create = operation({
  summary: 'Anchor the head of an audit chain',
  method: 'POST',
  path: '/api/v2/site/checkpoint',
  input: createCheckpoint.input,
  output: createCheckpoint.output,
  status: 201,
  errors: ['conflict', 'forbidden', 'unavailable'],
  allow: 'checkpoint:write',

  async run(call, head) {
    if (!mayAnchor(call, head.writer))
      return refuse('forbidden', 'a chain of this site is anchored by the role that writes it')
    const id = `${head.writer}:${String(head.seq).padStart(16, '0')}`
    const store = call.store(checkpoints)
    const filter = { writer: head.writer, seq: { gt: head.seq } }
    const later = await store.list({ filter, limit: 1, fresh: true })
    if (later.docs.length > 0)
      return refuse('conflict', 'a later head of this chain is anchored already: the chain was cut short')
    const at = call.nowIso()
    const signature = await call
      .part(signaturesPart)
      .sign('checkpoint', new TextEncoder().encode(canonicalJson({ ...head, at })))
    const made = await store.create(id, { tenant_id: call.site.tenant_id, ...head, at, signature })
    if (made !== 'exists') return { id, ...head, at, signature }
    const { tenant_id: _tenant, ...before } = (await store.get(id)).value
    if (before.hash !== head.hash)
      return refuse('conflict', 'another head of this length is anchored already: the chain was rewritten')
    return { id, ...before }
  },
})

/** Otherwise a caller could anchor a head far ahead, and prevent the chain from being anchored ever again. */
function mayAnchor({ caller, site }: Call, writer: string): boolean {
  const [role, name] = writer.split('@')
  return name !== site.name || (caller.tenant_id === '*' && caller.subject === `role:${role}`)
}
