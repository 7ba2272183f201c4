// Token revocations of this site: an append-only file that every process reads before it accepts a token.
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Actor } from '../../../daemon/kernel/identity/identity.ts'
import { writeDurably } from '../../platform/durable-file/write-durably.ts'

const entryFields = {
  at: z.iso.datetime(),
  /** When the entry may be pruned. Checks ignore it, or an entry would expire within the clock skew of its token. */
  until: z.iso.datetime().optional(),
  reason: z.string().max(256),
}
export const revocation = z.union([
  z.strictObject({ jti: z.string().min(1).max(128), ...entryFields }),
  z.strictObject({ subject: z.string().min(1).max(256), ...entryFields }),
])
export type Revocation = z.infer<typeof revocation>

/** Claims that a revocation is matched with; `derived_from` holds the ids of the tokens that it was exchanged for. */
export type RevocableToken = {
  readonly jti: string
  readonly sub: string
  /** Seconds since 1970. */
  readonly iat: number
  readonly derived_from?: readonly string[] | undefined
  /** The chain of actors: a token is revoked with any of them. */
  readonly act?: Actor | undefined
}

export interface Revocations {
  /** Durable when it returns, and in force for every process of the site. */
  revoke(given: Revocation): void
  /** Throws `Refusal('unavailable')` when the file is absent, was cut short, or holds a line that cannot be read. */
  isRevoked(token: RevocableToken): boolean
}

/** `<site>/identity/revoked.jsonl`, created empty (0600) when missing; returns its path. For `platform init`. */
export function prepareRevocations(siteDir: string): string {
  const dir = join(siteDir, 'identity')
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  const file = join(dir, 'revoked.jsonl')
  fs.closeSync(fs.openSync(file, 'a', 0o600))
  return file
}

/**
 * Makes the list of another machine that of this one, durably. Throws `Refusal('unavailable')` for a text with an invalid line.
 * Lines that are new are appended, since running processes read on from where they are; another list is another file.
 */
export function storeRevocations(file: string, text: string): void {
  const own = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
  const isContinued = own !== undefined && text.startsWith(own) && (own === '' || own.endsWith('\n'))
  const added = isContinued ? text.slice(own.length) : text
  const lines = added.split('\n')
  if (lines.pop() !== '') throw unreadableList()
  for (const line of lines) parseLine(line)
  if (!isContinued) writeDurably(file, text)
  else if (added !== '') appendLine(file, added)
}

type RevocationState = {
  readonly ids: Set<string>
  /** Subject to the instant (epoch milliseconds) up to which its tokens are void. */
  readonly subjects: Map<string, number>
  readonly ino: bigint
  bytes: number
  stamp: string
}

/** How often the file is checked: a check holds for `every_ms` of the clock (milliseconds, never jumping). */
export type RevocationCheckInterval = { readonly every_ms: number; monotonic(): number }

const checkEachTime: RevocationCheckInterval = { every_ms: 0, monotonic: () => 0 }

/**
 * The revocations in this file: one `stat` per check, and a read of the new lines after a change. A revocation through
 * this object is in force at once, however seldom it checks. An absent file is not an empty one: deleting it must not bring
 * revoked tokens back.
 */
export function fileRevocations(file: string, interval = checkEachTime): Revocations {
  let held: RevocationState | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  const latest = (): RevocationState => {
    const now = interval.monotonic()
    if (held && now - lookedAt < interval.every_ms) return held
    const read = current()
    lookedAt = now
    return read
  }

  const current = (): RevocationState => {
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
    if (!stat) throw unreadableList()
    const stamp = `${stat.ino}.${stat.size}.${stat.mtimeNs}`
    if (held?.stamp === stamp) return held
    if (held?.ino === stat.ino && stat.size < held.bytes) throw unreadableList()
    held = held?.ino === stat.ino ? held : { ids: new Set(), subjects: new Map(), ino: stat.ino, bytes: 0, stamp: '' }
    addLines(held, readFrom(file, held.bytes))
    held.stamp = stamp
    return held
  }

  return {
    revoke(given) {
      lookedAt = Number.NEGATIVE_INFINITY
      appendLine(file, `${JSON.stringify(revocation.parse(given))}\n`)
    },
    isRevoked(token) {
      const { ids, subjects } = latest()
      if (ids.has(token.jti) || token.derived_from?.some((jti) => ids.has(jti))) return true
      // `iat` has whole seconds: a token of the same second as the revocation counts as earlier.
      const isVoid = (subject: string) => token.iat * 1000 <= (subjects.get(subject) ?? Number.NEGATIVE_INFINITY)
      return isVoid(token.sub) || listActors(token.act).some(isVoid)
    },
  }
}

function listActors(act: Actor | undefined): string[] {
  return act ? [act.sub, ...listActors(act.act)] : []
}

/** Applies all new whole lines, or none: an invalid line leaves `read` unchanged, and throws. */
function addLines(read: RevocationState, added: Buffer): void {
  const lines = added.toString('utf8').split('\n')
  if (lines.pop() !== '') throw unreadableList()
  const revocations = lines.map(parseLine)
  for (const revoked of revocations) {
    if ('jti' in revoked) read.ids.add(revoked.jti)
    else read.subjects.set(revoked.subject, Math.max(Date.parse(revoked.at), read.subjects.get(revoked.subject) ?? 0))
  }
  read.bytes += added.length
}

function parseLine(line: string): Revocation {
  const read = parseJsonAs(revocation, line)
  if (!read) throw unreadableList()
  return read
}

function readFrom(file: string, offset: number): Buffer {
  const opened = fs.openSync(file, 'r')
  try {
    const rest = Buffer.alloc(Math.max(0, fs.fstatSync(opened).size - offset))
    return rest.subarray(0, fs.readSync(opened, rest, 0, rest.length, offset))
  } finally {
    fs.closeSync(opened)
  }
}

/**
 * One write of one line, so that two processes never mix theirs. After a line that a crash cut short it starts a line
 * of its own, so that repairing the one does not lose the other. Not created here: see `fileRevocations`.
 */
function appendLine(file: string, line: string): void {
  const { O_RDWR, O_APPEND, O_NOFOLLOW } = fs.constants
  const opened = fs.openSync(file, O_RDWR | O_APPEND | O_NOFOLLOW)
  try {
    const last = Buffer.from('\n')
    fs.readSync(opened, last, 0, 1, Math.max(0, fs.fstatSync(opened).size - 1))
    const bytes = Buffer.from(last.toString() === '\n' ? line : `\n${line}`)
    if (fs.writeSync(opened, bytes) !== bytes.length) throw new Error('the revocation could not be written completely')
    fs.fsyncSync(opened)
  } finally {
    fs.closeSync(opened)
  }
}

function unreadableList(): Refusal {
  return new Refusal('unavailable', 'the list of revoked tokens cannot be read')
}
