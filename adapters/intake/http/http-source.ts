// Polls JSON over HTTP: by ETag, and by a cursor where the answers have one.

import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { JsonReader, PolledSource, PollResult } from '../../../daemon/shared/polled-source/polled-source.ts'
import { getOnce, type HttpSourceResponse } from './get-once.ts'

export type HttpSourceOptions = {
  readonly url: string
  /** The whole Authorization header, read at each poll. */
  readonly authorization?: (() => Promise<string | Refusal>) | undefined
  /** PEM text. */
  readonly ca?: (() => Promise<string | Refusal>) | undefined
  /** `at`: finds it in an answer; `parameter`: of the next request. */
  readonly cursor?: { readonly at: (document: unknown) => unknown; readonly parameter: string } | undefined
  /** For the whole exchange. */
  readonly timeout_ms: number
  readonly read: JsonReader
  readonly digest: (bytes: Uint8Array) => string
}

/** Position between polls. The ETag belongs to the address with the former cursor, which the next poll uses again. */
const pollPosition = z.strictObject({ since: z.string().max(1_024).optional(), etag: z.string().max(1_024).optional() })
type HttpPollPosition = z.infer<typeof pollPosition>

export function httpSource(options: HttpSourceOptions): PolledSource {
  return {
    async poll(cursor, signal) {
      const before = parsePosition(cursor)
      const answer = await requestSource(options, before, signal)
      if ('code' in answer) return answer
      if (answer.status === 304 && before.etag !== undefined) return unchangedResult(cursor)
      if (answer.status !== 200) return refuse('unavailable', `the source answered ${answer.status}`)
      return buildPollResult(options, before, answer, cursor)
    },
  }
}

function buildPollResult(
  { read, digest, cursor: by }: HttpSourceOptions,
  before: HttpPollPosition,
  answer: HttpSourceResponse,
  cursor?: string,
): PollResult {
  const document = read(answer.bytes)
  const found = by && !isUnreadable(document) ? parseNextCursor(by.at(document)) : undefined
  const hasMoved = found !== undefined && found !== before.since
  const { etag } = answer
  const next: HttpPollPosition = {
    ...(hasMoved ? { since: found } : before.since === undefined ? {} : { since: before.since }),
    // After a move the next request is another, of which no ETag is known.
    ...(!hasMoved && etag !== undefined && etag.length <= 1_024 ? { etag } : {}),
  }
  const isUseless = isUnreadable(document)
  return {
    sets: [{ set_id: digest(answer.bytes), documents: [document], is_whole: false }],
    // An unreadable answer is requested again from the same position, so that no item is skipped.
    cursor: isUseless ? cursor : JSON.stringify(next),
    has_more: hasMoved,
    acknowledge: async () => undefined,
  }
}

function isUnreadable(document: unknown): document is Refusal {
  return document instanceof Error
}

/** A cursor that is neither text nor a number leaves the position as it is. */
function parseNextCursor(found: unknown): string | undefined {
  if (typeof found !== 'string' && typeof found !== 'number') return undefined
  const text = String(found)
  return text === '' || text.length > 1_024 ? undefined : text
}

function unchangedResult(cursor: string | undefined): PollResult {
  return { sets: [], cursor, has_more: false, acknowledge: async () => undefined }
}

async function requestSource(
  options: HttpSourceOptions,
  { since, etag }: HttpPollPosition,
  signal: AbortSignal,
): Promise<HttpSourceResponse | Refusal> {
  const [authorization, ca] = await Promise.all([options.authorization?.(), options.ca?.()])
  for (const each of [authorization, ca]) if (each !== undefined && typeof each !== 'string') return each
  const url = new URL(options.url)
  if (since !== undefined && options.cursor) url.searchParams.set(options.cursor.parameter, since)
  const headers = {
    accept: 'application/json',
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(authorization === undefined ? {} : { authorization: authorization as string }),
  }
  return getOnce(url, { headers, ca: ca as string | undefined, signal, timeout_ms: options.timeout_ms })
}

/** A position of an older profile, or a damaged one, starts from the beginning: items that were taken in are known. */
function parsePosition(cursor: string | undefined): HttpPollPosition {
  return (cursor === undefined ? undefined : parseJsonAs(pollPosition, cursor)) ?? {}
}
