// The cluster store as an arm of the requirements on stores: a server that runs already, and indexes of its own per world.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AuditShipping } from '../../adapters/store/opensearch/audit-shipping.ts'
import { openCluster } from '../../adapters/store/opensearch/cluster/cluster.ts'
import { knownCluster } from '../../adapters/store/opensearch/cluster/known-cluster.ts'
import { opensearchStore } from '../../adapters/store/opensearch/store.ts'
import type { BacklogLimits } from '../../adapters/store/opensearch/writes/write-backpressure.ts'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { auditShippingPosition } from '../../adapters/store/sqlite/audit/audit-shipping-position.ts'
import { sqlitePendingAudit } from '../../adapters/store/sqlite/audit/pending-audit.ts'
import { documentsCluster } from '../../adapters/store/sqlite/documents/documents-cluster.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import type { AnyCollection } from '../../daemon/kernel/store/store.ts'
import type { OpenSearch } from '../support/engines/opensearch.ts'
import { opensearchRequirement } from '../support/engines/opensearch.ts'
import { notes, type StoreFixture } from './store-requirement.ts'
import type { StoreVariant } from './store-variants.ts'

export function opensearchVariant(server: () => OpenSearch): StoreVariant {
  return { ...opensearchRequirement, name: 'opensearch', open: () => openFixture(server()) }
}

async function openFixture(server: OpenSearch) {
  const folder = mkdtempSync(path.join(tmpdir(), 'store-'))
  const prefix = `t${randomUUID()}-`
  const ends: (() => Promise<void>)[] = []
  const worldOn = (): StoreFixture => {
    const { store, audit, close } = openClusterStore(server.url, folder, prefix)
    ends.push(close)
    return {
      store,
      audit,
      folder,
      files: path.join(server.folder, 'data'),
      async reopen() {
        await close()
        return worldOn()
      },
    }
  }
  const end = async () => {
    for (const close of ends) await close()
    await server.request('DELETE', `/${prefix}*`)
    rmSync(folder, { recursive: true, force: true })
  }
  return { world: worldOn(), end }
}

/** A store on the cluster with its chain in a database of the folder; `close` may be called twice. */
export function openClusterStore(
  url: string,
  folder: string,
  prefix: string,
  timeout_ms = 20_000,
  backlogLimits?: BacklogLimits,
  collections: readonly AnyCollection[] = [notes],
) {
  const file = sqliteFile({ file: path.join(folder, 'store.db'), addonDir: folder })
  const audit = sqliteAudit(file, 'test@here')
  const known = { memory: documentsCluster(file), base: prefix }
  const opened = knownCluster(openCluster({ url, verify: true, timeout_ms }), known)
  const pendingAudit = sqlitePendingAudit(file, audit)
  const options = {
    ...known,
    pendingAudit,
    collections,
    prefix,
    alias_prefix: prefix,
    replicas: 0,
    scroll: '1m',
    ...(backlogLimits ? { backlogLimits } : {}),
  }
  const store = opensearchStore(opened, options)
  const shippedTo = auditShippingPosition(file)
  const shipping = new AuditShipping(opened, {
    ...known,
    alias: `${prefix}audit`,
    replicas: 0,
    audit,
    position: shippedTo,
  })
  const close = async () => {
    await store.close()
    await file.close()
  }
  return { audit, store, pendingAudit, shipping, shippedTo, close }
}
