// One cluster as this adapter sees it: requests with a time limit each, answers held to a schema, secrets kept inside.
import { readFileSync } from 'node:fs'
import { Client } from '@opensearch-project/opensearch'
import type * as z from 'zod'
import { ClusterFailure, toClusterFailure } from './cluster-failure.ts'

export type ClusterOptions = {
  /** Base URL, as in `https://search.example:9200`. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** PEM files: authorities trusted instead of the machine's, and this site's client certificate and key. */
  readonly ca_file?: string | undefined
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
  /** Whether the server's certificate must hold. */
  readonly verify: boolean
  /** Limit of each request, in milliseconds. */
  readonly timeout_ms: number
}

export type ClusterRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'HEAD'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  /** Lines of a bulk request, each a JSON text. */
  readonly lines?: readonly string[]
  readonly timeout_ms?: number
}

export type OpensearchCluster = {
  readonly timeout_ms: number
  /** @throws ClusterFailure, or Error when the request was a mistake of this program. */
  request<T>(request: ClusterRequest, answer: z.ZodType<T>): Promise<T>
  close(): Promise<void>
}

/** Sends no request yet. @throws when a file of keys or certificates cannot be read. */
export function openCluster(options: ClusterOptions): OpensearchCluster {
  const { url, username, password, verify, timeout_ms } = options
  const client = new Client({
    node: url,
    ...(username === undefined ? {} : { auth: { username, password: password ?? '' } }),
    ssl: { rejectUnauthorized: verify, ...readPemFiles(options) },
    // A hidden retry by the client could report a conflict with this process's own first write.
    maxRetries: 0,
    requestTimeout: timeout_ms,
    // Documents may have any member names; the parsed values are data and are never merged into other objects.
    disablePrototypePoisoningProtection: true,
  })
  return {
    timeout_ms,
    async request(request, answer) {
      const body = await sendRequest(client, request, request.timeout_ms ?? timeout_ms)
      const parsed = answer.safeParse(body)
      if (!parsed.success) throw new ClusterFailure('unknown', `an answer of an unknown form to ${request.method}`)
      return parsed.data
    },
    close: () => client.close(),
  }
}

/** The client's own limit is for silence; this one is for the whole request. */
async function sendRequest(client: Client, clusterRequest: ClusterRequest, timeout_ms: number): Promise<unknown> {
  const { method, path, query = {}, body, lines } = clusterRequest
  const content = lines ? { bulkBody: `${lines.join('\n')}\n` } : body === undefined ? {} : { body: body as object }
  const sent = client.transport.request({ method, path, querystring: { ...query }, ...content })
  const timer = setTimeout(() => sent.abort(), timeout_ms)
  try {
    return (await sent).body
  } catch (error) {
    throw toClusterFailure(error)
  } finally {
    clearTimeout(timer)
  }
}

function readPemFiles({ ca_file, cert_file, key_file }: ClusterOptions) {
  return {
    ...(ca_file ? { ca: readFileSync(ca_file, 'utf8') } : {}),
    ...(cert_file ? { cert: readFileSync(cert_file, 'utf8') } : {}),
    ...(key_file ? { key: readFileSync(key_file, 'utf8') } : {}),
  }
}
