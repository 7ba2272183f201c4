// Lists a store, and selects the objects that a run takes.
import { max_known_objects } from '../../../kernel/data/landed-dataset.ts'
import {
  nameObject,
  type ObjectPage,
  type ObjectSource,
  type StoredObject,
} from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { ObjectLimits } from '../thread-job.ts'
import { digestOfObject } from './known-objects.ts'
import { retryPassing } from './retry-passing.ts'

export type ObjectQuery = {
  readonly prefix: string
  /** Whether the rest of the key, after the prefix, is one of those that are read. */
  readonly isWanted: (rest: string) => boolean
  /** Digests of those that are not taken. */
  readonly known: ReadonlySet<string>
  readonly max_objects: number
  readonly limits: ObjectLimits
}

export type ObjectSelection = {
  readonly taken: readonly StoredObject[]
  /** Digests of all those that are wanted. */
  readonly present: ReadonlySet<string>
  /** Those that are wanted and neither known nor taken. */
  readonly left: number
}

const max_pages = 10_000
const max_listed = 1_000_000
const max_key = 4_096

/** In the order of the listing; from the first one that exceeds a limit, all are left. Throws `RowSourceError`, and the reason of the signal. */
export async function selectObjects(
  source: Pick<ObjectSource, 'listPage'>,
  request: ObjectQuery,
  signal: AbortSignal,
): Promise<ObjectSelection> {
  const { prefix, isWanted, known, max_objects, limits } = request
  const taken: StoredObject[] = []
  const present = new Set<string>()
  let [left, total] = [0, 0]
  for await (const object of listObjects(source, prefix, signal)) {
    if (!isWanted(object.key.slice(prefix.length))) continue
    const digest = digestOfObject(object)
    // A listing that changes meanwhile may name an object again.
    if (present.has(digest)) continue
    if (present.size === max_known_objects) throw new RowSourceError(`more than ${max_known_objects} objects ${narrow}`)
    present.add(digest)
    if (known.has(digest)) continue
    const isRoom = left === 0 && taken.length < max_objects && total + object.bytes <= limits.total_bytes
    if (!isRoom && taken.length > 0) {
      left++
      continue
    }
    requireSize(object, limits)
    taken.push(object)
    total += object.bytes
  }
  return { taken, present, left }
}

const narrow = 'match: name a narrower prefix or pattern'

async function* listObjects(
  source: Pick<ObjectSource, 'listPage'>,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<StoredObject> {
  let from: string | undefined
  let listed = 0
  for (let pages = 0; pages < max_pages && listed <= max_listed; pages++) {
    const { objects, next }: ObjectPage = await retryPassing(() => source.listPage(prefix, from, signal), signal)
    for (const object of objects) if (!isFolderMarker(object)) yield checkObject(object, prefix)
    if (next === undefined) return
    // A server that does not move on would be listed without end.
    if (next === from) throw new RowSourceError('the server repeats a page of its listing')
    from = next
    listed += objects.length
  }
  throw new RowSourceError(
    `the listing has more than ${max_listed} objects, or ${max_pages} pages: name a narrower prefix`,
  )
}

/** As consoles of stores make for an empty folder. */
function isFolderMarker({ key, bytes }: StoredObject): boolean {
  return bytes === 0 && key.endsWith('/')
}

/** What a server says of its objects goes into requests. */
function checkObject(object: StoredObject, prefix: string): StoredObject {
  const { key, bytes, version } = object
  const isSound = key.isWellFormed() && key.length <= max_key && /^[\x21-\x7e]{1,1024}$/.test(version)
  if (!isSound || !Number.isSafeInteger(bytes) || bytes < 0 || !key.startsWith(prefix))
    throw new RowSourceError(`the server lists an object that it cannot have: ${nameObject(key)}`)
  return object
}

function requireSize({ key, bytes }: StoredObject, limits: ObjectLimits): void {
  const most = Math.min(limits.bytes, limits.total_bytes)
  if (bytes > most)
    throw new RowSourceError(
      `the object ${nameObject(key)} has ${bytes} bytes, more than the ${most} that a task downloads`,
    )
}
