// One message under examination: what was read, and what each check has established about it so far.
import * as z from 'zod'
import type { LedgerEntry } from '../../../daemon/kernel/journal.ts'
import type { Jws, PublicKey } from '../../../daemon/kernel/keys.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import { type MessageBody, type Statement, statement } from '../../../daemon/kernel/transport.ts'
import { type Dropped, type Path, readDropped } from './dropped-file.ts'

/** A statement whose label is still to be judged, so that a missing one gets its own reason. */
export const unlabelledStatement = statement.extend({ label: z.unknown().optional() })
export type UnlabelledStatement = z.infer<typeof unlabelledStatement>

export type Specimen = {
  /** File name of the envelope. */
  readonly name: string
  readonly envelope: Dropped
  readonly body: Dropped
  jws?: Jws
  /** The signed bytes, verified. */
  payload?: Buffer
  signers?: readonly PublicKey[]
  statement?: UnlabelledStatement
  /** SHA-384 of `payload`. */
  digest?: string
  label?: Label
  content?: MessageBody
  /** What the ledger holds under this number, when it is this very statement. */
  entry?: LedgerEntry
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

/** The statement with the label that the checks accepted. */
export function statementOf(specimen: Specimen): Statement {
  return { ...known(specimen, 'statement'), label: known(specimen, 'label') }
}
