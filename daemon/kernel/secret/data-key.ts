// Data keys: each encrypts the secrets of one collection, and is stored encrypted by a wrapping key of the site.
import * as z from 'zod'
import {
  decryptAuthenticated,
  encryptAuthenticated,
  encryption_key_bytes,
} from '../cryptography/authenticated-encryption.ts'
import { canonicalJson } from '../encoding/canonical-json.ts'

export const dataKeyId = z.string().regex(/^dk_[0-9a-f]{32}$/)
export const wrappingKeyId = z.string().regex(/^secret-[A-Za-z0-9_-]{16}$/)

/** Whether a key id is that of a wrapping key rather than of a key that signs. */
export function isWrappingKeyId(kid: string): boolean {
  return wrappingKeyId.safeParse(kid).success
}

/** A data key as its role stores it: only role `site` can open it. */
export const wrappedDataKey = z.strictObject({
  id: dataKeyId,
  wrapping_key: wrappingKeyId,
  /** AES-256-GCM: nonce, ciphertext and tag, base64url. */
  wrapped: z.base64url().length(80),
})
export type WrappedDataKey = z.infer<typeof wrappedDataKey>

/** The holder of a data key: no other role, and no other collection of the role, can have it opened. */
export type DataKeyScope = { readonly site: string; readonly role: string; readonly collection: string }

export type NewDataKey = WrappedDataKey & { readonly key: Uint8Array }
/** `is_current`: false once the wrapping key has a successor; the data key then needs one too. */
export type OpenedDataKey = { readonly key: Uint8Array; readonly is_current: boolean }

/**
 * The data keys of one role. Both methods throw `Refusal('unavailable')` while the wrapping key cannot be read, and
 * `open` throws `Refusal('invalid')` for a data key that was altered or belongs to another role, collection or site.
 */
export interface DataKeys {
  /** Creates a random data key. Nothing is stored: the role stores the wrapped key before it uses the key. */
  create(collection: string): Promise<NewDataKey>
  open(collection: string, wrapped: WrappedDataKey): Promise<OpenedDataKey>
}

/** Encrypts a data key by a wrapping key; base64url. */
export function wrapDataKey(
  wrappingKey: Uint8Array,
  nonce: Uint8Array,
  key: Uint8Array,
  scope: DataKeyScope,
  id: string,
): string {
  if (key.length !== encryption_key_bytes) throw new TypeError(`a data key has ${encryption_key_bytes} bytes`)
  return Buffer.from(encryptAuthenticated(wrappingKey, nonce, key, describeScope(scope, id))).toString('base64url')
}

/** The data key; undefined if it was altered, or wrapped by another key or for another scope. */
export function unwrapDataKey(
  wrappingKey: Uint8Array,
  { id, wrapped }: WrappedDataKey,
  scope: DataKeyScope,
): Uint8Array | undefined {
  return decryptAuthenticated(wrappingKey, Buffer.from(wrapped, 'base64url'), describeScope(scope, id))
}

function describeScope({ site, role, collection }: DataKeyScope, id: string): string {
  return canonicalJson(['platform data key 1', site, role, collection, id])
}
