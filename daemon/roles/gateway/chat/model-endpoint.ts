// Values of settings that name an OpenAI-compatible endpoint: its URL, a model of it, and the key of the site there.
import * as z from 'zod'

/** With credentials, a query or a fragment, paths could not be added to it. */
export const endpointUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((url) => !/[@?#]/.test(url), 'must not contain credentials, a query or a fragment')

export const modelName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[!-~]+$/, 'must be the name of a model, without blanks')

export const endpointKey = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[!-~]+$/, 'must have no blanks or control characters')
