// A file that keeps the ids of entities from run to run: who was one, what was merged, what was split.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import * as z from 'zod'
import { clusterUid } from '../../roles/resolution/entity-cluster/model.ts'
import { assigned } from '../../roles/resolution/registry/assign.ts'
import { asInvoker } from '../acting.ts'
import { Objection } from './objection.ts'

const form = 'entity-registry/1'
const head = z.strictObject({ form: z.literal(form), lens: z.string(), run: z.int().min(0) })
const entity = z.strictObject({
  entity: z.string().min(1),
  /** The run that made it. */
  since: z.int().min(1),
  /** Source and id of each, in order; none where it was merged into others. */
  members: z.array(z.tuple([z.string(), z.string()])),
  merged_from: z.array(z.string()),
  split_from: z.string().optional(),
  merged_into: z.array(z.string()).optional(),
})
type Entity = z.infer<typeof entity>

export type Registry = {
  readonly lens: string
  /** How many runs have changed it. */
  readonly run: number
  readonly entities: readonly Entity[]
  /** The file as it was read; undefined for one that is still to be made. */
  readonly bytes: Buffer | undefined
}

/** Throws `Objection`: 1 for a file that is no registry, 3 for one of another lens. */
export function readRegistry(file: string, lens: string): Registry {
  const bytes = bytesOf(file)
  if (!bytes) return { lens, run: 0, entities: [], bytes }
  const lines = bytes.toString('utf8').trimEnd().split('\n')
  const parsed = <T>(schema: z.ZodType<T>, at: number): T => {
    const read = schema.safeParse(jsonIn(lines[at] ?? ''))
    if (!read.success) throw new Objection(1, `${file}, line ${at + 1}: it is not of a registry of entities`)
    return read.data
  }
  const { lens: of, run } = parsed(head, 0)
  if (of !== lens) throw new Objection(3, `${file} keeps entities of the lens ${of}`, 'name a registry for each lens')
  const entities = lines.slice(1).map((_, at) => parsed(entity, at + 1))
  const members = entities.flatMap((each) => each.members.map(keyOf))
  if (new Set(members).size < members.length || new Set(entities.map((each) => each.entity)).size < entities.length) {
    throw new Objection(1, `${file} names an entity or a record twice`)
  }
  return { lens, run, entities, bytes }
}

/**
 * The entity of each cluster, and the registry as it is then. Records that the run did not have stay with their entity, or
 * with the first that it was merged into. Nothing new makes the same registry. `clusters`: keys of their records.
 */
export function named(
  before: Registry,
  clusters: readonly (readonly string[])[],
): { ids: string[]; registry: Registry } {
  const known = new Map(before.entities.map((each) => [each.entity, each]))
  const now = new Set(clusters.flat())
  const old = new Map(before.entities.map((each) => [each.entity, each.members.map(keyOf)]))
  const since = new Map(before.entities.map((each) => [each.entity, ageOf(each)]))
  const names = assigned(clusters, old, since)
  const taken = new Set(known.keys())
  const ids = names.map(({ id }, at) => id ?? newId(before.lens, clusters[at] ?? [], taken))
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
      members: [...(clusters[at] ?? []), ...left].sort().map(memberOf),
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
function ageOf({ since, split_from }: Entity): string {
  return `${String(since).padStart(16, '0')} ${split_from === undefined ? 0 : 1}`
}

/** Ids of entities that were merged are never given again. */
function newId(lens: string, members: readonly string[], taken: Set<string>): string {
  const [node_id, record_id] = memberOf([...members].sort()[0] ?? '')
  for (let turn = 0; ; turn++) {
    const id = clusterUid('', lens, { node_id, record_id }, turn)
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

/** Takes the place of what was read, all of it or nothing. Throws `Objection`: 3 where another run was faster, 1 where it cannot be written. */
export function replaceRegistry(file: string, { lens, run, entities, bytes }: Registry): void {
  asInvoker(() => {
    const partial = `${file}.partial`
    const opened = claimed(file, partial)
    try {
      try {
        writeAll(opened, `${JSON.stringify({ form, lens, run })}\n`)
        for (const each of entities) writeAll(opened, `${JSON.stringify(each)}\n`)
        fsyncSync(opened)
      } finally {
        closeSync(opened)
      }
      const found = bytesOf(file)
      if (bytes ? !found?.equals(bytes) : found) {
        throw new Objection(3, `another run has changed ${file} meanwhile`, 'run it again')
      }
      renameSync(partial, file)
    } catch (error) {
      rmSync(partial, { force: true })
      if (error instanceof Objection) throw error
      throw new Objection(1, `${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
    }
  })
}

function claimed(file: string, partial: string): number {
  try {
    return openSync(partial, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      throw new Objection(3, `another run writes to ${file}`, `if none does, remove ${partial}`)
    }
    throw new Objection(1, `${file} cannot be written: ${code}`)
  }
}

/** The system may take less than it was given. */
function writeAll(opened: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at)
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return asInvoker(() => readFileSync(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Objection(1, `${file} cannot be read: ${code}`)
  }
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function keyOf([source, id]: readonly [string, string]): string {
  return `${source}\u0000${id}`
}

function memberOf(key: string): [string, string] {
  const at = key.indexOf('\u0000')
  return [key.slice(0, at), key.slice(at + 1)]
}
