// Brings clusters in line with new records and decisions, soon after each, and again where a crash or a run came between.
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import type { Worker } from '../../../kernel/role.ts'
import { matchAllWaiting, takeArrivals } from '../arrival/taking.ts'
import { entityMatches } from '../entity-match/model.ts'
import { isBeingWritten } from '../registry/arrive.ts'
import { settle as settleClusters } from '../registry/settle.ts'

export const settle: Worker = { name: 'settle', when: { every_ms: 5_000 }, run }

/** One hand does both, so that no two change the same entities at a time. */
async function run(call: Call): Promise<void> {
  await takeArrivals(call)
  await matchAllWaiting(call)
  await payDecisions(call)
}

async function payDecisions(call: Call): Promise<void> {
  let cursor: string | undefined
  do {
    const query = { filter: { owes: 1 }, limit: 100, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(entityMatches).list(query)
    for (const { id } of page.docs) {
      if (call.signal.aborted) return
      await pay(call, id).catch((error: unknown) => {
        // One match that cannot be settled must not hold up those behind it.
        const { trace_id } = call.trace
        const level = isRefused(error) && error.row.retryable ? 'warn' : 'error'
        call.log[level]('resolution.entity-match.unsettled', { trace_id, match: id, error: String(error) })
      })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

async function pay(call: Call, uid: string): Promise<void> {
  const doc = await call.store(entityMatches).find(uid)
  // Another match of the same cluster may have paid for it.
  if (!doc || doc.value.owes === 0 || (await isBeingWritten(call, doc.value))) return
  const { tenant_id, lens, lens_id, lens_version, entity_type, run_id, left_uid, right_uid } = doc.value
  const origin = { lens, lens_id, lens_version, entity_type, run_id }
  await settleClusters(call, { tenant_id, lens }, origin, [left_uid, right_uid])
  // Where its records are not in the registry there is no cluster to change; the decision waits for the run that brings them.
  await call
    .store(entityMatches)
    .update(uid, ({ version, value }) =>
      version === doc.version && value.owes
        ? { next: { ...value, owes: 0 }, answer: undefined }
        : { answer: undefined },
    )
}
