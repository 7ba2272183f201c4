// Secrets of a role's documents: sealed and opened by data keys that role `site` creates and opens.
import * as z from 'zod'
import type { Call } from '../../kernel/operation/call.ts'
import type { RoleClients } from '../../kernel/operation/operation-contract.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import { type DataKeys, dataKeyId, wrappedDataKey, wrappingKeyId } from '../../kernel/secret/data-key.ts'
import type { SealedSecret } from '../../kernel/secret/sealed-secret.ts'
import { type SecretDocument, secretKeyringPart } from '../../kernel/secret/secret-keyring.ts'
import type { Collection, StoredFields } from '../../kernel/store/store.ts'

const collectionName = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/)
const openKey = z.base64url().length(43).meta({ description: 'The data key, 32 bytes, base64url' })

export const createDataKey = operationContract({
  address: 'site.data-key.create',
  input: z.strictObject({ collection: collectionName }),
  output: wrappedDataKey
    .extend({ id: dataKeyId, wrapping_key: wrappingKeyId, key: openKey })
    .meta({ id: 'NewDataKey' }),
})

export const openDataKey = operationContract({
  address: 'site.data-key.open',
  input: wrappedDataKey.extend({ collection: collectionName }),
  output: z
    .strictObject({ key: openKey, is_current: z.boolean().meta({ description: 'False: replace the data key' }) })
    .meta({ id: 'OpenedDataKey' }),
})

/** The data keys of the requesting role, by role `site`, which alone has the wrapping keys. */
export function dataKeysOfSite(roles: RoleClients): DataKeys {
  return {
    async create(collection) {
      const { key, ...wrapped } = await throwRefusal(roles.request(createDataKey, { collection }))
      return { ...wrapped, key: decodeKey(key) }
    },
    async open(collection, wrapped) {
      const { key, is_current } = await throwRefusal(roles.request(openDataKey, { collection, ...wrapped }))
      return { key: decodeKey(key), is_current }
    },
  }
}

/** Encrypts a secret for a field of a document. Throws `Refusal('unavailable')` while role `site` is not there. */
export async function sealSecretField<T extends StoredFields>(
  call: Call,
  collection: Collection<T>,
  document: SecretDocument,
  field: keyof T & string,
  text: string,
): Promise<SealedSecret> {
  return await call.part(secretKeyringPart).seal(dataKeysOfSite(call.roles), collection, document, field, text)
}

/** The text of a sealed secret. Throws `Refusal('unavailable')` as above, and `Refusal('internal')` for one that is lost. */
export async function openSecretField<T extends StoredFields>(
  call: Call,
  collection: Collection<T>,
  document: SecretDocument,
  field: keyof T & string,
  secret: SealedSecret,
): Promise<string> {
  return await call.part(secretKeyringPart).open(dataKeysOfSite(call.roles), collection, document, field, secret)
}

function decodeKey(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}
