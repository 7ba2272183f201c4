// Reads one item of the quarantine: its reason, its files, and the digests that approvers sign.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { peer as pinned } from '../../../../daemon/kernel/identity/peer.ts'
import { foldersOf } from '../files/channel-folders.ts'
import { readDroppedFile, releaseBytes } from '../files/dropped-file.ts'
import { type MessageName, type MessagePart, messageParts, parseMessageName } from '../files/message-name.ts'
import type { QuarantineReason } from '../quarantine-reasons.ts'
import { type ReasonFile, readReasonFile } from './quarantine-files.ts'
import { groupByItem, isItemId, unexplained } from './quarantine-items.ts'
import { timeOf } from './quarantine-list.ts'

export type QuarantinedFile = {
  /** In quarantine. */
  readonly name: string
  /** Its former name. */
  readonly was: string
  readonly bytes: number
  /** Absent for an entry that is not a regular file, and for one that is larger than any part of a message. */
  readonly sha384?: string
}

export type QuarantinedItem = Omit<ReasonFile, 'v' | 'files' | 'reason'> & {
  readonly reason: QuarantineReason | typeof unexplained.reason
  readonly files: readonly QuarantinedFile[]
}

type QuarantineReadLimits = { readonly max_body_bytes: number; readonly max_envelope_bytes: number }

/** Undefined when there is none. Both names may come from a caller: neither can lead out of the quarantine. */
export function readQuarantinedItem(
  root: string,
  peer: string,
  id: string,
  limits: QuarantineReadLimits,
): QuarantinedItem | undefined {
  if (!pinned.shape.name.safeParse(peer).success || !isItemId(id)) return undefined
  const folder = foldersOf(root, peer).quarantine
  const read = readReasonFile(reasonFilePath(folder, id))
  if (read) {
    const { v: _v, files, ...about } = read
    return { ...about, files: files.map((file) => readCurrentFile(folder, file, limits)) }
  }
  const names = groupByItem(fs.existsSync(folder) ? fs.readdirSync(folder) : []).get(id)
  if (!names) return undefined
  const files = names.map((name) => readCurrentFile(folder, { name, was: name }, limits))
  return { ...unexplained, at: timeOf(folder, names), peer, channel: '', files }
}

function readCurrentFile(
  folder: string,
  { name, was }: Pick<ReasonFile['files'][number], 'name' | 'was'>,
  limits: QuarantineReadLimits,
): QuarantinedFile {
  const path = join(folder, name)
  const dropped = readDroppedFile(path, Math.max(limits.max_body_bytes, limits.max_envelope_bytes))
  const bytes = fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  const digest = 'bytes' in dropped ? { sha384: sha384(dropped.bytes) } : {}
  releaseBytes(dropped)
  return { name, was, bytes, ...digest }
}

/** The files of an item that was a message of two plain files, and the name it came under; undefined for any other. */
export type QuarantinedMessage = MessageName & {
  readonly reason: QuarantineReason
  readonly paths: Readonly<Record<MessagePart, string>>
}

/** `folder`: the quarantine, which no `id` of a caller leads out of. */
export function readQuarantinedMessage(folder: string, id: string): QuarantinedMessage | undefined {
  const read = isItemId(id) ? readReasonFile(reasonFilePath(folder, id)) : undefined
  const [body, env] = messageParts.map((part) => read?.files.find(({ was }) => parseMessageName(was)?.part === part))
  const name = parseMessageName(env?.was ?? '')
  if (!read || !body || !env || !name || parseMessageName(body.was)?.stem !== name.stem) return undefined
  const { stem, epoch, seq } = name
  return {
    stem,
    epoch,
    seq,
    reason: read.reason,
    paths: { body: join(folder, body.name), env: join(folder, env.name) },
  }
}

export function reasonFilePath(folder: string, id: string): string {
  return join(folder, `${id}.reason.json`)
}
