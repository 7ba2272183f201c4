// Out of quarantine: what two people have signed for goes into the journal, and the next scan brings the files back.
import * as fs from 'node:fs'
import type { AuditEvent } from '../../../../daemon/kernel/audit.ts'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import { type Refused, refuse } from '../../../../daemon/kernel/errors.ts'
import type { Waiver } from '../../../../daemon/kernel/journal.ts'
import type { Label } from '../../../../daemon/kernel/label.ts'
import { type Waivable, waivable } from '../../../../daemon/kernel/release.ts'
import { kindOf, readDropped } from '../checks/dropped-file.ts'
import type { Specimen } from '../checks/specimen.ts'
import { strictJson } from '../checks/strict-json.ts'
import type { Reached } from '../fault-points.ts'
import { type Line, standing } from '../line.ts'
import { nameOf, parts, pathIn } from '../names.ts'
import { syncFolder } from '../own-file.ts'
import type { Surroundings } from '../surroundings.ts'
import { readReason } from './quarantine.ts'
import { type MessageAway, messageAway, reasonPathOf } from './quarantined-item.ts'

export type ReleaseTerms = {
  readonly id: string
  readonly waiver: Waivable
  /** SHA-384 of body and envelope, as both people have signed. */
  readonly digests: readonly string[]
  readonly label: Label | undefined
}

/**
 * Enters the waiver, durable with its audit events when it resolves; a repeat changes nothing. Refuses `conflict` while
 * the channel is not open, and when the item is no longer what was signed for.
 */
export async function enterRelease(
  line: Line,
  around: Surroundings,
  { id, waiver: reason, digests, label }: ReleaseTerms,
  audit: readonly AuditEvent[],
): Promise<Refused | undefined> {
  const { state, detail, peer } = await standing(line, 'in', around)
  if (!peer) return refuse('conflict', `nothing is released into a channel that is ${state}: ${detail}`)
  const away = messageAway(around.root, line.peer, id)
  if (away?.reason !== reason || !waivable.safeParse(reason).success)
    return refuse('conflict', 'the item does not hold a message that lies there for this')
  const { max_body_bytes, max_envelope_bytes } = around.settings
  const body = bytesAt(away.paths.body, max_body_bytes)
  const envelope = bytesAt(away.paths.env, max_envelope_bytes)
  const statement = envelope && payloadOf(envelope)
  if (!body || !envelope || !statement) return refuse('conflict', 'the files of the item cannot be read as a message')
  const [bodyDigest = '', envelopeDigest] = digests
  if (sha384(body) !== bodyDigest || sha384(envelope) !== envelopeDigest) {
    return refuse('conflict', 'the files are not those that were signed for')
  }
  if (isElsewhere(line, away)) return refuse('conflict', 'another copy of this message is being taken in')
  const { epoch, seq } = away
  const entered: Waiver = {
    ...{ item: id, epoch, seq, statement: sha384(statement), envelope: envelopeDigest, body: bodyDigest, reason },
    ...(label ? { label } : {}),
  }
  const outcome = await around.journal.waive(line.channel.in, entered, audit)
  around.reached('waived')
  if (outcome === 'ended') return refuse('conflict', 'this message has been applied or refused meanwhile')
  if (outcome === 'taken') return refuse('conflict', 'another item under this number is being released')
  return undefined
}

function bytesAt(path: string, max_bytes: number): Buffer | undefined {
  const dropped = readDropped(path, max_bytes)
  return 'bytes' in dropped ? dropped.bytes : undefined
}

function payloadOf(envelope: Buffer): Buffer | undefined {
  const read = strictJson(envelope)
  const payload = read.outcome === 'value' ? (read.value as { payload?: unknown } | null)?.payload : undefined
  return typeof payload === 'string' ? Buffer.from(payload, 'base64url') : undefined
}

function isElsewhere({ folders }: Line, { stem }: MessageAway): boolean {
  const places = [folders.fresh, folders.work]
  return places.some((folder) => parts.some((part) => kindOf(pathIn(folder, stem, part)) !== 'gone'))
}

export type Released = {
  /** Open waivers, by the published name of their message. */
  readonly waivers: ReadonlyMap<string, Waiver>
  /** Names of the messages that are back in `work`. */
  readonly back: readonly string[]
}

/** Goes on where a crash stopped it, and spends the waivers of messages whose fate is decided: once is all they let pass. */
export async function bringBack(line: Line, { root, journal, reached }: Surroundings): Promise<Released> {
  const waivers = new Map<string, Waiver>()
  const back: string[] = []
  for (const waiver of await journal.waivers(line.channel.in)) {
    const { stem } = nameOf(waiver.epoch, waiver.seq)
    const isAway = readReason(reasonPathOf(root, line.peer, waiver.item)) !== undefined
    if (isAway && moveBack(line, root, waiver.item, reached)) back.push(stem)
    else if (!isAway && !isInWork(line, stem)) {
      await journal.spend(line.channel.in, waiver.item)
      reached('waiver-spent')
      continue
    }
    waivers.set(stem, waiver)
  }
  return { waivers, back }
}

/** The reason goes last: as long as it is there, this step is not done. False while something else has the name. */
function moveBack(line: Line, root: string, id: string, reached: Reached): boolean {
  const away = messageAway(root, line.peer, id)
  if (!away) return false
  const moves = parts.map((part) => ({
    from: away.paths[part],
    to: pathIn(line.folders.work, away.stem, part),
  }))
  const left = moves.filter(({ from }) => kindOf(from) !== 'gone')
  if (left.some(({ to }) => kindOf(to) !== 'gone')) return false
  for (const { from, to } of left) {
    fs.renameSync(from, to)
    reached('moved-back')
  }
  syncFolder(line.folders.work)
  fs.rmSync(reasonPathOf(root, line.peer, id))
  reached('reason-removed')
  syncFolder(line.folders.quarantine)
  return true
}

function isInWork({ folders }: Line, stem: string): boolean {
  return parts.some((part) => kindOf(pathIn(folders.work, stem, part)) !== 'gone')
}

/** The waiver that was given for these very bytes; any other file under the name gets nothing of it. */
export function waiverFor({ envelope, body }: Specimen, given: Waiver | undefined): Waiver | undefined {
  if (!given || !('bytes' in envelope) || !('bytes' in body)) return undefined
  const isSame = sha384(envelope.bytes) === given.envelope && sha384(body.bytes) === given.body
  return isSame ? given : undefined
}
