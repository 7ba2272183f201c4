// Copies changes from signals to the change log, soon after they arise.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { appendChanges, finishBatches } from '../change-log/append-changes.ts'
import { signals } from '../signal/model.ts'

export const log: Worker = { name: 'log', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  await finishBatches(call)
  let cursor: string | undefined
  do {
    const query = { filter: { unlogged: 1 }, limit: 200, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(signals).list(query)
    for (const [tenant_id, docs] of Map.groupBy(page.docs, ({ value }) => value.tenant_id)) {
      if (call.signal.aborted) return
      await appendChanges(call, tenant_id, docs).catch((error: unknown) => {
        // A failure for one tenant must not delay the others.
        const { trace_id } = call.trace
        call.log.error('intelligence.log.not_stored', { trace_id, tenant: tenant_id, error: String(error) })
      })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
