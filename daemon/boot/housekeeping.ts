// Housekeeping of every role: anchors its audit chain, and removes expired documents and records.
import { isRefusal } from '../kernel/error/errors.ts'
import { throwRefusal } from '../kernel/operation/operation-contract.ts'
import type { Worker } from '../kernel/role/role.ts'
import { listSecretFields } from '../kernel/secret/secret-fields.ts'
import type { SecretRenewal } from '../kernel/secret/secret-renewal.ts'
import type { Collection } from '../kernel/store/store.ts'
import { createCheckpoint } from '../shared/audit-checkpoint/audit-checkpoint.ts'
import { dataKeysOfSite } from '../shared/data-key/data-key.ts'
import type { RoleStorage } from './storage/role-storage.ts'

const anchor_interval_ms = 60_000
const sweep_interval_ms = 60_000
/** Short, so that work continues soon after a cluster is back. */
const retry_interval_ms = 2_000
const secret_renewal_interval_ms = 3_600_000
const audit_sweep_interval_ms = 3_600_000
const day_ms = 86_400_000

export function housekeepingWorkers(
  storage: RoleStorage,
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents in one list
  collections: readonly Collection<any>[],
  audit_keep_days: number,
  renewal?: SecretRenewal,
): Worker[] {
  let anchored = -1
  return [
    {
      name: 'anchor',
      when: { every_ms: anchor_interval_ms },
      async run(call) {
        const { writer, seq, hash } = await storage.audit.head()
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
        for (const collection of collections) {
          await storage.store.expire(collection, call.now()).catch((error: unknown) => failures.push(error))
        }
        if (failures.length > 0) throw failures[0]
      },
    },
    {
      name: 'audit-sweep',
      when: { every_ms: audit_sweep_interval_ms },
      async run(call) {
        const before_ms = call.now() - audit_keep_days * day_ms
        await storage.audit.expire(new Date(before_ms).toISOString())
        await storage.expireAuditCopies?.(before_ms)
      },
    },
    ...(storage.retriedTasks ?? []).map((task) => ({
      name: task.name,
      when: { every_ms: retry_interval_ms },
      run: task.run,
    })),
    ...(renewal ? [secretRenewal(renewal, collections)] : []),
    ...(storage.lostIndexes ? [indexWatcher(storage.lostIndexes)] : []),
  ]
}

/** Renews the data keys of each collection with secret fields, and logs secrets that are lost. */
// biome-ignore lint/suspicious/noExplicitAny: collections of different documents in one list
function secretRenewal(renewal: SecretRenewal, collections: readonly Collection<any>[]): Worker {
  return {
    name: 'renew-secrets',
    when: { every_ms: secret_renewal_interval_ms },
    async run(call) {
      const { trace_id } = call.trace
      for (const each of collections.filter((declared) => listSecretFields(declared).length > 0)) {
        const report = await renewal.run(dataKeysOfSite(call.roles), each, call.signal)
        const { resealed, lost } = report
        if (resealed > 0) call.log.info('platform.secrets.renewed', { trace_id, collection: each.name, resealed })
        if (lost.length > 0)
          call.log.error('platform.secrets.lost', { trace_id, collection: each.name, documents: lost })
      }
    },
  }
}

/** Logs missing indexes and an unavailable cluster, each once for as long as it lasts. */
function indexWatcher(lostIndexes: NonNullable<RoleStorage['lostIndexes']>): Worker {
  let lostNames: readonly string[] = []
  let lastError: string | undefined
  return {
    name: 'watch-indexes',
    when: { every_ms: retry_interval_ms },
    async run({ log, trace: { trace_id } }) {
      const result = await lostIndexes().catch((error: unknown) => {
        if (isRefusal(error) && error.code === 'unavailable') return error.message
        throw error
      })
      if (typeof result === 'string') {
        if (result !== lastError) log.error('platform.store.unavailable', { trace_id, error: result })
        lastError = result
        return
      }
      const remedy = 'restore it from a snapshot of the cluster'
      for (const index of result.filter((name) => !lostNames.includes(name)))
        log.error('platform.index.lost', { trace_id, index, remedy })
      lostNames = result
      lastError = undefined
    },
  }
}
