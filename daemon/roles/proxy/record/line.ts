// An audit record as a line of the journal: short, since there is one for each request.
import * as z from 'zod'
import { type Reason, reasons, type Verdict, whyOf } from '../reasons.ts'
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

/** One line without its end, in JSON, whatever bytes a caller sent. What is longer than an auditor can want is cut. */
export function lineOf({ at, source, method, path, reason, status, upstream_status, rule }: Noted): string {
  const shown = path.length > most_characters ? path.slice(0, most_characters) : path
  const named = rule === undefined ? 'null' : quoted(rule)
  return `[${at},"${reason}",${quoted(source)},${status},${upstream_status},${quoted(method)},${quoted(shown)},${named}]`
}

/** Almost every text can stand as it is. */
function quoted(text: string): string {
  return /[^ !#-[\]-~]/.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** What a line is found by. `at`: epoch milliseconds. */
export type LineHead = { readonly at: number; readonly verdict: Verdict; readonly source: string }

const text = '(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*'
const whole = new RegExp(
  `^\\[(\\d{1,16}),"([a-z0-9_]{1,40})","([^"\\\\]*)",\\d{1,3},(?:null|\\d{1,3}),"${text}","${text}",(?:null|"${text}")\\]$`,
)
const latest_ms = 8_640_000_000_000_000

/** Looks at the whole line without taking it apart; undefined for one that is none. */
export function headOf(line: string): LineHead | undefined {
  const found = whole.exec(line)
  if (!found) return undefined
  const [, time, reason = '', source = ''] = found
  const at = Number(time)
  if (at > latest_ms || !Object.hasOwn(reasons, reason)) return undefined
  return { at, verdict: whyOf(reason as Reason).verdict, source }
}

const line = z.tuple([
  z.int().min(0).max(latest_ms),
  z.string().refine((text): text is Reason => Object.hasOwn(reasons, text)),
  z.string(),
  z.int(),
  z.int().nullable(),
  z.string(),
  z.string(),
  z.string().nullable(),
])

/** Undefined for a line that is none. */
export function recordIn(text: string): RequestRecord | undefined {
  const found = line.safeParse(jsonIn(text))
  if (!found.success) return undefined
  const [at, reason, source, status, upstream_status, method, path, rule] = found.data
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
