// A crowd of strangers before a soaked door, in a thread of its own: raw sockets, one request at a time on each, every answer counted.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { type Chance, chance } from '../support/chance.ts'
import { anyRequest, type Kind, kinds, type Request } from './door-requests.ts'

export type LoadStart = { readonly port: number; readonly seed: number; readonly clients: number }

/** Counts since the load began; those of `calm` since it was last asked for. */
export type LoadCounts = {
  /** `METHOD path status` to how often that was answered. */
  readonly answered: ReadonlyMap<string, number>
  /** `METHOD path` to requests that were sent whole and not answered. */
  readonly unanswered: ReadonlyMap<string, number>
  /** When those were given up, in epoch milliseconds. */
  readonly given_up: readonly number[]
  /** Answers that ended before they were whole, by kind. */
  readonly cut: Readonly<Record<string, number>>
  /** Answers of a status that the kind may never have, as text. */
  readonly undocumented: readonly string[]
  readonly calm: { readonly answers: number; readonly ill: number }
}

const answered = new Map<string, number>()
const unanswered = new Map<string, number>()
const given_up: number[] = []
const cut: Record<string, number> = {}
const undocumented: string[] = []
let calm = { answers: 0, ill: 0 }
let isOver = false

/** Nobody waits longer than the door's own limits allow for. */
const patience_ms = 20_000
const most_told = 20

function add(to: Map<string, number>, key: string): void {
  to.set(key, (to.get(key) ?? 0) + 1)
}

type Answer = { readonly status: number; readonly isWhole: boolean; readonly isLast: boolean }

/** Undefined when the connection ended before there was a whole head. */
function asked(socket: Socket, { text }: Request): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let got = ''
    const done = (isEnd: boolean) => {
      const answer = answerIn(got, isEnd)
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
function answerIn(text: string, isEnd: boolean): Answer | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const isWhole = status === 204 || (length ? text.length - end - 4 >= Number(length) : text.endsWith('\r\n0\r\n\r\n'))
  if (!isWhole && !isEnd) return undefined
  return { status, isWhole, isLast: isEnd || /\r\nconnection: close/i.test(head) }
}

function count({ kind, path }: Request, answer: Answer | undefined): void {
  const { method, well, ill }: Kind = kinds[kind]
  if (!answer) {
    add(unanswered, `${method} ${path}`)
    given_up.push(Date.now())
    return
  }
  const { status, isWhole } = answer
  add(answered, `${method} ${path} ${status}`)
  calm.answers += 1
  if (!isWhole) cut[kind] = (cut[kind] ?? 0) + 1
  if (!well.includes(status) || !isWhole) calm.ill += 1
  if (!well.includes(status) && !ill.includes(status) && undocumented.length < most_told)
    undocumented.push(`${kind}: ${method} ${path} was answered ${status}`)
}

async function open(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay()
  socket.on('error', () => undefined)
  socket.setTimeout(patience_ms, () => socket.destroy())
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('close', () => resolve(false))
  })
  return isOpen ? socket : undefined
}

async function lane(port: number, by: Chance): Promise<void> {
  let socket: Socket | undefined
  while (!isOver) {
    socket ??= await open(port)
    if (!socket) {
      await pause(20)
      continue
    }
    const request = anyRequest(by)
    const answer = await asked(socket, request)
    count(request, answer)
    if (answer && !answer.isLast) continue
    socket.destroy()
    socket = undefined
  }
  socket?.destroy()
}

const told = parentPort
if (!told) throw new TypeError('this is no program: it is started as a thread')
const { port, seed, clients } = workerData as LoadStart
const lanes = Array.from({ length: clients }, (_, at) => lane(port, chance(seed * 1_000 + at)))

/** `end`: sends nothing more, and waits for what was sent. */
told.on('message', async (message: 'tell' | 'end') => {
  isOver ||= message === 'end'
  if (isOver) await Promise.all(lanes)
  told.postMessage({ answered, unanswered, given_up, cut, undocumented, calm } satisfies LoadCounts)
  calm = { answers: 0, ill: 0 }
  if (isOver) told.close()
})
