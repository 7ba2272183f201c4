// Adopts the answering cluster as the document store, after its restore from a snapshot of another.
import { documentsCluster } from '../../../adapters/store/sqlite/documents-cluster.ts'
import { readDocumentsHome } from '../../../adapters/store/sqlite/documents-home.ts'
import { adoptCluster, openCluster, requireIndexBase } from '../../boot/storage/documents.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { Role } from '../../kernel/role/role.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, type RoleDatabase, withDatabase } from './role-database.ts'
import { lockAllRoles } from './store-restore.ts'

/** `from`, `cluster`: UUIDs. `given_up`: indexes that are lost for good. */
export type ClusterAdoption = {
  readonly role: string
  readonly from: string
  readonly cluster: string
  readonly given_up: readonly string[]
}

/**
 * Switches every role with documents in a cluster to the answering one, and sends it the whole audit chain. Throws
 * `OfflineCommandError` (3) while a role runs, if no cluster answers, or if it lacks an index: lost indexes are
 * recreated empty only if they are given up. Throws `StartRefused` if the indexes have other names. Checks all roles
 * before the first change.
 */
export async function adoptAnsweringCluster(
  folder: SiteFolder,
  env: EnvironmentVariables,
  given: { give_up: boolean },
): Promise<ClusterAdoption[]> {
  const locks = lockAllRoles(folder)
  try {
    const wanted: { role: Role; adopted: ClusterAdoption }[] = []
    for (const role of listRolesWithDatabase(folder)) {
      const adopted = await withDatabase(folder, role, (database) => planAdoption(folder, env, database))
      if (adopted) wanted.push({ role, adopted })
    }
    const lost = new Set(wanted.flatMap(({ adopted }) => adopted.given_up))
    if (lost.size > 0 && !given.give_up) {
      const remedy = 'restore them from a snapshot; --give-up makes them anew, without the documents'
      throw new OfflineCommandError(3, `the cluster lacks ${[...lost].join(', ')}`, remedy)
    }
    for (const { role, adopted } of wanted) {
      const { from, cluster, given_up } = adopted
      await withDatabase(folder, role, ({ sqlite }) => adoptCluster(sqlite, cluster, given_up))
      const detail = { role: role.name, from, given_up }
      await recordOperatorAction(folder, env, { action: 'site.store.adopt', target: cluster, detail })
    }
    return wanted.map(({ adopted }) => adopted)
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** Undefined for a role that has recorded no cluster. */
async function planAdoption(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { role, sqlite, audit }: RoleDatabase,
): Promise<ClusterAdoption | undefined> {
  const place = documentsCluster(sqlite).place()
  if (!place || readDocumentsHome(sqlite) !== 'opensearch') return undefined
  const { resolved, platform } = readSiteSettings(folder, env)
  const given = { role, site: platform.name, resolved, file: sqlite, audit }
  requireIndexBase(given)
  const there = await openCluster(given)
  try {
    const cluster = await there.readClusterUuid()
    if (cluster === undefined) throw new OfflineCommandError(3, 'no cluster answers at search.host')
    return { role: role.name, from: place.cluster, cluster, given_up: await there.findLostIndexes() }
  } finally {
    await there.store.close()
  }
}
