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

/** One line of JSON without its line break, for any bytes of a caller. Overlong parts are cut. */
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
  const shortened = path.length > max_path_characters ? path.slice(0, max_path_characters) : path
  const quotedRule = rule === undefined ? 'null' : quoteText(rule)
  return `[${at},"${reason}",${quoteText(source)},${status},${upstream_status},${quoteText(method)},${quoteText(shortened)},${quotedRule}]`
}

/** Quotes a text; most texts need no escape. */
function quoteText(text: string): string {
  return /[^ !#-[\]-~]/.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** The fields by which a line is indexed. `at`: epoch milliseconds. */
export type RecordLineHead = Pick<RequestAuditEntry, 'at' | 'source' | 'status' | 'rule'> & {
  readonly verdict: RequestVerdict
}

const stringPattern = '(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*'
const linePattern = new RegExp(
  `^\\[(\\d{1,16}),"([a-z0-9_]{1,40})","([^"\\\\]*)",(\\d{1,3}),(?:null|\\d{1,3}),"${stringPattern}","${stringPattern}",(?:null|("${stringPattern}"))\\]$`,
)
const max_epoch_ms = 8_640_000_000_000_000

/** Reads the indexed fields without parsing the whole line; undefined when it is not a record. */
export function readLineHead(line: string): RecordLineHead | undefined {
  const match = linePattern.exec(line)
  if (!match) return undefined
  const [, time, reason = '', source = '', status, quotedRule] = match
  const at = Number(time)
  if (at > max_epoch_ms || !Object.hasOwn(reasons, reason)) return undefined
  const rule = quotedRule === undefined ? undefined : unquoteText(quotedRule)
  return { at, verdict: lookUpReason(reason as ProxyReason).verdict, source, status: Number(status), rule }
}

/** Most texts have no escape. */
function unquoteText(quoted: string): string {
  return quoted.includes('\\') ? String(parseJson(quoted)) : quoted.slice(1, -1)
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

/** Parses a record; undefined when the line is not a record. */
export function parseRecordLine(text: string): RequestRecord | undefined {
  const match = lineSchema.safeParse(parseJson(text))
  if (!match.success) return undefined
  const [at, reason, source, status, upstream_status, method, path, rule] = match.data
  return {
    at: new Date(at).toISOString(),
    ...{ source, method, path, verdict: lookUpReason(reason).verdict, upstream_status, status, reason },
    ...(rule === null ? {} : { rule }),
  }
}
