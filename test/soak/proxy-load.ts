// Many clients before a soaked proxy, in a thread of its own: raw sockets, one request at a time on each, every answer counted.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import { type ProxyLoadRequest, type ProxyRequestKind, pickRequest, proxyRequestKinds } from './proxy-requests.ts'

export type LoadStart = { readonly port: number; readonly seed: number; readonly clients: number }

/** Counts since the load began; those of `calm` since the last query. */
export type LoadCounts = {
  /** `METHOD path status` to how often that was answered. */
  readonly answered: ReadonlyMap<string, number>
  /** `METHOD path` to requests that were sent whole and not answered. */
  readonly unanswered: ReadonlyMap<string, number>
  /** The times when those were given up, in epoch milliseconds. */
  readonly abandoned: readonly number[]
  /** Answers that ended before they were whole, by kind. */
  readonly cut: Readonly<Record<string, number>>
  /** Answers of a status that the kind may never have, as text. */
  readonly undocumented: readonly string[]
  readonly calm: { readonly answers: number; readonly ill: number }
}

const answered = new Map<string, number>()
const unanswered = new Map<string, number>()
const abandoned: number[] = []
const cut: Record<string, number> = {}
const undocumented: string[] = []
let calmCounts = { answers: 0, ill: 0 }
let isOver = false

/** No client waits longer than the proxy's own limits allow for. */
const timeout_ms = 20_000
const max_reported = 20

function incrementCount(to: Map<string, number>, key: string): void {
  to.set(key, (to.get(key) ?? 0) + 1)
}

type LoadResponse = { readonly status: number; readonly isWhole: boolean; readonly isLast: boolean }

/** Undefined when the connection ended before there was a whole head. */
function sendRequest(socket: Socket, { text }: ProxyLoadRequest): Promise<LoadResponse | undefined> {
  return new Promise((resolve) => {
    let got = ''
    const done = (isEnd: boolean) => {
      const answer = parseResponse(got, isEnd)
      if (!answer && !isEnd) return
      socket.removeAllListeners('data').removeAllListeners('close')
      resolve(answer)
    }
    socket.on('data', (some: string) => {
      got += some
      done(false)
    })
    socket.on('close', () => done(true))
    socket.write(text)
  })
}

/** Undefined while more is to come. */
function parseResponse(text: string, isEnd: boolean): LoadResponse | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const isWhole = status === 204 || (length ? text.length - end - 4 >= Number(length) : text.endsWith('\r\n0\r\n\r\n'))
  if (!isWhole && !isEnd) return undefined
  return { status, isWhole, isLast: isEnd || /\r\nconnection: close/i.test(head) }
}

function countAnswer({ kind, path }: ProxyLoadRequest, answer: LoadResponse | undefined): void {
  const { method, healthyStatuses, degradedStatuses }: ProxyRequestKind = proxyRequestKinds[kind]
  if (!answer) {
    incrementCount(unanswered, `${method} ${path}`)
    abandoned.push(Date.now())
    return
  }
  const { status, isWhole } = answer
  incrementCount(answered, `${method} ${path} ${status}`)
  calmCounts.answers += 1
  if (!isWhole) cut[kind] = (cut[kind] ?? 0) + 1
  if (!healthyStatuses.includes(status) || !isWhole) calmCounts.ill += 1
  if (!healthyStatuses.includes(status) && !degradedStatuses.includes(status) && undocumented.length < max_reported)
    undocumented.push(`${kind}: ${method} ${path} was answered ${status}`)
}

async function openSocket(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay()
  socket.on('error', () => undefined)
  socket.setTimeout(timeout_ms, () => socket.destroy())
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('close', () => resolve(false))
  })
  return isOpen ? socket : undefined
}

async function runLane(port: number, by: SeededRandom): Promise<void> {
  let socket: Socket | undefined
  while (!isOver) {
    socket ??= await openSocket(port)
    if (!socket) {
      await pause(20)
      continue
    }
    const request = pickRequest(by)
    const answer = await sendRequest(socket, request)
    countAnswer(request, answer)
    if (answer && !answer.isLast) continue
    socket.destroy()
    socket = undefined
  }
  socket?.destroy()
}

const mainThread = parentPort
if (!mainThread) throw new TypeError('this file runs only as a worker thread')
const { port, seed, clients } = workerData as LoadStart
const lanes = Array.from({ length: clients }, (_, at) => runLane(port, seededRandom(seed * 1_000 + at)))

/** `end`: sends nothing more, and waits for what was sent. */
mainThread.on('message', async (message: 'tell' | 'end') => {
  isOver ||= message === 'end'
  if (isOver) await Promise.all(lanes)
  mainThread.postMessage({ answered, unanswered, abandoned, cut, undocumented, calm: calmCounts } satisfies LoadCounts)
  calmCounts = { answers: 0, ill: 0 }
  if (isOver) mainThread.close()
})
