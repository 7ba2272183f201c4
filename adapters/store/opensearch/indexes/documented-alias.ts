// Documented names of a collection in the cluster, for other software: an alias of its index, and aliases of its fields.
import * as z from 'zod'
import type { DocumentedIndex } from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure, index_not_found } from '../cluster/cluster-failure.ts'

const aliasesResponse = z.record(z.string(), z.object({ aliases: z.record(z.string(), z.unknown()) }))

/** Where an alias may lead: `base` begins the names of all indexes of the site. */
type AliasPlace = { readonly alias: string; readonly base: string }

/**
 * Adds the names to an index. Other indexes of the site may have the same alias, and those of another site may not.
 * Throws ClusterFailure where they have.
 */
export async function publishIndex(
  cluster: OpensearchCluster,
  index: string,
  place: AliasPlace,
  { fields }: DocumentedIndex,
): Promise<void> {
  const mapping = { properties: buildFieldAliases(fields) }
  await cluster.request({ method: 'PUT', path: `/${index}/_mapping`, body: mapping }, z.unknown())
  const holders = await listHolders(cluster, place.alias)
  requireOwnHolders(holders, place)
  if (holders.includes(index)) return
  // Nobody writes by this name.
  await changeAlias(cluster, { add: { index, alias: place.alias, is_write_index: false } })
  try {
    // Another site may have been as fast: then neither has it.
    requireOwnHolders(await listHolders(cluster, place.alias), place)
  } catch (error) {
    await changeAlias(cluster, { remove: { index, alias: place.alias } })
    throw error
  }
}

/** The index of another site that has the alias, or that has this name itself; undefined where there is none. */
export async function findForeignIndex(cluster: OpensearchCluster, place: AliasPlace): Promise<string | undefined> {
  return findForeignHolder(await listHolders(cluster, place.alias), place)
}

function requireOwnHolders(holders: readonly string[], place: AliasPlace): void {
  const foreign = findForeignHolder(holders, place)
  if (!foreign) return
  const remedy = 'set search.alias_prefix to one that no other site of the cluster has'
  throw new ClusterFailure('undone', `the alias ${place.alias} leads to ${foreign}: ${remedy}`, 60)
}

function findForeignHolder(holders: readonly string[], { base }: AliasPlace): string | undefined {
  return holders.find((index) => !index.startsWith(base))
}

/** Names of the indexes behind an alias, or of an index that has its name. */
async function listHolders(cluster: OpensearchCluster, alias: string): Promise<string[]> {
  try {
    return Object.keys(await cluster.request({ method: 'GET', path: `/${alias}/_alias` }, aliasesResponse))
  } catch (error) {
    if (error instanceof ClusterFailure && error.type === index_not_found) return []
    throw error
  }
}

async function changeAlias(cluster: OpensearchCluster, action: object): Promise<void> {
  await cluster.request({ method: 'POST', path: '/_aliases', body: { actions: [action] } }, z.unknown())
}

type MappedProperty = { type: 'alias'; path: string } | { properties: Record<string, MappedProperty> }

/** Documented paths as aliases of the fields that the index has. */
function buildFieldAliases(fields: DocumentedIndex['fields']): Record<string, MappedProperty> {
  const root: Record<string, MappedProperty> = {}
  for (const [path, field] of Object.entries(fields)) {
    const names = path.split('.')
    const last = names.pop() ?? path
    let at = root
    for (const name of names) {
      const inner = at[name]
      const object = inner && 'properties' in inner ? inner : { properties: {} }
      at[name] = object
      at = object.properties
    }
    at[last] = { type: 'alias', path: field === 'id' ? 'id' : `fields.${field}` }
  }
  return root
}
