// An audit record as a line of the journal: short, since there is one for each request.
import * as z from 'zod'
import { type Reason, reasons, whyOf } from '../reasons.ts'
import type { RequestRecord } from './model.ts'

/** `at`: epoch milliseconds. */
export type Noted = {
  readonly at: number
  readonly source: string
  readonly method: string
  readonly path: string
  readonly reason: Reason
  readonly status: number
  readonly upstream_status: number | null
  readonly rule: string | undefined
}

const most_characters = 2_048

/** One line without its end, whatever bytes a caller sent. What is longer than an auditor can want is cut. */
export function lineOf({ at, source, method, path, reason, status, upstream_status, rule }: Noted): string {
  const shown = path.length > most_characters ? path.slice(0, most_characters) : path
  return JSON.stringify([at, source, method, shown, reason, status, upstream_status, rule ?? null])
}

const line = z.tuple([
  z.int().min(0).max(8_640_000_000_000_000),
  z.string(),
  z.string(),
  z.string(),
  z.string().refine((text): text is Reason => Object.hasOwn(reasons, text)),
  z.int(),
  z.int().nullable(),
  z.string().nullable(),
])

/** Undefined for a line that is none. */
export function recordIn(text: string): RequestRecord | undefined {
  const found = line.safeParse(jsonIn(text))
  if (!found.success) return undefined
  const [at, source, method, path, reason, status, upstream_status, rule] = found.data
  return {
    at: new Date(at).toISOString(),
    ...{ source, method, path, verdict: whyOf(reason).verdict, upstream_status, status, reason },
    ...(rule === null ? {} : { rule }),
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
