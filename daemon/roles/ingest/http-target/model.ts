// A service of the profile to which tasks send requests over HTTP: none is named by a pipeline itself.
import * as z from 'zod'
import { httpDataSource } from '../http-source/model.ts'

const { name, url, tenant_id, classification, authorization_file, ca_file } = httpDataSource.shape

const mebibyte = 1_048_576

/** The operators that send requests. */
export const sendingOperators = ['test_call', 'external_dispatch'] as const

export const httpTarget = z.strictObject({
  name,
  url: url.meta({ description: 'Beginning of the URLs of all requests' }),
  operator: z.enum(sendingOperators).meta({ description: 'The one operator whose tasks send requests there' }),
  tenant_id: tenant_id.meta({ description: 'Tenant whose pipelines send requests; default: the tenant of the site' }),
  classification: classification.meta({
    description: 'Label of what it may be sent, and of what the account there may see; default: the default level',
  }),
  authorization_file: authorization_file.meta({
    description: 'File with the Authorization header, such as: Bearer …; read at each request',
  }),
  ca_file,
  max_bytes: z
    .int()
    .min(1)
    .max(16 * mebibyte)
    .default(mebibyte)
    .meta({ description: 'Largest answer' }),
  timeout_s: z.int().min(1).max(600).default(30).meta({ description: 'Longest time of a request and its answer' }),
})
type HttpTarget = z.output<typeof httpTarget>

/** For one task. `is_answer_kept`: what the target answers may land under the label of the run. */
export type TaskTarget = HttpTarget & { readonly is_answer_kept: boolean }
