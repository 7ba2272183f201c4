// A change of one document: read, changed by whoever asks, and written only over what was read.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Doc, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { clusterIdOf, envelopeOf, type Held, idOf } from './envelope.ts'
import type { Documents, Sending } from './settling.ts'
import type { Table } from './table.ts'
import type { Writes } from './writes.ts'

/** Others of the same role may write too; more than so many lost races in a row are no race. */
const most_attempts = 100

export async function heldOf(documents: Documents, alias: string, id: string): Promise<Held | undefined> {
  if (id === '' || !id.isWellFormed()) return undefined
  const held = await documents.get(alias, clusterIdOf(id))
  return held && idOf(held.envelope) === id ? held : undefined
}

/** Reads and tries until nobody was faster. `change` answers undefined when somebody was. */
export async function changing<A>(
  documents: Documents,
  { alias }: Table,
  id: string,
  change: (held: Held) => Promise<A | undefined>,
): Promise<A | 'missing'> {
  for (let attempt = 0; attempt < most_attempts; attempt++) {
    const held = await heldOf(documents, alias, id)
    if (!held) return 'missing'
    const done = await change(held)
    if (done !== undefined) return done
  }
  throw new Refusal('conflict', 'the document changes too often')
}

/** Undefined when somebody was faster. */
export async function replace<T extends StoredFields>(
  writes: Writes,
  table: Table,
  held: Held,
  value: T,
  events?: readonly AuditEvent[],
): Promise<Doc<T> | undefined> {
  const doc = { id: idOf(held.envelope), version: held.envelope.version + 1, value }
  const outcome = await writes.send({ ...sendingOf(table, doc), replaces: held.place }, events)
  return outcome === 'done' ? doc : undefined
}

export function sendingOf({ alias, kinds }: Table, doc: Doc<StoredFields>): Sending {
  const write = randomUUID()
  return { write, alias, id: clusterIdOf(doc.id), source: envelopeOf(doc, write, kinds) }
}
