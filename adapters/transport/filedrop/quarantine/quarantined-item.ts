// One item of the quarantine as it lies there now: its reason and its files, with the digests that people sign.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import { peer as pinned } from '../../../../daemon/kernel/peer.ts'
import { readDropped } from '../checks/dropped-file.ts'
import { foldersOf } from '../layout.ts'
import { type MessageName, type Part, parseName, parts } from '../names.ts'
import type { Reason } from '../reasons.ts'
import { type ReasonFile, readReason } from './quarantine.ts'

export type QuarantinedFile = {
  /** In quarantine. */
  readonly name: string
  /** What it came under. */
  readonly was: string
  readonly bytes: number
  /** Absent for what is no plain file, and for one that is larger than any part of a message. */
  readonly sha384?: string
}

export type QuarantinedItem = Omit<ReasonFile, 'v' | 'files'> & { readonly files: readonly QuarantinedFile[] }

type Limits = { readonly max_body_bytes: number; readonly max_envelope_bytes: number }

/** Undefined when there is none. Both names may come from a caller: neither can lead out of the quarantine. */
export function quarantinedItem(root: string, peer: string, id: string, limits: Limits): QuarantinedItem | undefined {
  const folder = quarantineOf(root, peer, id)
  const read = folder === undefined ? undefined : readReason(join(folder, `${id}.reason.json`))
  if (folder === undefined || !read) return undefined
  const { v: _v, files, ...about } = read
  return { ...about, files: files.map((file) => fileNow(folder, file, limits)) }
}

function quarantineOf(root: string, peer: string, id: string): string | undefined {
  if (!pinned.shape.name.safeParse(peer).success || !/^\w[\w-]{0,255}$/.test(id)) return undefined
  return foldersOf(root, peer).quarantine
}

function fileNow(folder: string, { name, was }: ReasonFile['files'][number], limits: Limits): QuarantinedFile {
  const path = join(folder, name)
  const dropped = readDropped(path, Math.max(limits.max_body_bytes, limits.max_envelope_bytes))
  const bytes = fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  return { name, was, bytes, ...('bytes' in dropped ? { sha384: sha384(dropped.bytes) } : {}) }
}

/** The files of an item that was a message of two plain files, and the name it came under; undefined for any other. */
export type MessageAway = MessageName & { readonly reason: Reason; readonly paths: Readonly<Record<Part, string>> }

export function messageAway(root: string, peer: string, id: string): MessageAway | undefined {
  const folder = quarantineOf(root, peer, id)
  const read = folder === undefined ? undefined : readReason(join(folder, `${id}.reason.json`))
  const [body, env] = parts.map((part) => read?.files.find(({ was }) => parseName(was)?.part === part))
  const name = parseName(env?.was ?? '')
  if (folder === undefined || !read || !body || !env || !name || parseName(body.was)?.stem !== name.stem)
    return undefined
  const { stem, epoch, seq } = name
  return {
    stem,
    epoch,
    seq,
    reason: read.reason,
    paths: { body: join(folder, body.name), env: join(folder, env.name) },
  }
}

export function reasonPathOf(root: string, peer: string, id: string): string {
  return join(foldersOf(root, peer).quarantine, `${id}.reason.json`)
}
