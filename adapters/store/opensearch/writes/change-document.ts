// Changes one document: reads it, applies the caller's step, and writes only over the version that was read.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { Refusal } from '../../../../daemon/kernel/error/errors.ts'
import type { Doc, StoredFields } from '../../../../daemon/kernel/store/store.ts'
import { buildEnvelope, clusterId, documentId, type FoundDocument } from '../document-envelope.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import type { ConditionalWrite, DocumentClient } from './document-client.ts'
import type { WriteQueue } from './write-queue.ts'

/** Other processes of the role may write too; more lost races in a row than this are a fault. */
const max_attempts = 100

export async function readDocument(
  documents: DocumentClient,
  alias: string,
  id: string,
): Promise<FoundDocument | undefined> {
  if (id === '' || !id.isWellFormed()) return undefined
  const held = await documents.get(alias, clusterId(id))
  return held && documentId(held.envelope) === id ? held : undefined
}

/** Reads and tries until no other writer was faster. `change` returns undefined when one was. */
export async function changeDocument<A>(
  documents: DocumentClient,
  { alias }: OpensearchTable,
  id: string,
  change: (held: FoundDocument) => Promise<A | undefined>,
): Promise<A | 'missing'> {
  for (let attempt = 0; attempt < max_attempts; attempt++) {
    const held = await readDocument(documents, alias, id)
    if (!held) return 'missing'
    const done = await change(held)
    if (done !== undefined) return done
  }
  throw new Refusal('conflict', 'the document changes too often')
}

/** Undefined when another writer was faster. */
export async function replaceDocument<T extends StoredFields>(
  writes: WriteQueue,
  table: OpensearchTable,
  held: FoundDocument,
  value: T,
  events?: readonly AuditEvent[],
): Promise<Doc<T> | undefined> {
  const doc = { id: documentId(held.envelope), version: held.envelope.version + 1, value }
  const outcome = await writes.send({ ...buildWrite(table, doc), replaces: held.token }, events)
  return outcome === 'done' ? doc : undefined
}

export function buildWrite({ alias, kinds }: OpensearchTable, doc: Doc<StoredFields>): ConditionalWrite {
  const write = randomUUID()
  return { write, alias, id: clusterId(doc.id), source: buildEnvelope(doc, write, kinds) }
}
