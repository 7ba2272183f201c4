// Releases messages from quarantine: the approval goes into the journal, and the next scan moves the files back.
import * as fs from 'node:fs'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import { type WaivableReason, waivableReason } from '../../../../daemon/kernel/messaging/release.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import type { MessageExamination } from '../checks/message-examination.ts'
import { parseMessageJson } from '../checks/message-json.ts'
import type { FiledropFaultHook } from '../fault-points.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { checkFileKind, readDroppedFile } from '../files/dropped-file.ts'
import { messageName, messageParts, partPath } from '../files/message-name.ts'
import { checkChannelState, type FiledropLink } from '../link/filedrop-link.ts'
import { readReasonFile } from './quarantine-files.ts'
import { type QuarantinedMessage, readQuarantinedMessage, reasonFilePath } from './quarantined-item.ts'

export type QuarantineReleaseTerms = {
  readonly id: string
  readonly waiver: WaivableReason
  /** SHA-384 of body and envelope, as both people have signed. */
  readonly digests: readonly string[]
  readonly label: Label | undefined
}

/**
 * Enters the waiver, durable with its audit events when it resolves; a repeat changes nothing. Refuses `conflict` while
 * the channel is not open, and when the files of the item differ from those that were signed for.
 */
export async function recordRelease(
  link: FiledropLink,
  filedrop: FiledropContext,
  { id, waiver: reason, digests, label }: QuarantineReleaseTerms,
  audit: readonly AuditEvent[],
): Promise<Refusal | undefined> {
  const { state, detail, peer } = await checkChannelState(link, 'in', filedrop)
  if (!peer) return refuse('conflict', `the channel is ${state}, and takes no released message: ${detail}`)
  const away = readQuarantinedMessage(link.folders.quarantine, id)
  if (away?.reason !== reason || !waivableReason.safeParse(reason).success)
    return refuse('conflict', 'the item was not quarantined for the reason that the release waives')
  const { max_body_bytes, max_envelope_bytes } = filedrop.settings
  const body = readFileBytes(away.paths.body, max_body_bytes)
  const envelope = readFileBytes(away.paths.env, max_envelope_bytes)
  const statement = envelope && statementBytes(envelope)
  if (!body || !envelope || !statement) return refuse('conflict', 'the files of the item cannot be read as a message')
  const [bodyDigest = '', envelopeDigest] = digests
  if (sha384(body) !== bodyDigest || sha384(envelope) !== envelopeDigest) {
    return refuse('conflict', 'the files differ from those that were signed for')
  }
  if (hasOtherCopy(link, away)) return refuse('conflict', 'another copy of this message is being taken in')
  const { epoch, seq } = away
  const entered: Waiver = {
    ...{ item: id, epoch, seq, statement: sha384(statement), envelope: envelopeDigest, body: bodyDigest, reason },
    ...(label ? { label } : {}),
  }
  const outcome = await filedrop.journal.waive(link.channel.in, entered, audit)
  filedrop.passFaultPoint('waived')
  if (outcome === 'ended') return refuse('conflict', 'this message has been applied or refused meanwhile')
  if (outcome === 'taken') return refuse('conflict', 'another item under this number is being released')
  return undefined
}

function readFileBytes(path: string, max_bytes: number): Buffer | undefined {
  const dropped = readDroppedFile(path, max_bytes)
  return 'bytes' in dropped ? dropped.bytes : undefined
}

function statementBytes(envelope: Buffer): Buffer | undefined {
  const payload = (parseMessageJson(envelope) as { payload?: unknown } | null | undefined)?.payload
  return typeof payload === 'string' ? Buffer.from(payload, 'base64url') : undefined
}

function hasOtherCopy({ folders }: FiledropLink, { stem }: QuarantinedMessage): boolean {
  const places = [folders.fresh, folders.work]
  return places.some((folder) => messageParts.some((part) => checkFileKind(partPath(folder, stem, part)) !== 'gone'))
}

export type RestoredMessages = {
  /** Open waivers, by the published name of their message. */
  readonly waivers: ReadonlyMap<string, Waiver>
  /** Names of the messages that are back in `work`. */
  readonly restored: readonly string[]
}

/** Goes on where a crash stopped it, and spends the waivers of messages whose fate is decided: once is all they let pass. */
export async function restoreReleased(
  link: FiledropLink,
  { journal, passFaultPoint }: FiledropContext,
): Promise<RestoredMessages> {
  const waivers = new Map<string, Waiver>()
  const back: string[] = []
  for (const waiver of await journal.waivers(link.channel.in)) {
    const { stem } = messageName(waiver.epoch, waiver.seq)
    const isAway = readReasonFile(reasonFilePath(link.folders.quarantine, waiver.item)) !== undefined
    if (isAway && moveToWork(link, waiver.item, passFaultPoint)) back.push(stem)
    else if (!isAway && !isAnyPartInWork(link, stem)) {
      await journal.spendWaiver(link.channel.in, waiver.item)
      passFaultPoint('waiver-spent')
      continue
    }
    waivers.set(stem, waiver)
  }
  return { waivers, restored: back }
}

/** The reason goes last: as long as it is there, this step is not done. False while something else has the name. */
function moveToWork(link: FiledropLink, id: string, passFaultPoint: FiledropFaultHook): boolean {
  const away = readQuarantinedMessage(link.folders.quarantine, id)
  if (!away) return false
  const moves = messageParts.map((part) => ({
    from: away.paths[part],
    to: partPath(link.folders.work, away.stem, part),
  }))
  const left = moves.filter(({ from }) => checkFileKind(from) !== 'gone')
  if (left.some(({ to }) => checkFileKind(to) !== 'gone')) return false
  for (const { from, to } of left) {
    fs.renameSync(from, to)
    passFaultPoint('moved-back')
  }
  syncFolder(link.folders.work)
  fs.rmSync(reasonFilePath(link.folders.quarantine, id))
  passFaultPoint('reason-removed')
  syncFolder(link.folders.quarantine)
  return true
}

function isAnyPartInWork({ folders }: FiledropLink, stem: string): boolean {
  return messageParts.some((part) => checkFileKind(partPath(folders.work, stem, part)) !== 'gone')
}

/** The waiver that was given for these very bytes; any other file under the name gets nothing of it. */
export function matchWaiver({ envelope, body }: MessageExamination, given: Waiver | undefined): Waiver | undefined {
  if (!given || !('bytes' in envelope) || !('bytes' in body)) return undefined
  const isSame = sha384(envelope.bytes) === given.envelope && sha384(body.bytes) === given.body
  return isSame ? given : undefined
}
