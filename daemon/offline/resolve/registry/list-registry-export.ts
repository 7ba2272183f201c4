// Lists what an export of a registry file has, in the form of the lists of the service, whose columns it shares.
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { type EntityRegistry, readEntityRegistry } from './entity-registry.ts'
import { isComparedBy, parseMemberKey } from './registry-content.ts'

type RegistryExportKind = 'clusters' | 'entities' | 'decisions'

/**
 * Lists entities or decided pairs. What a registry file does not keep is empty: times, runs, persons. Throws
 * `OfflineCommandError`: 1 for a file that is not a registry, 3 for one of another lens.
 */
export function listRegistryExport(file: string, lens: Lens, kind: RegistryExportKind): Iterable<object> {
  const registry = readEntityRegistry(file, lens.lens)
  if (!registry.bytes)
    throw new OfflineCommandError(1, `the registry ${file} does not exist`, 'name one that a run has written')
  return kind === 'decisions' ? listDecisions(registry) : listEntities(registry, lens, kind)
}

function* listEntities({ entities, content }: EntityRegistry, lens: Lens, kind: RegistryExportKind): Generator<object> {
  // Without records the registry does not tell the version of its lens.
  const lens_version = content && isComparedBy(lens, content.learnt) ? lens.version : ''
  for (const { entity, members, merged_from, split_from, merged_into } of entities) {
    if (kind === 'clusters' && members.length === 0) continue
    yield {
      uid: entity,
      state: members.length > 0 ? 'live' : 'merged',
      size: members.length,
      entity_type: lens.entity_type,
      lens: lens.lens,
      lens_version,
      run_id: '',
      members: members.map(([node_id, record_id]) => ({ node_id, record_id })),
      lineage: { merged_from, split_from, merged_into },
      created_at: '',
      updated_at: '',
    }
  }
}

const states = { same: 'confirmed', different: 'rejected' } as const

function* listDecisions({ content }: EntityRegistry): Generator<object> {
  for (const { left, right, is } of content?.decisions ?? [])
    yield {
      uid: '',
      left: toRef(left),
      right: toRef(right),
      state: states[is],
      decided_by: 'human',
      reviews: [],
      attestations: [],
    }
}

function toRef(key: string) {
  const [node_id, record_id] = parseMemberKey(key)
  return { node_id, record_id }
}
