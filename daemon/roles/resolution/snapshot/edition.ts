// Version numbers of registry snapshots: for each lens and peer they only rise and never repeat.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { collection } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'

const storedEdition = z.strictObject({
  tenant_id: z.string(),
  lens: shortText,
  peer: shortText,
  version: z.int().min(1),
})

export const editions = collection({ name: 'registry_edition', schema: storedEdition, indexes: ['lens', 'peer'] })

/**
 * Allocates a number above all earlier ones and above the clock, so that a site restored from a backup stays ahead of
 * the numbers that its peers have. Durable when it resolves.
 */
export async function allocateEdition(call: Call, lens: string, peer: string): Promise<number> {
  const { tenant_id } = call.caller
  const id = `edn_${sha256(JSON.stringify([tenant_id, lens, peer])).slice(0, 32)}`
  const first = { tenant_id, lens, peer, version: call.now() }
  if ((await call.store(editions).create(id, first)) !== 'exists') return first.version
  const { doc } = await call.store(editions).update(id, ({ value }) => ({
    next: { ...value, version: Math.max(value.version + 1, call.now()) },
    answer: undefined,
  }))
  return doc.value.version
}
