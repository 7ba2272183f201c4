// Numbers writes to a registry, so that a copy in memory misses no write that began earlier and ended later.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { collection } from '../../../kernel/store/store.ts'
import { text_form } from '../engine/text/text-form.ts'
import { type RegistryKey, shortText, textForm } from '../fields.ts'

const writeNumber = z.int().min(1)

const storedRegistryHead = z.strictObject({
  tenant_id: z.string(),
  lens: shortText,
  /** The number of the next write. */
  next: writeNumber,
  /** Writes in progress; `at` in epoch milliseconds. */
  open: z.array(z.strictObject({ seq: writeNumber, at: z.number() })),
  /** Every record has this form of texts, or one of this form: present once a run has looked at them all. */
  text_form: textForm,
})
type StoredRegistryHead = z.infer<typeof storedRegistryHead>

export const registryHeads = collection({ name: 'registry_head', schema: storedRegistryHead, indexes: ['lens'] })

/** After this time, a writer that has not ended is gone, and so are its requests to the store. */
const write_timeout_ms = 600_000

function headUid({ tenant_id, lens }: RegistryKey): string {
  return `reg_${sha256(JSON.stringify([tenant_id, lens])).slice(0, 32)}`
}

/**
 * Writes records of one registry under a new number, which each of them stores as `written`. A failure leaves the
 * number open, since the records may or may not be written.
 */
export async function writeNumbered<T>(
  call: Call,
  registry: RegistryKey,
  write: (seq: number) => Promise<T>,
): Promise<T> {
  const id = headUid(registry)
  const seq = await beginWrite(call, id, registry)
  const result = await write(seq)
  await call.store(registryHeads).update(id, ({ value }) => ({
    next: { ...value, open: value.open.filter((write) => write.seq !== seq) },
    answer: undefined,
  }))
  return result
}

async function beginWrite(call: Call, id: string, { tenant_id, lens }: RegistryKey): Promise<number> {
  const at = call.now()
  const first = { tenant_id, lens, next: 2, open: [{ seq: 1, at }] }
  if ((await call.store(registryHeads).create(id, first)) !== 'exists') return 1
  const { answer } = await call.store(registryHeads).update(id, ({ value }) => {
    const open = [...value.open.filter((write) => isInProgress(write, at)), { seq: value.next, at }]
    return { next: { ...value, next: value.next + 1, open }, answer: value.next }
  })
  return answer
}

function isInProgress({ at }: StoredRegistryHead['open'][number], now: number): boolean {
  return now - at < write_timeout_ms
}

/** Whether every record of the registry is known to have the present form of texts. */
export async function readRegistryForm(call: Call, registry: RegistryKey): Promise<boolean> {
  return (await call.store(registryHeads).find(headUid(registry)))?.value.text_form === text_form
}

export async function markRegistryFormed(call: Call, registry: RegistryKey): Promise<void> {
  const head = await call.store(registryHeads).find(headUid(registry))
  if (head)
    await call
      .store(registryHeads)
      .update(head.id, ({ value }) => ({ next: { ...value, text_form }, answer: undefined }))
}

export type WriteBounds = { readonly below: number; readonly next: number }

/**
 * Call it before reading records. `below`: every record with a lower number can be read, and later writes have this
 * number or a higher one. `next`: no record has this number yet. Both are 1 for a registry without writes.
 */
export async function readWriteBounds(call: Call, registry: RegistryKey): Promise<WriteBounds> {
  const head = await call.store(registryHeads).find(headUid(registry))
  if (!head) return { below: 1, next: 1 }
  const { next } = head.value
  const open = head.value.open.filter((write) => isInProgress(write, call.now()))
  return { below: open.reduce((lowest, write) => Math.min(lowest, write.seq), next), next }
}
