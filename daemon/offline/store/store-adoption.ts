// Adopts the answering cluster as the document store, after its restore from a snapshot of another.
import * as z from 'zod'
import { documentsCluster } from '../../../adapters/store/sqlite/documents/documents-cluster.ts'
import { readDocumentsHome } from '../../../adapters/store/sqlite/documents/documents-home.ts'
import { adoptCluster, openCluster, requireIndexBase } from '../../boot/storage/documents.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, withDatabase } from './role-database.ts'
import { lockAllRoles, releaseLocks } from './role-locks.ts'

const clusterAdoption = z
  .strictObject({
    role: z.string(),
    from: z.string().meta({ description: 'UUID' }),
    cluster: z.string().meta({ description: 'UUID' }),
    given_up: z.array(z.string()).meta({ description: 'Indexes that are lost for good' }),
  })
  .readonly()
export type ClusterAdoption = z.infer<typeof clusterAdoption>

/**
 * Switches every role with documents in a cluster to the answering one, and sends it the whole audit chain. Throws
 * `OfflineCommandError`: 4 if no cluster answers; 3 while a role runs, or if it lacks an index: lost indexes are
 * recreated empty only if they are given up. Throws `StartRefusal` if the indexes have other names. Checks all roles
 * before the first change.
 */
export async function adoptAnsweringCluster(
  folder: SiteFolder,
  env: EnvironmentVariables,
  options: { give_up: boolean },
): Promise<ClusterAdoption[]> {
  const locks = await lockAllRoles(folder)
  try {
    const planned: { role: RoleOutline; adopted: ClusterAdoption }[] = []
    for (const role of listRolesWithDatabase(folder)) {
      const adoption = (await runRoleTask(planAdoption, { folder, env, role }, null)) ?? undefined
      if (adoption) planned.push({ role, adopted: adoption })
    }
    const lost = new Set(planned.flatMap(({ adopted: adoption }) => adoption.given_up))
    if (lost.size > 0 && !options.give_up) {
      const remedy = 'restore them from a snapshot; --give-up recreates them without their documents'
      throw new OfflineCommandError(3, `the cluster lacks ${[...lost].join(', ')}`, remedy)
    }
    for (const { role, adopted: adoption } of planned) {
      const { from, cluster, given_up } = adoption
      await runRoleTask(recordAdoption, { folder, env, role }, { cluster, given_up })
      const detail = { role: role.name, from, given_up }
      await recordOperatorAction(folder, env, { action: 'site.store.adopt', target: cluster, detail })
    }
    return planned.map(({ adopted: adoption }) => adoption)
  } finally {
    await releaseLocks(locks)
  }
}

/** Null for a role that has recorded no cluster. */
export const planAdoption = roleTask({
  name: 'plan-adoption',
  input: z.null(),
  event: z.never(),
  output: clusterAdoption.nullable(),
  run: ({ folder, env, role: outline }) =>
    withDatabase(folder, outline, async ({ role, sqlite, audit }) => {
      const knownCluster = documentsCluster(sqlite).place()
      if (!knownCluster || readDocumentsHome(sqlite) !== 'opensearch') return null
      const { resolved, platform } = readSiteSettings(folder, env)
      const options = { role, site: platform.name, resolved, file: sqlite, audit }
      requireIndexBase(options)
      const storage = await openCluster(options)
      try {
        const cluster = await storage.readClusterUuid()
        if (cluster === undefined) throw new OfflineCommandError(4, 'no cluster answers at search.host')
        return {
          role: role.name,
          from: knownCluster.cluster,
          cluster,
          given_up: [...(await storage.findLostIndexes())],
        }
      } finally {
        await storage.store.close()
      }
    }),
})

export const recordAdoption = roleTask({
  name: 'record-adoption',
  input: z.strictObject({ cluster: z.string(), given_up: z.array(z.string()) }),
  event: z.never(),
  output: z.null(),
  async run({ folder, role }, { cluster, given_up }) {
    await withDatabase(folder, role, ({ sqlite }) => adoptCluster(sqlite, cluster, given_up))
    return null
  },
})
