// Rows of an index of Elasticsearch or OpenSearch: its documents as they were when the scroll began.
import * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { describeConnectionFailure } from '../../../daemon/shared/row-source/connection-failure.ts'
import type { RowCursor } from '../../../daemon/shared/row-source/row-cursor.ts'
import {
  max_row_characters,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import {
  FieldOrder,
  fieldMapping,
  findFieldType,
  type IndexFieldType,
  missingQuery,
  rangeQuery,
  refuseMissing,
} from './field-cursor.ts'

export type ElasticsearchAccess = {
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly api_key?: string | undefined
  /** Authorities in PEM instead of the known ones. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

const page_documents = 250
const max_page_bytes = 33_554_432
const max_answer_bytes = 65_536
/** How long the server keeps the scroll between two pages. */
const keep_alive = '5m'
const limits = { total_ms: 120_000, head_ms: 60_000, idle_ms: 60_000 }

/** What an index may be called, and what an alias or pattern may not: it would lead to other indexes, or another path. */
const indexName = /^[a-z0-9][a-z0-9._-]{0,254}$/

const information = z.looseObject({ version: z.looseObject({ number: z.string().max(64) }) })
const page = z.looseObject({
  _scroll_id: z.string().max(65_536),
  hits: z.looseObject({
    hits: z.array(
      z.looseObject({
        _id: z.string(),
        _source: z.record(z.string(), z.unknown()).optional(),
        sort: z.array(z.unknown()).optional(),
      }),
    ),
  }),
  _shards: z.looseObject({ failed: z.int().min(0) }),
  timed_out: z.boolean().optional(),
})
type Page = z.infer<typeof page>
const answerPage = z.looseObject({ hits: z.looseObject({ hits: z.array(z.unknown()) }) })

export function elasticsearchSource(access: ElasticsearchAccess): RowSource {
  const client = new ElasticsearchClient(access)
  let names: readonly string[] = []
  return {
    async probe(signal) {
      const { version } = await client.request('GET', '/', undefined, information, max_answer_bytes, signal)
      return `a search server of version ${JSON.stringify(version.number)}`
    },
    rows(request, signal) {
      names = ['_id', ...(request.columns ?? [])]
      return readRows(client, request, signal)
    },
    usualColumns: () => [...new Set(names)].map((name) => ({ name, type: 'text' })),
    async close() {
      client.close()
    },
  }
}

async function* readRows(
  client: ElasticsearchClient,
  { table, columns, cursor }: RowRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  if (!indexName.test(table))
    throw new RowSourceError(`${JSON.stringify(table.slice(0, 64))} is not the name of an index`)
  const type = cursor && (await findCursorType(client, table, cursor, signal))
  const order = cursor && type && new FieldOrder(cursor, type)
  const query = {
    ...{ size: page_documents, sort: ['_doc'], query: { match_all: {} } },
    ...(cursor && type && rangeQuery(cursor, type)),
    ...(columns && columns.length > 0 && { _source: columns }),
  }
  const path = `/${table}/_search?scroll=${keep_alive}&ignore_unavailable=false&allow_partial_search_results=false`
  let found = await client.request('POST', path, query, page, max_page_bytes, signal)
  try {
    while (found.hits.hits.length > 0) {
      yield describePage(found, order)
      signal.throwIfAborted()
      const next = { scroll: keep_alive, scroll_id: found._scroll_id }
      found = await client.request('POST', '/_search/scroll', next, page, max_page_bytes, signal)
    }
    order?.finish()
    yield describePage(found, order)
  } finally {
    await client.release(found._scroll_id)
  }
}

async function findCursorType(
  client: ElasticsearchClient,
  table: string,
  cursor: RowCursor,
  signal: AbortSignal,
): Promise<IndexFieldType> {
  const mapping = `/${table}/_mapping/field/${encodeURIComponent(cursor.column)}`
  const type = findFieldType(
    await client.request('GET', mapping, undefined, fieldMapping, max_page_bytes, signal),
    cursor,
  )
  const path = `/${table}/_search?ignore_unavailable=false&allow_partial_search_results=false`
  const { hits } = await client.request('POST', path, missingQuery(cursor), answerPage, max_answer_bytes, signal)
  refuseMissing(hits.hits, cursor)
  return type
}

/** A part of the shards is not the index: such a page ends the reading. */
function describePage({ hits, _shards, timed_out }: Page, order: FieldOrder | undefined): string[] {
  if (_shards.failed > 0 || timed_out) throw new RowSourceError('the server could not read a part of the index', false)
  return hits.hits.map(({ _id, _source = {}, sort = [] }) => {
    order?.take(sort)
    const fields = Object.entries(_source).map(([name, value]) => [name, flatten(value)])
    const line = JSON.stringify({ _id, ...Object.fromEntries(fields) })
    if (line.length > max_row_characters)
      throw new RowSourceError(`a document has more than ${max_row_characters} characters`)
    return line
  })
}

/** A list lands with its items joined; what has parts of its own lands as its JSON. */
function flatten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) return value
  return JSON.stringify(value)
}

/** Matches answers that may have a number of more digits than a double keeps. */
const longNumberPattern = /\d[\d.]{15}/

/** Strict JSON, in which a number of more than 15 digits is a text, so that it keeps them. */
function parseExactly(bytes: Uint8Array): unknown {
  const value = parseJson(bytes)
  const text = Buffer.from(bytes).toString()
  if (value === undefined || !longNumberPattern.test(text)) return value
  return JSON.parse(text, (_key, each: unknown, { source = '' }: { readonly source?: string } = {}) =>
    typeof each === 'number' && longNumberPattern.test(source) ? source : each,
  )
}

class ElasticsearchClient {
  readonly #http: HttpClient
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor({ url, username, password, api_key, ca, rule }: ElasticsearchAccess) {
    this.#http = new HttpClient({ rule, ca, max_connections: 1, connect_timeout_ms: 10_000 })
    this.#url = url.replace(/\/$/, '')
    const basic = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')
    const authorization =
      api_key !== undefined ? `ApiKey ${api_key}` : password !== undefined ? `Basic ${basic}` : undefined
    this.#headers = { accept: 'application/json', ...(authorization === undefined ? {} : { authorization }) }
  }

  /** Throws `RowSourceError`, and the reason of the signal. */
  async request<T>(
    method: string,
    path: string,
    body: unknown,
    schema: z.ZodType<T>,
    max_bytes: number,
    signal: AbortSignal,
  ): Promise<T> {
    try {
      const response = await this.#http.send(`${this.#url}${path}`, {
        ...{ method, limits, signal },
        headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const bytes = await response.readBytes(max_bytes)
      if (response.status !== 200) throw describeStatus(response.status)
      const answer = schema.safeParse(parseExactly(bytes))
      if (!answer.success) throw new RowSourceError('the server does not answer as a search server does')
      return answer.data
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof HttpClientError ? describeFailure(error) : error
    }
  }

  /** Frees the scroll; the server does it by itself later. */
  async release(scroll_id: string): Promise<void> {
    const body = { scroll_id: [scroll_id] }
    const request = this.request(
      'DELETE',
      '/_search/scroll',
      body,
      z.unknown(),
      max_answer_bytes,
      AbortSignal.timeout(5_000),
    )
    await request.catch(() => undefined)
  }

  close(): void {
    this.#http.close()
  }
}

/** Bodies of errors are of the server, and may repeat the request. */
function describeStatus(status: number): RowSourceError {
  if (status === 401 || status === 403) return new RowSourceError('the server refuses the user or the secret')
  if (status === 404) return new RowSourceError('the server has no such index')
  return new RowSourceError(`the server answered ${status}`, status < 500 && status !== 429)
}

function describeFailure({ failure, code }: HttpClientError): RowSourceError {
  if (failure === 'too_large')
    return new RowSourceError(`an answer of the server has more than ${max_page_bytes} bytes`)
  return describeConnectionFailure(code)
}
