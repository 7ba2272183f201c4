// The state of one message under examination: the bytes, and the results of the checks so far.

import type { Jws, PublicKey } from '../../../../daemon/kernel/cryptography/signatures.ts'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { LedgerEntry, MessageNumber, Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import type { EpochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import type { MessageBody, Statement } from '../../../../daemon/kernel/messaging/statement.ts'
import type { UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { type DroppedFile, type DroppedFilePath, readDroppedFile } from '../files/dropped-file.ts'
import type { MessageFault, QuarantineReason } from '../quarantine-reasons.ts'
import type { EnvelopeClaims } from './completeness.ts'

/** `said`: signed by as many of the sender's root keys as are asked for, about this very channel and epoch. */
export type AnnouncementOutcome = { readonly verified: EpochAnnouncement } | { readonly fault: MessageFault }

export type MessageExamination = {
  /** File name of the envelope. */
  readonly name: string
  readonly envelope: DroppedFile
  readonly body: DroppedFile
  /** Where somebody has looked already. */
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
  /** What it says of its epoch, where it is the first of one. */
  announcement?: AnnouncementOutcome
  /** Of the next epoch, which nobody has announced yet. */
  isEarly?: boolean
  /** What the ledger holds under this number, when it is this very statement. */
  entry?: LedgerEntry
  /** Numbers under which an inventory tells of other statements than have arrived. */
  contradicted_numbers?: readonly MessageNumber[]
  /** What two people let pass, for these very bytes. */
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

/** What an earlier check has established. Throws when none has: the table of checks is in the wrong order. */
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
