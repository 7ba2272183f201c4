// Repeats purges on a restored backup, which may contain bodies that were purged since it was made.
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import type { AuditEvent } from '../../kernel/audit/audit-chain.ts'
import type { Journal } from '../../kernel/messaging/journal.ts'
import type { PurgeOrder } from '../../kernel/messaging/purge-records.ts'
import type { RoleDatabase } from './role-database.ts'

/** Reads the purge orders, and what they found, of the database that a backup is about to replace. */
export type PurgeOrdersWithFinds = readonly (PurgeOrder & {
  readonly finds: Awaited<ReturnType<Journal['purgeFinds']>>
})[]

export async function readPurgeOrders({
  sqlite,
  audit,
}: Pick<RoleDatabase, 'sqlite' | 'audit'>): Promise<PurgeOrdersWithFinds> {
  const journal = sqliteJournal(sqlite, audit)
  const orders = await journal.purgeOrders()
  return await Promise.all(orders.map(async (order) => ({ ...order, finds: await journal.purgeFinds(order.digest) })))
}

/** Repeats the orders; returns how many the backup did not have. `audit`: the record of one order, by its digest. */
export async function reapplyPurges(
  { sqlite, audit: chain }: Pick<RoleDatabase, 'sqlite' | 'audit'>,
  orders: PurgeOrdersWithFinds,
  audit: (digest: string) => AuditEvent,
): Promise<number> {
  const journal = sqliteJournal(sqlite, chain)
  const knownDigests = new Set((await journal.purgeOrders()).map(({ digest }) => digest))
  const missingOrders = orders.filter(({ digest }) => !knownDigests.has(digest))
  for (const { finds, ...order } of missingOrders) {
    await journal.orderPurge(order, [audit(order.digest)])
    await journal.addPurgeFinds(order.digest, finds)
    await dropSentBytes(journal, order.digest)
  }
  if (missingOrders.length > 0) await journal.scrub()
  return missingOrders.length
}

/** Removes the bodies of messages that had not left when the backup was made. */
async function dropSentBytes(journal: Journal, digest: string): Promise<void> {
  let after: number | undefined = 0
  while (after !== undefined) {
    const page: Awaited<ReturnType<Journal['bytesFitting']>> = await journal.bytesFitting(digest, after)
    for (const entry of page.found) await journal.purgeSent(entry.channel, [entry])
    after = page.next
  }
}
