// The state of one message under examination: the bytes, and the results of the checks so far.

import type { Jws, PublicKey } from '../../../../daemon/kernel/cryptography/signatures.ts'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { MessageNumber, Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import type { LedgerEntry } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { EpochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import type { MessageBody, Statement } from '../../../../daemon/kernel/messaging/statement.ts'
import type { UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { type DroppedFile, type DroppedFilePath, readDroppedFile } from '../files/dropped-file.ts'
import type { MessageFault, QuarantineReason } from '../quarantine-reasons.ts'
import type { EnvelopeClaims } from './completeness.ts'

/** `verified`: signed by enough of the sender's root keys to meet the threshold, for this channel and epoch. */
export type AnnouncementOutcome = { readonly verified: EpochAnnouncement } | { readonly fault: MessageFault }

export type MessageExamination = {
  /** File name of the envelope. */
  readonly name: string
  readonly envelope: DroppedFile
  readonly body: DroppedFile
  /** Claims that were read before, if any. */
  readonly claims?: EnvelopeClaims
  jws?: Jws
  /** The signed bytes, verified. */
  payload?: Buffer
  signers?: readonly PublicKey[]
  statement?: UnlabelledStatement
  /** SHA-384 of `payload`. */
  digest?: string
  /** As it was signed. */
  label?: Label
  /** The same in the terms of this site's policy. */
  translated_label?: Label
  content?: MessageBody
  /** Outcome of the epoch announcement, where the message is the first of an epoch. */
  announcement?: AnnouncementOutcome
  /** The message belongs to the next epoch, which is not announced yet. */
  isEarly?: boolean
  /** The entry of the ledger under this number, when it has this very statement. */
  entry?: LedgerEntry
  /** What is known of the message since it arrived, where its statement is not read again. */
  arrival?: Pick<LedgerEntry, 'msg_id'>
  /** The entry of the next number, which waits, and names another predecessor than this message. */
  broken_successor?: LedgerEntry
  /** Numbers under which an inventory lists other statements than have arrived. */
  contradicted_numbers?: readonly MessageNumber[]
  /** The waiver that two people signed for these very bytes. */
  waiver?: Waiver
}

/** Whether people have taken this reason upon themselves. */
export function isWaived({ waiver }: MessageExamination, reason: QuarantineReason): boolean {
  return waiver?.reason === reason
}

export function readMessageFiles(
  name: string,
  paths: { readonly env: DroppedFilePath; readonly body: DroppedFilePath },
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
  own = false,
): MessageExamination {
  return {
    name,
    envelope: readDroppedFile(paths.env, limits.max_envelope_bytes, own),
    body: readDroppedFile(paths.body, limits.max_body_bytes, own),
  }
}

/** Returns the result of an earlier check. Throws when there is none: the table of checks is in the wrong order. */
export function requireEstablished<K extends keyof MessageExamination>(
  examination: MessageExamination,
  what: K,
): NonNullable<MessageExamination[K]> {
  const value = examination[what]
  if (value === undefined || value === null) throw new Error(`no check has established ${what}`)
  return value
}

export function fileBytes(dropped: DroppedFile): Buffer {
  if (!('bytes' in dropped)) throw new Error('the file was not read')
  return dropped.bytes
}

/** The statement with the label that it was signed with. */
export function labelledStatement(examination: MessageExamination): Statement {
  return { ...requireEstablished(examination, 'statement'), label: requireEstablished(examination, 'label') }
}
