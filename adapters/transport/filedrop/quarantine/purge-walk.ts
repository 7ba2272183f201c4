// Looks through every folder of every channel for the bytes of a body, whatever name they lie under, and takes them out.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import type { PurgeFinds } from '../../../../daemon/kernel/journal.ts'
import { peer as pinned } from '../../../../daemon/kernel/peer.ts'
import { readDropped } from '../checks/dropped-file.ts'
import { strictJson } from '../checks/strict-json.ts'
import { type Folders, foldersOf } from '../layout.ts'
import { parseName } from '../names.ts'
import { syncFolder } from '../own-file.ts'

/** In the order in which messages move, so that none slips past: what goes back to `work` meets the intake again. */
const places = ['fresh', 'work', 'done', 'quarantine', 'sent', 'tmp', 'ready'] as const
export type Place = (typeof places)[number]

export type Found = {
  readonly peer: string
  readonly place: Place
  readonly folder: string
  readonly file: string
  /** Names elsewhere that lead to the same bytes. */
  readonly other_names: number
}

/** Channels of peers that are not pinned any more are looked through as well. */
export function allFolders(root: string): { readonly peer: string; readonly folders: Folders }[] {
  const names = fs.existsSync(root) ? fs.readdirSync(root) : []
  const peers = names.filter((name) => pinned.shape.name.safeParse(name).success)
  return peers.map((peer) => ({ peer, folders: foldersOf(root, peer) }))
}

/** SHA-384 of the bodies that statements of this digest were signed for. */
export async function bodiesOf(root: string, statement: string, max_envelope_bytes: number): Promise<Set<string>> {
  const bodies = new Set<string>()
  for (const { folders } of allFolders(root)) {
    for (const place of places) {
      for await (const name of filesIn(folders[place])) {
        if (!name.endsWith('.env.json')) continue
        const said = claimIn(join(folders[place], name), max_envelope_bytes)
        if (said?.digest === statement && said.body !== undefined) bodies.add(said.body)
      }
    }
  }
  return bodies
}

/** Files with one of these digests. */
export async function* filesHolding(root: string, digests: ReadonlySet<string>): AsyncGenerator<Found> {
  for (const { peer, folders } of allFolders(root)) {
    for (const place of places) {
      for await (const file of filesIn(folders[place])) {
        const seen = await digestAt(join(folders[place], file))
        if (seen && digests.has(seen.digest)) {
          yield { peer, place, folder: folders[place], file, other_names: seen.links - 1 }
        }
      }
    }
  }
}

/** Lets the rest of the process go on between some and the next. */
async function* filesIn(folder: string): AsyncGenerator<string> {
  if (!fs.existsSync(folder)) return
  for (const [index, name] of (await fs.promises.readdir(folder)).entries()) {
    if (index % names_a_turn === 0) await setImmediate()
    yield name
  }
}

const names_a_turn = 64

/** Undefined for what is gone, and for what is no plain file. */
async function digestAt(path: string): Promise<{ digest: string; links: number } | undefined> {
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

type Claim = { readonly digest: string; readonly body: string | undefined; readonly msg_id: string | undefined }

/** What an envelope says, unverified: it only widens what is looked for. */
function claimIn(path: string, max_bytes: number): Claim | undefined {
  const dropped = readDropped(path, max_bytes)
  const envelope = 'bytes' in dropped ? valueIn(dropped.bytes) : undefined
  const payload = textOf(envelope, 'payload')
  if (payload === undefined) return undefined
  const bytes = Buffer.from(payload, 'base64url')
  const said = valueIn(bytes)
  return { digest: sha384(bytes), body: textOf(memberOf(said, 'body'), 'sha384'), msg_id: textOf(said, 'msg_id') }
}

/** What is told of a find: where it lay, which message it was, and which session that spoke of. */
export function tellOf(
  found: Found,
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
): PurgeFinds {
  const { peer, place, folder, file, other_names } = found
  const path = join(folder, file)
  const claim = claimIn(path.replace(/\.body\.json$/, '.env.json'), limits.max_envelope_bytes)
  const links = other_names > 0 ? ` (${other_names} other names lead to the same bytes)` : ''
  return {
    places: [`${peer}/${folderNames[place]}/${file}${links}`],
    msg_ids: claim?.msg_id === undefined ? [] : [claim.msg_id],
    sessions: sessionsIn(readDropped(path, limits.max_body_bytes)),
  }
}

const folderNames: Readonly<Record<Place, string>> = {
  fresh: 'in/new',
  work: 'in/work',
  done: 'in/done',
  quarantine: 'in/quarantine',
  tmp: 'out/tmp',
  ready: 'out/ready',
  sent: 'out/sent',
}

export function sessionsIn(body: ReturnType<typeof readDropped>): string[] {
  const session = 'bytes' in body ? textOf(memberOf(valueIn(body.bytes), 'data'), 'session_id') : undefined
  return session === undefined ? [] : [session.slice(0, 128)]
}

/** The body goes. Its envelope stays as a record of what was signed, but where a carrier would take half a message. */
export function removeFound({ place, folder, file }: Found): void {
  fs.rmSync(join(folder, file), { force: true })
  if (place === 'ready' && parseName(file)) fs.rmSync(join(folder, file.replace('.body.', '.env.')), { force: true })
  syncFolder(folder)
}

function valueIn(bytes: Buffer): unknown {
  const read = strictJson(bytes)
  return read.outcome === 'value' ? read.value : undefined
}

function memberOf(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined
}

function textOf(of: unknown, name: string): string | undefined {
  const value = memberOf(of, name)
  return typeof value === 'string' ? value : undefined
}
