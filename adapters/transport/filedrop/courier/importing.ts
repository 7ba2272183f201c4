// Takes messages from a courier's medium, which may hold anything: only what a pinned site signed for, and only whole messages.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { isRefused } from '../../../../daemon/kernel/errors.ts'
import type { Signatures } from '../../../../daemon/kernel/keys.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { readDropped } from '../checks/dropped-file.ts'
import { type Folders, folderFault } from '../layout.ts'
import { type Part, parseName, parts } from '../names.ts'
import { syncFolder } from '../own-file.ts'
import { placeFile } from '../sending/publishing.ts'
import type { FiledropSettings } from '../settings.ts'
import type { Hands, Progress } from './hands.ts'
import {
  digestOf,
  folderName,
  isFolderName,
  type Manifest,
  type ManifestRead,
  manifest_file,
  readManifest,
} from './manifest.ts'

export type Importing = {
  readonly site: string
  /** As it may be used now; undefined when it is not pinned. Throws `Refused` for one that may not. */
  readonly peer: (name: string) => Promise<Peer | undefined>
  readonly folders: (peer: string) => Folders
  readonly signatures: Pick<Signatures, 'verify'>
  readonly settings: Pick<FiledropSettings, 'max_envelope_bytes' | 'max_body_bytes'>
  readonly random: (bytes: number) => string
  readonly hands: Hands
  readonly progress: Progress
}

export type Imported = {
  readonly messages: number
  /** By the peer that sent them. */
  readonly by_peer: Readonly<Record<string, number>>
  /** Folders that were taken from. */
  readonly folders: readonly string[]
  /** Folders that are for another site, by their own word. */
  readonly for_others: number
  readonly faults: readonly { readonly file: string; readonly why: string }[]
}

/** A medium with more names is not gone through: no courier carries so many. */
const most_names = 100_000

/**
 * `media`: a medium, or one folder of it. Nothing on it is changed, and nothing of it is believed that the manifest of
 * a pinned site does not say. What is missing or damaged is told, and the other messages come in.
 */
export async function importMedia(media: string, given: Importing): Promise<Imported> {
  const found = await lookThrough(media, given)
  const all = found.sound.reduce((sum, { manifest }) => sum + manifest.files.length, 0)
  const by_peer: Record<string, number> = {}
  const faults = [...found.faults]
  let before = 0
  for (const { folder, at, manifest } of found.sound) {
    const first = before
    const taken = await takeFolder(at, folder, manifest, given, (files) => given.progress(first + files, all))
    before += manifest.files.length
    by_peer[manifest.src] = (by_peer[manifest.src] ?? 0) + taken.messages
    faults.push(...taken.faults)
  }
  const messages = Object.values(by_peer).reduce((sum, count) => sum + count, 0)
  const folders = found.sound.map(({ folder }) => folder)
  return { messages, by_peer, folders, for_others: found.for_others, faults }
}

type Sound = { readonly folder: string; readonly at: string; readonly manifest: Manifest }
type Fault = Imported['faults'][number]
type LookedThrough = { sound: Sound[]; faults: Fault[]; for_others: number }

async function lookThrough(media: string, given: Importing): Promise<LookedThrough> {
  const found: LookedThrough = { sound: [], faults: [], for_others: 0 }
  const isFolder = given.hands.medium(() =>
    fs.lstatSync(join(media, manifest_file), { throwIfNoEntry: false })?.isFile(),
  )
  const names = isFolder ? [''] : given.hands.medium(() => namesOn(media))
  if (names.length > most_names) throw new Error(`${media} holds more than ${most_names} names`)
  for (const name of names.filter((each) => each === '' || isFolderName(each)).sort()) {
    const folder = name || '.'
    const read = await readFolder(join(media, name), given)
    if (read.is === 'for_another') found.for_others += 1
    else if (read.is === 'absent') found.faults.push({ file: folder, why: `it has no ${manifest_file}` })
    else if (read.is === 'fault') found.faults.push({ file: folder, why: read.detail })
    else if (name !== '' && folderName(read.manifest) !== name)
      found.faults.push({ file: folder, why: 'it is not named after its manifest' })
    else found.sound.push({ folder, at: join(media, name), manifest: read.manifest })
  }
  return found
}

/** Read name by name, so that a folder without an end has one here. */
function namesOn(media: string): string[] {
  const names: string[] = []
  const folder = fs.opendirSync(media)
  try {
    for (let entry = folder.readSync(); entry && names.length <= most_names; entry = folder.readSync()) {
      names.push(entry.name)
    }
  } finally {
    folder.closeSync()
  }
  return names
}

async function readFolder(at: string, given: Importing): Promise<ManifestRead> {
  const { hands, site, signatures } = given
  const isFolder = hands.medium(() => fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory())
  if (!isFolder) return { is: 'fault', detail: 'it is no folder' }
  const peer = (name: string) => hands.site(() => given.peer(name))
  try {
    return await hands.medium(() => readManifest(join(at, manifest_file), { site, signatures, peer }))
  } catch (error) {
    if (isRefused(error)) return { is: 'fault', detail: error.message }
    throw error
  }
}

async function takeFolder(
  at: string,
  folder: string,
  manifest: Manifest,
  given: Importing,
  tick: (files: number) => void,
): Promise<{ messages: number; faults: Fault[] }> {
  const { hands, site } = given
  const folders = given.folders(manifest.src)
  const closed = hands.site(() => folderFault(folders, site, manifest.src))
  if (closed !== undefined) return { messages: 0, faults: [{ file: folder, why: closed }] }
  const faults: Fault[] = []
  let messages = 0
  let seen = 0
  for (const files of messagesIn(manifest)) {
    const why = await takeMessage(at, files, folders, given)
    if (why.length === 0) messages += 1
    faults.push(...why.map((each) => ({ ...each, file: `${folder}/${each.file}` })))
    seen += files.length
    tick(seen)
  }
  hands.site(() => syncFolder(folders.fresh))
  return { messages, faults }
}

type File = Manifest['files'][number]

/** The files of each message together, in the order of their numbers. */
function messagesIn({ files }: Manifest): File[][] {
  const found = new Map<string, File[]>()
  for (const file of [...files].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const stem = parseName(file.name)?.stem ?? ''
    found.set(stem, [...(found.get(stem) ?? []), file])
  }
  return [...found.values()]
}

/** Both parts or none: half a message would end in quarantine. The body first, as every carrier does. */
async function takeMessage(at: string, files: readonly File[], folders: Folders, given: Importing): Promise<Fault[]> {
  const { hands } = given
  if (files.length !== parts.length) {
    return files.map(({ name }) => ({ file: name, why: 'the manifest names only this half of its message' }))
  }
  const read = files.map((file) => ({ file, got: hands.medium(() => bytesOf(at, file, given)) }))
  const bad = read.flatMap(({ file, got }) => (typeof got === 'string' ? [{ file: file.name, why: got }] : []))
  if (bad.length > 0) return bad
  for (const { file, got } of read) {
    const draft = join(folders.tmp, `import-${given.random(8)}`)
    const placed = await hands.site(() => placeFile(draft, join(folders.fresh, file.name), got as Buffer))
    if (placed === 'different') return [{ file: file.name, why: 'in/new holds other bytes under this name' }]
  }
  return []
}

/** What is wrong with it, as text. */
function bytesOf(at: string, { name, bytes, sha384 }: File, { settings }: Importing): Buffer | string {
  const caps: Readonly<Record<Part, number>> = { env: settings.max_envelope_bytes, body: settings.max_body_bytes }
  const part = parseName(name)?.part ?? 'env'
  if (bytes > caps[part]) return `it has more than ${caps[part]} bytes`
  const file = readDropped(join(at, name), bytes)
  if ('gone' in file) return 'it is missing'
  if ('fault' in file) return `${file.fault.reason}: ${file.fault.detail}`
  return file.bytes.length === bytes && digestOf(file.bytes) === sha384
    ? file.bytes
    : 'not the bytes that were signed for'
}
