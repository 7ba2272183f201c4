// Imports messages from an untrusted medium: only complete messages that a pinned site signed for.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import { type ChannelFolders, folderFault } from '../files/channel-folders.ts'
import { isTemporaryName } from '../files/message-name.ts'
import { pinnedFolders } from '../files/pinned-folders.ts'
import { placeFile } from '../files/place-file.ts'
import type { FiledropSettings } from '../settings.ts'
import type { CourierProgress, CourierSteps } from './courier-steps.ts'
import { groupMessages, readListedMessage } from './listed-messages.ts'
import {
  type CourierManifest,
  folderName,
  isFolderName,
  type ManifestFile,
  type ManifestReadResult,
  manifest_file,
  readManifest,
} from './manifest.ts'

export type MediaImportOptions = {
  readonly site: string
  /** The pinned peer; undefined when it is not pinned. Throws `Refusal` for a peer that may not be used now. */
  readonly peer: (name: string) => Promise<Peer | undefined>
  readonly folders: (peer: string) => ChannelFolders
  readonly signatures: Pick<Signatures, 'verify'>
  readonly settings: Pick<FiledropSettings, 'max_envelope_bytes' | 'max_body_bytes'>
  readonly random: (bytes: number) => string
  readonly steps: CourierSteps
  readonly progress: CourierProgress
}

export type MediaImport = {
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
const max_names = 100_000

/**
 * `media`: a medium, or one folder of it. Nothing on it is changed, and only files in the manifest of a pinned site are
 * trusted. Missing or damaged files are reported, and the other messages are imported.
 */
export async function importMedia(media: string, options: MediaImportOptions): Promise<MediaImport> {
  const found = await surveyMedia(media, options)
  const all = found.sound.reduce((sum, { manifest }) => sum + manifest.files.length, 0)
  const by_peer: Record<string, number> = {}
  const faults = [...found.faults]
  let before = 0
  for (const { folder, at, manifest } of found.sound) {
    const first = before
    const taken = await importFolder(at, folder, manifest, options, (files) => options.progress(first + files, all))
    before += manifest.files.length
    by_peer[manifest.src] = (by_peer[manifest.src] ?? 0) + taken.messages
    faults.push(...taken.faults)
  }
  const messages = Object.values(by_peer).reduce((sum, count) => sum + count, 0)
  const folders = found.sound.map(({ folder }) => folder)
  return { messages, by_peer, folders, for_others: found.for_others, faults }
}

type VerifiedFolder = { readonly folder: string; readonly at: string; readonly manifest: CourierManifest }
type MediaImportFault = MediaImport['faults'][number]
type MediaSurvey = { sound: VerifiedFolder[]; faults: MediaImportFault[]; for_others: number }

async function surveyMedia(media: string, options: MediaImportOptions): Promise<MediaSurvey> {
  const found: MediaSurvey = { sound: [], faults: [], for_others: 0 }
  const isFolder = options.steps.medium(() =>
    fs.lstatSync(join(media, manifest_file), { throwIfNoEntry: false })?.isFile(),
  )
  const names = isFolder ? [''] : options.steps.medium(() => listNames(media))
  if (names.length > max_names) throw new Error(`${media} holds more than ${max_names} names`)
  const hasManifest = (name: string) =>
    options.steps.medium(
      () =>
        fs.lstatSync(join(media, name), { throwIfNoEntry: false })?.isDirectory() &&
        fs.lstatSync(join(media, name, manifest_file), { throwIfNoEntry: false }) !== undefined,
    )
  for (const name of names
    .filter((each) => each === '' || isFolderName(each) || (!isTemporaryName(each) && hasManifest(each)))
    .sort()) {
    const folder = name || '.'
    const read = await readFolderManifest(join(media, name), options)
    if (read.is === 'for_another') found.for_others += 1
    else if (read.is === 'absent') found.faults.push({ file: folder, why: `it has no ${manifest_file}` })
    else if (read.is === 'fault') found.faults.push({ file: folder, why: read.detail })
    else if (name !== '' && folderName(read.manifest) !== name)
      found.faults.push({
        file: folder,
        why: `it is not named after its manifest: rename it to ${folderName(read.manifest)}`,
      })
    else found.sound.push({ folder, at: join(media, name), manifest: read.manifest })
  }
  return found
}

/** Read name by name, so that a folder without an end has one here. */
function listNames(media: string): string[] {
  const names: string[] = []
  const folder = fs.opendirSync(media)
  try {
    for (let entry = folder.readSync(); entry && names.length <= max_names; entry = folder.readSync()) {
      names.push(entry.name)
    }
  } finally {
    folder.closeSync()
  }
  return names
}

async function readFolderManifest(at: string, options: MediaImportOptions): Promise<ManifestReadResult> {
  const { steps, site, signatures } = options
  const isFolder = steps.medium(() => fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory())
  if (!isFolder) return { is: 'fault', detail: 'it is not a folder' }
  const peer = (name: string) => steps.site(() => options.peer(name))
  try {
    return await steps.medium(() => readManifest(join(at, manifest_file), { site, signatures, peer }))
  } catch (error) {
    if (isRefusal(error)) return { is: 'fault', detail: error.message }
    throw error
  }
}

async function importFolder(
  at: string,
  folder: string,
  manifest: CourierManifest,
  options: MediaImportOptions,
  tick: (files: number) => void,
): Promise<{ messages: number; faults: MediaImportFault[] }> {
  const { steps, site } = options
  const paths = options.folders(manifest.src)
  const { folders, fault, close } = pinnedFolders(paths)
  try {
    const closed = steps.site(() => folderFault(paths, site, manifest.src) ?? fault())
    if (closed !== undefined) return { messages: 0, faults: [{ file: folder, why: closed }] }
    return await importMessages(at, folder, manifest, folders, options, tick)
  } finally {
    close()
  }
}

async function importMessages(
  at: string,
  folder: string,
  manifest: CourierManifest,
  folders: ChannelFolders,
  options: MediaImportOptions,
  tick: (files: number) => void,
): Promise<{ messages: number; faults: MediaImportFault[] }> {
  const faults: MediaImportFault[] = []
  let messages = 0
  let seen = 0
  for (const files of groupMessages(manifest)) {
    const why = await importMessage(at, files, folders, options)
    if (why.length === 0) messages += 1
    faults.push(...why.map((each) => ({ ...each, file: `${folder}/${each.file}` })))
    seen += files.length
    tick(seen)
  }
  options.steps.site(() => syncFolder(folders.fresh))
  return { messages, faults }
}

/** Both parts or none: half a message would end in quarantine. The body first, as every carrier does. */
async function importMessage(
  at: string,
  files: readonly ManifestFile[],
  folders: ChannelFolders,
  options: MediaImportOptions,
): Promise<readonly MediaImportFault[]> {
  const { steps } = options
  const read = steps.medium(() => readListedMessage(at, files, options.settings))
  for (const { name, bytes } of read.files) {
    const draft = join(folders.tmp, `import-${options.random(8)}`)
    const placed = await steps.site(() => placeFile(draft, join(folders.fresh, name), bytes))
    if (placed === 'different') return [{ file: name, why: 'in/new holds other bytes under this name' }]
  }
  return read.faults
}
