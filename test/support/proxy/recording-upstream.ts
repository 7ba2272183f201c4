// Requests as they stood on an upstream's wire, read byte by byte by rules of its own: what no careful client sends is noted.
import type { Socket } from 'node:net'
import { type RawConnection, startRawUpstream } from './raw-upstream.ts'

export type ForwardedRequest = {
  readonly method: string
  readonly target: string
  /** Names in small letters, in the order in which they came. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** One character a byte. */
  readonly body: string
  /** Line and fields to the byte. */
  readonly head: string
  /** Why two servers could read it in two ways; empty for a request as it should be. */
  readonly oddities: readonly string[]
}

type ParsedRequest = { readonly request: ForwardedRequest; readonly end: number }
type ParsedBody = { readonly body: string; readonly end: number; readonly oddities: readonly string[] }

export const listFieldValues = ({ fields }: Pick<ForwardedRequest, 'fields'>, name: string): string[] =>
  fields.flatMap(([each, value]) => (each === name ? [value] : []))

/** The request that begins at `from`; undefined while it is not whole. */
export function parseForwardedRequest(text: string, from: number): ParsedRequest | undefined {
  const headEnd = text.indexOf('\r\n\r\n', from)
  if (headEnd < 0) return undefined
  const head = text.slice(from, headEnd)
  const [line = '', ...lines] = head.split('\r\n')
  const [method = '', ...rest] = line.split(' ')
  const fields = lines.map((each): [string, string] => {
    const colon = each.indexOf(':')
    return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, '')]
  })
  const framed = parseBody(text, headEnd + 4, fields)
  if (!framed) return undefined
  const target = rest.slice(0, -1).join(' ')
  const oddities = [...findHeadOddities(line, lines), ...findFieldOddities(fields), ...framed.oddities]
  return { request: { method, target, fields, body: framed.body, head, oddities }, end: framed.end }
}

function findHeadOddities(line: string, lines: readonly string[]): string[] {
  const odd = /^[A-Z]+ \/[!-~]* HTTP\/1\.1$/.test(line) ? [] : [`line ${JSON.stringify(line)}`]
  const bad = lines.filter((each) => !/^[!#$%&'*+.^_`|~\dA-Za-z-]+:[\t -~]*$/.test(each))
  return [...odd, ...bad.map((each) => `field ${JSON.stringify(each)}`)]
}

function findFieldOddities(fields: ForwardedRequest['fields']): string[] {
  const count = (name: string) => listFieldValues({ fields }, name).length
  const odd: string[] = []
  if (count('host') !== 1) odd.push(`${count('host')} hosts`)
  if (count('content-length') + count('transfer-encoding') > 1) odd.push('framed twice')
  return odd
}

function parseBody(text: string, from: number, fields: ForwardedRequest['fields']): ParsedBody | undefined {
  if (listFieldValues({ fields }, 'transfer-encoding').length > 0) return parseChunks(text, from)
  const length = Number(listFieldValues({ fields }, 'content-length')[0] ?? 0)
  const end = from + length
  return text.length < end ? undefined : { body: text.slice(from, end), end, oddities: [] }
}

function parseChunks(text: string, from: number): ParsedBody | undefined {
  const oddities: string[] = []
  let body = ''
  for (let at = from; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const line = text.slice(at, lineEnd)
    const size = Number.parseInt(line, 16)
    if (!/^[\da-fA-F]+$/.test(line)) oddities.push(`chunk ${JSON.stringify(line.slice(0, 80))}`)
    if (!(size > 0)) return parseLastChunk(text, lineEnd, body, oddities)
    at = lineEnd + 2 + size + 2
    if (text.length < at) return undefined
    body += text.slice(lineEnd + 2, at - 2)
  }
}

function parseLastChunk(
  text: string,
  lineEnd: number,
  body: string,
  oddities: readonly string[],
): ParsedBody | undefined {
  if (text.startsWith('\r\n', lineEnd + 2)) return { body, end: lineEnd + 4, oddities }
  const end = text.indexOf('\r\n\r\n', lineEnd)
  if (end < 0) return undefined
  return { body, end: end + 4, oddities: [...oddities, `trailers ${text.slice(lineEnd + 2, end)}`] }
}

export type RecordingUpstream = {
  readonly port: number
  /** Whole requests of all connections, in the order in which they became whole. */
  readonly requests: ForwardedRequest[]
  /** Bytes of a connection that are not a whole request. */
  listLeftovers(): string[]
  /** May be replaced at any time. */
  respond: (request: ForwardedRequest, socket: Socket) => void
  close(): Promise<void>
}

export async function startRecordingUpstream(answer: RecordingUpstream['respond']): Promise<RecordingUpstream> {
  const read = new Map<RawConnection, number>()
  const raw = await startRawUpstream((connection) => {
    for (;;) {
      const found = parseForwardedRequest(connection.text, read.get(connection) ?? 0)
      if (!found) return
      read.set(connection, found.end)
      noting.requests.push(found.request)
      noting.respond(found.request, connection.socket)
    }
  })
  const noting: RecordingUpstream = {
    port: raw.port,
    requests: [],
    listLeftovers: () =>
      raw.connections.map((each) => each.text.slice(read.get(each) ?? 0)).filter((text) => text !== ''),
    respond: answer,
    close: raw.close,
  }
  return noting
}

/** `{"ok":1}` as JSON, and nothing but the head to HEAD. */
export function respondOk({ method }: ForwardedRequest, socket: Socket): void {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
  socket.write(method === 'HEAD' ? head : `${head}{"ok":1}\n`)
}
