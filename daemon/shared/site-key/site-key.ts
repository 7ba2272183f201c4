// Signing with the keys of the site, and listing them: contracts of the site role.

import * as z from 'zod'
import { documentType } from '../../kernel/cryptography/document-type.ts'
import { type Jws, jws, type PublicKey, publicKey } from '../../kernel/cryptography/signatures.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import { wholeListSchema } from '../../kernel/operation/paging.ts'

export const createSignature = operationContract({
  address: 'site.signature.create',
  input: z.strictObject({
    type: documentType.meta({ description: 'A type of document that the role declares' }),
    payload: z.base64url().max(65_536).meta({ description: 'The bytes to sign, base64url' }),
  }),
  output: jws.meta({ id: 'Jws', description: 'JWS, general JSON serialisation' }),
})

export const listSiteKeys = operationContract({
  address: 'site.key.list',
  input: z.strictObject({ use: publicKey.shape.use.optional() }),
  output: wholeListSchema(publicKey).meta({ id: 'KeyList' }),
})

/** Signs the bytes with the message key of the site. `type`: one that the outline of the role declares. */
export async function signWithSiteKey({ roles }: Call, type: string, payload: Uint8Array): Promise<Jws> {
  return throwRefusal(roles.request(createSignature, { type, payload: Buffer.from(payload).toString('base64url') }))
}

/** The public message keys of the site, also those that are retired or revoked. */
export async function listMessageKeys({ roles }: Call): Promise<PublicKey[]> {
  return (await throwRefusal(roles.request(listSiteKeys, { use: 'message' }))).items
}
