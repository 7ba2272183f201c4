// Signs requests to Azure Storage with the key of the account, by the scheme Shared Key.
import { createHmac } from 'node:crypto'

export type SharedKeyRequest = {
  readonly account: string
  /** As it is sent, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** In lower case; without a body. */
  readonly headers: Readonly<Record<string, string>>
}

/** Headers that are signed by their place, in this order; a request without a body has no length. */
const placed = [
  ...['content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date'],
  ...['if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range'],
]

/** The header `authorization` of a GET. `key`: base64. */
export function signSharedKey({ account, path, query, headers }: SharedKeyRequest, key: string): string {
  const named = Object.keys(headers).filter((name) => name.startsWith('x-ms-'))
  const lines = [
    'GET',
    ...placed.map((name) => headers[name] ?? ''),
    ...named.toSorted().map((name) => `${name}:${headers[name]}`),
    `/${account}${path}`,
    ...Object.keys(query)
      .toSorted()
      .map((name) => `${name}:${query[name]}`),
  ]
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(lines.join('\n')).digest('base64')
  return `SharedKey ${account}:${signature}`
}
