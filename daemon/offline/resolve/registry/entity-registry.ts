// The entity registry: a file that keeps the ids of entities from run to run, with merges and splits.
import { existsSync } from 'node:fs'
import * as z from 'zod'
import { writeDurably, writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { clusterUid } from '../../../roles/resolution/entity-cluster/model.ts'
import { assignEntities } from '../../../roles/resolution/registry/assign-entities.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readInputBytes } from '../../read-input-file.ts'
import {
  buildMemberKey,
  listContentLines,
  parseMemberKey,
  type RegistryContent,
  RegistryContentReader,
} from './registry-content.ts'

/** A run holds the whole file in memory. */
export const max_registry_bytes = 2_147_483_648

/** The second form also keeps the values of the records. */
const registryForms = ['entity-registry/1', 'entity-registry/2'] as const
const registryHead = z.strictObject({ form: z.enum(registryForms), lens: z.string(), run: z.int().min(0) })
const registryEntity = z.strictObject({
  entity: z.string().min(1),
  /** Number of the run that created it. */
  since: z.int().min(1),
  /** Source and id of each record, in order; empty if the entity was merged into others. */
  members: z.array(z.tuple([z.string(), z.string()])),
  merged_from: z.array(z.string()),
  split_from: z.string().optional(),
  merged_into: z.array(z.string()).optional(),
})
type RegistryEntity = z.infer<typeof registryEntity>

export type EntityRegistry = {
  readonly lens: string
  /** Number of runs that changed it. */
  readonly run: number
  readonly entities: readonly RegistryEntity[]
  /** Undefined if it keeps ids only. */
  readonly content?: RegistryContent | undefined
  /** Bytes of the file; undefined if it does not exist yet. */
  readonly bytes: Buffer | undefined
}

/** Reads the registry. Throws `OfflineCommandError`: 1 for a file that is not a registry, 3 for one of another lens. */
export function readEntityRegistry(file: string, lens: string): EntityRegistry {
  const bytes = readBytes(file)
  if (!bytes) return { lens, run: 0, entities: [], bytes }
  const invalidLine = (index: number) =>
    new OfflineCommandError(1, `${file}, line ${index + 1} is not a line of an entity registry`)
  let head: z.infer<typeof registryHead> | undefined
  const entities: RegistryEntity[] = []
  const content = new RegistryContentReader()
  for (const [index, lineBytes] of splitLines(bytes)) {
    const line = parseJson(lineBytes)
    if (!head) head = registryHead.safeParse(line).data ?? throwError(invalidLine(index))
    else if (head.form === registryForms[0] || (line as Partial<RegistryEntity> | undefined)?.entity !== undefined) {
      entities.push(registryEntity.safeParse(line).data ?? throwError(invalidLine(index)))
    } else if (!content.addLine(line)) throw invalidLine(index)
    if (head.lens !== lens) {
      throw new OfflineCommandError(
        3,
        `${file} contains entities of the lens ${head.lens}`,
        'use one registry for each lens',
      )
    }
  }
  if (!head) throw invalidLine(0)
  const members = entities.flatMap((entity) => entity.members.map(buildMemberKey))
  if (
    new Set(members).size < members.length ||
    new Set(entities.map((entity) => entity.entity)).size < entities.length
  ) {
    throw new OfflineCommandError(1, `${file} contains an entity or a record twice`)
  }
  if (head.form === registryForms[0]) return { lens, run: head.run, entities, bytes }
  const completeContent = content.finish(members)
  if (!completeContent) throw new OfflineCommandError(1, `${file} lacks some of its records`)
  return { lens, run: head.run, entities, content: completeContent, bytes }
}

function throwError(error: Error): never {
  throw error
}

/** Lines with their indexes. The file may exceed the maximum length of a string. */
function* splitLines(bytes: Buffer): Generator<readonly [number, Buffer]> {
  let start = 0
  for (let index = 0; start < bytes.length; index++) {
    const end = bytes.indexOf(0x0a, start)
    const lineEnd = end < 0 ? bytes.length : end
    yield [index, bytes.subarray(start, lineEnd)]
    start = lineEnd + 1
  }
}

/**
 * Assigns an entity id to each cluster and returns the updated registry. Records that the run did not have stay with their
 * entity, or with the first that it was merged into. The same clusters yield the same registry. `clusters`: keys of their
 * records.
 */
export function assignEntityIds(
  previous: EntityRegistry,
  clusters: readonly (readonly string[])[],
): { ids: string[]; registry: EntityRegistry } {
  const entityById = new Map(previous.entities.map((entity) => [entity.entity, entity]))
  const presentKeys = new Set(clusters.flat())
  const membersBefore = new Map(previous.entities.map((entity) => [entity.entity, entity.members.map(buildMemberKey)]))
  const ageKeys = new Map(previous.entities.map((entity) => [entity.entity, buildAgeKey(entity)]))
  const names = assignEntities(clusters, membersBefore, ageKeys)
  const takenIds = new Set(entityById.keys())
  const ids = names.map(({ id }, index) => id ?? createEntityId(previous.lens, clusters[index] ?? [], takenIds))
  const updated = new Map(entityById)
  const mergedInto = new Map<string, string[]>()
  for (const [index, { merged_from }] of names.entries())
    for (const mergedId of merged_from)
      mergedInto.set(mergedId, [...(mergedInto.get(mergedId) ?? []), ids[index] ?? ''])
  const absentOf = (id: string) => (membersBefore.get(id) ?? []).filter((key) => !presentKeys.has(key))
  for (const [index, { merged_from, split_from }] of names.entries()) {
    const id = ids[index] ?? ''
    const earlier = entityById.get(id)
    const absent = [id, ...merged_from.filter((mergedId) => mergedInto.get(mergedId)?.[0] === id)].flatMap(absentOf)
    const start = earlier?.split_from ?? split_from
    updated.set(id, {
      entity: id,
      since: earlier?.since ?? previous.run + 1,
      members: [...(clusters[index] ?? []), ...absent].sort().map(parseMemberKey),
      merged_from: [...new Set([...(earlier?.merged_from ?? []), ...merged_from])].sort(),
      ...(start === undefined ? {} : { split_from: start }),
    })
  }
  for (const [mergedId, targets] of mergedInto) {
    const earlier = updated.get(mergedId)
    if (earlier) updated.set(mergedId, { ...earlier, members: [], merged_into: targets.sort() })
  }
  const entities = [...updated.values()].sort((absent, right) => (absent.entity < right.entity ? -1 : 1))
  const isSame = JSON.stringify(entities) === JSON.stringify(previous.entities)
  return { ids, registry: { ...previous, entities, run: previous.run + (isSame ? 0 : 1) } }
}

/** Sort key by age. An entity that was split off sorts after its origin, also in the same run. */
function buildAgeKey({ since: ageKeys, split_from }: RegistryEntity): string {
  return `${String(ageKeys).padStart(16, '0')} ${split_from === undefined ? 0 : 1}`
}

/** Creates an unused id; ids of merged entities are never reused. */
function createEntityId(lens: string, members: readonly string[], takenIds: Set<string>): string {
  const [node_id, record_id] = parseMemberKey([...members].sort()[0] ?? '')
  for (let turn = 0; ; turn++) {
    const id = clusterUid('', lens, { node_id, record_id }, turn)
    if (takenIds.has(id)) continue
    takenIds.add(id)
    return id
  }
}

/** Replaces the registry atomically. Throws `OfflineCommandError`: 3 if another run changed it meanwhile, 1 if it cannot be written. */
export function replaceEntityRegistry(file: string, { lens, run, entities, content, bytes }: EntityRegistry): void {
  const draft = `${file}.partial`
  const write = (descriptor: number) => {
    writeFully(descriptor, `${JSON.stringify({ form: content ? registryForms[1] : registryForms[0], lens, run })}\n`)
    for (const line of entities) writeFully(descriptor, `${JSON.stringify(line)}\n`)
    for (const line of content ? listContentLines(content) : []) writeFully(descriptor, `${JSON.stringify(line)}\n`)
  }
  const beforeRename = () => {
    const current = readBytes(file)
    if (bytes ? !current?.equals(bytes) : current) {
      throw new OfflineCommandError(3, `another run changed ${file} in the meantime`, 'run it again')
    }
  }
  try {
    runAsInvoker(() => writeDurably(file, write, { draft, beforeRename }))
  } catch (error) {
    if (error instanceof OfflineCommandError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      throw new OfflineCommandError(3, `another run is writing ${file}`, `if no other run is active, remove ${draft}`)
    }
    throw new OfflineCommandError(1, `${file} cannot be written: ${code}`)
  }
}

/** Undefined for a file that does not exist. */
function readBytes(file: string): Buffer | undefined {
  const exists = runAsInvoker(() => existsSync(file))
  return exists ? readInputBytes(file, max_registry_bytes) : undefined
}
