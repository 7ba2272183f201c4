// A small collector: takes traces over OTLP/HTTP in JSON, and gives back the spans in a form that tests can read.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type ExportedSpan = {
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
  readonly spans: ExportedSpan[]
  /** Whole bodies as they came, to look for what must not be in them. */
  readonly bodies: string[]
  readonly headers: http.IncomingHttpHeaders[]
  /** From now on each request is answered so; `hang`: never. */
  respondWith(status: number | 'hang'): void
  close(): Promise<void>
}

type OtlpKeyValue = { key: string; value: { stringValue?: string; intValue?: string | number } }
type OtlpPayload = {
  resourceSpans: {
    resource: { attributes: OtlpKeyValue[] }
    scopeSpans: { spans: OtlpSpan[] }[]
  }[]
}
type OtlpSpan = Pick<ExportedSpan, 'name' | 'traceId' | 'spanId' | 'kind'> & {
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code?: number }
  attributes: OtlpKeyValue[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ExportedSpan[] = []
  const bodies: string[] = []
  const headers: http.IncomingHttpHeaders[] = []
  let status: number | 'hang' = 200
  const server = http.createServer(async (request, response) => {
    if (status === 'hang') return
    const body = (await json(request)) as OtlpPayload
    headers.push(request.headers)
    const isTaken = status === 200 && request.method === 'POST' && request.url === '/v1/traces'
    if (isTaken) {
      bodies.push(JSON.stringify(body))
      spans.push(...body.resourceSpans.flatMap(parseSpans))
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
    respondWith: (code) => (status = code),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function parseSpans({ resource, scopeSpans }: OtlpPayload['resourceSpans'][number]): ExportedSpan[] {
  return scopeSpans.flatMap((scope) =>
    scope.spans.map(({ name, traceId, spanId, parentSpanId, kind, status, attributes, ...times }) => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      kind,
      isError: status?.code === 2,
      ms: Number(BigInt(times.endTimeUnixNano) - BigInt(times.startTimeUnixNano)) / 1e6,
      attributes: parseAttributes(attributes),
      resource: parseAttributes(resource.attributes),
    })),
  )
}

function parseAttributes(pairs: readonly OtlpKeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value : Number(value.intValue)),
    ]),
  )
}
