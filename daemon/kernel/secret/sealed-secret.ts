// Secrets in stored documents: encrypted for one field of one document, with the id of the data key beside each.
import * as z from 'zod'
import { decryptAuthenticated, encryptAuthenticated } from '../cryptography/authenticated-encryption.ts'
import { canonicalJson } from '../encoding/canonical-json.ts'
import { dataKeyId } from './data-key.ts'

export const max_secret_bytes = 65_536
/** Lengths are rounded up, so that the length of a ciphertext does not reveal that of a password. */
const padding_block_bytes = 64
const padding_mark = 0x80
const overhead_bytes = 28

/** A secret as a document holds it. Collections declare it as a top-level field, and outputs never. */
export const sealedSecret = z.strictObject({
  key: dataKeyId,
  /** AES-256-GCM: nonce, ciphertext and tag, base64url. */
  sealed: z.base64url().max(Math.ceil(((max_secret_bytes + padding_block_bytes + overhead_bytes) * 4) / 3)),
})
export type SealedSecret = z.infer<typeof sealedSecret>

/** The only place where a sealed secret opens: copied into another one it is unreadable. */
export type SecretPlace = {
  readonly collection: string
  readonly id: string
  readonly field: string
  readonly tenant_id: string
}

export type IdentifiedDataKey = { readonly id: string; readonly key: Uint8Array }

/** Encrypts a text for its place. Throws a RangeError for one above `max_secret_bytes`. */
export function sealSecret(
  dataKey: IdentifiedDataKey,
  nonce: Uint8Array,
  text: string,
  place: SecretPlace,
): SealedSecret {
  const bytes = Buffer.from(text)
  if (bytes.length > max_secret_bytes) throw new RangeError(`a secret has at most ${max_secret_bytes} bytes`)
  const sealed = encryptAuthenticated(dataKey.key, nonce, addPadding(bytes), describePlace(place, dataKey.id))
  return { key: dataKey.id, sealed: Buffer.from(sealed).toString('base64url') }
}

/** The text; undefined if it was altered, or sealed by another key or for another place. */
export function openSealedSecret(
  dataKey: IdentifiedDataKey,
  { sealed }: SealedSecret,
  place: SecretPlace,
): string | undefined {
  const padded = decryptAuthenticated(dataKey.key, Buffer.from(sealed, 'base64url'), describePlace(place, dataKey.id))
  return padded && Buffer.from(padded.subarray(0, padded.lastIndexOf(padding_mark))).toString('utf8')
}

/** Padding by a mark and zeros (ISO/IEC 7816-4), which can be removed from any text. */
function addPadding(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(bytes.length / padding_block_bytes) + 1) * padding_block_bytes)
  padded.set(bytes)
  padded[bytes.length] = padding_mark
  return padded
}

function describePlace({ collection, id, field, tenant_id }: SecretPlace, key: string): string {
  return canonicalJson(['platform secret 1', collection, id, field, tenant_id, key])
}
