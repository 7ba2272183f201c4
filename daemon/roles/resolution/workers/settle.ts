// Brings clusters in line with decisions, soon after each, and again where a crash or a run came between.
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Doc } from '../../../kernel/store.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { settle as settleClusters } from '../registry/settle.ts'

export const settle: Worker = { name: 'settle', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
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
  if (!doc || doc.value.owes === 0 || (await isBeingWritten(call, doc))) return
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

/** A run that writes clusters takes in all decisions itself, and has those settled again that came meanwhile. */
async function isBeingWritten(call: Call, { value: { tenant_id, lens } }: Doc<StoredMatch>): Promise<boolean> {
  const filter = { tenant_id, lens, state: 'resolving' }
  return (await call.store(fusionRuns).list({ filter, limit: 1, fresh: true })).docs.length > 0
}
