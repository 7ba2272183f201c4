// A type of connection: the template of what leads to a source, and of the secrets that open it.
import * as z from 'zod'
import { secretFieldMeta } from '../../../../kernel/secret/secret-text.ts'

export type ConnectionType = {
  /** As connections name it. */
  readonly name: string
  readonly category: string
  /** What leads to the source; shown to readers. */
  readonly config: z.ZodObject
  /** What opens it; sealed as one text, and never shown. Absent: nothing does. */
  readonly secret?: z.ZodObject
  /** Fields that choose among what one server has: to change them keeps the secret, which a change of any other one clears. */
  readonly selects: readonly string[]
}

/** Longest text of a field; that of a key file is longer. */
const max_text = 1_024
const max_key_text = 12_288

export const text = (description: string) => z.string().min(1).max(max_text).meta({ description })
export const flag = (initial: boolean, description: string) => z.boolean().default(initial).meta({ description })

/** Neither a scheme nor a path nor a port: a name or an address. */
export const host = z
  .string()
  .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$|^[0-9A-Fa-f:.]{2,45}$/, 'must be a name or an address')
  .meta({ description: 'Name or address of the server' })

export const port = (usual: number) => z.int().min(1).max(65_535).default(usual).meta({ description: 'TCP port' })

/** Without user and password, which are secrets or fields of their own. */
export const url = (description: string) =>
  z
    .string()
    .max(max_text)
    .regex(
      /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#@\\]*)?$/,
      'must be an http or https URL without a user, a query and a fragment',
    )
    .meta({ description })

/** A path below the folder of the tenant; the opener of the file refuses links. */
export const tenantPath = (description: string) =>
  z
    .string()
    .min(1)
    .max(max_text)
    .refine(
      (path) => path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')),
      'must be a path below the folder of the tenant, without .. and empty names',
    )
    .meta({ description: `${description}, as a path below the folder of the tenant in ingest.data_folder` })

export const password = secret('Password')

export function secret(description: string) {
  return z
    .string()
    .min(1)
    .max(max_text)
    .meta({ ...secretFieldMeta, description })
}

export function keyText(description: string) {
  return z
    .string()
    .min(1)
    .max(max_key_text)
    .meta({ ...secretFieldMeta, description })
}

export const tls = z
  .enum(['verify', 'off'])
  .default('verify')
  .meta({ description: 'verify: TLS with a certificate of a known authority; off: no TLS' })

/** Not a secret, and yet a change of the server: it says whom the secret is sent to. */
export const ca = z
  .string()
  .max(max_key_text)
  .regex(/^\s*-----BEGIN CERTIFICATE-----\s/, 'must be certificates as PEM')
  .optional()
  .meta({ description: 'Authorities of the certificate of the server, as PEM (default: known ones); with tls verify' })
