// Reads this site's own messages from their files, and verifies them before they leave again.
import { join } from 'node:path'
import { jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import { checkOutgoingLabel } from '../../../../daemon/kernel/label/crossing.ts'
import { label } from '../../../../daemon/kernel/label/label.ts'
import type { MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import { readStatement, type UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { parseMessageJson, readMessageJson } from '../checks/message-json.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { type DroppedFile, readDroppedFile } from '../files/dropped-file.ts'
import { messageName, partFileName } from '../files/message-name.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'

export type OwnStatement = {
  readonly statement: UnlabelledStatement
  readonly digest: string
  /** Its key has been revoked since: no peer takes it any more. */
  readonly isRevoked: boolean
}

/** Undefined for what this site did not sign on this channel. Throws when the disk fails. */
export async function readOwnEnvelope(
  file: DroppedFile,
  link: FiledropLink,
  filedrop: OwnMessageContext,
): Promise<OwnStatement | undefined> {
  const envelope = jws.safeParse(parseFile(file)).data
  if (!envelope) return undefined
  const keys = filedrop.signatures.publicKeys().filter(({ use }) => use === 'message')
  const verified = await filedrop.signatures.verify('statement', envelope, keys)
  if (verified === 'bad_signature' || verified === 'unknown_key') return undefined
  const payload = Buffer.from(envelope.payload, 'base64url')
  const read = readMessageJson(payload)
  const reading = read.outcome === 'value' ? readStatement(read.value, filedrop.formats) : undefined
  if (reading?.read !== 'statement' || reading.statement.channel !== link.channel.out) return undefined
  return { statement: reading.statement, digest: sha384(payload), isRevoked: verified === 'key_revoked' }
}

export type OwnMessageContext = Pick<FiledropContext, 'signatures' | 'formats' | 'settings' | 'label_policy'>
export type MessageBytes = { readonly envelope: string; readonly body: string }

export type OutgoingLink = { readonly link: FiledropLink; readonly peer: Peer }

/**
 * The exact bytes of both files. `lost`: one is not there. `label_denied`: its label may not leave as the peer is pinned
 * now. `digest`: of the statement, where the journal knows it.
 */
export async function readOwnMessage(
  folder: string,
  number: MessageNumber,
  digest: string | undefined,
  { link, peer }: OutgoingLink,
  filedrop: OwnMessageContext,
): Promise<MessageBytes | 'lost' | 'damaged' | 'key_revoked' | 'label_denied'> {
  const { stem } = messageName(number.epoch, number.seq)
  const { max_envelope_bytes, max_body_bytes } = filedrop.settings
  const envelope = readDroppedFile(join(folder, partFileName(stem, 'env')), max_envelope_bytes)
  const body = readDroppedFile(join(folder, partFileName(stem, 'body')), max_body_bytes)
  if ('gone' in envelope || 'gone' in body) return 'lost'
  const own = await readOwnEnvelope(envelope, link, filedrop)
  if (!own || !('bytes' in envelope) || !('bytes' in body)) return 'damaged'
  const { epoch, seq, body: declared } = own.statement
  const isThis = epoch === number.epoch && seq === number.seq && (digest ?? own.digest) === own.digest
  const { length, sha384: signed } = declared
  if (!isThis || body.bytes.length !== length || sha384(body.bytes) !== signed) return 'damaged'
  if (own.isRevoked) return 'key_revoked'
  if (!mayLabelLeave(own.statement, peer, filedrop)) return 'label_denied'
  return { envelope: envelope.bytes.toString('utf8'), body: body.bytes.toString('utf8') }
}

/** Whether a message of the journal may leave as the peer is pinned now: since it was sealed, the ceiling may have sunk. */
export function mayLeave(envelope: string, peer: Peer, filedrop: LabelPolicyContext): boolean {
  const { payload } = jws.parse(JSON.parse(envelope))
  const reading = readStatement(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), filedrop.formats)
  return reading.read === 'statement' && mayLabelLeave(reading.statement, peer, filedrop)
}

type LabelPolicyContext = Pick<FiledropContext, 'formats' | 'label_policy'>

function mayLabelLeave(statement: UnlabelledStatement, peer: Peer, { label_policy }: LabelPolicyContext): boolean {
  const held = label.safeParse(statement.label).data
  return held !== undefined && !checkOutgoingLabel(held, peer, label_policy)
}

function parseFile(file: DroppedFile): unknown {
  return 'bytes' in file ? parseMessageJson(file.bytes) : undefined
}
