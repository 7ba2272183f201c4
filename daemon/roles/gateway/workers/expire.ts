// Removes registrations that were not renewed in time, each with an audit record.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { withdrawService } from '../object-claim/withdraw-service.ts'
import { services } from '../registered-service/model.ts'

/** At once: their writes share commits. */
const batch_size = 10

export const expire: Worker = { name: 'expire', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const filter = { ends_ts: { lte: call.now() } }
  const { docs } = await call.store(services).list({ filter, limit: 100 })
  for (let at = 0; at < docs.length && !call.signal.aborted; at += batch_size) {
    const batch = docs.slice(at, at + batch_size)
    await Promise.all(batch.map((doc) => withdrawService(call, doc, 'expired')))
  }
}
