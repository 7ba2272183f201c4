// Workers that every role has: they anchor its audit chain, and drop expired documents and audit records.
import { isRefusal } from '../kernel/error/errors.ts'
import { throwRefusal } from '../kernel/operation/operation-contract.ts'
import type { Worker } from '../kernel/role/role.ts'
import { createCheckpoint } from '../shared/audit-checkpoint/audit-checkpoint.ts'
import type { RoleStorage } from './storage/role-storage.ts'

const anchor_interval_ms = 60_000
const sweep_interval_ms = 60_000
/** Soon after a cluster is back it knows what happened meanwhile. */
const retry_interval_ms = 2_000
const audit_sweep_interval_ms = 3_600_000
const day_ms = 86_400_000

export function housekeepingWorkers(
  stock: RoleStorage,
  collections: readonly { readonly name: string; readonly indexes: readonly string[] }[],
  audit_keep_days: number,
): Worker[] {
  let anchored = -1
  return [
    {
      name: 'anchor',
      when: { every_ms: anchor_interval_ms },
      async run(call) {
        const { writer, seq, hash } = await stock.audit.head()
        if (seq === 0 || seq === anchored || call.signal.aborted) return
        await throwRefusal(call.roles.request(createCheckpoint, { writer, seq, hash }))
        anchored = seq
      },
    },
    {
      name: 'sweep',
      when: { every_ms: sweep_interval_ms },
      async run(call) {
        const failures: unknown[] = []
        for (const each of collections) {
          await stock.store.expire(each, call.now()).catch((error: unknown) => failures.push(error))
        }
        if (failures.length > 0) throw failures[0]
      },
    },
    {
      name: 'audit-sweep',
      when: { every_ms: audit_sweep_interval_ms },
      async run(call) {
        const before = call.now() - audit_keep_days * day_ms
        await stock.audit.expire(new Date(before).toISOString())
        await stock.expireAuditCopies?.(before)
      },
    },
    ...(stock.retriedTasks ?? []).map((each) => ({
      name: each.name,
      when: { every_ms: retry_interval_ms },
      run: each.run,
    })),
    ...(stock.lostIndexes ? [indexWatcher(stock.lostIndexes)] : []),
  ]
}

/** Logs each fault of the cluster once while it lasts. */
function indexWatcher(lostIndexes: NonNullable<RoleStorage['lostIndexes']>): Worker {
  let lost: readonly string[] = []
  let why: string | undefined
  return {
    name: 'watch-indexes',
    when: { every_ms: retry_interval_ms },
    async run({ log, trace: { trace_id } }) {
      const found = await lostIndexes().catch((error: unknown) => {
        if (isRefusal(error) && error.code === 'unavailable') return error.message
        throw error
      })
      if (typeof found === 'string') {
        if (found !== why) log.error('platform.store.unavailable', { trace_id, error: found })
        why = found
        return
      }
      const remedy = 'restore it from a snapshot of the cluster'
      for (const index of found.filter((each) => !lost.includes(each)))
        log.error('platform.index.lost', { trace_id, index, remedy })
      lost = found
      why = undefined
    },
  }
}
