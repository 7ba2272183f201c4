// Datasets of peers on the disk of this machine: a folder for each set below that of its tenant, with a file for each part.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { safeFolderName } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import { syncFolderAsync } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import {
  type IncomingSet,
  type IncomingSets,
  incomingSet,
  type WaitingSet,
} from '../../../roles/ingest/landing-zone/incoming-sets.ts'
import { guardFolders, ignoreMissing, type ZoneSettings } from './open-zone-files.ts'
import { zoneFolders } from './zone-folders.ts'

/** Sets of a peer that wait at a time, and how often their parts may have the size of a file together: no peer fills the disk, or the place of others. */
const max_sets = 200
const max_files = 4
/** Space of the disk that parts leave to the rest of the site. */
const reserved_bytes = 268_435_456
const description_name = 'set.json'
const draft_name = '.whole'

type SetSettings = Pick<ZoneSettings, 'root' | 'max_file_bytes' | 'keep_ms'>

/** `delivered`: a file for each set that was; its folder is gone. */
type SetFolders = { readonly waiting: string; readonly delivered: string }

export function openIncomingSets(settings: SetSettings): IncomingSets {
  /** Bytes of the parts of sets that wait, by folder: thousands of files are not looked at again for each part. */
  const sizes = new Map<string, number>()
  // Parts come at the same time: each sees those before it.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(() => guardFolders(work))
    last = turn.catch(() => undefined)
    return turn
  }
  const foldersOf = (tenant_id: string): SetFolders => {
    const home = join(settings.root, safeFolderName(tenant_id))
    return { waiting: join(home, '.incoming'), delivered: join(home, '.delivered') }
  }
  return {
    take: (tenant_id, set, number, lines) =>
      inTurn(() => takePart(foldersOf(tenant_id), { set, number, lines }, { ...settings, sizes })),
    list: (tenant_id, peer) => guardFolders(() => listSets(foldersOf(tenant_id), peer)),
    deliver: (tenant_id, set, place) => {
      sizes.delete(join(foldersOf(tenant_id).waiting, folderName(set)))
      return guardFolders(() => deliverSet(foldersOf(tenant_id), set, zoneFolders(settings.root, place).new))
    },
    purge: (tenant_id) =>
      inTurn(async () => {
        sizes.clear()
        return await purgeSets(foldersOf(tenant_id), settings.keep_ms)
      }),
  }
}

function folderName({ peer, set_id }: Pick<IncomingSet, 'peer' | 'set_id'>): string {
  return `${peer}.${set_id}`
}

type IncomingPart = { readonly set: IncomingSet; readonly number: number; readonly lines: string }
type PartLimits = SetSettings & { readonly sizes: Map<string, number> }

async function takePart(folders: SetFolders, { set, number, lines }: IncomingPart, limits: PartLimits) {
  const folder = join(folders.waiting, folderName(set))
  if (await isThere(join(folders.delivered, folderName(set)))) return 'taken'
  const known = await readDescription(folder)
  if (known && canonicalJson(known) !== canonicalJson(set)) return 'differs'
  if (await isThere(join(folder, partFile(number)))) return 'taken'
  const added = Buffer.byteLength(lines)
  const bytes = (await sizeOf(folder, limits.sizes)) + added
  if (bytes > limits.max_file_bytes) return 'too_large'
  await checkRoom(folders.waiting, set.peer, { isNew: !known, added }, limits)
  if (!known) await beginSet(folders.waiting, folder, set)
  await writeDurablyAsync(join(folder, partFile(number)), lines, { mode: 0o600 })
  limits.sizes.set(folder, bytes)
  return 'taken'
}

/** Throws `Refusal('unavailable')`, so that the part waits in its channel. */
async function checkRoom(
  home: string,
  peer: string,
  { isNew, added }: { readonly isNew: boolean; readonly added: number },
  { max_file_bytes, sizes }: PartLimits,
): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(home)
  if (bavail * bsize < reserved_bytes + added)
    throw refuse('unavailable', 'the disk of the landing zones has no room for datasets of peers: free some space')
  const names = await listNames(home, peer)
  if (isNew && names.length >= max_sets)
    throw refuse('unavailable', `${max_sets} datasets of the peer ${peer} wait already: ${free_room}`)
  let bytes = added
  for (const name of names) bytes += await sizeOf(join(home, name), sizes)
  if (bytes > max_file_bytes * max_files)
    throw refuse('unavailable', `datasets of the peer ${peer} that wait have ${bytes} bytes: ${free_room}`)
}

const free_room = 'deploy pipelines that take them, or bring the messages that are missing'

async function beginSet(home: string, folder: string, set: IncomingSet): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeDurablyAsync(join(folder, description_name), `${JSON.stringify(set)}\n`, { mode: 0o600 })
  await syncFolderAsync(home)
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(ignoreMissing)) !== undefined
}

/** Of the folders of sets; no name of a peer has a dot. */
async function listNames(home: string, peer?: string): Promise<string[]> {
  const names = (await readdir(home).catch(ignoreMissing)) ?? []
  return peer === undefined ? names : names.filter((name) => name.startsWith(`${peer}.`))
}

function partFile(number: number): string {
  return `${number}.jsonl`
}

async function sizeOf(folder: string, known: Map<string, number>): Promise<number> {
  let bytes = known.get(folder)
  if (bytes !== undefined) return bytes
  bytes = 0
  for (const name of (await readdir(folder).catch(ignoreMissing)) ?? [])
    if (name.endsWith('.jsonl')) bytes += (await lstat(join(folder, name)).catch(ignoreMissing))?.size ?? 0
  known.set(folder, bytes)
  return bytes
}

/** Undefined for a set that has none, as a crash may leave it. */
async function readDescription(folder: string): Promise<IncomingSet | undefined> {
  const bytes = await readFile(join(folder, description_name)).catch(ignoreMissing)
  return bytes && parseJsonAs(incomingSet, bytes)
}

async function listSets({ waiting, delivered }: SetFolders, peer?: string): Promise<WaitingSet[]> {
  const sets: WaitingSet[] = []
  for (const name of await listNames(waiting, peer)) {
    const set = (await isThere(join(delivered, name))) ? undefined : await readWaiting(join(waiting, name))
    if (set) sets.push(set)
  }
  return sets.toSorted((one, other) => one.since_ms - other.since_ms)
}

async function readWaiting(folder: string): Promise<WaitingSet | undefined> {
  const set = await readDescription(folder)
  const stat = await lstat(join(folder, description_name)).catch(ignoreMissing)
  const names = (await readdir(folder).catch(ignoreMissing)) ?? []
  if (!set || !stat) return undefined
  const received = names.filter((name) => /^\d+\.jsonl$/.test(name)).length
  return { ...set, received, since_ms: Math.floor(stat.birthtimeMs || stat.ctimeMs) }
}

/** The parts stay until the file is in the zone, so that a crash at any point repeats this. */
async function deliverSet(
  { waiting, delivered }: SetFolders,
  set: IncomingSet,
  into: string,
): Promise<'delivered' | 'differs'> {
  const folder = join(waiting, folderName(set))
  const draft = join(folder, draft_name)
  const isWhole = await joinParts(folder, set, draft)
  if (isWhole) {
    await rename(draft, join(into, `${set.name}.${set.set_id}.jsonl`))
    await syncFolderAsync(into)
  }
  await mkdir(delivered, { recursive: true, mode: 0o700 })
  await writeDurablyAsync(join(delivered, folderName(set)), '', { mode: 0o600 })
  await rm(folder, { recursive: true, force: true })
  return isWhole ? 'delivered' : 'differs'
}

/** Whether rows and digest are those that the sender states. */
async function joinParts(folder: string, set: IncomingSet, draft: string): Promise<boolean> {
  const digest = createHash('sha256')
  let rows = 0
  const file = await open(draft, 'w', 0o600)
  try {
    for (let number = 1; number <= set.parts; number++)
      for await (const chunk of createReadStream(join(folder, partFile(number)))) {
        const bytes = chunk as Buffer
        digest.update(bytes)
        for (const byte of bytes) if (byte === 0x0a) rows += 1
        await file.writeFile(bytes)
      }
    await file.sync()
  } finally {
    await file.close()
  }
  return rows === set.total_rows && digest.digest('hex') === set.sha256
}

async function purgeSets({ waiting, delivered }: SetFolders, keep_ms: number): Promise<WaitingSet[]> {
  const expired: WaitingSet[] = []
  for (const name of await listNames(waiting)) {
    const folder = join(waiting, name)
    const isDelivered = await isThere(join(delivered, name))
    if (!isDelivered && !(await isOlder(folder, keep_ms))) continue
    const set = isDelivered ? undefined : await readWaiting(folder)
    if (set) expired.push(set)
    await rm(folder, { recursive: true, force: true })
  }
  for (const name of await listNames(delivered))
    if (await isOlder(join(delivered, name), keep_ms)) await rm(join(delivered, name), { force: true })
  return expired
}

async function isOlder(path: string, keep_ms: number): Promise<boolean> {
  const stat = await lstat(path).catch(ignoreMissing)
  return stat !== undefined && stat.mtimeMs <= Date.now() - keep_ms
}
