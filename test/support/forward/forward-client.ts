// Clients of a forwarder that send and read step by step, over HTTP/1.1 or HTTP/2.
import * as http from 'node:http'
import * as http2 from 'node:http2'
import * as https from 'node:https'
import { connect } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import * as tls from 'node:tls'

export type ForwardAnswer = {
  status: number
  headers: Readonly<Record<string, unknown>>
  /** One character a byte. */
  text: string
  isEnded: boolean
  /** The response did not end as a complete one, or none came. */
  isBroken: boolean
}

export type ForwardCall = {
  readonly answer: ForwardAnswer
  /** Sends a part of the body. */
  write(bytes: string | Buffer): void
  /** Ends the request. */
  end(): void
  /** Bytes of the body that wait here, since the forwarder does not read them. */
  unsent_bytes(): number
  /** Leaves at once. */
  abort(): void
  /** Reads no more of the response, and goes on. */
  pause(): void
  resume(): void
}

export type ForwardClient = {
  /** Sends the head of a request. */
  open(method: string, path: string, headers?: Readonly<Record<string, string>>): ForwardCall
  close(): void
}

const emptyAnswer = (): ForwardAnswer => ({ status: 0, headers: {}, text: '', isEnded: false, isBroken: false })

function collectAnswer(answer: ForwardAnswer, stream: Readable): void {
  stream.on('data', (bytes: Buffer) => {
    answer.text += bytes.toString('latin1')
  })
  stream.on('end', () => {
    answer.isEnded = true
  })
}

/** `ca`: over TLS, trusting this authority. Each request has a connection of its own. */
export function http1Client(port: number, ca?: string): ForwardClient {
  return {
    open(method, path, headers = {}) {
      const options = { host: '127.0.0.1', port, method, path, headers, agent: false as const }
      const request = ca ? https.request({ ...options, ca, servername: 'localhost' }) : http.request(options)
      return http1Call(request)
    },
    close: () => undefined,
  }
}

function http1Call(request: http.ClientRequest): ForwardCall {
  const answer = emptyAnswer()
  let response: http.IncomingMessage | undefined
  let isPaused = false
  request.on('response', (message) => {
    response = message
    answer.status = message.statusCode ?? 0
    answer.headers = message.headers
    collectAnswer(answer, message)
    message.on('close', () => {
      answer.isBroken = !message.complete
    })
    if (isPaused) message.pause()
  })
  request.on('error', () => {
    answer.isBroken = answer.isBroken || !answer.isEnded
  })
  request.on('close', () => {
    answer.isBroken = answer.isBroken || response === undefined
  })
  request.flushHeaders()
  return {
    answer,
    write: (bytes) => void request.write(bytes),
    end: () => void request.end(),
    unsent_bytes: () => request.writableLength,
    abort: () => void request.destroy(),
    pause() {
      isPaused = true
      response?.pause()
    },
    resume() {
      isPaused = false
      response?.resume()
    },
  }
}

/** All requests share one connection. */
export function http2Client(port: number, ca: string): ForwardClient {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const createConnection = () => tls.connect({ socket, ca, servername: 'localhost', ALPNProtocols: ['h2'] })
  const session = http2.connect(`https://127.0.0.1:${port}`, { createConnection })
  session.on('error', () => undefined)
  return {
    open(method, path, headers = {}) {
      const stream = session.request(
        { ...withoutCoding(headers), ':method': method, ':path': path },
        { endStream: isWithoutBody(method, headers) },
      )
      return http2Call(stream, () => socket.destroy())
    },
    close: () => session.destroy(),
  }
}

const isWithoutBody = (method: string, headers: Readonly<Record<string, string>>) =>
  (method === 'GET' || method === 'HEAD') && headers['content-length'] === undefined

/** A body without a length needs no coding in HTTP/2. */
const withoutCoding = ({ 'transfer-encoding': _, ...headers }: Readonly<Record<string, string>>) => headers

function http2Call(stream: http2.ClientHttp2Stream, leave: () => void): ForwardCall {
  const answer = emptyAnswer()
  stream.on('response', (headers) => {
    answer.status = headers[':status'] ?? 0
    answer.headers = headers
  })
  collectAnswer(answer, stream as Duplex)
  stream.on('error', () => undefined)
  stream.on('close', () => {
    answer.isBroken = !answer.isEnded || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR
  })
  return {
    answer,
    write: (bytes) => void stream.write(bytes),
    end: () => void stream.end(),
    unsent_bytes: () => stream.writableLength,
    // As a process that is killed: the reset of a stream by Node ends its body first, and its session says goodbye.
    abort: leave,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  }
}
