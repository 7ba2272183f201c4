// A server of the protocol of S3 that answers as a test states: what a real store never does, and a hostile one may.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'

export type HostileStore = AsyncDisposable & {
  readonly port: number
  /** Requests as they came. */
  readonly requests: IncomingMessage[]
  readonly connection: OpenConnection
  answer: (request: IncomingMessage, response: ServerResponse) => void
}

export async function startHostileStore(): Promise<HostileStore> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    store.answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const store: HostileStore = {
    ...{ port, requests, answer: (_, response) => response.writeHead(500).end() },
    connection: {
      ...{ tenant_id: 'acme', conn_type: 'aws_s3' },
      config: {
        ...{ bucket: 'b-1', region: 'r', path_style: true, endpoint: `http://127.0.0.1:${port}`, access_key_id: 'id' },
      },
      secret: JSON.stringify({ secret_access_key: 'hidden-key', session_token: 'token-1' }),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return store
}

/** A page of a listing. `objects`: XML texts. */
export function listingOf(objects: readonly string[], next?: string): string {
  const more =
    next === undefined
      ? '<IsTruncated>false</IsTruncated>'
      : `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`
  return `<ListBucketResult>${more}<EncodingType>url</EncodingType>${objects.join('')}</ListBucketResult>`
}

export function listed(key: string, bytes: number, etag = '&quot;1&quot;'): string {
  return `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${bytes}</Size><ETag>${etag}</ETag></Contents>`
}
