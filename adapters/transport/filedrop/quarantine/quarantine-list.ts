// Lists the items of quarantines by the files that lie there, also of peers that are not pinned any more.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { peer as pinned } from '../../../../daemon/kernel/identity/peer.ts'
import { foldersOf } from '../files/channel-folders.ts'
import { readReasonFile } from './quarantine-files.ts'
import { groupByItem, unexplained } from './quarantine-items.ts'

export type QuarantineListEntry = {
  /** `<peer>/<id>` */
  readonly id: string
  readonly peer: string
  /** The name that the first of its files came under. */
  readonly file: string
  readonly reason: string
  readonly detail: string
  readonly at: string
  /** SHA-384 of the statement, where one was verified. */
  readonly digest?: string
  readonly bytes: number
}

/** Names of all peers that have a channel folder, pinned or not. */
export function listQuarantinePeers(root: string): string[] {
  const names = fs.existsSync(root) ? fs.readdirSync(root) : []
  return names.filter((name) => quarantineOf(root, name) !== undefined)
}

/** The items of a peer, newest first. One whose reason file is missing or damaged is listed as unexplained. */
export function listQuarantine(root: string, peer: string, limit: number): QuarantineListEntry[] {
  const folder = quarantineOf(root, peer)
  if (folder === undefined) return []
  const entries = [...groupByItem(fs.readdirSync(folder))].map(([id, names]) => readListEntry(folder, peer, id, names))
  return entries.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, limit)
}

/** The name may come from a caller: one that no peer can have must not lead out of the channels. */
function quarantineOf(root: string, peer: string): string | undefined {
  if (!pinned.shape.name.safeParse(peer).success) return undefined
  const folder = foldersOf(root, peer).quarantine
  return fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined
}

function readListEntry(folder: string, peer: string, id: string, names: readonly string[]): QuarantineListEntry {
  const read = readReasonFile(join(folder, `${id}.reason.json`))
  const { reason, detail, at } = read ?? { ...unexplained, at: timeOf(folder, names) }
  const files = read?.files ?? names.map((name) => ({ was: name, bytes: sizeOf(join(folder, name)) }))
  return {
    id: `${peer}/${id}`,
    peer,
    file: files[0]?.was ?? '',
    reason,
    detail,
    at,
    ...(read?.statement_digest === undefined ? {} : { digest: read.statement_digest }),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Only shown, and for the order of the list. */
export function timeOf(folder: string, names: readonly string[]): string {
  const stat = fs.lstatSync(join(folder, names[0] ?? ''), { throwIfNoEntry: false })
  return new Date(stat?.mtimeMs ?? 0).toISOString()
}

function sizeOf(path: string): number {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
}
