// Datasets of peers on the disk of this machine: a folder for each set below that of its tenant, with a file for each part.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
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

/** Sets of a tenant at a time: a peer may send no end of them. */
const max_sets = 1_000
const description_name = 'set.json'
const delivered_name = 'delivered'
const draft_name = '.whole'

type SetSettings = Pick<ZoneSettings, 'root' | 'max_file_bytes' | 'keep_ms'>

export function openIncomingSets(settings: SetSettings): IncomingSets {
  /** Bytes of the parts of sets that were taken, by folder: thousands of files are not looked at again for each part. */
  const sizes = new Map<string, number>()
  const homeOf = (tenant_id: string) => join(settings.root, safeFolderName(tenant_id), '.incoming')
  const folderOf = (tenant_id: string, set: IncomingSet) => join(homeOf(tenant_id), `${set.peer}.${set.set_id}`)
  return {
    take: (tenant_id, set, number, lines) =>
      guardFolders(() =>
        takePart(homeOf(tenant_id), folderOf(tenant_id, set), { set, number, lines }, { ...settings, sizes }),
      ),
    list: (tenant_id) => guardFolders(() => listSets(homeOf(tenant_id))),
    deliver: (tenant_id, set, place) => {
      sizes.delete(folderOf(tenant_id, set))
      return guardFolders(() => deliverSet(folderOf(tenant_id, set), set, zoneFolders(settings.root, place).new))
    },
    purge: (tenant_id) => {
      sizes.clear()
      return guardFolders(() => purgeSets(homeOf(tenant_id), settings.keep_ms))
    },
  }
}

type IncomingPart = { readonly set: IncomingSet; readonly number: number; readonly lines: string }

async function takePart(
  home: string,
  folder: string,
  { set, number, lines }: IncomingPart,
  { max_file_bytes, sizes }: SetSettings & { readonly sizes: Map<string, number> },
) {
  const known = await readDescription(folder)
  if (known && canonicalJson(known) !== canonicalJson(set)) return 'differs'
  if (!known) await beginSet(home, folder, set)
  for (const name of [delivered_name, partFile(number)])
    if (await lstat(join(folder, name)).catch(ignoreMissing)) return 'taken'
  const bytes = (sizes.get(folder) ?? (await sizeOf(folder))) + Buffer.byteLength(lines)
  if (bytes > max_file_bytes) return 'too_large'
  await writeDurablyAsync(join(folder, partFile(number)), lines, { mode: 0o600 })
  sizes.set(folder, bytes)
  return 'taken'
}

async function beginSet(home: string, folder: string, set: IncomingSet): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  if ((await readdir(home)).length >= max_sets)
    throw refuse('unavailable', `${max_sets} datasets of peers wait already: deploy pipelines that take them`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeDurablyAsync(join(folder, description_name), `${JSON.stringify(set)}\n`, { mode: 0o600 })
  await syncFolderAsync(home)
}

function partFile(number: number): string {
  return `${number}.jsonl`
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder)) if (name.endsWith('.jsonl')) bytes += (await lstat(join(folder, name))).size
  return bytes
}

/** Undefined for a set that has none, as a crash may leave it. */
async function readDescription(folder: string): Promise<IncomingSet | undefined> {
  const bytes = await readFile(join(folder, description_name)).catch(ignoreMissing)
  return bytes && parseJsonAs(incomingSet, bytes)
}

async function listSets(home: string): Promise<WaitingSet[]> {
  const names = (await readdir(home).catch(ignoreMissing)) ?? []
  const sets: WaitingSet[] = []
  for (const name of names.slice(0, max_sets)) {
    const set = await readWaiting(join(home, name))
    if (set) sets.push(set)
  }
  return sets.toSorted((one, other) => one.since_ms - other.since_ms)
}

async function readWaiting(folder: string): Promise<WaitingSet | undefined> {
  const set = await readDescription(folder)
  const names = (await readdir(folder).catch(ignoreMissing)) ?? []
  if (!set || names.includes(delivered_name)) return undefined
  const received = names.filter((name) => /^\d+\.jsonl$/.test(name)).length
  const { birthtimeMs, ctimeMs } = await lstat(join(folder, description_name))
  return { ...set, received, since_ms: Math.floor(birthtimeMs || ctimeMs) }
}

/** The parts stay until the file is in the zone, so that a crash at any point repeats this. */
async function deliverSet(folder: string, set: IncomingSet, into: string): Promise<'delivered' | 'differs'> {
  const draft = join(folder, draft_name)
  const isWhole = await joinParts(folder, set, draft)
  if (isWhole) {
    await rename(draft, join(into, `${set.name}.${set.set_id.slice(0, 16)}.jsonl`))
    await syncFolderAsync(into)
  } else await rm(draft, { force: true })
  await writeDurablyAsync(join(folder, delivered_name), '', { mode: 0o600 })
  for (let number = 1; number <= set.parts; number++) await rm(join(folder, partFile(number)), { force: true })
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

async function purgeSets(home: string, keep_ms: number): Promise<WaitingSet[]> {
  const names = (await readdir(home).catch(ignoreMissing)) ?? []
  const expired: WaitingSet[] = []
  for (const name of names) {
    const folder = join(home, name)
    const stat = await lstat(folder).catch(ignoreMissing)
    if (!stat || stat.mtimeMs > Date.now() - keep_ms) continue
    const set = await readWaiting(folder)
    if (set) expired.push(set)
    await rm(folder, { recursive: true, force: true })
  }
  return expired
}
