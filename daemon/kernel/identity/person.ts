// A person whose key the site accepts, enrolled by public key after people have compared the fingerprint.
import * as z from 'zod'
import { publicKey } from '../cryptography/signatures.ts'

export const personalKey = publicKey.safeExtend({ use: z.literal('personal') })

export const person = z
  .strictObject({
    subject: z.string().min(1).max(256).meta({ description: 'The subject of the person’s tokens' }),
    keys: z
      .array(personalKey)
      .min(1)
      .max(64)
      .meta({ description: 'At most one key is active; revoked keys stay, so that old signatures can be verified' }),
    enrolled: z.iso.datetime(),
  })
  .meta({ id: 'Person' })
export type Person = z.infer<typeof person>

/** The people of the site, read from disk each time: an enrolment or a removal counts at once. */
export interface People {
  list(): Promise<Person[]>
}
