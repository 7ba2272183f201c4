// One message under examination: what was read, and what each check has established about it so far.
import type { LedgerEntry, MessageNumber, Waiver } from '../../../../daemon/kernel/journal.ts'
import type { Jws, PublicKey } from '../../../../daemon/kernel/keys.ts'
import type { Label } from '../../../../daemon/kernel/label.ts'
import type { EpochAnnouncement } from '../../../../daemon/kernel/one-way.ts'
import type { UnlabelledStatement } from '../../../../daemon/kernel/statement-format.ts'
import type { MessageBody, Statement } from '../../../../daemon/kernel/transport.ts'
import type { Fault, Reason } from '../reasons.ts'
import type { Claims } from './completeness.ts'
import { type Dropped, type Path, readDropped } from './dropped-file.ts'

/** `said`: signed by as many of the sender's root keys as are asked for, about this very channel and epoch. */
export type Announcement = { readonly said: EpochAnnouncement } | { readonly fault: Fault }

export type Specimen = {
  /** File name of the envelope. */
  readonly name: string
  readonly envelope: Dropped
  readonly body: Dropped
  /** Where somebody has looked already. */
  readonly claims?: Claims
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
  entered?: Label
  content?: MessageBody
  /** What it says of its epoch, where it is the first of one. */
  announcement?: Announcement
  /** Of the next epoch, which nobody has announced yet. */
  isEarly?: boolean
  /** What the ledger holds under this number, when it is this very statement. */
  entry?: LedgerEntry
  /** Numbers under which an inventory tells of other statements than have arrived. */
  against?: readonly MessageNumber[]
  /** What two people let pass, for these very bytes. */
  waiver?: Waiver
}

/** Whether people have taken this reason upon themselves. */
export function passesOver({ waiver }: Specimen, reason: Reason): boolean {
  return waiver?.reason === reason
}

export function readSpecimen(
  name: string,
  paths: { readonly env: Path; readonly body: Path },
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
  own = false,
): Specimen {
  return {
    name,
    envelope: readDropped(paths.env, limits.max_envelope_bytes, own),
    body: readDropped(paths.body, limits.max_body_bytes, own),
  }
}

/** What an earlier check has established. Throws when none has: the table of checks is in the wrong order. */
export function known<K extends keyof Specimen>(specimen: Specimen, what: K): NonNullable<Specimen[K]> {
  const value = specimen[what]
  if (value === undefined || value === null) throw new Error(`no check has established ${what}`)
  return value
}

export function bytesOf(dropped: Dropped): Buffer {
  if (!('bytes' in dropped)) throw new Error('the file was not read')
  return dropped.bytes
}

/** The statement with the label that it was signed with. */
export function statementOf(specimen: Specimen): Statement {
  return { ...known(specimen, 'statement'), label: known(specimen, 'label') }
}
