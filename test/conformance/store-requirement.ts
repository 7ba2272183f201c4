// The type of a requirement on a document store, and the collection that all of them use.
import * as z from 'zod'
import type { AuditEvent, AuditLog } from '../../daemon/kernel/audit/audit-chain.ts'
import { type Label, label } from '../../daemon/kernel/label/label.ts'
import { collection, type Store } from '../../daemon/kernel/store/store.ts'

/** An empty store with the audit chain that its writes go to, and a private folder that is removed afterwards. */
export type StoreFixture = {
  readonly store: Store
  readonly audit: AuditLog
  readonly folder: string
  /** The folder with the files of the store. */
  readonly files: string
  /** The same data opened anew, after an orderly close. */
  reopen(): Promise<StoreFixture>
  /** The data of a copy made by `backup`; absent where the store makes none. */
  openCopy?(path: string): Promise<StoreFixture>
}

export type StoreRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: StoreFixture) => Promise<void>
}

export function storeRequirement(id: string, says: string, holds: StoreRequirement['verify']): StoreRequirement {
  return { id: `store/${id}`, description: says, verify: holds }
}

export const note = z.strictObject({
  tenant_id: z.string(),
  label: label.optional(),
  expires_ts: z.number().optional(),
  title: z.string(),
  rank: z.number().optional(),
  kind: z.enum(['red', 'green', 'blue']),
  open: z.boolean(),
  count: z.int().min(0),
})
export type Note = z.infer<typeof note>

export const notes = collection({ name: 'note', schema: note, indexes: ['title', 'rank', 'kind', 'open', 'count'] })

export function buildNote(changes: Partial<Note> = {}): Note {
  return { tenant_id: 'alpha', title: 'a note', kind: 'red', open: true, count: 0, ...changes }
}

export function buildEvent(changes: Partial<AuditEvent> = {}): AuditEvent {
  return {
    at: '2026-03-01T12:00:00.000Z',
    action: 'test.note.write',
    outcome: 'done',
    tenant_id: 'alpha',
    subject: 'ann',
    target: 'n1',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    detail: { reason: 'because' },
    ...changes,
  }
}

export function buildLabel(changes: Partial<Label> = {}): Label {
  return { policy: 'site', level: 'SECRET', categories: [], originator: 'alpha', ...changes }
}
