// The key-value store on Redis or Valkey: each step within one script, which the server runs alone.
import { readFileSync } from 'node:fs'
import { createClient, defineScript } from '@redis/client'
import * as z from 'zod'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { CounterValue, KeyValue } from '../../../daemon/kernel/store/key-value.ts'
import { RedisConnection } from './redis-connection.ts'

export type RedisOptions = {
  readonly host: string
  readonly port: number
  readonly database: number
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Absent: no TLS. The server's certificate is verified always, against these authorities or those of the system. */
  readonly tls?: { readonly ca_file?: string | undefined }
  /** Stands before each key, so that sites may share a database. */
  readonly prefix: string
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
  /** Called when the connection to the server is lost, and when it is back; never with a secret. */
  readonly onStateChange: (state: 'lost' | 'back', detail: string) => void
}

const timeout_ms = 2_000
const connect_timeout_ms = 5_000
const max_pause_ms = 5_000

const scripts = {
  swapValue: defineKeyScript(`
    local held = redis.call('GET', KEYS[1])
    if ARGV[1] == '0' and held then return 0 end
    if ARGV[1] == '1' and held ~= ARGV[2] then return 0 end
    if ARGV[3] == '0' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
    return 1`),
  // A count without an expiry gets one with the next increment. A value that is not a number fails alone: -1.
  countUp: defineKeyScript(`
    local found = {}
    for at, key in ipairs(KEYS) do
      local by, life = ARGV[at * 2 - 1], ARGV[at * 2]
      local isLook = by == '0' and redis.call('EXISTS', key) == 0
      local count, left = isLook and 0 or redis.pcall('INCRBY', key, by), isLook and tonumber(life) or -1
      if isLook then left = tonumber(life)
      elseif type(count) == 'number' then
        left = redis.call('PTTL', key)
        if left < 0 then redis.call('PEXPIRE', key, life) left = tonumber(life) end
      else count = -1 end
      found[at * 2 - 1] = count
      found[at * 2] = left
    end
    return found`),
}

function defineKeyScript(text: string) {
  return defineScript({
    SCRIPT: text,
    parseCommand(parser, keys: readonly string[], given: readonly string[]) {
      parser.pushKeysLength([...keys])
      parser.push(...given)
    },
    transformReply: (reply: unknown) => reply,
  })
}

const valueReply = z.string().nullable()
const swapReply = z.union([z.literal(0), z.literal(1)])
const countReply = z.array(z.int())

/**
 * Connects in the background, again and again with growing pauses, until it is closed. Throws when the file of authorities
 * cannot be read.
 */
export function redisKeyValue(options: RedisOptions): KeyValue {
  const { prefix, onStateChange } = options
  const make = clientFactory(options)
  const link = new RedisConnection({
    make,
    response_timeout_ms: timeout_ms,
    handshake_timeout_ms: connect_timeout_ms,
    describeError,
    onStateChange,
  })

  const ask = async <T>(shape: z.ZodType<T>, question: (client: RedisClient) => Promise<unknown>): Promise<T> => {
    let answer: unknown
    try {
      answer = await link.request(question)
    } catch (error) {
      throw new Refusal('unavailable', `the key-value store does not answer: ${describeError(error)}`, [], 1)
    }
    const read = shape.safeParse(answer)
    if (!read.success) throw new Refusal('unavailable', 'the answer of the key-value store cannot be parsed', [], 1)
    return read.data
  }
  const given = (each: string | undefined): [has: string, text: string] => [each === undefined ? '0' : '1', each ?? '']

  return {
    name: 'redis',
    get: async (key) => (await ask(valueReply, (client) => client.get(prefix + key))) ?? undefined,
    async swap(key, from, to, life_ms) {
      const words = [...given(from), ...given(to), String(life_ms)]
      return (await ask(swapReply, (client) => client.swapValue([prefix + key], words))) === 1
    },
    increment: batchIncrements((steps) => {
      const keys = steps.map(([key]) => prefix + key)
      const words = steps.flatMap(([, by, life_ms]) => [String(by), String(life_ms)])
      return ask(countReply, (client) => client.countUp(keys, words))
    }),
    async health() {
      if (!link.isReady) return { ok: false, detail: link.fault ?? 'not connected' }
      const answer = await ask(z.literal('PONG'), (client) => client.ping()).catch((error: Refusal) => error.message)
      return answer === 'PONG' ? { ok: true, detail: 'redis' } : { ok: false, detail: answer }
    },
    async close() {
      link.close()
    },
  }
}

type RedisClient = ReturnType<ReturnType<typeof clientFactory>>

function clientFactory({ database, username, password, host, port, tls, chance }: RedisOptions) {
  const ca = tls?.ca_file === undefined ? undefined : readFileSync(tls.ca_file)
  return () =>
    createClient({
      scripts,
      database,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      // A command without a connection fails at once, and is not sent later when its caller no longer waits.
      disableOfflineQueue: true,
      socket: {
        host,
        port,
        connectTimeout: connect_timeout_ms,
        reconnectStrategy: (retries) => reconnectPause(retries, chance()),
        ...(tls ? { tls: true, ...(ca ? { ca } : {}) } : {}),
      },
    })
}

type IncrementStep = readonly [key: string, by: number, life_ms: number]
type IncrementWaiter = { readonly done: (count: CounterValue) => void; readonly failed: (error: unknown) => void }

/** Most increments of one command, so that the server does not spend long on one script. */
const max_steps = 128

/** Sends all increments of one tick as one command. `ask` returns count and time left for each step in turn, -1 or nothing where it failed. */
function batchIncrements(ask: (steps: readonly IncrementStep[]) => Promise<readonly number[]>): KeyValue['increment'] {
  let steps: IncrementStep[] = []
  let waiting: IncrementWaiter[] = []
  const flush = () => {
    const these = waiting
    const answer = ask(steps)
    steps = []
    waiting = []
    answer.then(
      (counts) => {
        for (const [at, each] of these.entries()) resolveIncrement(each, counts[2 * at] ?? -1, counts[2 * at + 1] ?? -1)
      },
      (error: unknown) => {
        for (const { failed } of these) failed(error)
      },
    )
  }
  return (key, by, life_ms) =>
    new Promise((done, failed) => {
      if (steps.length === 0) queueMicrotask(() => steps.length > 0 && flush())
      steps.push([key, by, life_ms])
      waiting.push({ done, failed })
      if (steps.length === max_steps) flush()
    })
}

function resolveIncrement({ done, failed }: IncrementWaiter, count: number, left_ms: number): void {
  if (left_ms < 0) failed(new Refusal('unavailable', 'the value in the key-value store is not a count', [], 1))
  else done({ count, left_ms })
}

/** Full jitter. */
export function reconnectPause(retries: number, chance: number): number {
  return Math.round(50 + chance * Math.min(max_pause_ms, 100 * 2 ** retries))
}

/** By code where there is one: messages of a client may carry addresses, and some day more. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = (error as NodeJS.ErrnoException).code
  if (code !== undefined) return code
  if (error.message.startsWith('WRONGPASS') || error.message.startsWith('NOAUTH')) return 'the password is refused'
  return error.name
}
