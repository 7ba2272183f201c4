// A client that sends exactly the bytes of the test, for requests that no well-behaved client would make.
import net from 'node:net'

export type RawHttpResponse = { status: number; headers: Record<string, string>; body: string; text: string }
export type RawHttpTarget = { readonly port: number } | { readonly path: string }

/** Sends the bytes and reads until the server closes, or until `until` says that it has seen enough. */
export function sendRawHttp(
  to: RawHttpTarget,
  bytes: string | Buffer,
  until?: (text: string) => boolean,
): Promise<RawHttpResponse> {
  return new Promise((resolve, reject) => {
    const socket = 'port' in to ? net.connect(to.port, '127.0.0.1') : net.connect(to.path)
    let text = ''
    const done = () => {
      socket.destroy()
      if (text === '') reject(new Error('the server closed without an answer'))
      else resolve(parseResponse(text))
    }
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (until?.(text)) done()
    })
    socket.on('error', (error) => (text === '' ? reject(error) : done()))
    socket.on('close', done)
    socket.write(bytes)
  })
}

/** A request in the shape that most tests want: closes after the answer, with Host and Content-Length filled in. */
export function formatRawRequest(line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const all: Record<string, string> = { host: 'test', connection: 'close', ...headers }
  if (body !== '' && !('transfer-encoding' in all)) all['content-length'] ??= String(Buffer.byteLength(body))
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

function parseResponse(text: string): RawHttpResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(first.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), text }
}
