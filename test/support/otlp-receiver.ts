// A small collector: takes traces over OTLP/HTTP in JSON, and gives back the spans in a form that tests can read.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type ToldSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** 1 internal, 2 server, 5 consumer. */
  readonly kind: number
  readonly isError: boolean
  readonly ms: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

export type OtlpReceiver = {
  readonly url: string
  readonly spans: ToldSpan[]
  /** Whole bodies as they came, to look for what must not be in them. */
  readonly bodies: string[]
  readonly headers: http.IncomingHttpHeaders[]
  /** From now on each request is answered so; `hang`: never. */
  answer(status: number | 'hang'): void
  close(): Promise<void>
}

type KeyValue = { key: string; value: { stringValue?: string; intValue?: string | number } }
type Wire = {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: { spans: WireSpan[] }[]
  }[]
}
type WireSpan = Pick<ToldSpan, 'name' | 'traceId' | 'spanId' | 'kind'> & {
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code?: number }
  attributes: KeyValue[]
}

export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ToldSpan[] = []
  const bodies: string[] = []
  const headers: http.IncomingHttpHeaders[] = []
  let status: number | 'hang' = 200
  const server = http.createServer(async (request, response) => {
    if (status === 'hang') return
    const body = (await json(request)) as Wire
    headers.push(request.headers)
    const isTaken = status === 200 && request.method === 'POST' && request.url === '/v1/traces'
    if (isTaken) {
      bodies.push(JSON.stringify(body))
      spans.push(...body.resourceSpans.flatMap(spansIn))
    }
    response.writeHead(isTaken ? 200 : status === 200 ? 404 : status, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    answer: (given) => (status = given),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function spansIn({ resource, scopeSpans }: Wire['resourceSpans'][number]): ToldSpan[] {
  return scopeSpans.flatMap((scope) =>
    scope.spans.map(({ name, traceId, spanId, parentSpanId, kind, status, attributes, ...times }) => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      kind,
      isError: status?.code === 2,
      ms: Number(BigInt(times.endTimeUnixNano) - BigInt(times.startTimeUnixNano)) / 1e6,
      attributes: read(attributes),
      resource: read(resource.attributes),
    })),
  )
}

function read(pairs: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value : Number(value.intValue)),
    ]),
  )
}
