// Reads a message of this site's own from its files, and holds it to what was signed: what is not it never leaves here again.
import { join } from 'node:path'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import { leaving } from '../../../../daemon/kernel/crossing.ts'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import { jws } from '../../../../daemon/kernel/keys.ts'
import { label } from '../../../../daemon/kernel/label.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { readStatement, type UnlabelledStatement } from '../../../../daemon/kernel/statement-format.ts'
import { type Dropped, readDropped } from '../checks/dropped-file.ts'
import { strictJson } from '../checks/strict-json.ts'
import type { Line } from '../line.ts'
import { fileOf, nameOf } from '../names.ts'
import type { Surroundings } from '../surroundings.ts'

export type Own = {
  readonly statement: UnlabelledStatement
  readonly digest: string
  /** Its key has been revoked since: no peer takes it any more. */
  readonly isRevoked: boolean
}

/** Undefined for what this site did not sign on this channel. Throws when the disk fails. */
export async function ownEnvelope(file: Dropped, line: Line, around: OwnSurroundings): Promise<Own | undefined> {
  const envelope = jws.safeParse(valueIn(file)).data
  if (!envelope) return undefined
  const keys = around.signatures.publicKeys().filter(({ use }) => use === 'message')
  const verified = await around.signatures.verify('statement', envelope, keys)
  if (verified === 'bad_signature' || verified === 'unknown_key') return undefined
  const payload = Buffer.from(envelope.payload, 'base64url')
  const read = strictJson(payload)
  const reading = read.outcome === 'value' ? readStatement(read.value, around.formats) : undefined
  if (reading?.read !== 'statement' || reading.statement.channel !== line.channel.out) return undefined
  return { statement: reading.statement, digest: sha384(payload), isRevoked: verified === 'key_revoked' }
}

export type OwnSurroundings = Pick<Surroundings, 'signatures' | 'formats' | 'settings' | 'label_policy'>
export type Bytes = { readonly envelope: string; readonly body: string }

export type Towards = { readonly line: Line; readonly peer: Peer }

/**
 * The exact bytes of both files. `lost`: one is not there. `label_denied`: its label may not leave as the peer is pinned
 * now. `digest`: of the statement, where the journal knows it.
 */
export async function ownMessage(
  folder: string,
  number: MessageNumber,
  digest: string | undefined,
  { line, peer }: Towards,
  around: OwnSurroundings,
): Promise<Bytes | 'lost' | 'damaged' | 'key_revoked' | 'label_denied'> {
  const { stem } = nameOf(number.epoch, number.seq)
  const { max_envelope_bytes, max_body_bytes } = around.settings
  const envelope = readDropped(join(folder, fileOf(stem, 'env')), max_envelope_bytes)
  const body = readDropped(join(folder, fileOf(stem, 'body')), max_body_bytes)
  if ('gone' in envelope || 'gone' in body) return 'lost'
  const own = await ownEnvelope(envelope, line, around)
  if (!own || !('bytes' in envelope) || !('bytes' in body)) return 'damaged'
  const { epoch, seq, body: declared } = own.statement
  const isThis = epoch === number.epoch && seq === number.seq && (digest ?? own.digest) === own.digest
  const { length, sha384: signed } = declared
  if (!isThis || body.bytes.length !== length || sha384(body.bytes) !== signed) return 'damaged'
  if (own.isRevoked) return 'key_revoked'
  if (!leaves(own.statement, peer, around)) return 'label_denied'
  return { envelope: envelope.bytes.toString('utf8'), body: body.bytes.toString('utf8') }
}

/** Whether a message of the journal may leave as the peer is pinned now: since it was sealed, the ceiling may have sunk. */
export function mayLeave(envelope: string, peer: Peer, around: Policy): boolean {
  const { payload } = jws.parse(JSON.parse(envelope))
  const reading = readStatement(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), around.formats)
  return reading.read === 'statement' && leaves(reading.statement, peer, around)
}

type Policy = Pick<Surroundings, 'formats' | 'label_policy'>

function leaves(said: UnlabelledStatement, peer: Peer, { label_policy }: Policy): boolean {
  const held = label.safeParse(said.label).data
  return held !== undefined && !leaving(held, peer, label_policy)
}

function valueIn(file: Dropped): unknown {
  const read = 'bytes' in file ? strictJson(file.bytes) : undefined
  return read?.outcome === 'value' ? read.value : undefined
}
