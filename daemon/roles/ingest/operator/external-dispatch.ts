// Hands a payload to a system outside the platform, at a target of the profile, and keeps the acknowledgement as a dataset of one row.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { max_tasks } from '../../../shared/assembled-dag/assembled-dag.ts'
import { filePathBelow, sourceName } from '../http-source/model.ts'
import { keyPath } from '../journey-test/key-path.ts'
import { operator } from './operator.ts'

export const externalDispatch = operator({
  name: 'external_dispatch',
  summary: 'Hand a payload to an external system at a target of the profile, and keep its acknowledgement',
  // It waits for them, and takes nothing of their datasets.
  inputs: { min: 0, max: max_tasks },
  makes_dataset: true,
  params: z.strictObject({
    target: sourceName.meta({ description: 'Name of a target in ingest.http_targets of the profile' }),
    path: filePathBelow.optional().meta({ description: 'Path below the URL of the target; default: that URL itself' }),
    method: z.enum(['POST', 'PUT']).default('POST'),
    payload: z.record(z.string(), z.json()).meta({ description: 'Sent as canonical JSON (RFC 8785)' }),
    payload_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .optional()
      .meta({ description: 'SHA-256 of the canonical JSON of the payload, which must be this' }),
    reference: keyPath
      .optional()
      .meta({ description: 'Path of the reference that the system gives it, in its JSON answer' }),
  }),
  findInputFault({ payload, payload_hash }) {
    if (payload_hash === undefined || canonicalDigest(payload) === payload_hash) return undefined
    return 'payload_hash is not the SHA-256 of the canonical JSON (RFC 8785) of payload'
  },
})
