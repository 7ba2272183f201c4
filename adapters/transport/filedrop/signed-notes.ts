// Reads small signed documents that are no messages: receipts, manifests. The bytes are verified, and those same bytes parsed.
import * as z from 'zod'
import { isRefused, type Refused, refuse } from '../../../daemon/kernel/errors.ts'
import type { Jws, PublicKey, Signatures, SignatureType } from '../../../daemon/kernel/keys.ts'
import { inOneLine, parseBy } from '../../../daemon/kernel/parsing.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { strictJson } from './checks/strict-json.ts'

const withEnds = z.looseObject({ src: z.string(), dst: z.string() })

/** From whom and for whom it says that it is, unverified: to find the keys that it must be verified with. */
export function claimedEnds({ payload }: Jws): { readonly src: string; readonly dst: string } | undefined {
  return withEnds.safeParse(valueIn(Buffer.from(payload, 'base64url'))).data
}

/** What as many of the peer's message keys signed as its threshold asks for. Refuses `signature_invalid` and `invalid`. */
export async function bySigner<T>(
  type: SignatureType,
  note: Jws,
  { keys, threshold }: Pick<Peer, 'keys' | 'threshold'>,
  schema: z.ZodType<T>,
  signatures: Pick<Signatures, 'verify'>,
): Promise<T | Refused> {
  const messageKeys = keys.filter(({ use }) => use === 'message')
  return await signedBy(type, note, messageKeys, threshold, schema, signatures)
}

/** The same for these keys, whatever they are for. */
export async function signedBy<T>(
  type: SignatureType,
  note: Jws,
  keys: readonly PublicKey[],
  threshold: number,
  schema: z.ZodType<T>,
  signatures: Pick<Signatures, 'verify'>,
): Promise<T | Refused> {
  const found = await signatures.verify(type, note, keys)
  if (typeof found === 'string') return refuse('signature_invalid', outcomes[found])
  const distinct = new Set(found.keys.map(({ fingerprint }) => fingerprint)).size
  if (distinct < threshold) return refuse('signature_invalid', `${distinct} of ${threshold} keys signed it`)
  const said = read(type, found.payload, schema)
  if (isRefused(said)) return said
  const made = madeAt.safeParse(said).data?.created
  const isLate = made !== undefined && found.keys.some(({ not_after }) => isPast(not_after, made))
  return isLate ? refuse('signature_invalid', 'a key signed it after its own end') : said
}

function read<T>(type: SignatureType, payload: Uint8Array, schema: z.ZodType<T>): T | Refused {
  const parsed = parseBy(schema, valueIn(Buffer.from(payload)))
  return parsed.success
    ? parsed.data
    : refuse('invalid', `what was signed is not a ${type}: ${inOneLine(parsed.errors)}`)
}

const madeAt = z.looseObject({ created: z.iso.datetime() })

function isPast(not_after: string | undefined, made: string): boolean {
  return not_after !== undefined && Date.parse(made) > Date.parse(not_after)
}

const outcomes = {
  bad_signature: 'a signature does not hold',
  unknown_key: 'no pinned key signed it',
  key_revoked: 'the key that signed it is revoked',
} as const

function valueIn(bytes: Buffer): unknown {
  const read = strictJson(bytes)
  return read.outcome === 'value' ? read.value : undefined
}
