// Finds contributors of this site that have the name of a peer's tenant, under which the peer contributes.
import * as z from 'zod'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { iterateDocuments } from '../../kernel/store/iterate-documents.ts'
import type { ListQuery, Store } from '../../kernel/store/store.ts'
import { contributors } from '../../roles/consensus/contributor/model.ts'
import { settings as consensusSettings } from '../../roles/consensus/settings.ts'
import { roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, withDatabase, withDocuments } from '../store/role-database.ts'

type PinnedTenant = Pick<Peer, 'name' | 'tenant_id'>

/** `remedy`: how the contributor gets another name. */
export type Namesake = { readonly peer: string; readonly contributor: string; readonly remedy: string }

/** The contributors of the site's own tenant whose name is the tenant of one of the peers. */
export async function findNamesakes(
  folder: SiteFolder,
  env: EnvironmentVariables,
  peers: readonly PinnedTenant[],
): Promise<Namesake[]> {
  const { platform, resolved } = readSiteSettings(folder, env)
  const names = [...new Set(peers.map(({ tenant_id }) => tenant_id))]
  const role = listRolesWithDatabase(folder).find(({ name }) => name === 'consensus')
  const given = { tenant_id: platform.tenant_id, names }
  const changed = new Map(
    (role && names.length > 0 ? await runRoleTask(findChangedContributors, { folder, env, role }, given) : []).map(
      ({ name, removed }) => [name, removed],
    ),
  )
  const seeds = getSettings(resolved, consensusSettings).contributors
  return peers.flatMap(({ name: peer, tenant_id: contributor }) => {
    const isRemoved = changed.get(contributor)
    if (isRemoved === false)
      return { peer, contributor, remedy: `platform consensus contributor remove ${contributor}, and set another name` }
    const seed = Object.hasOwn(seeds, contributor) ? seeds[contributor] : undefined
    const isSeed = seed && (seed.tenant_id ?? platform.tenant_id) === platform.tenant_id
    const remedy = `rename consensus.contributors.${contributor} in ${folder.profile}, then restart`
    return isSeed && isRemoved === undefined ? { peer, contributor, remedy } : []
  })
}

/** Those of the names that operations have enrolled or removed. */
export const findChangedContributors = roleTask({
  name: 'find-changed-contributors',
  input: z.strictObject({ tenant_id: z.string(), names: z.array(z.string()) }),
  event: z.never(),
  output: z.array(z.strictObject({ name: z.string(), removed: z.boolean() })),
  run: ({ folder, env, role }, given) =>
    withDatabase(folder, role, (database) =>
      withDocuments(folder, env, database, (store) => listChanged(store, given.tenant_id, given.names)),
    ),
})

async function listChanged(store: Store, tenant_id: string, names: readonly string[]) {
  const list = (query: ListQuery) => store.list(contributors, query)
  const changed: { name: string; removed: boolean }[] = []
  for (const name of names)
    for await (const { value } of iterateDocuments({ list }, { filter: { name } }))
      if (value.tenant_id === tenant_id) changed.push({ name, removed: value.removed })
  return changed
}
