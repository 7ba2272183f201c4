// An audit record as a line of the journal: short, since there is one for each request.

import * as z from 'zod'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { lookUpReason, type ProxyReason, type RequestVerdict, reasons } from '../reasons.ts'
import type { RequestRecord } from './model.ts'

/** `at`: epoch milliseconds. */
export type RequestAuditEntry = {
  readonly at: number
  readonly source: string
  readonly method: string
  readonly path: string
  readonly reason: ProxyReason
  readonly status: number
  readonly upstream_status: number | null
  readonly rule: string | undefined
}

const max_path_characters = 2_048

/** One line without its end, in JSON, whatever bytes a caller sent. What is longer than an auditor can want is cut. */
export function formatRecordLine({
  at,
  source,
  method,
  path,
  reason,
  status,
  upstream_status,
  rule,
}: RequestAuditEntry): string {
  const shown = path.length > max_path_characters ? path.slice(0, max_path_characters) : path
  const named = rule === undefined ? 'null' : quoteText(rule)
  return `[${at},"${reason}",${quoteText(source)},${status},${upstream_status},${quoteText(method)},${quoteText(shown)},${named}]`
}

/** Almost every text can stand as it is. */
function quoteText(text: string): string {
  return /[^ !#-[\]-~]/.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** What a line is found by. `at`: epoch milliseconds. */
export type RecordLineHead = { readonly at: number; readonly verdict: RequestVerdict; readonly source: string }

const stringPattern = '(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*'
const linePattern = new RegExp(
  `^\\[(\\d{1,16}),"([a-z0-9_]{1,40})","([^"\\\\]*)",\\d{1,3},(?:null|\\d{1,3}),"${stringPattern}","${stringPattern}",(?:null|"${stringPattern}")\\]$`,
)
const max_epoch_ms = 8_640_000_000_000_000

/** Looks at the whole line without taking it apart; undefined for one that is none. */
export function readLineHead(line: string): RecordLineHead | undefined {
  const found = linePattern.exec(line)
  if (!found) return undefined
  const [, time, reason = '', source = ''] = found
  const at = Number(time)
  if (at > max_epoch_ms || !Object.hasOwn(reasons, reason)) return undefined
  return { at, verdict: lookUpReason(reason as ProxyReason).verdict, source }
}

const lineSchema = z.tuple([
  z.int().min(0).max(max_epoch_ms),
  z.string().refine((text): text is ProxyReason => Object.hasOwn(reasons, text)),
  z.string(),
  z.int(),
  z.int().nullable(),
  z.string(),
  z.string(),
  z.string().nullable(),
])

/** Undefined for a line that is none. */
export function parseRecordLine(text: string): RequestRecord | undefined {
  const found = lineSchema.safeParse(parseJson(text))
  if (!found.success) return undefined
  const [at, reason, source, status, upstream_status, method, path, rule] = found.data
  return {
    at: new Date(at).toISOString(),
    ...{ source, method, path, verdict: lookUpReason(reason).verdict, upstream_status, status, reason },
    ...(rule === null ? {} : { rule }),
  }
}
