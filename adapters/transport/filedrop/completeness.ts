// Whether a message has come whole: by its own declaration, never by the time of its files.
import * as fs from 'node:fs'
import * as z from 'zod'
import { type Item, pathOf } from './dropbox.ts'
import { readDropped } from './dropped-file.ts'
import type { Folders } from './layout.ts'
import { strictJson } from './strict-json.ts'

const peek = z.looseObject({ payload: z.string() })
const declared = z.looseObject({ body: z.looseObject({ length: z.int().min(0) }) })

/**
 * False while the envelope does not end its JSON or the body is shorter than the envelope says. Nothing here is
 * believed: whatever is wrong otherwise is left to the checks, so that it gets its reason.
 */
export function isComplete(
  folders: Folders,
  item: Item,
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
): boolean {
  const envelope = readDropped(pathOf(folders, item, 'env'), limits.max_envelope_bytes)
  if (!('bytes' in envelope)) return true
  const read = strictJson(envelope.bytes)
  if (read.outcome === 'incomplete') return false
  if (read.outcome !== 'value') return true
  const length = declaredLength(read.value)
  if (length === undefined || length > limits.max_body_bytes) return true
  const body = fs.lstatSync(pathOf(folders, item, 'body'), { throwIfNoEntry: false })
  return !body?.isFile() || body.size >= length
}

function declaredLength(envelope: unknown): number | undefined {
  const { data } = peek.safeParse(envelope)
  if (!data) return undefined
  const payload = strictJson(Buffer.from(data.payload, 'base64url'))
  return payload.outcome === 'value' ? declared.safeParse(payload.value).data?.body.length : undefined
}
