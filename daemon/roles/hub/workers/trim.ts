// Drops the oldest entries of each feed; the last one always stays, since the next takes its number from it.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { feedEntries } from '../feed/model.ts'
import { settings } from '../settings.ts'

export const trim: Worker = { name: 'trim', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  const { feed_entries } = call.settings(settings)
  const entries = call.store(feedEntries)
  for (const tenant_id of (await entries.countBy('tenant_id')).keys()) {
    const order = { field: 'seq', direction: 'desc' } as const
    const { docs } = await entries.list({ filter: { tenant_id }, order, limit: 1 })
    const before = (docs[0]?.value.seq ?? 0) - feed_entries + 1
    for (;;) {
      const expired = await entries.list({ filter: { tenant_id, seq: { lt: before } }, limit: 100, fresh: true })
      for (const { id } of expired.docs) {
        if (call.signal.aborted) return
        await entries.remove(id)
      }
      if (expired.next_cursor === undefined) break
    }
  }
}
