// Lists what a run changed of the entities of a registry file, for systems that hold ids of earlier runs.
import type { ResultTable } from '../result-file.ts'
import type { EntityRegistry } from './entity-registry.ts'
import { buildMemberKey } from './registry-content.ts'

type RegistryState = Pick<EntityRegistry, 'entities'>
type IdChange = readonly [entity: string, change: string, from: string, into: string]

/**
 * One row for each change of an id: `created`, `joined`, `left`, `split`, `merged` or `restored`, as the feed of a service names
 * them. Several ids in one cell are separated by spaces. The rows are in the order of ids.
 */
function listIdChanges(before: RegistryState, after: RegistryState): IdChange[] {
  const earlier = new Map(before.entities.map((entity) => [entity.entity, entity]))
  const entityOf = new Map(
    after.entities.flatMap(({ entity, members }) => members.map((member) => [buildMemberKey(member), entity] as const)),
  )
  const originOf = new Map(after.entities.map(({ entity, split_from }) => [entity, split_from]))
  return after.entities.flatMap((entity): IdChange[] => {
    const { entity: id, members, merged_from, split_from = '', merged_into = [] } = entity
    const old = earlier.get(id)
    if (!old) return members.length > 0 ? [[id, 'created', [split_from, ...merged_from].join(' ').trim(), '']] : []
    const merged = merged_from.filter((other) => !old.merged_from.includes(other))
    if (members.length === 0) return old.members.length > 0 ? [[id, 'merged', '', merged_into.join(' ')]] : []
    if (old.members.length === 0) return [[id, 'restored', merged.join(' '), '']]
    const [oldKeys, keys] = [old.members, members].map((list) => new Set(list.map(buildMemberKey)))
    const targets = new Set([...(oldKeys ?? [])].flatMap((key) => (keys?.has(key) ? [] : (entityOf.get(key) ?? []))))
    const parts = [...targets].filter((target) => originOf.get(target) === id && isBegun(earlier.get(target))).sort()
    const went: IdChange[] = targets.size > 0 ? [[id, parts.length > 0 ? 'split' : 'left', '', parts.join(' ')]] : []
    const isJoined = merged.length > 0 || [...(keys ?? [])].some((key) => !oldKeys?.has(key))
    return [...went, ...(isJoined ? [[id, 'joined', merged.join(' '), ''] as const] : [])]
  })
}

function isBegun(before: RegistryState['entities'][number] | undefined): boolean {
  return before === undefined || before.members.length === 0
}

export function buildChangeTable(before: RegistryState, after: RegistryState): ResultTable {
  return {
    name: 'changes',
    columns: ['entity', 'change', 'from', 'into'].map((name) => ({ name, type: 'text' as const, required: true })),
    rows: listIdChanges(before, after),
  }
}
