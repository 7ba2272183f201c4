// Removes registrations that were not renewed in time, each with an audit record.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { withdrawService } from '../object-claim/withdraw-service.ts'
import { services } from '../registered-service/model.ts'

export const expire: Worker = { name: 'expire', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const filter = { ends_ts: { lte: call.now() } }
  const { docs } = await call.store(services).list({ filter, limit: 100 })
  for (const doc of docs) {
    if (call.signal.aborted) return
    await withdrawService(call, doc, 'expired')
  }
}
