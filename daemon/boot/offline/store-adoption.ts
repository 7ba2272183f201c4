// What an operator says on purpose: the cluster that answers now holds the documents, restored from a snapshot of another.
import { documentsCluster } from '../../../adapters/store/sqlite/documents-cluster.ts'
import { documentsHome } from '../../../adapters/store/sqlite/documents-home.ts'
import type { Role } from '../../kernel/role.ts'
import { adoptCluster, openCluster, requireBase } from '../documents.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type RoleDatabase, rolesWithDatabase, withDatabase } from './role-database.ts'
import { type Environment, siteSettings } from './site-profile.ts'
import { lockAll } from './store-restore.ts'

/** `from`, `cluster`: UUIDs. `given_up`: indexes that are lost for good. */
export type Adopted = {
  readonly role: string
  readonly from: string
  readonly cluster: string
  readonly given_up: readonly string[]
}

/**
 * Every role whose documents are in a cluster takes the one that answers, and sends it its whole audit chain. Throws
 * `Objection` (3) while a role runs, no cluster answers, or it lacks an index: such are made anew, and empty, only when they
 * are given up. Throws `StartRefused` when the indexes have other names. All roles are looked at before the first changes.
 */
export async function adopt(folder: SiteFolder, env: Environment, given: { give_up: boolean }): Promise<Adopted[]> {
  const locks = lockAll(folder)
  try {
    const wanted: { role: Role; adopted: Adopted }[] = []
    for (const role of rolesWithDatabase(folder)) {
      const adopted = await withDatabase(folder, role, (database) => adoptionOf(folder, env, database))
      if (adopted) wanted.push({ role, adopted })
    }
    const lost = new Set(wanted.flatMap(({ adopted }) => adopted.given_up))
    if (lost.size > 0 && !given.give_up) {
      const remedy = 'restore them from a snapshot; --give-up makes them anew, without the documents'
      throw new Objection(3, `the cluster lacks ${[...lost].join(', ')}`, remedy)
    }
    for (const { role, adopted } of wanted) {
      const { from, cluster, given_up } = adopted
      await withDatabase(folder, role, ({ sqlite }) => adoptCluster(sqlite, cluster, given_up))
      const detail = { role: role.name, from, given_up }
      await record(folder, env, { action: 'site.store.adopt', target: cluster, detail })
    }
    return wanted.map(({ adopted }) => adopted)
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** Undefined for a role that remembers no cluster. */
async function adoptionOf(
  folder: SiteFolder,
  env: Environment,
  { role, sqlite, audit }: RoleDatabase,
): Promise<Adopted | undefined> {
  const place = documentsCluster(sqlite).place()
  if (!place || documentsHome(sqlite) !== 'opensearch') return undefined
  const { resolved, platform } = siteSettings(folder, env)
  const given = { role, site: platform.name, resolved, file: sqlite, audit }
  requireBase(given)
  const there = await openCluster(given)
  try {
    const cluster = await there.identity()
    if (cluster === undefined) throw new Objection(3, 'no cluster answers at search.host')
    return { role: role.name, from: place.cluster, cluster, given_up: await there.missing() }
  } finally {
    await there.store.close()
  }
}
