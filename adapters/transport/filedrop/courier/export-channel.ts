// Copies ready messages to a medium. They leave `ready` only when they are durable there under a signed manifest.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { LabelPolicy } from '../../../../daemon/kernel/label/label.ts'
import type { Journal } from '../../../../daemon/kernel/messaging/journal.ts'
import type { StatementFormat } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import { type MessageName, parseMessageName, partFileName } from '../files/message-name.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import { type MessageBytes, mayLeave, type OutgoingLink, readOwnMessage } from '../sending/own-message.ts'
import { removeFromReady } from '../sending/publish-message.ts'
import type { FiledropSettings } from '../settings.ts'
import type { CourierProgress, CourierSteps } from './courier-steps.ts'
import { finishPickups } from './finish-pickups.ts'
import type { ManifestFile } from './manifest.ts'
import { type CourierManifest, folderName, manifest_file, max_folder_messages, sha384Hex } from './manifest.ts'

export type ChannelExportOptions = {
  /** This site's name. */
  readonly site: string
  readonly signatures: Signatures
  readonly formats: readonly StatementFormat[]
  readonly settings: FiledropSettings
  readonly label_policy: LabelPolicy
  readonly journal: Pick<Journal, 'get'>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly random: (bytes: number) => string
  readonly steps: CourierSteps
  readonly progress: CourierProgress
}

export type MediaExport = {
  readonly messages: number
  readonly bytes: number
  /** Names of the folders on the medium, in the order in which they were written. */
  readonly folders: readonly string[]
  /** Messages that stay in `ready`, and the reasons. */
  readonly left: readonly { readonly file: string; readonly why: string }[]
}

/**
 * In folders of at most a hundred messages, each whole and durable before its messages leave `ready`. A repeat goes on
 * where a crash ended it. Throws when the medium or the disk fails; what had not been removed is still in `ready`.
 */
export async function exportChannel(
  outgoing: OutgoingLink,
  media: string,
  options: ChannelExportOptions,
): Promise<MediaExport> {
  const { link } = outgoing
  clearExportDrafts(link, media, options)
  const finished = await finishPickups(link, media, options)
  const waiting = options.steps.site(() => listMessages(link.folders.ready))
  const made: ExportedFolder[] = []
  for (let at = 0; at < waiting.length; at += max_folder_messages) {
    const tick = (index: number) => options.progress(at + index + 1, waiting.length)
    made.push(await exportFolder(outgoing, media, waiting.slice(at, at + max_folder_messages), options, tick))
  }
  const held = made.flatMap((folder) => folder.files)
  return {
    messages: finished + held.length / 2,
    bytes: held.reduce((sum, { bytes }) => sum + bytes, 0),
    folders: made.flatMap(({ folder }) => folder ?? []),
    left: made.flatMap(({ left }) => left),
  }
}

/** `folder`: its name, unless it would have been empty. */
type ExportedFolder = {
  readonly folder?: string
  readonly files: readonly ManifestFile[]
  readonly left: MediaExport['left']
}

/** Also messages of which only one file is left: the other half of a crash. */
function listMessages(ready: string): MessageName[] {
  const found = new Map<string, MessageName>()
  for (const file of fs.readdirSync(ready)) {
    const name = parseMessageName(file)
    if (name) found.set(name.stem, { stem: name.stem, epoch: name.epoch, seq: name.seq })
  }
  return [...found.values()].sort((a, b) => (a.stem < b.stem ? -1 : 1))
}

async function exportFolder(
  outgoing: OutgoingLink,
  media: string,
  names: readonly MessageName[],
  options: ChannelExportOptions,
  tick: (index: number) => void,
): Promise<ExportedFolder> {
  const { steps, site, random } = options
  const { link } = outgoing
  const medium = random(8)
  const folder = folderName({ src: site, dst: link.peer, medium })
  const draft = join(media, `.${folder}.part`)
  const left: { file: string; why: string }[] = []
  const held: ManifestFile[] = []
  steps.medium(() => fs.mkdirSync(draft, { mode: 0o700 }))
  try {
    for (const [index, name] of names.entries()) {
      const bytes = await steps.site(() => readForExport(outgoing, name, options))
      if (typeof bytes === 'string') left.push({ file: name.stem, why: bytes })
      else held.push(...steps.medium(() => copyMessage(draft, name, bytes)))
      tick(index)
    }
    if (held.length === 0) return { files: held, left }
    const signed = await steps.site(() => signManifest(link, medium, held, options))
    steps.medium(() => finishFolder(draft, join(media, folder), signed))
  } finally {
    steps.medium(() => fs.rmSync(draft, { recursive: true, force: true }))
  }
  steps.site(() => removeFromReady(link.folders.ready, held))
  return { folder, files: held, left }
}

/** Reads only what this site signed under this number: the manifest must not vouch for files of another writer. */
async function readForExport(
  outgoing: OutgoingLink,
  { epoch, seq }: MessageName,
  options: ChannelExportOptions,
): Promise<MessageBytes | string> {
  const { folders, channel } = outgoing.link
  const read = await readOwnMessage(folders.ready, { epoch, seq }, undefined, outgoing, options)
  if (read !== 'lost') return typeof read === 'string' ? refusalTexts[read] : read
  const kept = await readOwnMessage(folders.sent, { epoch, seq }, undefined, outgoing, options)
  if (kept === 'label_denied') return refusalTexts[kept]
  if (typeof kept !== 'string') return kept
  const known = await options.journal.get(channel.out, epoch, seq)
  if (!known) return 'half of it is missing, here and in out/sent'
  return mayLeave(known.envelope, outgoing.peer, options) ? known : refusalTexts.label_denied
}

const refusalTexts = {
  damaged: 'it differs from what this site signed under this number',
  key_revoked: 'the key that signed it is revoked: no peer would accept it',
  label_denied: 'its label may not leave any more, as the peer is pinned now',
} as const

function copyMessage(draft: string, { stem }: MessageName, { body, envelope }: MessageBytes): ManifestFile[] {
  return [[partFileName(stem, 'body'), body] as const, [partFileName(stem, 'env'), envelope] as const].map(
    ([name, text]) => {
      const bytes = Buffer.from(text)
      writeNewFile(join(draft, name), bytes)
      return { name, bytes: bytes.length, sha384: sha384Hex(bytes) }
    },
  )
}

async function signManifest(
  link: FiledropLink,
  medium: string,
  held: readonly ManifestFile[],
  { site, signatures, now }: ChannelExportOptions,
): Promise<string> {
  const manifest: CourierManifest = {
    ...{ v: 1, type: 'platform.manifest', src: site, dst: link.peer, channel: link.channel.out },
    created: new Date(now()).toISOString(),
    medium,
    files: [...held],
  }
  return `${JSON.stringify(await signatures.sign('manifest', Buffer.from(canonicalJson(manifest))))}\n`
}

/** The manifest last, and the name by which the other site looks for the folder after that. */
function finishFolder(draft: string, folder: string, signed: string): void {
  syncFolder(draft)
  writeNewFile(join(draft, manifest_file), Buffer.from(signed))
  syncFolder(draft)
  fs.renameSync(draft, folder)
  syncFolder(join(folder, '..'))
}

function writeNewFile(path: string, bytes: Uint8Array): void {
  fs.writeFileSync(path, bytes, { flag: 'wx', mode: 0o600, flush: true })
}

/** Removes the remainder of an interrupted export to this medium; its messages are all still in `ready`. */
function clearExportDrafts(link: FiledropLink, media: string, { site, steps }: ChannelExportOptions): void {
  const start = `.${site}-to-${link.peer}-`
  steps.medium(() => {
    for (const name of fs.readdirSync(media)) {
      const isDraft = name.startsWith(start) && /^[0-9a-f]{16}\.part$/.test(name.slice(start.length))
      if (isDraft) fs.rmSync(join(media, name), { recursive: true, force: true })
    }
  })
}
