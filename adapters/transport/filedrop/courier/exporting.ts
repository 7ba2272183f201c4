// Copies what waits for a carrier to a medium: there it is durable, and signed for, before anything leaves `ready`.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { canonical } from '../../../../daemon/kernel/canonical.ts'
import type { Journal } from '../../../../daemon/kernel/journal.ts'
import type { Signatures } from '../../../../daemon/kernel/keys.ts'
import type { LabelPolicy } from '../../../../daemon/kernel/label.ts'
import type { StatementFormat } from '../../../../daemon/kernel/statement-format.ts'
import type { Line } from '../line.ts'
import { fileOf, type MessageName, parseName } from '../names.ts'
import { syncFolder } from '../own-file.ts'
import { type Bytes, mayLeave, ownMessage, type Towards } from '../sending/own-message.ts'
import type { FiledropSettings } from '../settings.ts'
import type { Hands, Progress } from './hands.ts'
import { digestOf, folderName, type Manifest, manifest_file, most_messages } from './manifest.ts'
import { finishPickUps, type Held, removeFrom } from './picked-up.ts'

export type Exporting = {
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
  readonly hands: Hands
  readonly progress: Progress
}

export type Exported = {
  readonly messages: number
  readonly bytes: number
  /** Names of the folders on the medium, in the order in which they were written. */
  readonly folders: readonly string[]
  /** What stays in `ready`, and why. */
  readonly left: readonly { readonly file: string; readonly why: string }[]
}

/**
 * In folders of at most a hundred messages, each whole and durable before its messages leave `ready`. A repeat goes on
 * where a crash ended it. Throws when the medium or the disk fails; what had not been removed is still in `ready`.
 */
export async function exportChannel(towards: Towards, media: string, given: Exporting): Promise<Exported> {
  const { line } = towards
  clearDrafts(line, media, given)
  const finished = await finishPickUps(line, media, given)
  const waiting = given.hands.site(() => stemsIn(line.folders.ready))
  const made: Folder[] = []
  for (let at = 0; at < waiting.length; at += most_messages) {
    const tick = (index: number) => given.progress(at + index + 1, waiting.length)
    made.push(await exportFolder(towards, media, waiting.slice(at, at + most_messages), given, tick))
  }
  const held = made.flatMap((folder) => folder.held)
  return {
    messages: finished + held.length / 2,
    bytes: held.reduce((sum, { bytes }) => sum + bytes, 0),
    folders: made.flatMap(({ folder }) => folder ?? []),
    left: made.flatMap(({ left }) => left),
  }
}

/** `folder`: its name, unless it would have been empty. */
type Folder = { readonly folder?: string; readonly held: readonly Held[]; readonly left: Exported['left'] }

/** Also messages of which only one file is left: the other half of a crash. */
function stemsIn(ready: string): MessageName[] {
  const found = new Map<string, MessageName>()
  for (const file of fs.readdirSync(ready)) {
    const name = parseName(file)
    if (name) found.set(name.stem, { stem: name.stem, epoch: name.epoch, seq: name.seq })
  }
  return [...found.values()].sort((a, b) => (a.stem < b.stem ? -1 : 1))
}

async function exportFolder(
  towards: Towards,
  media: string,
  names: readonly MessageName[],
  given: Exporting,
  tick: (index: number) => void,
): Promise<Folder> {
  const { hands, site, random } = given
  const { line } = towards
  const medium = random(8)
  const folder = folderName({ src: site, dst: line.peer, medium })
  const draft = join(media, `.${folder}.part`)
  const left: { file: string; why: string }[] = []
  const held: Held[] = []
  hands.medium(() => fs.mkdirSync(draft, { mode: 0o700 }))
  try {
    for (const [index, name] of names.entries()) {
      const bytes = await hands.site(() => bytesOf(towards, name, given))
      if (typeof bytes === 'string') left.push({ file: name.stem, why: bytes })
      else held.push(...hands.medium(() => copied(draft, name, bytes)))
      tick(index)
    }
    if (held.length === 0) return { held, left }
    const signed = await hands.site(() => signedManifest(line, medium, held, given))
    hands.medium(() => finish(draft, join(media, folder), signed))
  } finally {
    hands.medium(() => fs.rmSync(draft, { recursive: true, force: true }))
  }
  hands.site(() => removeFrom(line.folders.ready, held))
  return { folder, held, left }
}

/** Only what this site signed under this number: the manifest is not to vouch for what somebody else put there. */
async function bytesOf(towards: Towards, { epoch, seq }: MessageName, given: Exporting): Promise<Bytes | string> {
  const { folders, channel } = towards.line
  const read = await ownMessage(folders.ready, { epoch, seq }, undefined, towards, given)
  if (read !== 'lost') return typeof read === 'string' ? left_because[read] : read
  const kept = await ownMessage(folders.sent, { epoch, seq }, undefined, towards, given)
  if (kept === 'label_denied') return left_because[kept]
  if (typeof kept !== 'string') return kept
  const known = await given.journal.get(channel.out, epoch, seq)
  if (!known) return 'half of it is missing, here and in out/sent'
  return mayLeave(known.envelope, towards.peer, given) ? known : left_because.label_denied
}

const left_because = {
  damaged: 'it is not what this site signed under this number',
  key_revoked: 'the key that signed it is revoked: no peer would take it',
  label_denied: 'its label may not leave any more, as the peer is pinned now',
} as const

function copied(draft: string, { stem }: MessageName, { body, envelope }: Bytes): Held[] {
  return [[fileOf(stem, 'body'), body] as const, [fileOf(stem, 'env'), envelope] as const].map(([name, text]) => {
    const bytes = Buffer.from(text)
    writeNew(join(draft, name), bytes)
    return { name, bytes: bytes.length, sha384: digestOf(bytes) }
  })
}

async function signedManifest(
  line: Line,
  medium: string,
  held: readonly Held[],
  { site, signatures, now }: Exporting,
): Promise<string> {
  const said: Manifest = {
    ...{ v: 1, type: 'platform.manifest', src: site, dst: line.peer, channel: line.channel.out },
    created: new Date(now()).toISOString(),
    medium,
    files: [...held],
  }
  return `${JSON.stringify(await signatures.sign('manifest', Buffer.from(canonical(said))))}\n`
}

/** The manifest last, and the name by which the other site looks for the folder after that. */
function finish(draft: string, folder: string, signed: string): void {
  syncFolder(draft)
  writeNew(join(draft, manifest_file), Buffer.from(signed))
  syncFolder(draft)
  fs.renameSync(draft, folder)
  syncFolder(join(folder, '..'))
}

function writeNew(path: string, bytes: Uint8Array): void {
  const file = fs.openSync(path, 'wx', 0o600)
  try {
    fs.writeFileSync(file, bytes)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
}

/** What an export to this medium left when it was cut short; its messages are all still in `ready`. */
function clearDrafts(line: Line, media: string, { site, hands }: Exporting): void {
  const start = `.${site}-to-${line.peer}-`
  hands.medium(() => {
    for (const name of fs.readdirSync(media)) {
      const isDraft = name.startsWith(start) && /^[0-9a-f]{16}\.part$/.test(name.slice(start.length))
      if (isDraft) fs.rmSync(join(media, name), { recursive: true, force: true })
    }
  })
}
