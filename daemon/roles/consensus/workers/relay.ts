// Delivers the outboxes of sessions: soon after a change, and again until delivery succeeds.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { deliverOutbox } from '../outbox/deliver-outbox.ts'
import { sessions } from '../session/model.ts'

export const relay: Worker = { name: 'relay', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  const lost_ms = new Map<string, number>()
  let cursor: string | undefined
  do {
    const query = { filter: { owes: 1 }, limit: 100, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(sessions).list(query)
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      await deliverOutbox(call, doc, lost_ms).catch((error: unknown) => {
        // A session whose delivery fails must not block the sessions after it.
        const { trace_id } = call.trace
        call.log.error('consensus.session.delivery_failed', { trace_id, session: doc.id, error: String(error) })
      })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
