// Verifies and parses small signed documents that are not messages: receipts, manifests, announcements.
import * as z from 'zod'
import { findSignerFault, type SignerFault } from '../../../daemon/kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey, Signatures, SignatureType } from '../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { formatFieldErrors, parseWithSchema } from '../../../daemon/kernel/error/parsing.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import { parseMessageJson } from './checks/message-json.ts'

const noteEnds = z.looseObject({ src: z.string(), dst: z.string() })

/** From whom and for whom it says that it is, unverified: to find the keys that it must be verified with. */
export function claimedEnds({ payload }: Jws): { readonly src: string; readonly dst: string } | undefined {
  return noteEnds.safeParse(parseMessageJson(Buffer.from(payload, 'base64url'))).data
}

/** The site that should have signed a note, with the keys and the threshold that are pinned for it. */
export type NoteSigner = Pick<Peer, 'name' | 'threshold'> & { readonly keys: readonly PublicKey[] }

/** The content that enough of the peer's message keys signed to meet its threshold. Refuses `signature_invalid` and `invalid`. */
export async function verifyPeerNote<T>(
  type: SignatureType,
  note: Jws,
  { keys, threshold }: NoteSigner,
  schema: z.ZodType<T>,
  signatures: Pick<Signatures, 'verify'>,
): Promise<T | Refusal> {
  const messageKeys = keys.filter(({ use }) => use === 'message')
  return await verifyNote(type, note, messageKeys, threshold, schema, signatures)
}

/** The same for these keys, whatever they are for. */
export async function verifyNote<T>(
  type: SignatureType,
  note: Jws,
  keys: readonly PublicKey[],
  threshold: number,
  schema: z.ZodType<T>,
  signatures: Pick<Signatures, 'verify'>,
): Promise<T | Refusal> {
  const found = await signatures.verify(type, note, keys)
  if (typeof found === 'string') return refuse('signature_invalid', describeFault(found, threshold))
  const content = parseNote(type, found.payload, schema)
  if (isRefusal(content)) return content
  const signerFault = findSignerFault(found, threshold, noteCreation.safeParse(content).data?.created)
  return signerFault ? refuse('signature_invalid', describeFault(signerFault, threshold)) : content
}

function parseNote<T>(type: SignatureType, payload: Uint8Array, schema: z.ZodType<T>): T | Refusal {
  const parsed = parseWithSchema(schema, parseMessageJson(Buffer.from(payload)))
  return parsed.success
    ? parsed.data
    : refuse('invalid', `what was signed is not a ${type}: ${formatFieldErrors(parsed.errors)}`)
}

const noteCreation = z.looseObject({ created: z.iso.datetime() })

function describeFault(fault: SignerFault, threshold: number): string {
  return fault === 'too_few' ? `fewer than ${threshold} keys signed it` : refusalTexts[fault]
}

const refusalTexts: Readonly<Record<Exclude<SignerFault, 'too_few'>, string>> = {
  bad_signature: 'a signature does not hold',
  unknown_key: 'no pinned key signed it',
  key_revoked: 'the key that signed it is revoked',
  key_ended: 'the keys signed it after their own end',
}
