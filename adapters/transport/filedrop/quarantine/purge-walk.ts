// Searches every folder of every channel for the bytes of a body under any name, and removes them.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import { peer as pinned } from '../../../../daemon/kernel/identity/peer.ts'
import type { PurgeFinds } from '../../../../daemon/kernel/messaging/purge-records.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import { parseMessageJson } from '../checks/message-json.ts'
import { type ChannelFolderName, channelFolderPaths } from '../files/channel-folders.ts'
import { readDroppedFile } from '../files/dropped-file.ts'
import { parseMessageName } from '../files/message-name.ts'
import { descriptorPath, openFolder } from '../files/pinned-folders.ts'

/** In the order in which messages move, so that none slips past: what goes back to `work` meets the intake again. */
const searchOrder: readonly ChannelFolderName[] = ['fresh', 'work', 'done', 'quarantine', 'sent', 'tmp', 'ready']

export type PurgeMatch = {
  readonly peer: string
  readonly place: ChannelFolderName
  readonly folder: string
  readonly file: string
  /** Names elsewhere that lead to the same bytes. */
  readonly other_names: number
}

type SearchPlace = { readonly peer: string; readonly place: ChannelFolderName; readonly folder: string }

/**
 * Every folder of every channel, each open while it is searched, so that nothing behind a link is removed. Channels of peers
 * that are not pinned any more are searched as well. Throws `Refusal('unavailable')` for a folder that cannot be searched.
 */
function* openPlaces(root: string): Generator<SearchPlace> {
  const names = fs.existsSync(root) ? fs.readdirSync(root) : []
  for (const peer of names.filter((name) => pinned.shape.name.safeParse(name).success)) {
    for (const place of searchOrder) {
      const path = channelFolderPaths[place]
      const opened = openFolder(join(root, peer), path)
      if (opened === 'ENOENT') continue
      if (typeof opened === 'string')
        throw refuse(
          'unavailable',
          `the folder ${path} of ${peer} cannot be searched (${opened}): put it back, and repeat`,
        )
      try {
        yield { peer, place, folder: descriptorPath(opened.descriptor) }
      } finally {
        fs.closeSync(opened.descriptor)
      }
    }
  }
}

/** SHA-384 of the bodies that statements of this digest were signed for. */
export async function findBodies(root: string, statement: string, max_envelope_bytes: number): Promise<Set<string>> {
  const bodies = new Set<string>()
  for (const { folder } of openPlaces(root)) {
    for await (const name of listFiles(folder)) {
      if (!name.endsWith('.env.json')) continue
      const claim = readClaim(join(folder, name), max_envelope_bytes)
      if (claim?.digest === statement && claim.body !== undefined) bodies.add(claim.body)
    }
  }
  return bodies
}

/** Files with one of these digests. */
export async function* findFiles(root: string, digests: ReadonlySet<string>): AsyncGenerator<PurgeMatch> {
  for (const { peer, place, folder } of openPlaces(root)) {
    for await (const file of listFiles(folder)) {
      const seen = await digestFile(join(folder, file))
      if (seen && digests.has(seen.digest)) yield { peer, place, folder, file, other_names: seen.links - 1 }
    }
  }
}

/** Lets the rest of the process go on between some and the next. */
async function* listFiles(folder: string): AsyncGenerator<string> {
  for (const [index, name] of (await fs.promises.readdir(folder)).entries()) {
    if (index % names_per_turn === 0) await setImmediate()
    yield name
  }
}

const names_per_turn = 64

/** Undefined for an entry that is gone or is not a regular file. */
async function digestFile(path: string): Promise<{ digest: string; links: number } | undefined> {
  if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  let file: fs.promises.FileHandle
  try {
    file = await fs.promises.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const hash = createHash('sha384')
    for await (const part of file.createReadStream({ autoClose: false })) hash.update(part as Buffer)
    return { digest: hash.digest('hex'), links: (await file.stat()).nlink }
  } finally {
    await file.close()
  }
}

type StatementClaim = {
  readonly digest: string
  readonly body: string | undefined
  readonly msg_id: string | undefined
}

/** Unverified claims of an envelope: they only widen the search. */
function readClaim(path: string, max_bytes: number): StatementClaim | undefined {
  const dropped = readDroppedFile(path, max_bytes)
  const envelope = 'bytes' in dropped ? parseMessageJson(dropped.bytes) : undefined
  const payload = textMember(envelope, 'payload')
  if (payload === undefined) return undefined
  const bytes = Buffer.from(payload, 'base64url')
  const claim = parseMessageJson(bytes)
  return {
    digest: sha384(bytes),
    body: textMember(memberOf(claim, 'body'), 'sha384'),
    msg_id: textMember(claim, 'msg_id'),
  }
}

/** The report of a find: its place, its message, and the session that the message names. */
export function describeMatch(
  found: PurgeMatch,
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
): PurgeFinds {
  const { peer, place, folder, file, other_names } = found
  const path = join(folder, file)
  const claim = readClaim(path.replace(/\.body\.json$/, '.env.json'), limits.max_envelope_bytes)
  const links = other_names > 0 ? ` (${other_names} other names lead to the same bytes)` : ''
  return {
    places: [`${peer}/${channelFolderPaths[place]}/${file}${links}`],
    msg_ids: claim?.msg_id === undefined ? [] : [claim.msg_id],
    sessions: readSessions(readDroppedFile(path, limits.max_body_bytes)),
  }
}

export function readSessions(body: ReturnType<typeof readDroppedFile>): string[] {
  const session = 'bytes' in body ? textMember(memberOf(parseMessageJson(body.bytes), 'data'), 'session_id') : undefined
  return session === undefined ? [] : [session.slice(0, 128)]
}

/** The body goes. Its envelope stays as a record of what was signed, but where it would be taken for half a message. */
export function removeMatch({ place, folder, file }: PurgeMatch): void {
  fs.rmSync(join(folder, file), { force: true })
  if ((place === 'ready' || place === 'fresh' || place === 'work') && parseMessageName(file))
    fs.rmSync(join(folder, file.replace('.body.', '.env.')), { force: true })
  syncFolder(folder)
}

function memberOf(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined
}

function textMember(of: unknown, name: string): string | undefined {
  const value = memberOf(of, name)
  return typeof value === 'string' ? value : undefined
}
