// A file that keeps the ids of entities from run to run: who was one, what was merged, what was split.

import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { writeDurably, writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { clusterUid } from '../../../roles/resolution/entity-cluster/model.ts'
import { assignEntities } from '../../../roles/resolution/registry/assign-entities.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import {
  buildMemberKey,
  listContentLines,
  parseMemberKey,
  type RegistryContent,
  RegistryContentReader,
} from './registry-content.ts'

/** The second keeps what the records say as well. */
const registryForms = ['entity-registry/1', 'entity-registry/2'] as const
const registryHead = z.strictObject({ form: z.enum(registryForms), lens: z.string(), run: z.int().min(0) })
const registryEntity = z.strictObject({
  entity: z.string().min(1),
  /** The run that made it. */
  since: z.int().min(1),
  /** Source and id of each, in order; none where it was merged into others. */
  members: z.array(z.tuple([z.string(), z.string()])),
  merged_from: z.array(z.string()),
  split_from: z.string().optional(),
  merged_into: z.array(z.string()).optional(),
})
type RegistryEntity = z.infer<typeof registryEntity>

export type EntityRegistry = {
  readonly lens: string
  /** How many runs have changed it. */
  readonly run: number
  readonly entities: readonly RegistryEntity[]
  /** Undefined where it keeps ids alone. */
  readonly content?: RegistryContent | undefined
  /** The file as it was read; undefined for one that is still to be made. */
  readonly bytes: Buffer | undefined
}

/** Throws `OfflineCommandError`: 1 for a file that is no registry, 3 for one of another lens. */
export function readEntityRegistry(file: string, lens: string): EntityRegistry {
  const bytes = readBytes(file)
  if (!bytes) return { lens, run: 0, entities: [], bytes }
  const no = (at: number) => new OfflineCommandError(1, `${file}, line ${at + 1} is not a line of an entity registry`)
  let of: z.infer<typeof registryHead> | undefined
  const entities: RegistryEntity[] = []
  const content = new RegistryContentReader()
  for (const [at, line] of splitLines(bytes)) {
    const said = parseJson(line)
    if (!of) of = registryHead.safeParse(said).data ?? throwError(no(at))
    else if (of.form === registryForms[0] || (said as Partial<RegistryEntity> | undefined)?.entity !== undefined) {
      entities.push(registryEntity.safeParse(said).data ?? throwError(no(at)))
    } else if (!content.addLine(said)) throw no(at)
    if (of.lens !== lens) {
      throw new OfflineCommandError(
        3,
        `${file} contains entities of the lens ${of.lens}`,
        'use one registry for each lens',
      )
    }
  }
  if (!of) throw no(0)
  const members = entities.flatMap((each) => each.members.map(buildMemberKey))
  if (new Set(members).size < members.length || new Set(entities.map((each) => each.entity)).size < entities.length) {
    throw new OfflineCommandError(1, `${file} contains an entity or a record twice`)
  }
  if (of.form === registryForms[0]) return { lens, run: of.run, entities, bytes }
  const whole = content.finish(members)
  if (!whole) throw new OfflineCommandError(1, `${file} does not keep each of its records`)
  return { lens, run: of.run, entities, content: whole, bytes }
}

function throwError(error: Error): never {
  throw error
}

/** Each with its place: a file may be larger than a text can be. */
function* splitLines(bytes: Buffer): Generator<readonly [number, string]> {
  let from = 0
  for (let at = 0; from < bytes.length; at++) {
    const end = bytes.indexOf(0x0a, from)
    const to = end < 0 ? bytes.length : end
    yield [at, bytes.toString('utf8', from, to)]
    from = to + 1
  }
}

/**
 * The entity of each cluster, and the registry as it is then. Records that the run did not have stay with their entity, or
 * with the first that it was merged into. Nothing new makes the same registry. `clusters`: keys of their records.
 */
export function assignEntityIds(
  before: EntityRegistry,
  clusters: readonly (readonly string[])[],
): { ids: string[]; registry: EntityRegistry } {
  const known = new Map(before.entities.map((each) => [each.entity, each]))
  const now = new Set(clusters.flat())
  const old = new Map(before.entities.map((each) => [each.entity, each.members.map(buildMemberKey)]))
  const since = new Map(before.entities.map((each) => [each.entity, buildAgeKey(each)]))
  const names = assignEntities(clusters, old, since)
  const taken = new Set(known.keys())
  const ids = names.map(({ id }, at) => id ?? createEntityId(before.lens, clusters[at] ?? [], taken))
  const next = new Map(known)
  const mergedInto = new Map<string, string[]>()
  for (const [at, { merged_from }] of names.entries())
    for (const gone of merged_from) mergedInto.set(gone, [...(mergedInto.get(gone) ?? []), ids[at] ?? ''])
  const absentOf = (id: string) => (old.get(id) ?? []).filter((key) => !now.has(key))
  for (const [at, { merged_from, split_from }] of names.entries()) {
    const id = ids[at] ?? ''
    const was = known.get(id)
    const left = [id, ...merged_from.filter((gone) => mergedInto.get(gone)?.[0] === id)].flatMap(absentOf)
    const from = was?.split_from ?? split_from
    next.set(id, {
      entity: id,
      since: was?.since ?? before.run + 1,
      members: [...(clusters[at] ?? []), ...left].sort().map(parseMemberKey),
      merged_from: [...new Set([...(was?.merged_from ?? []), ...merged_from])].sort(),
      ...(from === undefined ? {} : { split_from: from }),
    })
  }
  for (const [gone, into] of mergedInto) {
    const was = next.get(gone)
    if (was) next.set(gone, { ...was, members: [], merged_into: into.sort() })
  }
  const entities = [...next.values()].sort((one, other) => (one.entity < other.entity ? -1 : 1))
  const isSame = JSON.stringify(entities) === JSON.stringify(before.entities)
  return { ids, registry: { ...before, entities, run: before.run + (isSame ? 0 : 1) } }
}

/** What was split off comes after what it was split from, in the same run too. */
function buildAgeKey({ since, split_from }: RegistryEntity): string {
  return `${String(since).padStart(16, '0')} ${split_from === undefined ? 0 : 1}`
}

/** Ids of entities that were merged are never given again. */
function createEntityId(lens: string, members: readonly string[], taken: Set<string>): string {
  const [node_id, record_id] = parseMemberKey([...members].sort()[0] ?? '')
  for (let turn = 0; ; turn++) {
    const id = clusterUid('', lens, { node_id, record_id }, turn)
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

/** Takes the place of what was read, all of it or nothing. Throws `OfflineCommandError`: 3 where another run was faster, 1 where it cannot be written. */
export function replaceEntityRegistry(file: string, { lens, run, entities, content, bytes }: EntityRegistry): void {
  const draft = `${file}.partial`
  const write = (opened: number) => {
    writeFully(opened, `${JSON.stringify({ form: content ? registryForms[1] : registryForms[0], lens, run })}\n`)
    for (const each of entities) writeFully(opened, `${JSON.stringify(each)}\n`)
    for (const each of content ? listContentLines(content) : []) writeFully(opened, `${JSON.stringify(each)}\n`)
  }
  const beforeRename = () => {
    const found = readBytes(file)
    if (bytes ? !found?.equals(bytes) : found) {
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

function readBytes(file: string): Buffer | undefined {
  try {
    return runAsInvoker(() => readFileSync(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new OfflineCommandError(1, `${file} cannot be read: ${code}`)
  }
}
