// Digests of purged bodies, in memory because every message is compared with them.
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Journal } from '../../../../daemon/kernel/messaging/journal.ts'
import type { PurgeOrder } from '../../../../daemon/kernel/messaging/purge-records.ts'
import type { MessageExamination } from '../checks/message-examination.ts'

export type PurgeOrders = {
  /** SHA-384 of bodies and of statements. */
  all(): Promise<ReadonlySet<string>>
  /** In force when it resolves, and for ever. */
  add(order: PurgeOrder, audit: readonly AuditEvent[]): Promise<void>
}

/** No other process gives such orders: what was read once is what there is. */
export function purgeOrders(journal: Pick<Journal, 'orderPurge' | 'purgeOrders'>): PurgeOrders {
  let known: Promise<Set<string>> | undefined
  const read = async () => new Set((await journal.purgeOrders()).map(({ digest }) => digest))
  const all = async () => {
    known ??= read()
    try {
      return await known
    } catch (error) {
      known = undefined
      throw error
    }
  }
  return {
    all,
    async add(order, audit) {
      await journal.orderPurge(order, audit)
      ;(await all()).add(order.digest)
    },
  }
}

/** The order that the message falls under, by its body or its statement. */
export function findPurgeOrder({ body, digest }: MessageExamination, orders: ReadonlySet<string>): string | undefined {
  if (orders.size === 0) return undefined
  if (digest !== undefined && orders.has(digest)) return digest
  const found = 'bytes' in body ? sha384(body.bytes) : undefined
  return found !== undefined && orders.has(found) ? found : undefined
}

/** Digests by which an order may name a message of this site: SHA-384 of its body, and of its statement. */
export function purgeableDigests({
  envelope,
  body,
}: {
  readonly envelope: string
  readonly body: string | Uint8Array
}): string[] {
  const { payload } = jws.parse(JSON.parse(envelope))
  return [sha384(body), sha384(Buffer.from(payload, 'base64url'))]
}
