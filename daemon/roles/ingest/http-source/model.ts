// A place of the profile from which pipelines download files: none is named by a pipeline itself.
import * as z from 'zod'
import { classification } from '../../../kernel/label/label.ts'
import { url } from '../connection/type/connection-type.ts'

const filePath = z.string().min(1).max(4_096)

/** The name of a source, as tasks use it. */
export const sourceName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens, at most 63')

/** Neither leads out of the folder by any server's reading of it: no `..`, no empty name, no coded separator. */
export const filePathBelow = z
  .string()
  .max(1_024)
  .regex(
    /^(?!.*%(?:2[eEfF]|5[cC]|00))(?!(?:.*\/)?\.{1,2}(?:\/|\?|$))[A-Za-z0-9._~!$&'()*+,;=:@%-]+(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?$/,
    'must be a path of URL characters, without .., empty names and coded separators; a query may follow',
  )

export const httpDataSource = z.strictObject({
  name: sourceName,
  url: url('Beginning of the URLs of its files'),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Tenant whose pipelines read it; default: the tenant of the site' }),
  classification: classification
    .optional()
    .meta({ description: 'Label of its files, which that of the pipeline must cover' }),
  authorization_file: filePath
    .optional()
    .meta({ description: 'File with the Authorization header, such as: Bearer …; read at each download' }),
  ca_file: filePath.optional().meta({
    description: 'File with the only authorities that its certificate may be of; default: those of the machine',
  }),
  max_bytes: z.int().min(1).max(68_719_476_736).default(1_073_741_824).meta({ description: 'Largest file' }),
  timeout_s: z.int().min(1).max(86_400).default(600).meta({ description: 'Longest download' }),
})
export type HttpDataSource = z.output<typeof httpDataSource>
